"""Which stage loses how much of each metric, as JSON values: over all items, then per condition cell."""

from collections.abc import Sequence

from misheard.metrics.base import Arm, BoolArray
from misheard.report.values import (
    Document,
    difference_document,
    estimate_document,
    intervals_document,
    size_flags,
)
from misheard.stats.attribution import Attributor
from misheard.stats.estimates import Estimator
from misheard.stats.losses import Attribution, Largest, Loss, Share
from misheard.stats.slices import Slice

FLIP_RATE, BOARD_FLIP_RATE = "flip_rate", "board_flip_rate"


def attribution_documents(
    attributor: Attributor, estimator: Estimator, everything: BoolArray, slices: Sequence[Slice]
) -> list[Document]:
    """Return a document over all items (axis and value null) and one per slice; none without a golden arm.

    Args:
        attributor: of the run.
        estimator: of the same counts; the control arm's flip rate comes from it.
        everything: bool[n], all True.
        slices: the condition cells.
    """
    if not attributor.attribute(everything):
        return []
    places = [(None, None, everything), *((cell.axis, cell.value, cell.rows) for cell in slices)]
    return [
        {
            "axis": axis,
            "value": value,
            "items": int(rows.sum()),
            "control_flip_rate": _control_rate(estimator, rows, FLIP_RATE),
            "control_board_flip_rate": _control_rate(estimator, rows, BOARD_FLIP_RATE),
            "metrics": [_attribution_document(found) for found in attributor.attribute(rows)],
        }
        for axis, value, rows in places
    ]


def _control_rate(estimator: Estimator, rows: BoolArray, metric: str) -> Document | None:
    """Return how often answers or boards change although nothing did; None without a control arm."""
    for estimate in estimator.estimate(rows):
        if estimate.metric == metric and estimate.arm is Arm.CONTROL:
            return estimate_document(estimate)
    return None


def _attribution_document(attribution: Attribution) -> Document:
    return {
        "family": attribution.family,
        "metric": attribution.metric,
        "better": attribution.better,
        "n": attribution.n,
        "units": attribution.units,
        "flags": size_flags(attribution.n, attribution.units),
        "shortfall": attribution.shortfall,
        "intervals": intervals_document(attribution.intervals),
        "losses": [_loss_document(loss) for loss in attribution.losses],
        "undefined": [{"stage": one.stage, "reason": one.reason} for one in attribution.undefined],
        "remainder": {"stage": attribution.rest, **_share_document(attribution.remainder)},
        "largest": None if attribution.largest is None else _largest_document(attribution.largest),
        "noise": None if attribution.noise is None else difference_document(attribution.noise),
        "correction": None if attribution.correction is None else difference_document(attribution.correction),
    }


def _largest_document(largest: Largest) -> Document:
    return {
        "stage": largest.stage,
        "next": largest.next,
        "lead": largest.lead,
        "intervals": intervals_document(largest.intervals),
        "shown": largest.is_shown,
    }


def _loss_document(loss: Loss) -> Document:
    return {
        "stage": loss.stage,
        "golden": str(loss.golden),
        "arm": str(loss.arm),
        **_share_document(loss.part),
        "within_noise": loss.within_noise,
        "difference": difference_document(loss.difference),
    }


def _share_document(part: Share) -> Document:
    return {
        "amount": part.amount,
        "amount_intervals": intervals_document(part.amount_intervals),
        "share": part.share,
        "reason": part.reason,
        "intervals": intervals_document(part.intervals),
    }
