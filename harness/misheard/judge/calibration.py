"""The calibration of a judge: its file, and what becomes of it when the judge is run over the set again.

The file holds fingerprints, scores by id and hashes, and no text. Its `anchor` are the scores that drift is
measured from: those of the first calibration, or of the last one that was accepted. Small movements
cannot add up unseen: they are all measured from there.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from misheard.canonical import sha256_json, write_json
from misheard.errors import InputError, NotComparableError
from misheard.judge.calibration_set import CalibrationSet
from misheard.judge.drift import Drift, Scores, measure_drift
from misheard.metrics.base import Judgement

FORMAT: Final = "misheard-judge-calibration/1"

Status = Literal["calibrated", "accepted", "drifted", "unscored"]
"""Whether the scores may be believed: the first two say so, `unscored` is a judge without a valid reply."""

_MAX_BYTES = 32 * 1024 * 1024
_MAX_REASON = 500


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


Name = Annotated[str, Field(max_length=80)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Score = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Points = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]


class ItemScore(_Part):
    """What the judge said of one item, as `Judgement` has it."""

    score: Score | None
    change: Score | None
    flipped: bool | None
    invalid: Annotated[int, Field(ge=0, le=2)]


class DriftPart(_Part):
    """`Drift` as JSON values."""

    overall: Points | None
    languages: dict[Name, Points]
    questions: dict[Name, Points]
    unpaired: list[Name]


class Acceptance(_Part):
    """A drift that somebody took for the better judge: when (UTC), why, and how far it was."""

    when: Name
    reason: Annotated[str, Field(max_length=_MAX_REASON)]
    beyond: list[Name]


class Calibration(_Part):
    """The content of a calibration file.

    Attributes:
        status: of the judge after its last run over the set.
        judge: fingerprint per question.
        set_sha256: of the set's file.
        texts_sha256: of what was asked; only calibrations over the same texts can be compared.
        scores: by id of the item.
        anchor: the scores that drift is measured from; empty where there is nothing yet.
        drift: from the anchor; None where there was none to compare with.
        acceptances: every drift that was accepted, oldest first.
    """

    format: Literal["misheard-judge-calibration/1"] = FORMAT
    status: Status
    judge: dict[Literal["meaning", "answer"], dict[str, Any]]
    set_sha256: Hash
    texts_sha256: Hash
    scores: dict[Name, ItemScore]
    anchor: dict[Name, Score | None]
    drift: DriftPart | None
    acceptances: list[Acceptance]

    @property
    def is_good(self) -> bool:
        """Whether the scores of this judge may be believed."""
        return self.status in {"calibrated", "accepted"}


@dataclass(frozen=True, slots=True)
class Rerun:
    """One run of the judge over a set: its fingerprints per question, and what it said by id of the item."""

    judge: Mapping[str, Mapping[str, Any]]
    judgements: Mapping[str, Judgement]


def calibrate(
    previous: Calibration | None, over: CalibrationSet, rerun: Rerun, accept: str | None = None
) -> Calibration:
    """Return the calibration after a run of the judge; `previous` is what the file held.

    A first calibration has nothing to drift from. `accept`, a reason, takes a judge that drifted, and makes
    its scores the anchor. Raises NotComparableError where set and judge changed together, so that nobody
    knows how far the judge moved, unless that is accepted.
    """
    scores = {item.id: rerun.judgements[item.id].score for item in over.items}
    status, drift, anchor = _compared(previous, over, rerun, scores, accept)
    acceptances = [] if previous is None else list(previous.acceptances)
    if status == "accepted" and accept is not None:
        beyond = ["another set"] if drift is None else drift.beyond()
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        acceptances.append(Acceptance(when=when, reason=accept, beyond=beyond))
    return Calibration(
        status=status,
        judge=json.loads(json.dumps(rerun.judge)),
        set_sha256=over.sha256,
        texts_sha256=over.texts_sha256,
        scores={item.id: _item_score(rerun.judgements[item.id]) for item in over.items},
        anchor=dict(anchor),
        drift=None if drift is None else _drift_part(drift),
        acceptances=acceptances,
    )


def _compared(
    previous: Calibration | None, over: CalibrationSet, rerun: Rerun, scores: Scores, accept: str | None
) -> tuple[Status, Drift | None, Scores]:
    """Return the status, the drift, and the anchor from now on."""
    is_scored = all(
        any(scores[item.id] is not None for item in over.items if item.question == question)
        for question in rerun.judge
    )
    if previous is None or not previous.anchor:
        return ("calibrated", None, scores) if is_scored else ("unscored", None, {})
    if previous.texts_sha256 != over.texts_sha256:
        is_same = previous.is_good and dict(previous.judge) == dict(rerun.judge)
        if not is_same and accept is None:
            raise NotComparableError(
                "the calibration set changed, and so did the judge or its last calibration is not good: how "
                "far the judge moved cannot be told; calibrate with the set as it was first, or write to "
                "another --out, or say --accept with a reason"
            )
        if not is_scored:
            return "unscored", None, {}
        return ("calibrated" if is_same else "accepted"), None, scores
    drift = measure_drift(over.items, previous.anchor, scores)
    if not is_scored:
        return "unscored", drift, previous.anchor
    if not drift.beyond():
        return "calibrated", drift, previous.anchor
    return ("drifted", drift, previous.anchor) if accept is None else ("accepted", drift, scores)


def check_reason(reason: str) -> str:
    """Return a reason for --accept as it is. Raises InputError for one that is not one line of text."""
    if not reason.strip() or not reason.isprintable() or len(reason) > _MAX_REASON:
        raise InputError(f"--accept: must be a reason, one line of at most {_MAX_REASON} characters")
    return reason


def read_calibration(path: Path) -> Calibration:
    """Read a calibration file. Raises InputError where it cannot be read, was edited or is none."""
    return parse_calibration(read_bytes(path), str(path))


def parse_calibration(raw: bytes, name: str) -> Calibration:
    """Return the calibration that the bytes of a file hold. Raises InputError, as `read_calibration`."""
    try:
        data = json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: no JSON, so no calibration of a judge") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{name}: not a calibration of a judge; make one with misheard judge calibrate")
    sha256 = data.pop("sha256", None)
    try:
        if sha256 != sha256_json(data):
            raise InputError(
                f"{name}: is not as misheard judge calibrate wrote it; bring back a copy, or calibrate again"
            )
        return Calibration.model_validate(data)
    except ValidationError as error:
        places = sorted({".".join(map(str, detail["loc"][:1])) for detail in error.errors()})
        raise InputError(f"{name}: damaged: {', '.join(places)}") from error
    except RecursionError as error:
        raise InputError(f"{name}: nested too deeply") from error
    except ValueError as error:  # 1e999 is JSON, and no number that JSON can hold again
        raise InputError(f"{name}: holds a number that is not finite") from error


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration file, whole or not at all."""
    data = calibration.model_dump(mode="json")
    write_json(path, {**data, "sha256": sha256_json(data)})


def read_bytes(path: Path | str) -> bytes:
    """Return the bytes of a calibration file. Raises InputError where it cannot be read or is too large."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if len(raw) > _MAX_BYTES:
        raise InputError(f"{path}: larger than {_MAX_BYTES} bytes")
    return raw


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _item_score(judgement: Judgement) -> ItemScore:
    return ItemScore(
        score=judgement.score,
        change=judgement.change,
        flipped=judgement.flipped,
        invalid=judgement.invalid,
    )


def _drift_part(drift: Drift) -> DriftPart:
    return DriftPart(
        overall=drift.overall,
        languages=dict(drift.languages),
        questions=dict(drift.questions),
        unpaired=list(drift.unpaired),
    )
