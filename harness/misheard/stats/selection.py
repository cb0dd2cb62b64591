"""Choosing items by their conditions: combinations of axes, and filters such as `noise=5dB`."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard.errors import InputError
from misheard.metrics.base import BoolArray
from misheard.metrics.table import ItemInfo
from misheard.stats.slices import KIND_AXIS, NO_VALUE, Slice
from misheard.suite.items import ItemKind
from misheard.suite.problems import shown, suggestion

SESSION_AXIS = "session"
MAX_CELLS = 1_000
"""More cells than this are no table that anybody reads, and every one of them costs a bootstrap."""

_CONDITION = re.compile(r"\s*([a-z][a-z0-9_]*)\s*(!?=)(.*)", re.DOTALL)
_PIECE = re.compile(r"\\.|[^\\,|]+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Condition:
    """Items whose value on an axis is one of `values`, or, `negated`, none of them.

    None among the values stands for items that give no value on the axis.
    """

    axis: str
    values: tuple[str | None, ...]
    negated: bool = False

    def __str__(self) -> str:
        values = "|".join(NO_VALUE if value is None else _escaped(value) for value in self.values)
        return f"{self.axis}{'!=' if self.negated else '='}{values}"


def parse_where(text: str) -> tuple[Condition, ...]:
    """Return the conditions of a filter: `noise=5dB`, `language=hi|ta`, `noise!=clean`; a comma means `and`.

    A comma or a bar that belongs to a value stands behind a backslash; `(none)` stands for items without a
    value. Raises InputError for a text of another form.
    """
    return tuple(_parse_condition(part, text) for part in _split(text, ","))


def parse_by(text: str) -> tuple[str, ...]:
    """Return the axes of a list such as `language,noise`. Raises InputError for an empty or repeated one."""
    by = tuple(part.strip() for part in text.split(","))
    if not all(by) or len(set(by)) < len(by):
        raise InputError(f"--by {shown(text)}: give different axes with commas between, as in language,noise")
    return by


def selectable_axes(
    items: Sequence[ItemInfo], axes: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Return every axis that items can be chosen by, with its values: declared ones, then others in use.

    Those are the declared axes and, unless the suite declares axes with these names, `kind` and `session`.
    """
    known = {**axes}
    known.setdefault(KIND_AXIS, [str(kind) for kind in ItemKind])
    known.setdefault(SESSION_AXIS, [])
    return {axis: (*declared, *_undeclared(items, axis, axes)) for axis, declared in known.items()}


def _undeclared(items: Sequence[ItemInfo], axis: str, axes: Mapping[str, Sequence[str]]) -> list[str]:
    if axis == KIND_AXIS and axis not in axes:
        return []
    used = {value for value in axis_values(items, axis, axes) if value is not None}
    return sorted(used - set(axes.get(axis, ())))


def axis_values(items: Sequence[ItemInfo], axis: str, axes: Mapping[str, Sequence[str]]) -> list[str | None]:
    """Return each item's value on an axis (see `selectable_axes`), None where it gives none."""
    if axis not in axes and axis == KIND_AXIS:
        return [str(item.kind) for item in items]
    if axis not in axes and axis == SESSION_AXIS:
        return [item.session for item in items]
    return [item.conditions.get(axis) for item in items]


def where_rows(
    items: Sequence[ItemInfo], axes: Mapping[str, Sequence[str]], conditions: Sequence[Condition]
) -> BoolArray:
    """Return which of n items fulfil every condition: bool[n].

    Raises InputError for an axis or a value that neither the suite declares nor an item has.
    """
    rows = np.ones(len(items), dtype=np.bool_)
    known = selectable_axes(items, axes)
    for condition in conditions:
        _check_condition(condition, known)
        wanted = set(condition.values)
        values = axis_values(items, condition.axis, axes)
        rows &= np.array([(value in wanted) != condition.negated for value in values], dtype=np.bool_)
    return rows


