"""How estimates become JSON values: sorted keys, no NaN, whole numbers without a decimal point."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from misheard.metrics.base import FloatArray
from misheard.stats.differences import Difference
from misheard.stats.estimates import Estimate
from misheard.stats.resampling import (
    CONFIDENCE,
    MANY_UNITS,
    MAX_RESAMPLED,
    Interval,
    Intervals,
)
from misheard.stats.slices import MIN_ITEMS
from misheard.stats.verdict import MIN_UNITS

_MAX_EXACT = 2**53

Document = dict[str, Any]


def number(value: float) -> float | int:
    """Return a finite number, as an int where it is whole."""
    return int(value) if value.is_integer() and abs(value) < _MAX_EXACT else value


def statistics_document(resamples: int, seed: int) -> Document:
    """Return the settings that the intervals and flags come from."""
    return {
        "confidence": CONFIDENCE,
        "resamples": resamples,
        "seed": seed,
        "min_items": MIN_ITEMS,
        "min_units": MIN_UNITS,
        "many_units": MANY_UNITS,
        "max_resampled": MAX_RESAMPLED,
    }


def interval_document(interval: Interval | None) -> list[float] | None:
    """Return an interval as [low, high]."""
    return None if interval is None else [interval.low, interval.high]


def intervals_document(intervals: Intervals | None) -> Document | None:
    """Return every interval, the one that decides, how sure they are, and why any is missing."""
    if intervals is None:
        return None
    return {
        "deciding": interval_document(intervals.deciding),
        "bootstrap": interval_document(intervals.bootstrap),
        "jackknife": interval_document(intervals.jackknife),
        "exact": interval_document(intervals.exact),
        "standard_error": intervals.standard_error,
        "monte_carlo_error": None
        if intervals.monte_carlo_error is None
        else list(intervals.monte_carlo_error),
        "largest_unit_share": intervals.largest_unit_share,
        "undefined_resamples": intervals.undefined_resamples,
        "reasons": dict(intervals.reasons),
    }


def size_flags(n: int, units: int) -> list[str]:
    """Return what makes an estimate weak: `empty`, or `under_50` items and `under_6_units`."""
    if n == 0:
        return ["empty"]
    flags = []
    if n < MIN_ITEMS:
        flags.append(f"under_{MIN_ITEMS}")
    if units < MIN_UNITS:
        flags.append(f"under_{MIN_UNITS}_units")
    return flags


def estimate_document(estimate: Estimate) -> Document:
    """Return an estimate with everything needed to judge it."""
    return {
        "value": estimate.value,
        "reason": estimate.reason,
        "n": estimate.n,
        "units": estimate.units,
        "failed": estimate.failed,
        "counts": counts_document(estimate.counts),
        "intervals": intervals_document(estimate.intervals),
        "flags": size_flags(estimate.n, estimate.units),
    }


def difference_document(difference: Difference) -> Document:
    """Return a paired difference with everything needed to judge it."""
    return {
        "a": difference.a,
        "b": difference.b,
        "difference": difference.difference,
        "n": difference.n,
        "units": difference.units,
        "failed_a": difference.failed_a,
        "failed_b": difference.failed_b,
        "unpaired": asdict(difference.unpaired),
        "intervals": intervals_document(difference.intervals),
        "keeps_sign": None if difference.intervals is None else difference.intervals.keeps_sign,
        "sign_flip": None if difference.sign_flip is None else asdict(difference.sign_flip),
        "adjusted": None if difference.adjusted is None else asdict(difference.adjusted),
        "smallest_detectable": difference.smallest_detectable,
        "margin": difference.margin,
        "flags": size_flags(difference.n, difference.units),
        "verdict": str(difference.verdict),
    }


def counts_document(counts: Mapping[str, float]) -> Document:
    """Return sums per column."""
    return {name: number(value) for name, value in counts.items()}


def distribution_document(rates: FloatArray) -> Document:
    """Return n, mean, median and 95th percentile (linear interpolation) of the defined values."""
    defined = rates[np.isfinite(rates)]
    if defined.size == 0:
        return {"n": 0, "mean": None, "p50": None, "p95": None}
    p50, p95 = np.percentile(defined, [50, 95])
    # fsum rounds once, so that the mean does not depend on how a machine orders a sum
    return {
        "n": int(defined.size),
        "mean": math.fsum(defined) / defined.size,
        "p50": float(p50),
        "p95": float(p95),
    }
