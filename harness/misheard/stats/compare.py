"""Comparison of two systems, paired by item, over identical suites."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from misheard.metrics.base import Arm, BoolArray, Family
from misheard.metrics.table import CountTable
from misheard.stats.differences import Adjusted, Difference, Pairs, Unpaired, compare_pairs
from misheard.stats.estimates import family_arms, family_failures, spans_arms
from misheard.stats.multiplicity import benjamini_hochberg, holm
from misheard.stats.pairing import check_same_items, reorder
from misheard.stats.resampling import RESAMPLES, SEED
from misheard.stats.rounding import ROUNDING
from misheard.stats.selection import Condition, slices_by, where_rows
from misheard.stats.slices import Slice, items_sha256, slice_items, unit_numbers, used_axes

__all__ = [
    "EVERYTHING",
    "Comparison",
    "Difference",
    "Selection",
    "SliceComparison",
    "Unpaired",
    "adjust_together",
    "arm_pairs",
    "compare_arms",
    "compare_tables",
    "worst_slices",
]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is compared; each part that is left out chooses everything.

    Attributes:
        metrics: the names of rates.
        arms: of those rates.
        by: combinations of axes to slice by, in place of each axis by itself.
        where: conditions that all items fulfil.
        margins: per rate, the size up to which a difference is none.
    """

    metrics: tuple[str, ...] = ()
    arms: tuple[Arm, ...] = ()
    by: tuple[tuple[str, ...], ...] = ()
    where: tuple[Condition, ...] = ()
    margins: Mapping[str, float] = field(default_factory=dict)


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class SliceComparison:
    """The differences over the items of one slice; see `misheard.stats.slices` for its parts."""

    conditions: tuple[tuple[str, str | None], ...]
    axis: str
    value: str | None
    items: int
    items_sha256: str
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """System B against system A.

    Attributes:
        items, units: of the suite that both ran over, as far as they were chosen.
        without_session: items that are a unit of their own.
        resamples, seed: of the bootstrap.
        differences: over all pairs.
        slices: over the pairs of each slice.
        not_compared: families and arms that only one side has.
    """

    items: int
    units: int
    without_session: int
    resamples: int
    seed: int
    differences: tuple[Difference, ...]
    slices: tuple[SliceComparison, ...]
    not_compared: tuple[tuple[str, Arm], ...]