def slices_by(
    items: Sequence[ItemInfo], axes: Mapping[str, Sequence[str]], by: Sequence[str]
) -> tuple[Slice, ...]:
    """Return a slice per combination of the values of several axes, the last axis changing first.

    Every combination of declared values is there, also without items; values that are not declared, and
    items without a value, make slices where there are such items.

    Args:
        items: n items.
        axes: the declared values of each condition axis.
        by: one or more of `selectable_axes`.

    Raises InputError for an axis that does not exist and for more than MAX_CELLS combinations.
    """
    known = selectable_axes(items, axes)
    for axis in by:
        if axis not in known:
            raise InputError(f"--by names the unknown axis {shown(axis)}{suggestion(axis, known)}")
    levels: list[tuple[str | None, ...]] = [(*known[axis], None) for axis in by]
    shape = tuple(len(values) for values in levels)
    declared = [len(known[axis] if axis == KIND_AXIS else axes.get(axis, ())) for axis in by]
    # the numbers of combinations must fit into 64 bits, declared ones or not
    if math.prod(declared) > MAX_CELLS or math.prod(shape) >= 2**63:
        raise _too_many(by, max(math.prod(declared), math.prod(shape)))
    places = _cell_places([axis_values(items, axis, axes) for axis in by], levels)
    wanted = sorted({*places.tolist(), *_declared_places(declared, shape)})
    if len(wanted) > MAX_CELLS:
        raise _too_many(by, len(wanted))
    return tuple(_slice(by, levels, shape, place, places) for place in wanted)


def _cell_places(
    columns: Sequence[Sequence[str | None]], levels: Sequence[Sequence[str | None]]
) -> npt.NDArray[np.int64]:
    """Return the number of each item's combination in row-major order: int64[n]."""
    places = np.zeros(len(columns[0]), dtype=np.int64)
    for values, level in zip(columns, levels, strict=True):
        number = {value: place for place, value in enumerate(level)}
        places = places * len(level) + np.array([number[value] for value in values], dtype=np.int64)
    return places


def _declared_places(declared: Sequence[int], shape: tuple[int, ...]) -> list[int]:
    if 0 in declared:
        return []
    return [int(np.ravel_multi_index(index, shape)) for index in np.ndindex(*declared)]


def _slice(
    by: Sequence[str],
    levels: Sequence[Sequence[str | None]],
    shape: tuple[int, ...],
    place: int,
    places: npt.NDArray[np.int64],
) -> Slice:
    index = np.unravel_index(place, shape)
    conditions = tuple(
        (axis, level[int(number)]) for axis, level, number in zip(by, levels, index, strict=True)
    )
    return Slice(conditions, places == place)


def _too_many(by: Sequence[str], cells: int) -> InputError:
    return InputError(
        f"--by {','.join(by)}: {cells} combinations of values, at most {MAX_CELLS}; name fewer axes"
    )


def _parse_condition(part: str, text: str) -> Condition:
    found = _CONDITION.fullmatch(part)
    if found is None or not found[3].strip():
        raise InputError(
            f"--where {shown(text)}: write axis=value, axis=value|value or axis!=value, with commas for `and`"
        )
    axis, sign, values = found.groups()
    names = [_unescaped(value.strip()) for value in _split(values, "|")]
    if not all(names):
        raise InputError(f"--where {shown(text)}: an empty value; {NO_VALUE} stands for items without one")
    return Condition(axis, tuple(None if name == NO_VALUE else name for name in names), sign == "!=")


def _split(text: str, separator: str) -> list[str]:
    """Return the parts between separators that stand behind no backslash."""
    parts = [""]
    for piece in _PIECE.findall(text):
        if piece == separator:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _escaped(value: str) -> str:
    return re.sub(r"([,|\\])", r"\\\1", value)


def _unescaped(value: str) -> str:
    return re.sub(r"\\([,|\\])", r"\1", value)


def _check_condition(condition: Condition, known: Mapping[str, Iterable[str]]) -> None:
    if condition.axis not in known:
        where = f"--where {shown(str(condition))}"
        raise InputError(f"{where}: unknown axis {shown(condition.axis)}{suggestion(condition.axis, known)}")
    values = list(known[condition.axis])
    for value in condition.values:
        if value is not None and value not in values:
            raise InputError(
                f"--where {shown(str(condition))}: no value {shown(value)} on the axis {condition.axis}"
                f"{suggestion(value, values[:MAX_CELLS])}"
            )
