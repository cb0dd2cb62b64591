"""References with several accepted spellings: which of them a hypothesis comes closest to.

A reference is a list of slots, each with one or more alternatives, each of any number of tokens (none makes
the slot optional). Of all paths through the slots the one is matched whose alignment with the hypothesis has
the fewest errors, then the fewest substitutions, or costs least where errors have sclite's costs; of equal
ones, that with the alternative listed first, decided from the last slot to the first. The matched path is
then a reference like any other: it is aligned, counted, and gives the denominator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from misheard.metrics.dynamic_rows import IntRow, prefix_costs

Slot = Sequence[Sequence[str]]

Costs = Literal["unit", "sclite"]

_ERROR = 1 << 32
_COSTS: dict[Costs, tuple[int, int]] = {"unit": (_ERROR, _ERROR + 1), "sclite": (3, 4)}
"""Of a deletion or insertion, and of a substitution."""


@dataclass(frozen=True, slots=True)
class _Row:
    """`costs[j]` of the best path that has read j hypothesis tokens, and how many of them it had read
    (`entered[j]`) when it left the last slot with a choice.
    """  # noqa: D205

    costs: IntRow
    entered: IntRow


@dataclass(frozen=True, slots=True)
class _Choice:
    """Per number of hypothesis tokens read at the end of a slot: the alternative taken and the way there."""

    alternative: npt.NDArray[np.int32]
    entered: IntRow


def matched_reference(slots: Sequence[Slot], hypothesis: Sequence[str], costs: Costs = "unit") -> list[str]:
    """Return the tokens of the path that a hypothesis is scored against.

    Exact over all paths, in time that grows with the tokens of all alternatives times the hypothesis tokens;
    memory grows with the slots that have a choice. Raises ValueError for a slot without alternatives.
    """
    chosen = matched_alternatives(slots, hypothesis, costs)
    return [token for slot, index in zip(slots, chosen, strict=True) for token in slot[index]]


def matched_alternatives(
    slots: Sequence[Slot], hypothesis: Sequence[str], costs: Costs = "unit"
) -> list[int]:
    """Return, per slot, the index of the alternative on the matched path. Raises as `matched_reference`."""
    for place, slot in enumerate(slots):
        if len(slot) == 0:
            raise ValueError(f"slot {place} has no alternatives")
    if all(len(slot) == 1 for slot in slots):
        return [0] * len(slots)
    reader = _Reader(hypothesis, costs)
    row, choices = reader.start(), list[_Choice]()
    for slot in slots:
        ends = [reader.read(row, alternative) for alternative in slot]
        if len(ends) == 1:
            row = ends[0]
        else:
            row, choice = _merge(ends)
            choices.append(choice)
    return _trace(slots, choices, row)


class _Reader:
    """Reads reference tokens against one hypothesis, a row at a time."""

    def __init__(self, hypothesis: Sequence[str], costs: Costs) -> None:
        self._gap, self._substitution = _COSTS[costs]
        self._ids: dict[str, int] = {}
        self._hypothesis = np.array(
            [self._ids.setdefault(token, len(self._ids)) for token in hypothesis], dtype=np.int64
        )
        self._prefix = prefix_costs(np.full(len(hypothesis), self._gap, dtype=np.int64))
        self._places = np.arange(len(hypothesis) + 1)

    def start(self) -> _Row:
        return _Row(self._prefix, np.zeros_like(self._places))

    def read(self, row: _Row, tokens: Sequence[str]) -> _Row:
        """Return the row after some reference tokens."""
        for token in tokens:
            row = self._read_one(row, self._ids.get(token, -1))
        return row

    def _read_one(self, row: _Row, token: int) -> _Row:
        pairing = row.costs[:-1] + np.where(self._hypothesis == token, 0, self._substitution)
        costs, entered = row.costs + self._gap, row.entered.copy()
        is_pair = np.concatenate([[False], pairing <= costs[1:]])
        costs[1:] = np.minimum(costs[1:], pairing)
        entered[1:] = np.where(is_pair[1:], row.entered[:-1], entered[1:])
        bare = costs - self._prefix
        lowest = np.minimum.accumulate(bare)
        origin = np.maximum.accumulate(np.where(bare == lowest, self._places, 0))
        return _Row(lowest + self._prefix, entered[origin])


def _merge(ends: Sequence[_Row]) -> tuple[_Row, _Choice]:
    costs = np.stack([end.costs for end in ends])
    taken = costs.argmin(axis=0)
    places = np.arange(costs.shape[1])
    entered = np.stack([end.entered for end in ends])[taken, places]
    return _Row(costs[taken, places], places), _Choice(taken.astype(np.int32), entered)


def _trace(slots: Sequence[Slot], choices: Sequence[_Choice], last: _Row) -> list[int]:
    place = int(last.entered[-1])
    backwards = []
    remaining = list(choices)
    for slot in reversed(slots):
        if len(slot) == 1:
            backwards.append(0)
            continue
        choice = remaining.pop()
        backwards.append(int(choice.alternative[place]))
        place = int(choice.entered[place])
    return backwards[::-1]
