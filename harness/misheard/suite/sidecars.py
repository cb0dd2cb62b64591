"""The files that stand beside a manifest and say how the suite is divided, locked and opened."""

import os
from dataclasses import dataclass
from pathlib import Path

from misheard.errors import InputError


@dataclass(frozen=True, slots=True)
class Sidecars:
    """Where they are, whether they exist or not."""

    split: Path
    lock: Path
    openings: Path


def sidecars(path: Path) -> Sidecars:
    """Return the files beside the suite at `path`: its folder, its `suite.yaml` or a single JSON file.

    A folder holds one canonical suite; single files lie side by side, so theirs carry the file's name. A link
    to a single file has those of the file: another name for a suite does not unseal it.
    """
    if path.suffix.lower() == ".json" and not path.is_dir():
        path = Path(os.path.realpath(path))
        return Sidecars(
            path.with_name(f"{path.stem}.split.json"),
            path.with_name(f"{path.stem}.lock"),
            path.with_name(f"{path.stem}.openings.jsonl"),
        )
    root = path if path.is_dir() else path.parent
    return Sidecars(root / "split.json", root / "suite.lock", root / "openings.jsonl")


def refuse_divided(source: Path) -> None:
    """Raise InputError where a source is, or links to, the manifest of a split suite.

    An import would copy sealed items.
    """
    for place in (source, Path(os.path.realpath(source))):
        split = sidecars(place).split
        if is_there(split):
            raise InputError(
                f"{source}: is split ({split.name}), and an import would unseal its holdout; use it as it "
                "is, or derive from it with misheard suite mix"
            )


def is_there(path: Path) -> bool:
    """Whether anything has that name, a link that leads nowhere included."""
    return os.path.lexists(path)
