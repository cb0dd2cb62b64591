"""Imports libraries one after the other (`MODULE=PACKAGE ...`) and says how each went, before the next."""

import importlib
import importlib.metadata
import importlib.util
import sys

from misheard.doctor.probes import die_with_parent, tell


def import_all(pairs: list[str]) -> bool:
    """Import each module, say its package's version, and return whether all were there and came."""
    came = [_import(*pair.split("=")) for pair in pairs]
    return all(came)


def _import(module: str, package: str) -> bool:
    if importlib.util.find_spec(module) is None:
        tell(package=package, absent=True)
        return False
    try:
        importlib.import_module(module)
        tell(package=package, version=importlib.metadata.version(package))
    except Exception as error:  # noqa: BLE001 - whatever a foreign library raises is what is looked for
        tell(package=package, error=f"{type(error).__name__}: {error}")
        return False
    return True


if __name__ == "__main__":
    die_with_parent()
    import_all(sys.argv[1:])
