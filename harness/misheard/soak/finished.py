"""The folder of a soak, read back: what was played how, its trace, and the limits that it is judged by."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from misheard.canonical import sha256_file
from misheard.errors import IncompleteRunError, InputError
from misheard.gate.verdict import MECHANISM, Check, decide_outcome
from misheard.report.labels import count_of, plain
from misheard.soak.limits import Limits
from misheard.soak.reading import MAX_LINE_BYTES, ReadTrace, read_trace
from misheard.soak.replay.folder import SoakFolder
from misheard.soak.verdict import Breaches, SoakVerdict, judge_trace
from misheard.stats.gate import Status

COMPLETE = "complete"

SESSION = "session"
"""The check of a folder that its trace cannot answer."""

_WHY_SESSION = "A session that was broken off, or in which a fault did not happen, shows less than was asked."

_MAX_BYTES = 64 * 1024**2
_MOST_NAMED = 5

_Amount = Annotated[float, Field(strict=True, ge=0.0, allow_inf_nan=False)]
_FaultName = Annotated[str, Field(strict=True, max_length=200)]


class SoakFacts(BaseModel):
    """What `soak.json` says of a session, of all that it holds.

    Attributes:
        status: `complete` where the session was played to its end and drained.
        minutes: of the session.
        speed: times as fast as it was spoken; `max` is as fast as the stages take it.
        behind_seconds: how far the microphone fell behind that speed at worst.
        restarts: of servers that had ended.
        faults: that were asked for.
        missed_faults: those of them that did not happen.
        limits: what the session may do.
        limits_name: file name of the limits; None for the defaults.
        trace_sha256: of the trace as it was written; None of a session that was not played to its end.
        suite: whose recordings were played.
        system: fingerprints of the parts that took part, as a run has them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    schema_name: Annotated[Literal["misheard/soak/1"], Field(alias="schema")]
    status: Literal["running", "complete", "interrupted", "failed"]
    minutes: _Amount
    speed: Literal["max"] | _Amount
    behind_seconds: _Amount | None = None
    restarts: Annotated[int, Field(strict=True, ge=0)] = 0
    faults: tuple[_FaultName, ...] = ()
    missed_faults: tuple[_FaultName, ...] = ()
    limits: Limits
    limits_name: Annotated[str, Field(strict=True, max_length=1000)] | None = None
    trace_sha256: Annotated[str, Field(strict=True, pattern=r"^[0-9a-f]{64}$")] | None = None
    suite: Mapping[str, Any] = Field(default_factory=dict)
    system: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def problem(self) -> str | None:
        """Why the session shows nothing as a whole, as a clause; None where all was played."""
        if self.status != COMPLETE:
            return f"is {self.status}; play a session to its end"
        if self.missed_faults:
            named = ", ".join(map(plain, self.missed_faults[:_MOST_NAMED]))
            more = "" if len(self.missed_faults) <= _MOST_NAMED else ", ..."
            return (
                f"{count_of(len(self.missed_faults), 'fault')} did not happen before the session ended: "
                f"{named}{more}"
            )
        return None

    @property
    def sentence(self) -> str:
        """What was played how, in one line."""
        speed = self.speed if isinstance(self.speed, str) else f"{self.speed:g}"
        minutes = f"{self.minutes:g} minute{'' if self.minutes == 1 else 's'}"
        parts = [f"{self.status}, {minutes} at speed {speed}"]
        if self.behind_seconds is not None:
            parts.append(f"at most {self.behind_seconds:.1f} s behind the microphone")
        if self.restarts:
            parts.append(count_of(self.restarts, "restart"))
        if self.missed_faults:
            parts.append(f"{count_of(len(self.missed_faults), 'fault')} that did not happen")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class PlayedSoak:
    """The folder of a soak by its name, with what it says and its trace."""

    name: str
    facts: SoakFacts
    read: ReadTrace


@dataclass(frozen=True, slots=True)
class FinishedSoak(PlayedSoak):
    """The folder of a soak with the verdict on its trace."""

    judged: SoakVerdict