def compare_tables(
    a: CountTable,
    b: CountTable,
    families: Sequence[Family],
    *,
    axes: Mapping[str, Sequence[str]] | None = None,
    selection: Selection = EVERYTHING,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Return every difference rate(B) - rate(A), paired by item id, over the suite and per slice.

    Both tables must come from the same scorer; the caller sees to that. Differences of slices carry p-values
    adjusted by Benjamini and Hochberg within a metric and arm, over the slices that can give a verdict;
    slices that hold the very same items are one test.

    Args:
        a: the counts of system A.
        b: the counts of system B.
        families: the metric families, as both were scored.
        axes: the declared values of each condition axis; without them, the values that the items use.
        selection: what is compared.
        resamples: of the bootstrap.
        seed: of the bootstrap and of the sign-flip test.

    Raises NotComparableError where the items differ, naming them, and InputError for axes and values of the
    selection that do not exist.
    """
    check_same_items(a.items, b.items)
    b = reorder(b, a.items)
    axes = used_axes(a.items) if axes is None else axes
    pairs, not_compared = _pair(a, b, families, selection)
    units = unit_numbers(a.items)
    chosen = where_rows(a.items, axes, selection.where)
    known: dict[bytes, tuple[Difference, ...]] = {}

    def compare(rows: BoolArray) -> tuple[Difference, ...]:
        key = rows.tobytes()
        if key not in known:
            known[key] = compare_pairs(
                pairs,
                units,
                rows,
                resamples,
                seed,
                metrics=selection.metrics,
                margins=selection.margins,
            )
        return known[key]

    slices = [
        SliceComparison(
            conditions=cell.conditions,
            axis=cell.axis,
            value=cell.value,
            items=int(np.count_nonzero(cell.rows & chosen)),
            items_sha256=items_sha256(a.items, cell.rows & chosen),
            differences=compare(cell.rows & chosen),
        )
        for cell in _slices(a, axes, selection)
    ]
    return Comparison(
        items=int(np.count_nonzero(chosen)),
        units=len(set(units[chosen].tolist())),
        without_session=sum(
            1 for item, is_chosen in zip(a.items, chosen, strict=True) if is_chosen and item.session is None
        ),
        resamples=resamples,
        seed=seed,
        differences=compare(chosen),
        slices=_adjust_slices(slices),
        not_compared=not_compared,
    )


def _slices(table: CountTable, axes: Mapping[str, Sequence[str]], selection: Selection) -> tuple[Slice, ...]:
    if not selection.by:
        return slice_items(table.items, axes)
    return tuple(cell for by in selection.by for cell in slices_by(table.items, axes, by))


def adjust_together(comparisons: Sequence[Comparison], arms: Collection[Arm]) -> tuple[Comparison, ...]:
    """Return comparisons whose differences over all pairs carry p-values adjusted by Holm, all together.

    That is for a claim that any metric, arm or system differs. Other arms than `arms` are left out.
    """
    tested = [
        (number, place, difference.sign_flip.p)
        for number, comparison in enumerate(comparisons)
        for place, difference in enumerate(comparison.differences)
        if difference.arm in arms and difference.can_decide and difference.sign_flip is not None
    ]
    adjusted = {
        (number, place): Adjusted(p, "holm", len(tested))
        for (number, place, _), p in zip(tested, holm([p for _, _, p in tested]), strict=True)
    }
    return tuple(
        replace(
            comparison,
            differences=tuple(
                replace(difference, adjusted=adjusted.get((number, place)))
                for place, difference in enumerate(comparison.differences)
            ),
        )
        for number, comparison in enumerate(comparisons)
    )


def _adjust_slices(slices: Sequence[SliceComparison]) -> tuple[SliceComparison, ...]:
    """Return the slices with their p-values adjusted, per place in their lists of differences."""
    adjusted: list[dict[str, Adjusted]] = []
    for differences in zip(*(cell.differences for cell in slices), strict=True):
        tested = {
            cell.items_sha256: difference.sign_flip.p
            for cell, difference in zip(slices, differences, strict=True)
            if difference.can_decide and difference.sign_flip is not None
        }
        values = benjamini_hochberg(list(tested.values()))
        adjusted.append(
            {
                key: Adjusted(p, "benjamini_hochberg", len(tested))
                for key, p in zip(tested, values, strict=True)
            }
        )
    return tuple(
        replace(
            cell,
            differences=tuple(
                replace(difference, adjusted=found.get(cell.items_sha256))
                for difference, found in zip(cell.differences, adjusted, strict=True)
            ),
        )
        for cell in slices
    )


def worst_slices(comparison: Comparison) -> tuple[tuple[SliceComparison, Difference], ...]:
    """Return, per metric and arm with a better direction, the slice where B loses most or gains least.

    All equal ones are returned, and none where every slice is equal. Only axes on which at least two slices
    have a difference are looked at.
    """
    out: list[tuple[SliceComparison, Difference]] = []
    for differences in zip(*(cell.differences for cell in comparison.slices), strict=True):
        found = [
            (cell, difference, difference.difference * (1 if difference.better == "lower" else -1))
            for cell, difference in zip(comparison.slices, differences, strict=True)
            if difference.difference is not None and difference.better is not None
        ]
        axes = [cell.axis for cell, _, _ in found]
        rivals = [entry for entry in found if axes.count(entry[0].axis) > 1]
        losses = [loss for _, _, loss in rivals]
        if losses and max(losses) - min(losses) > ROUNDING:
            out.extend((cell, one) for cell, one, loss in rivals if max(losses) - loss <= ROUNDING)
    return tuple(out)


def compare_arms(
    table: CountTable,
    families: Sequence[Family],
    golden: Arm = Arm.TRANSCRIPT,
    arm: Arm = Arm.AUDIO,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Difference, ...]:
    """Return rate(arm) - rate(golden) of one system, for every family that both arms have, over all items.

    With the default arms this is what recognition loses: a verdict `worse` says that mishearing costs.
    """
    everything = np.ones(len(table.items), dtype=np.bool_)
    pairs = arm_pairs(table, families, golden, arm)
    return compare_pairs(pairs, unit_numbers(table.items), everything, resamples, seed)


def arm_pairs(table: CountTable, families: Sequence[Family], golden: Arm, arm: Arm) -> list[Pairs]:
    """Return the counts of two arms of one system side by side, for every family that both are scored in."""
    counts = {(family.name, name): counts for family, name, counts in family_arms(table, families)}
    return [
        Pairs.of(
            family,
            arm,
            (counts[family.name, golden], counts[family.name, arm]),
            (family_failures(table, family, golden), family_failures(table, family, arm)),
        )
        for family in families
        if spans_arms(family) and {(family.name, golden), (family.name, arm)} <= counts.keys()
    ]


def _pair(
    a: CountTable, b: CountTable, families: Sequence[Family], selection: Selection
) -> tuple[list[Pairs], tuple[tuple[str, Arm], ...]]:
    counts_a = {(family.name, arm): counts for family, arm, counts in family_arms(a, families)}
    counts_b = {(family.name, arm): counts for family, arm, counts in family_arms(b, families)}
    wanted = [
        (family, arm)
        for family in families
        for arm in family.arms
        if (not selection.arms or arm in selection.arms)
        and (not selection.metrics or not {rate.name for rate in family.rates}.isdisjoint(selection.metrics))
    ]
    pairs = [
        Pairs.of(
            family,
            arm,
            (counts_a[family.name, arm], counts_b[family.name, arm]),
            (family_failures(a, family, arm), family_failures(b, family, arm)),
        )
        for family, arm in wanted
        if (family.name, arm) in counts_a and (family.name, arm) in counts_b
    ]
    names = {(family.name, arm) for family, arm in wanted}
    return pairs, tuple(sorted((counts_a.keys() ^ counts_b.keys()) & names))
