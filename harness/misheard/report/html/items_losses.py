"""What mishearing costs single items, in the metric that a report leads with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import Arm, Family, FloatArray, Rate
from misheard.metrics.table import CountTable
from misheard.report.takeaway import leading
from misheard.report.takeaway_stages import LEADING
from misheard.report.values import Document


@dataclass(frozen=True, slots=True)
class ItemLosses:
    """What items lose between transcript and audio arm.

    Attributes:
        metric: that the report leads with; better high, so that a loss is above 0.
        amounts: the item's own value in the transcript arm minus that in the audio arm: float64[n], NaN where
            an arm has none.
    """

    metric: str
    amounts: FloatArray

    @property
    def what(self) -> str:
        """What the metric is called in a sentence."""
        return LEADING[self.metric]


def item_losses(report: Document, table: CountTable, families: Sequence[Family]) -> ItemLosses | None:
    """Return what each item loses; None where none has what the report leads with in both arms.

    Args:
        report: of the run.
        table: its counts.
        families: active in it.
    """
    metric = leading(report["propagation"]["lost_to_recognition"])
    if metric is None:
        return None
    family, rate = next((family, rate) for family in families for rate in family.rates if rate.name == metric)
    heard, written = (_values(table, arm, family, rate) for arm in (Arm.AUDIO, Arm.TRANSCRIPT))
    return ItemLosses(metric, written - heard)


def _values(table: CountTable, arm: Arm, family: Family, rate: Rate) -> FloatArray:
    counts = table.arms[arm].counts[family.name]
    return np.where(counts.present, rate.compute(counts.values), np.nan)
