"""From outputs to counts: every family over every item in every arm."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from misheard.metrics.base import Arm, ArmOutput, BoolArray, Counts, Family, FloatArray, ScoredRow
from misheard.metrics.table import TIMING_COLUMNS, ArmTable, CountTable, ItemInfo
from misheard.scenes.scene import EMPTY_SCENE
from misheard.suite.items import Item

FailurePolicy = Literal["exclude", "worst"]


def count_run(
    items: Sequence[Item],
    item_sha256: Sequence[str],
    outputs: Mapping[Arm, Sequence[ArmOutput]],
    timings: Mapping[Arm, Mapping[str, FloatArray]],
    flags: Mapping[Arm, Mapping[str, BoolArray]],
    families: Sequence[Family],
    on_failure: FailurePolicy,
) -> CountTable:
    """Return the counts of a run.

    Args:
        items: n items, in suite order.
        item_sha256: per item, the sha256 of its decoded audio and truth.
        outputs: per arm that was run, one output per item.
        timings: per arm, float64[n] per name in TIMING_COLUMNS; a column that is left out is all NaN.
        flags: per arm, bool[n] per name.
        families: the families to count; one that is relative to an arm that was not run is left out.
        on_failure: what becomes of an output that failed. `exclude`: what the failed stage and those after
            it would have given is missing, so that a family that needs it does not count the item. `worst`:
            it is an empty text, which families score as all wrong.

    Raises:
        ValueError: sequences or arrays of other lengths than n, or an unknown timing column.
        ScorerError: a custom scorer broke its contract.
    """
    _check(items, item_sha256, outputs, timings, flags)
    seen = {
        arm: [_as_scored(item, output, on_failure) for item, output in zip(items, row, strict=True)]
        for arm, row in outputs.items()
    }
    arms = {
        arm: ArmTable(
            arm=arm,
            failures=tuple(output.failure for output in outputs[arm]),
            counts=_arm_counts(arm, items, seen, families),
            timings=_all_timings(timings.get(arm, {}), len(items)),
            flags=dict(flags.get(arm, {})),
        )
        for arm in outputs
    }
    infos = tuple(_info(item, sha256) for item, sha256 in zip(items, item_sha256, strict=True))
    return CountTable(infos, arms)


_STAGES = ("recognize", "correct", "respond", "plan", "render")
"""In the order in which they run: what a failed stage and those after it would have given is missing."""


def _as_scored(item: Item, output: ArmOutput, on_failure: FailurePolicy) -> ArmOutput:
    """Return an output as families see it.

    What a failure took away is None, or empty under `worst`. A non-speech item is neither answered nor
    planned.
    """
    failure = output.failure
    if failure is None:
        return output if item.is_speech else replace(output, answer=None, plan=None, board=None)
    worst = on_failure == "worst"
    text, scene = ("", EMPTY_SCENE) if worst else (None, None)
    reached = _STAGES.index(failure.stage)
    unheard = reached < _STAGES.index("correct")
    unplanned = reached <= _STAGES.index("plan")
    return replace(
        output,
        transcript=text if unheard or output.transcript is None else output.transcript,
        correction=None if unheard else output.correction,
        n_best=() if unheard else output.n_best,
        answer=text if item.is_speech else None,
        plan=(scene if unplanned else output.plan) if item.plan is not None else None,
        board=scene if item.plan is not None else None,
    )


def _arm_counts(
    arm: Arm,
    items: Sequence[Item],
    seen: Mapping[Arm, Sequence[ArmOutput]],
    families: Sequence[Family],
) -> dict[str, Counts]:
    counts = {}
    for family in families:
        baseline_arm = family.relative_to
        if arm not in family.arms or (baseline_arm is not None and baseline_arm not in seen):
            continue
        baselines = seen[baseline_arm] if baseline_arm is not None else [None] * len(items)
        rows = [
            ScoredRow(item, arm, output, baseline)
            for item, output, baseline in zip(items, seen[arm], baselines, strict=True)
        ]
        counts[family.name] = family.counts(rows)
    return counts


def _all_timings(timings: Mapping[str, FloatArray], count: int) -> dict[str, npt.NDArray[np.float64]]:
    return {name: timings.get(name, np.full(count, np.nan)) for name in TIMING_COLUMNS}


def _info(item: Item, sha256: str) -> ItemInfo:
    return ItemInfo(item.id, item.kind, item.session, item.resampling_unit, dict(item.conditions), sha256)


def _check(
    items: Sequence[Item],
    item_sha256: Sequence[str],
    outputs: Mapping[Arm, Sequence[ArmOutput]],
    timings: Mapping[Arm, Mapping[str, FloatArray]],
    flags: Mapping[Arm, Mapping[str, BoolArray]],
) -> None:
    lengths = {"item_sha256": len(item_sha256)}
    lengths |= {f"outputs of arm {arm}": len(row) for arm, row in outputs.items()}
    for kind, columns in (("timings", timings), ("flags", flags)):
        for arm, arrays in columns.items():
            lengths |= {f"{kind} {name} of arm {arm}": len(array) for name, array in arrays.items()}
    for what, length in lengths.items():
        if length != len(items):
            raise ValueError(f"{what}: {length} entries for {len(items)} items")
    unknown = {name for arrays in timings.values() for name in arrays} - set(TIMING_COLUMNS)
    if unknown:
        raise ValueError(f"unknown timing columns: {', '.join(sorted(unknown))}")
