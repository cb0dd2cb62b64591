"""Rows for tests of metric families."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, ArmOutput, Counts, Family, ScoredRow
from misheard.suite.items import Item, ItemKind

NOT_HEARD = Failure("recognize", FailureKind.ASR_ERROR, "broken")
NOT_ANSWERED = Failure("respond", FailureKind.TIMEOUT, "too slow")


def speech(item_id: str = "q1", reference: str = "what is it", **truth: Any) -> Item:
    return Item(id=item_id, audio=f"{item_id}.flac", reference=reference, **truth)


def non_speech(item_id: str = "n1") -> Item:
    return Item(id=item_id, audio=f"{item_id}.flac", reference="", kind=ItemKind.NON_SPEECH)


def heard(reference: str, transcript: str | None) -> ScoredRow:
    return ScoredRow(speech(reference=reference), Arm.AUDIO, ArmOutput(transcript))


def answered(
    answer: str | None, *, baseline: str | None = None, failure: Failure | None = None, **truth: Any
) -> ScoredRow:
    return ScoredRow(
        speech(**truth), Arm.AUDIO, ArmOutput("heard", answer, failure), ArmOutput("said", baseline)
    )


def named_counts(family: Family, row: ScoredRow) -> dict[str, float] | None:
    """One row's counts by column, or None where the row does not count."""
    counts = family.counts([row])
    if not counts.present[0]:
        assert not counts.values.any()
        return None
    return dict(zip(family.columns, counts.values[0].tolist(), strict=True))


def named_rates(family: Family, rows: Sequence[ScoredRow]) -> dict[str, float | None]:
    """The rates over all rows by name; None where undefined."""
    counts: Counts = family.counts(rows)
    sums = counts.values[counts.present].sum(axis=0)
    rates = {rate.name: float(rate.compute(sums)) for rate in family.rates}
    return {name: None if np.isnan(value) else value for name, value in rates.items()}
