"""The checks of a long session that a gate file requires, as checks of the gate."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from misheard.errors import IncompleteRunError, NotComparableError
from misheard.gate.comparable import RunFacts
from misheard.gate.same_system import other_parts
from misheard.gate.spec import SoakSection
from misheard.gate.verdict import MECHANISM, Check
from misheard.report.labels import plain
from misheard.soak.finished import SoakFacts, is_soak_folder, read_played
from misheard.soak.limits import Limits
from misheard.soak.reading import read_trace
from misheard.soak.verdict import SoakVerdict, judge_trace
from misheard.stats.gate import Status

_OF_THE_GATE = "those of the gate"


@dataclass(frozen=True, slots=True)
class SoakEvidence:
    """What the required checks say of a session.

    Attributes:
        name: of the folder or trace.
        checks: with the role `mechanism`, and `soak/` before their ids.
        notes: how the session was played and judged.
    """

    name: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...]


def judge_soak(section: SoakSection, path: Path, run: RunFacts) -> SoakEvidence:
    """Judge a session by the checks that a gate file requires.

    Args:
        section: of the gate file.
        path: the folder of a soak, or a trace.
        run: the candidate, whose system the session must be of.

    Raises NotComparableError for a session of another system or suite, IncompleteRunError for one that was
    not played to its end, SoakError and InputError for one that cannot be read.
    """
    facts = None
    if is_soak_folder(path):
        played = read_played(path)
        facts, read, name = played.facts, played.read, played.name
        _check_whole(name, facts)
    else:
        read, name = read_trace(path), plain(path.name)
    problems, allowed = other_parts(section, name, facts, run)
    if problems:
        raise NotComparableError("\n".join(problems))
    limits, limits_name = _limits(section, facts)
    judged = judge_trace(read, limits, name, limits_name)
    notes = (*_notes(name, facts, judged), *allowed)
    checks = (*_long_enough(section, facts, judged), *_required(section, judged))
    return SoakEvidence(name, checks, notes)


def _check_whole(name: str, facts: SoakFacts) -> None:
    if facts.problem is not None:
        raise IncompleteRunError(f"soak {name}: {facts.problem}")


def _limits(section: SoakSection, facts: SoakFacts | None) -> tuple[Limits, str | None]:
    """Return the limits and what they are called.

    Who plays a session chooses its limits, but only the gate waives what the gate requires.
    """
    own = (Limits(), None) if facts is None else (facts.limits, facts.limits_name)
    limits, name = own if section.limits is None else (section.limits, _OF_THE_GATE)
    waived = {} if section.limits is None else section.limits.waived
    require = () if section.requires_all else section.require
    return limits.model_copy(update={"require": require, "waived": waived}), name


def _long_enough(section: SoakSection, facts: SoakFacts | None, judged: SoakVerdict) -> Iterator[Check]:
    """Yield whether a session is as long as the gate asks; a shorter one can say neither."""
    least = section.at_least_minutes
    if least is None:
        return
    minutes = judged.seconds / 60 if facts is None else facts.minutes
    is_enough = minutes >= least
    yield Check(
        "soak/length",
        MECHANISM,
        Status.PASS if is_enough else Status.INCONCLUSIVE,
        "long_enough" if is_enough else "too_short",
        f"{minutes:.1f} minutes were played; {least:g} are asked for",
        rule="at_least_minutes",
        limit=least,
        candidate=minutes,
    )


def _required(section: SoakSection, judged: SoakVerdict) -> list[Check]:
    return [
        replace(check, id=f"soak/{check.id}")
        for check in judged.verdict.checks
        if section.requires_all or check.id.split("/")[0] in section.require
    ]


def _notes(name: str, facts: SoakFacts | None, judged: SoakVerdict) -> list[str]:
    how = f"{judged.seconds:.0f} seconds of a trace" if facts is None else facts.sentence
    return [
        f"soak {name}: {how}; limits: {judged.verdict.gate}",
        *(f"soak {name}: {note}" for note in judged.verdict.notes),
    ]
