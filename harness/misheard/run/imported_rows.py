"""Outputs that were made elsewhere, read from JSON Lines and checked against a suite.

Every problem is listed at once. Messages name lines, items and fields, never a transcript or an answer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from misheard.errors import counted
from misheard.failures import FailureKind
from misheard.metrics.base import Arm
from misheard.suite.items import Item
from misheard.suite.problems import Problems, shown, suggestion
from misheard.suite.selection import SetName
from misheard.transcripts.source import Source, named, read_text

MissingOutputs = Literal["error", "fail"]

ANSWER_FIELDS = {
    Arm.AUDIO: "answer",
    Arm.TRANSCRIPT: "transcript_arm_answer",
    Arm.CONTROL: "control_answer",
}
_TEXTS = ("transcript", *ANSWER_FIELDS.values(), "error")
_SECONDS = ("recognize_seconds", "llm_seconds")
_SEGMENTS = "segments"
_FIELDS = ("id", *_TEXTS, *_SECONDS, _SEGMENTS)
_MOST_SEGMENTS = 1_000_000
_MAX_SECONDS = 1e7


@dataclass(frozen=True, slots=True)
class ImportedOutput:
    """What was made elsewhere of one item.

    Attributes:
        transcript: what was recognized; None where that failed.
        answers: per arm, the answer; an arm without one is left out.
        failure: what went wrong in recognition, or, where there is a transcript, in the answer to it.
        recognize_seconds, llm_seconds: None where not given.
        segments: pieces that the recognizer cut the speech into; None where not given.
    """

    transcript: str | None = field(repr=False)
    answers: dict[Arm, str] = field(default_factory=dict, repr=False)
    failure: FailureKind | None = None
    recognize_seconds: float | None = None
    llm_seconds: float | None = None
    segments: int | None = None


NO_OUTPUT = ImportedOutput(None, failure=FailureKind.ASR_ERROR)
"""An item without a line, under `--missing fail`."""


def read_imported(
    path: Path, items: Sequence[Item], missing: MissingOutputs, outside: Mapping[str, SetName]
) -> tuple[list[ImportedOutput], tuple[Arm, ...]]:
    """Return an output per item, in suite order, and the arms that have answers (audio is always among them).

    `outside` are items of the suite that the run is not over, with their sets.

    Raises InputError where the file cannot be read and ProblemsError with every line that is wrong, every id
    that the suite lacks or that comes twice, and, unless `missing` is `fail`, every id and answer that is not
    there.
    """
    source = Source(str(path), read_text(str(path)))
    problems = Problems()
    known = {item.id: item for item in items}
    lines: dict[str, _Line] = {}
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            _add(lines, line, f"{path.name}:{number}", known, outside, problems)
    arms = tuple(arm for arm in ANSWER_FIELDS if any(arm in line.answered for line in lines.values()))
    if Arm.CONTROL in arms and Arm.TRANSCRIPT not in arms:
        problems.add(path.name, "control_answer repeats transcript_arm_answer, which no line has")
    if missing == "error":
        _check_complete(path.name, lines, items, arms, problems)
    if problems:
        raise problems.error(str(path))
    outputs = [lines[item.id].output or NO_OUTPUT if item.id in lines else NO_OUTPUT for item in items]
    return outputs, arms if Arm.AUDIO in arms else (Arm.AUDIO, *arms)


@dataclass(frozen=True, slots=True)
class _Line:
    """The first line of an item.

    Attributes:
        answered: the arms that it has an answer for, right or wrong.
        failed: whether it says that recognition or the answer to it failed.
        output: None where something in the line is wrong: the item has a line all the same.
    """

    answered: frozenset[Arm]
    failed: bool
    output: ImportedOutput | None


def _add(
    lines: dict[str, _Line],
    line: str,
    where: str,
    known: dict[str, Item],
    outside: Mapping[str, SetName],
    problems: Problems,
) -> None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        problems.add(where, "is not valid JSON")
        return
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        problems.add(where, "is no object with an id")
        return
    identifier = row["id"]
    if identifier in outside:
        problems.add(
            where, f"id {identifier} is in the {outside[identifier]} set, and the run is not over it"
        )
    elif identifier not in known:
        problems.add(where, f"id {shown(identifier)} is not in the suite")
    elif identifier in lines:
        problems.add(where, f"id {identifier} comes a second time")
    else:
        output = _output(row, f"{where} ({identifier})", known[identifier], problems)
        answered = frozenset(arm for arm, name in ANSWER_FIELDS.items() if row.get(name) is not None)
        lines[identifier] = _Line(answered, row.get("error") is not None, output)


def _output(row: dict[str, Any], where: str, item: Item, problems: Problems) -> ImportedOutput | None:
    wrong = [f"unknown field {shown(name)}{suggestion(name, _FIELDS)}" for name in row if name not in _FIELDS]
    wrong += [f"{name} is no text" for name in _TEXTS if not isinstance(row.get(name), str | None)]
    wrong += [f"{name} is no number of seconds" for name in _SECONDS if not _is_seconds(row.get(name))]
    if not _is_count(row.get(_SEGMENTS)):
        wrong.append("segments is no number of segments")
    if row.get("transcript") is None and row.get("error") is None:
        wrong.append("has neither a transcript nor an error")
    answers = {arm: row[name] for arm, name in ANSWER_FIELDS.items() if row.get(name) is not None}
    if answers and item.reference_answer is None:
        wrong.append("has an answer, but the suite has no reference_answer for it")
    if Arm.AUDIO in answers and (row.get("transcript") is None or row.get("error") is not None):
        wrong.append("has an answer to what failed; leave one of transcript, answer and error out")
    if item.reference_answer is None and row.get("transcript") is not None and row.get("error") is not None:
        wrong.append("has a transcript and an error, but the suite has no question that could have failed")
    for what in wrong:
        problems.add(where, what)
    if wrong:
        return None
    transcript = row.get("transcript")
    failure = None if row.get("error") is None else _failure(row["error"], transcript is not None)
    times = {name: row.get(name) for name in _SECONDS}
    return ImportedOutput(transcript, answers, failure, **times, segments=row.get(_SEGMENTS))


def _is_count(value: object) -> bool:
    return value is None or (type(value) is int and 0 <= value <= _MOST_SEGMENTS)


def _is_seconds(value: object) -> bool:
    if value is None:
        return True
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # The bounds come first: they also refuse NaN and integers that no float can hold.
    return is_number and 0 <= value <= _MAX_SECONDS  # type: ignore[operator]


def _failure(error: str, has_transcript: bool) -> FailureKind:
    """Return the kind of failure. Other texts than kinds may hold anything and are not kept."""
    try:
        return FailureKind(error)
    except ValueError:
        return FailureKind.LLM_ERROR if has_transcript else FailureKind.ASR_ERROR


def _check_complete(
    name: str,
    lines: Mapping[str, _Line],
    items: Sequence[Item],
    arms: Sequence[Arm],
    problems: Problems,
) -> None:
    absent = [item.id for item in items if item.id not in lines]
    if absent:
        hint = "--missing fail counts them as failed"
        have = counted(len(absent), "item of the suite has", "items of the suite have")
        problems.add(name, f"{have} no line: {named(absent)}; {hint}")
    for arm in arms:
        without = [
            item.id
            for item in items
            if item.id in lines
            and item.reference_answer is not None
            and arm not in lines[item.id].answered
            and not (arm is Arm.AUDIO and lines[item.id].failed)
        ]
        if without:
            have = counted(len(without), "question has", "questions have")
            hint = f"{have} no {ANSWER_FIELDS[arm]}, and others have: {named(without)}"
            problems.add(name, f"{hint}; --missing fail counts them as failed")
