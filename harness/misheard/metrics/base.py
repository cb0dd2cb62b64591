"""The contract of a metric family.

A family turns items and their outputs into a matrix of counts, one row per item, and names the rates that
can be made from *sums* of such rows. Slices add rows, the bootstrap adds resampled rows, the jackknife leaves
sessions out; none of them knows which family it handles.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from misheard.failures import Failure
from misheard.scenes.scene import Scene
from misheard.suite.items import Item

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class Arm(StrEnum):
    """Where the golden value enters.

    `uncorrected` has nothing golden either: it is the audio arm without its corrector.
    """

    AUDIO = "audio"
    UNCORRECTED = "uncorrected"
    TRANSCRIPT = "transcript"
    PLAN = "plan"
    CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Correction:
    """What the corrector made of a transcript.

    Attributes:
        text: what went on: the corrected text, or the raw one where there is a problem.
        problem: why the reply was not used (`invalid_output`, `not_a_transcript`, …), without text; None
            where it was.
    """

    text: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judge says of one text: float from 0 to 100, or why there is no score.

    Attributes:
        score: mean of the valid replies; None where a reply is missing or invalid.
        change: how far two replies to the same question are apart, in points; None without a second one.
        flipped: whether they are on two sides of the threshold; None without a second one.
        invalid: replies that were none.
        identical: the texts do not differ, so that nobody was asked.
    """

    score: float | None
    change: float | None = None
    flipped: bool | None = None
    invalid: int = 0
    identical: bool = False


@dataclass(frozen=True, slots=True)
class ArmOutput:
    """What one arm produced for one item.

    A missing value is None, and `failure` says why. Under the policy `worst` a failed output arrives here as
    empty text or an empty scene, with its `failure` still set.

    Attributes:
        transcript: recognized, or the human one; what enters the corrector where there is one.
        answer: the responder's.
        failure: what went wrong first.
        correction: the corrector's; None where none was asked.
        n_best: every hypothesis of the recognizer, best first; empty where it gave no list.
        segments: pieces that the recognizer cut the speech into; None where it does not tell.
        plan: the planner's, or the golden one.
        board: what the renderer drew.
        refused: operations that the board refused.
        judgements: by the judge's question, `meaning` or `answer`.
    """

    transcript: str | None
    answer: str | None = None
    failure: Failure | None = None
    correction: Correction | None = None
    n_best: tuple[str, ...] = ()
    segments: int | None = None
    plan: Scene | None = None
    board: Scene | None = None
    refused: int = 0
    judgements: Mapping[str, Judgement] = field(default_factory=dict)

    @property
    def unheard(self) -> bool:
        """Whether recognition failed: a failure after it takes nothing away from the transcript."""
        return self.failure is not None and self.failure.stage == "recognize"


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One item in one arm; `baseline` is the output of the arm that a relative family compares with."""

    item: Item
    arm: Arm
    output: ArmOutput
    baseline: ArmOutput | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of one family for a list of rows.

    Attributes:
        values: float64[n, K]; 0 where a row does not count.
        present: bool[n]; whether the row counts in this family. A row that does not apply (no reference
            answer, say) or whose output is missing is False.
    """

    values: FloatArray
    present: BoolArray


@dataclass(frozen=True, slots=True)
class Rate:
    """A number made from sums of counts.

    `compute` takes sums of shape [..., K] and returns [...]; NaN where the rate is undefined (a denominator
    of 0). `better` says which direction is an improvement; None for rates that are neither. `proportion` are
    the columns (events, trials) of a rate that is events / trials with at most one event and one trial a
    row, so that it has exact bounds. `best` is the value that nothing is better than, where that is not 0 of
    a rate that should be low and 1 of one that should be high.
    """

    name: str
    description: str
    better: Literal["lower", "higher"] | None
    compute: Callable[[FloatArray], FloatArray]
    proportion: tuple[int, int] | None = None
    best: float | None = None


class Family(Protocol):
    """A family of metrics that share their counts.

    `arms` are the arms it is computed in; `relative_to` is the arm that rows are compared with, or None.
    `counts` must not look at anything but the rows it is given.
    """

    name: str
    columns: tuple[str, ...]
    rates: tuple[Rate, ...]
    arms: tuple[Arm, ...]
    relative_to: Arm | None

    def counts(self, rows: Sequence[ScoredRow]) -> Counts: ...


def share_of_rows(
    name: str, description: str, better: Literal["lower", "higher"] | None, events: int, trials: int
) -> Rate:
    """Return the share of rows with an event: columns `events` and `trials` are 0 or 1 in every row."""
    return Rate(
        name, description, better, lambda sums: divide(sums[..., events], sums[..., trials]), (events, trials)
    )


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return numerator / denominator elementwise, NaN where the denominator is 0."""
    out = np.full(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)), np.nan)
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)
    return out
