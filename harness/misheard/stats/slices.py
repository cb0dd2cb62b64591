"""Slices: the items that share values of conditions, declared values without items among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard.canonical import sha256_json
from misheard.metrics.base import Arm, BoolArray
from misheard.metrics.table import CountTable, ItemInfo
from misheard.suite.items import ItemKind

MIN_ITEMS = 50
"""Below this many items a winner flips on noise alone: a cell is flagged and gives no verdict."""

NO_VALUE = "(none)"
"""What stands for a missing value in the name of a combination and in filters."""

KIND_AXIS = "kind"
"""The axis of a suite that declares none; its values are those of ItemKind."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The items that share a value on one axis or on each of several.

    Attributes:
        conditions: per axis, the shared value; None for the items that give none on it.
        rows: bool[n], which items belong to it; all False for declared values without items.
    """

    conditions: tuple[tuple[str, str | None], ...]
    rows: BoolArray

    @property
    def axis(self) -> str:
        """The axis, or the axes with commas between."""
        return ",".join(axis for axis, _ in self.conditions)

    @property
    def value(self) -> str | None:
        """The value on a single axis; of several, the values with commas between, NO_VALUE for none."""
        values = [value for _, value in self.conditions]
        return values[0] if len(values) == 1 else ",".join(NO_VALUE if v is None else v for v in values)

    @property
    def items(self) -> int:
        """How many items belong to it."""
        return int(np.count_nonzero(self.rows))


def slice_items(items: Sequence[ItemInfo], axes: Mapping[str, Sequence[str]]) -> tuple[Slice, ...]:
    """Return every cell of every axis, in declared order.

    Values that the items use but the suite does not declare follow in sorted order, then, where some items
    give no value, a slice with the value None.
    """
    if not axes:
        kinds = [str(item.kind) for item in items]
        return tuple(_slices_of_axis(KIND_AXIS, kinds, [str(kind) for kind in ItemKind]))
    return tuple(
        cell
        for axis, declared in axes.items()
        for cell in _slices_of_axis(axis, [item.conditions.get(axis) for item in items], declared)
    )


def used_axes(items: Sequence[ItemInfo]) -> dict[str, tuple[str, ...]]:
    """Return the axes that the items use with their values, sorted: for items without a suite beside them."""
    return {
        axis: tuple(sorted({item.conditions[axis] for item in items if axis in item.conditions}))
        for axis in sorted({axis for item in items for axis in item.conditions})
    }


def _slices_of_axis(axis: str, values: Sequence[str | None], declared: Sequence[str]) -> list[Slice]:
    undeclared = sorted({value for value in values if value is not None} - set(declared))
    cells: list[str | None] = [*declared, *undeclared]
    if None in values:
        cells.append(None)
    return [
        Slice(((axis, cell),), np.array([value == cell for value in values], dtype=np.bool_))
        for cell in cells
    ]


def items_sha256(items: Sequence[ItemInfo], rows: BoolArray) -> str:
    """Return a hash that two slices share exactly where they hold the same items, in whatever order.

    Args:
        items: all items, n of them.
        rows: bool[n], those of the slice.
    """
    return sha256_json(sorted(items[place].id for place in np.flatnonzero(rows).tolist()))


def unit_numbers(items: Sequence[ItemInfo]) -> npt.NDArray[np.intp]:
    """Return a number per item that is the same exactly for items of one resampling unit: intp[n]."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(item.resampling_unit, len(numbers)) for item in items], dtype=np.intp)


def failed_rows(table: CountTable, arm: Arm) -> BoolArray:
    """Return which items failed in an arm: bool[n]; all False for an arm that was not run."""
    if arm not in table.arms:
        return np.zeros(len(table.items), dtype=np.bool_)
    return np.array([failure is not None for failure in table.arms[arm].failures], dtype=np.bool_)
