"""What a pilot says about the size of a suite, as one deterministic document.

Three contrasts, each with its own standard error:

* `arms`: rate(audio) - rate(transcript) within the pilot, paired by item.
* `systems`: rate(B) - rate(A) of two runs over the pilot's items, paired by item.
* `systems_bound`: what is known of that from one run. The variance of the difference is Var(A) + Var(B) -
  2 Cov(A, B); with a system B that varies like A and a covariance that is not negative (both hear the same
  recordings) it is at most 2 Var(A), so that sqrt(2) SE(A) bounds its standard error from above.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from misheard.errors import InputError
from misheard.metrics.base import Arm, BoolArray, Counts, Family, FloatArray, Rate
from misheard.metrics.table import CountTable
from misheard.report.labels import metric_suggestion
from misheard.report.values import Document, size_flags
from misheard.stats.estimates import family_arms
from misheard.stats.pairing import reorder
from misheard.stats.power import Spread, items_of, measure_spread, smallest_effect, units_needed
from misheard.stats.resampling import CONFIDENCE, Statistic
from misheard.stats.selection import slices_by
from misheard.stats.slices import MIN_ITEMS, Slice, unit_numbers
from misheard.stats.verdict import MIN_UNITS
from misheard.suite.problems import shown

FORMAT = "misheard-power"
FORMAT_VERSION = 1

UNITS = (6, 8, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320)
"""The sizes of suite that the table of effects has, besides the pilot's own."""

