"""What changed when an audit asked everything again: flip rates of the recognizer and of each stage's model.

Reads journals and nothing else, as scoring does.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from misheard.config import RunConfig
from misheard.errors import IncompleteRunError
from misheard.metrics.base import Arm
from misheard.run.auditing import ALONE, audited_arm, is_audited, repeats, repetition
from misheard.run.directory import RunDirectory
from misheard.run.journal import Batch, read_batches
from misheard.run.outputs import StageReplies
from misheard.run.replies import Replies, read_replies
from misheard.stats.exact import clopper_pearson

Document = dict[str, Any]


def determinism_document(
    directory: RunDirectory,
    config: RunConfig,
    system: Mapping[str, Any],
    arms: tuple[Arm, ...],
    replies: StageReplies,
) -> Document:
    """Return how a run was executed and, of an audit, what changed, as JSON values.

    `recognizer` counts windows whose text changed in any repetition of the same batches (`repeated`), and
    recognized in a batch of its own (`alone`). `stages` count the requests of the audited arm whose reply
    changed in any repetition. A failure is a change where the other is none. Intervals are exact binomial
    ones (Clopper and Pearson 1934), which take windows and requests as independent.

    Raises IncompleteRunError where an audit did not come to its end.
    """
    recognize = list(read_batches(directory.recognize))
    caps = [int(batch.note["memory_cap"]) for batch in recognize if "memory_cap" in batch.note]
    document: Document = {
        "mode": config.execution.mode,
        "schedule": config.execution.schedule,
        "repeats": config.execution.repeats if config.execution.mode == "audit" else None,
        "memory_cap": min(caps, default=None),
        "recognizer": None,
        "stages": {},
        "engines": _engines(system),
    }
    if config.execution.mode != "audit":
        return document
    numbers = [repetition(number) for number in repeats(config.execution)]
    _check_audited(directory.audit("recognize"), config)
    document["recognizer"] = _recognizer(recognize, directory)
    arm = audited_arm(arms)
    for stage, said in (("correct", replies.correct), ("respond", replies.respond), ("plan", replies.plans)):
        if said.batches:
            _check_audited(directory.audit(stage), config)
            again = read_replies(directory.audit(stage))
            document["stages"][stage] = {"arm": str(arm), **_replies(said, again, arm, numbers)}
    return document


def _check_audited(path: Path, config: RunConfig) -> None:
    """Raise IncompleteRunError where an audit has not asked everything again: 0 changes would be made up."""
    if not is_audited(path, config.execution):
        raise IncompleteRunError(f"{path}: the audit is not complete; go on with --resume")


def _engines(system: Mapping[str, Any]) -> Document:
    """Return by part of the system what its engine was told in an audit, where it has a server."""
    found = {}
    for part, fingerprint in sorted(system.items()):
        engine = fingerprint.get("engine", fingerprint)
        if isinstance(engine, Mapping) and "audit" in engine:
            found[part] = engine["audit"]
    return found


def _recognizer(recognize: Iterable[Batch], directory: RunDirectory) -> Document:
    said = {
        (row["item"], row["window"]): None if row["transcript"] is None else row["transcript"]["text"]
        for batch in recognize
        for row in batch.rows
    }
    path = directory.audit("recognize")
    changed: dict[str, set[tuple[str, int]]] = {"repeated": set(), ALONE: set()}
    for batch in read_batches(path) if path.is_file() else ():
        part = batch.name.partition(":")[0]
        for row in batch.rows:
            window = (row["item"], row["window"])
            if window in said and said[window] != row["text"]:
                changed[ALONE if part == ALONE else "repeated"].add(window)
    return {"windows": len(said), **{part: _rate(len(found), len(said)) for part, found in changed.items()}}


def _replies(said: Replies, again: Replies, arm: Arm, numbers: list[str]) -> Document:
    """Count the requests of an arm that got another reply in a repetition; equal requests count once."""
    asked: dict[str, str] = {}
    for (of, item), key in said.keys.items():
        if of == str(arm):
            asked.setdefault(key, item)
    repeated = {(name, item): key for name, item, key in _repeated_keys(again, numbers)}
    changed = 0
    for key, item in asked.items():
        first = _said(said.completions[key])
        later = (again.completions.get(repeated.get((name, item), "")) for name in numbers)
        changed += any(row is not None and _said(row) != first for row in later)
    return {"requests": len(asked), **_rate(changed, len(asked))}


def _repeated_keys(again: Replies, numbers: list[str]) -> Iterable[tuple[str, str, str]]:
    for batch in again.batches:
        if (name := batch.name.removeprefix("arm:")) in numbers:
            for row in batch.rows:
                yield name, row["item"], row["key"]


def _said(row: Mapping[str, Any]) -> tuple[Any, bool]:
    return row["text"], row["failure"] is None


def _rate(changed: int, of: int) -> Document:
    low, high = clopper_pearson(changed, of) if of else (None, None)
    return {"changed": changed, "rate": changed / of if of else None, "low": low, "high": high}
