"""Whether a long session was played to the system that was run, and with recordings of the same suite."""

from collections.abc import Mapping
from typing import Any

from misheard.canonical import changed_names
from misheard.gate.comparable import RunFacts
from misheard.gate.spec import SoakSection
from misheard.report.labels import plain
from misheard.soak.finished import SoakFacts

_SYSTEM = ("recognizer", "correct", "respond", "plan", "render")
"""Parts of a system that a session has too; nobody judges its answers."""

_SUITE = ("name", "version", "subset")

_MOST_NAMED = 8


def other_parts(
    section: SoakSection, name: str, facts: SoakFacts | None, run: RunFacts
) -> tuple[list[str], list[str]]:
    """Return what forbids to judge a session with a run, and notes on what the gate lets differ.

    Args:
        section: of the gate file.
        name: of the session.
        facts: what it says of itself; None for a trace, which does not say of what it is.
        run: the candidate.
    """
    problems, notes = [], []
    allowed: Mapping[str, str] = {str(what): reason for what, reason in section.may_differ.items()}
    for what, differing in (("system", _of_system(facts, run)), ("suite", _of_suite(facts, run))):
        reason = allowed.get(what)
        if differing and reason is None:
            problems.append(
                f"soak {name}: {differing}; play a session of what was run, or say in the gate file why it "
                f"need not be, with soak.may_differ: {{{what}: WHY}}"
            )
        elif differing and reason is not None:
            notes.append(f"soak {name}: {differing}; allowed: {plain(reason)}")
    return problems, notes


def _of_system(facts: SoakFacts | None, run: RunFacts) -> str:
    if facts is None:
        return "a trace does not say which system it is of"
    names = changed_names(_parts(run.state["system"]), _parts(facts.system))
    return _said("is of another system", names)


def _parts(system: Mapping[str, Any]) -> dict[str, Any]:
    return {part: system[part] for part in _SYSTEM if part in system}


def _of_suite(facts: SoakFacts | None, run: RunFacts) -> str:
    if facts is None:
        return "a trace does not say which suite it is of"
    new, old = _suite(facts.suite), _suite(run.suite)
    return _said("plays another suite", changed_names(old, new))


def _suite(suite: Mapping[str, Any]) -> dict[str, Any]:
    lock = suite.get("lock")
    sha256 = lock.get("sha256") if isinstance(lock, Mapping) else None
    return {**{name: suite.get(name) for name in _SUITE}, "lock": sha256}


def _said(what: str, names: list[str]) -> str:
    """Return what is wrong with the names of what differs; empty where nothing does."""
    if not names:
        return ""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    differ = "differs" if len(names) == 1 else "differ"
    return f"{what}: {', '.join(map(plain, names[:_MOST_NAMED]))}{more} {differ}"