_USUAL = ("correct_rate", "hallucination_rate", "response_quality")
_FALLBACK = "wer"


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be planned.

    Attributes:
        power: with which probability an effect is to be shown, from 0.5 to below 1.
        effect: the wanted effect, in the metric's own unit: 0.05 are 5 points of a rate; None for none.
        metrics: names; empty for the primary metrics and those of answers.
        arm: whose rates are compared.
        by: combinations of axes, a plan per combination of their values; empty for all items.
    """

    power: float = 0.8
    effect: float | None = None
    metrics: tuple[str, ...] = ()
    arm: Arm = Arm.AUDIO
    by: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Contrast:
    """A statistic of counts: float64[n, K] with the items that count in it."""

    name: str
    family: Family
    rate: Rate
    values: FloatArray
    present: BoolArray
    statistic: Statistic
    factor: float = 1.0
    """Of the standard error."""


def build_power(
    table: CountTable,
    families: Sequence[Family],
    report: Document,
    question: Question,
    against: CountTable | None = None,
) -> Document:
    """Return the plan as JSON values, described by `power.schema.json`.

    Args:
        table: the counts of the pilot.
        families: as it was scored.
        report: of the pilot; suite, axes and primary metrics come from it.
        question: what is to be planned.
        against: the counts of another system over the same items, scored in the same way.

    Raises InputError for a metric, an arm or an axis that is not there.
    """
    if question.arm not in table.arms:
        raise InputError(
            f"--arm {question.arm}: the pilot was run in {', '.join(map(str, table.arms))} alone"
        )
    wanted = _metrics(report["metrics"], report["primary_metrics"].values(), question)
    cells = [cell for by in question.by for cell in slices_by(table.items, report["axes"], by)]
    if not question.by:
        cells = [Slice((), np.ones(len(table.items), dtype=np.bool_))]
    other = None if against is None else reorder(against, table.items)
    contrasts = list(_contrasts(table, families, wanted, question.arm, other))
    units = unit_numbers(table.items)
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "suite": report["suite"],
        "scorer": report["scorer"],
        "power": question.power,
        "confidence": CONFIDENCE,
        "effect": question.effect,
        "min_items": MIN_ITEMS,
        "min_units": MIN_UNITS,
        "without_session": sum(1 for item in table.items if item.session is None),
        "by": [list(axes) for axes in question.by],
        "plans": [
            _plan(contrast, cell, _spread(contrast, cell.rows, units), question)
            for cell in cells
            for contrast in contrasts
        ],
    }


def _metrics(known: Sequence[Document], primary: Sequence[str], question: Question) -> list[str]:
    """Return the names of the metrics to plan with. Raises InputError for one that cannot be."""
    rates = {metric["metric"]: metric for metric in known if str(question.arm) in metric["arms"]}
    for name in question.metrics:
        if name not in rates:
            raise InputError(
                f"--metric {shown(name)}: the {question.arm} arm has no such metric"
                f"{metric_suggestion(name, rates)}"
            )
    if question.metrics:
        return list(dict.fromkeys(question.metrics))
    usual = [name for name in (*(primary or (_FALLBACK,)), *_USUAL) if name in rates]
    return list(dict.fromkeys(usual))


def _contrasts(
    table: CountTable, families: Sequence[Family], wanted: Sequence[str], arm: Arm, other: CountTable | None
) -> Iterator[_Contrast]:
    own = {(family.name, name): counts for family, name, counts in family_arms(table, families)}
    others = {} if other is None else {(f.name, name): c for f, name, c in family_arms(other, families)}
    rates = [(family, rate) for family in families for rate in family.rates if rate.name in wanted]
    for family, rate in sorted(rates, key=lambda pair: wanted.index(pair[1].name)):
        counts = own.get((family.name, arm))
        if counts is None:
            continue
        golden = own.get((family.name, Arm.TRANSCRIPT))
        if arm is Arm.AUDIO and golden is not None and family.relative_to is None:
            yield _paired("arms", family, rate, golden, counts)
        if other is None:
            yield _Contrast(
                "systems_bound", family, rate, counts.values, counts.present, rate.compute, math.sqrt(2.0)
            )
        elif (family.name, arm) in others:
            yield _paired("systems", family, rate, counts, others[family.name, arm])


def _paired(name: str, family: Family, rate: Rate, a: Counts, b: Counts) -> _Contrast:
    columns = len(family.columns)

    def difference(sums: FloatArray) -> FloatArray:
        return rate.compute(sums[..., columns:]) - rate.compute(sums[..., :columns])

    values = np.concatenate([a.values, b.values], axis=1)
    return _Contrast(name, family, rate, values, a.present & b.present, difference)


def _spread(contrast: _Contrast, rows: BoolArray, units: np.typing.NDArray[np.intp]) -> Spread:
    spread = measure_spread(contrast.values, contrast.present & rows, units, contrast.statistic)
    if spread.standard_error is None:
        return spread
    return replace(spread, standard_error=contrast.factor * spread.standard_error)


def _plan(contrast: _Contrast, cell: Slice, spread: Spread, question: Question) -> Document:
    sizes = sorted({*UNITS, spread.units} - set(range(MIN_UNITS))) if spread.reason is None else []
    return {
        "conditions": dict(cell.conditions),
        "contrast": contrast.name,
        "family": contrast.family.name,
        "metric": contrast.rate.name,
        "arm": str(question.arm),
        "better": contrast.rate.better,
        "n": spread.n,
        "units": spread.units,
        "flags": size_flags(spread.n, spread.units),
        "value": spread.value,
        "standard_error": spread.standard_error,
        "reason": spread.reason,
        "smallest_effect": smallest_effect(spread, spread.units, question.power),
        "needed": _needed(spread, question),
        "sizes": [
            {
                "units": units,
                "items": items_of(spread, units),
                "smallest_effect": smallest_effect(spread, units, question.power),
            }
            for units in sizes
        ],
    }


def _needed(spread: Spread, question: Question) -> Document | None:
    """Return what the wanted effect takes; None without one, or where it takes more than can be recorded."""
    if question.effect is None:
        return None
    units = units_needed(spread, question.effect, question.power)
    return None if units is None else {"units": units, "items": items_of(spread, units)}


def can_plan(document: Document) -> bool:
    """Whether any figure of a plan is there."""
    return any(plan["reason"] is None for plan in document["plans"])