def is_soak_folder(path: Path) -> bool:
    """Whether a path is the folder of a soak."""
    return SoakFolder(path).soak_json.is_file()


def read_soak(path: Path, limits: Limits | None = None, limits_name: str | None = None) -> FinishedSoak:
    """Read the folder of a soak and judge its trace anew, and whether all was played that was asked for.

    Args:
        path: the folder.
        limits: in place of those that the session was played with.
        limits_name: file name of these.

    Raises as `read_played`.
    """
    played = read_played(path)
    facts, read = played.facts, played.read
    if limits is None:
        limits, limits_name = facts.limits, facts.limits_name
    trace_name = f"{played.name}/{SoakFolder(path).trace.name}"
    judged = _with_session(judge_trace(read, limits, trace_name, limits_name), facts)
    return FinishedSoak(played.name, facts, read, judged)


def _with_session(judged: SoakVerdict, facts: SoakFacts) -> SoakVerdict:
    """Return the verdict with the check SESSION before the others."""
    problem = facts.problem
    asked = f", with {count_of(len(facts.faults), 'fault')}" if facts.faults else ""
    check = Check(
        id=SESSION,
        role=MECHANISM,
        status=Status.PASS if problem is None else Status.NO_EVIDENCE,
        reason="kept" if problem is None else "not_whole",
        why=f"played to its end{asked}" if problem is None else problem,
        n=1 + len(facts.faults),
    )
    checks = (check, *judged.verdict.checks)
    verdict = replace(judged.verdict, outcome=decide_outcome(checks, ()), checks=checks)
    return replace(
        judged, verdict=verdict, breaches={SESSION: Breaches(0, (), _WHY_SESSION), **judged.breaches}
    )


def read_played(path: Path) -> PlayedSoak:
    """Read the folder of a soak.

    Raises IncompleteRunError where it is none, or its `soak.json` is damaged, SoakError and InputError for a
    trace that cannot be used.
    """
    folder = SoakFolder(path)
    facts = read_facts(path)
    is_whole = facts.status == COMPLETE
    if not folder.trace.is_file() or not (is_whole or _has_event(folder.trace)):
        raise IncompleteRunError(f"{path}: is {facts.status}, and has no trace")
    if facts.trace_sha256 not in (None, sha256_file(folder.trace)):
        raise IncompleteRunError(
            f"{folder.trace}: was changed after the session; put it back, or judge it by itself with "
            "`misheard soak check`"
        )
    read = read_trace(folder.trace, is_broken_off=not is_whole)
    return PlayedSoak(plain(path.resolve().name), facts, read)


def _has_event(trace: Path) -> bool:
    """Whether a session that was broken off got as far as a whole line after the first."""
    with trace.open("rb") as file:
        file.readline(MAX_LINE_BYTES + 1)
        return file.readline(MAX_LINE_BYTES + 1).endswith(b"\n")


def read_facts(folder: Path) -> SoakFacts:
    """Read what a soak says of its session. Raises IncompleteRunError where it is none, or is damaged."""
    path = SoakFolder(folder).soak_json
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise IncompleteRunError(f"{path}: over {_MAX_BYTES} bytes; this is no soak.json")
        return SoakFacts.model_validate(json.loads(path.read_bytes()))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise IncompleteRunError(f"{path.parent}: no soak.json; this is not the folder of a soak") from error
    except ValidationError as error:
        places = sorted({".".join(map(str, detail["loc"])) for detail in error.errors()})
        raise IncompleteRunError(
            f"{path}: not as misheard soak writes it ({', '.join(map(plain, places))})"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise IncompleteRunError(f"{path}: cannot be read ({type(error).__name__})") from error


def refuse_soak_files(*outputs: Path | None) -> None:
    """Raise InputError where an output of a command would take the place of a file of a soak."""
    for output in outputs:
        if output is not None:
            folder = SoakFolder(output.resolve().parent)
            own = {folder.soak_json, folder.session, folder.trace, folder.verdict, folder.lock}
            if output.resolve() in own and folder.soak_json.exists():
                raise InputError(f"{output}: is a file of a soak; write to another")
