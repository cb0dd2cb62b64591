"""The contract of a metric family.

A family turns items and their outputs into a matrix of counts, one row per item, and names the rates that
can be made from *sums* of such rows. Slices add rows, the bootstrap adds resampled rows, the jackknife leaves
sessions out; none of them knows which family it handles.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from misheard.failures import Failure
from misheard.suite.items import Item

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class Arm(StrEnum):
    """Where the golden value enters."""

    AUDIO = "audio"
    TRANSCRIPT = "transcript"
    CONTROL = "control"


@dataclass(frozen=True, slots=True)
class ArmOutput:
    """What one arm produced for one item.

    `transcript` is what entered the language model: recognized, or the human one. A missing value is None,
    and `failure` says why. Under the policy `worst` a failed output arrives here as empty text, with its
    `failure` still set.
    """

    transcript: str | None
    answer: str | None = None
    failure: Failure | None = None


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
    row, so that it has exact bounds.
    """

    name: str
    description: str
    better: Literal["lower", "higher"] | None
    compute: Callable[[FloatArray], FloatArray]
    proportion: tuple[int, int] | None = None


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
