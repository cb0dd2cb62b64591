"""Environment variables of programs."""

from collections.abc import Mapping, Sequence

_PROXIES = frozenset({"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"})


def environment(
    names: Sequence[str] | None, env: Mapping[str, str], inherited: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of a program: the run's own without proxies, or those named; and the config's."""
    if names is None:
        kept = {name: value for name, value in inherited.items() if name.lower() not in _PROXIES}
    else:
        kept = {name: inherited[name] for name in names if name in inherited}
    return {**kept, **env}


def check_variables(env: dict[str, str]) -> dict[str, str]:
    """Return the variables of a config as they are. Raises ValueError for one that no process can have."""
    if any(not name or "=" in name or "\0" in name + text for name, text in env.items()):
        raise ValueError("a variable has a name, without =, and neither name nor value holds NUL")
    return env
