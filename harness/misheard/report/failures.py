"""What failed, beside every metric: by arm, stage and kind."""

from collections import Counter
from collections.abc import Mapping, Sequence

from misheard.failures import Failure
from misheard.metrics.base import Arm
from misheard.metrics.table import ArmTable, CountTable
from misheard.report.values import Document


def failures_document(table: CountTable) -> Document:
    """Return the samples that failed in any arm, and in each.

    A sample that fails in several arms counts once in the totals over all arms, and once per stage and kind.
    """
    total = len(table.items)
    by_sample = [
        {failure for arm in table.arms.values() if (failure := arm.failures[place]) is not None}
        for place in range(total)
    ]
    return {
        "samples": total,
        **_summary(by_sample),
        "by_arm": {str(name): _arm_summary(arm) for name, arm in table.arms.items()},
    }


def _arm_summary(arm: ArmTable) -> Document:
    return _summary([set() if failure is None else {failure} for failure in arm.failures])


def _summary(by_sample: Sequence[set[Failure]]) -> Document:
    failed = sum(1 for failures in by_sample if failures)
    stages = Counter(stage for failures in by_sample for stage in {f.stage for f in failures})
    kinds = Counter(kind for failures in by_sample for kind in {str(f.kind) for f in failures})
    return {
        "samples_failed": failed,
        "failure_rate": failed / len(by_sample) if by_sample else None,
        "by_stage": _sorted(stages),
        "by_kind": _sorted(kinds),
    }


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def failure_rows(table: CountTable) -> list[tuple[str, Arm, Failure]]:
    """Return every failure with its item and arm, in the suite's order."""
    return [
        (item.id, name, failure)
        for place, item in enumerate(table.items)
        for name, arm in table.arms.items()
        if (failure := arm.failures[place]) is not None
    ]
