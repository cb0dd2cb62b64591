"""Family `scene_propagation`: what recognition does to the boards, each item against its own transcript arm.

In the audio arm the rates are what mishearing costs; in the control arm, where the transcript arm ran a
second time, they are the noise of the planner that the cost is read against. Drops are means of the items'
own F1, as changes of an F1 of sums are not additive.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import Arm, ArmOutput, Counts, Rate, ScoredRow, divide, share_of_rows
from misheard.metrics.propagation import TOLERANCE
from misheard.metrics.scene import board_counts
from misheard.scenes.scene import Scene
from misheard.suite.items import Item

COLUMNS = (
    "baseline_label_f1",
    "arm_label_f1",
    "degraded",
    "improved",
    "pairs_with_golden_shapes",
    "baseline_connection_f1",
    "arm_connection_f1",
    "pairs_with_golden_connections",
    "flips",
    "pairs",
)
(
    _BASELINE_LABELS,
    _ARM_LABELS,
    _DEGRADED,
    _IMPROVED,
    _LABELLED_PAIRS,
    _BASELINE_CONNECTIONS,
    _ARM_CONNECTIONS,
    _CONNECTED_PAIRS,
    _FLIPS,
    _PAIRS,
) = range(len(COLUMNS))


def look_the_same(first: Scene, second: Scene) -> bool:
    """Return whether two boards show the same: kinds, labels and connections; ids and order do not show."""
    return _visible(first) == _visible(second)


class ScenePropagation:
    """Paired differences to the transcript arm's boards: items with a golden plan and boards in both arms."""

    name = "scene_propagation"
    columns: tuple[str, ...] = COLUMNS
    arms: tuple[Arm, ...] = (Arm.AUDIO, Arm.UNCORRECTED, Arm.CONTROL)
    relative_to: Arm | None = Arm.TRANSCRIPT

    def __init__(self) -> None:
        self.rates: tuple[Rate, ...] = _RATES

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every row with a golden plan, a board and a baseline's board."""
        values = np.zeros((len(rows), len(COLUMNS)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            pair = _pair(row)
            if pair is not None:
                present[index] = True
                values[index] = pair
        return Counts(values, present)


def _pair(row: ScoredRow) -> tuple[float, ...] | None:
    baseline, output = row.baseline, row.output
    if row.item.plan is None or baseline is None or baseline.board is None or output.board is None:
        return None
    before = _BoardQuality.of(row.item, row.item.plan, baseline.board)
    after = _BoardQuality.of(row.item, row.item.plan, output.board)
    drop = before.label_f1 - after.label_f1
    return (
        before.label_f1,
        after.label_f1,
        drop > TOLERANCE,
        drop < -TOLERANCE,
        before.has_golden_shapes,
        before.connection_f1,
        after.connection_f1,
        before.has_golden_connections,
        _flipped(baseline, output, baseline.board, output.board),
        1.0,
    )


@dataclass(frozen=True, slots=True)
class _BoardQuality:
    """F1 of one board; 0 where the golden plan has nothing to hit."""

    label_f1: float
    connection_f1: float
    has_golden_shapes: bool
    has_golden_connections: bool

    @classmethod
    def of(cls, item: Item, golden: Scene, board: Scene) -> "_BoardQuality":
        counts = board_counts(board, golden, item.language)
        shapes, golden_shapes, label_hits, connections, golden_connections, connection_hits, _ = counts
        return cls(
            2 * label_hits / (shapes + golden_shapes) if golden_shapes else 0.0,
            2 * connection_hits / (connections + golden_connections) if golden_connections else 0.0,
            golden_shapes > 0,
            golden_connections > 0,
        )


def _flipped(baseline: ArmOutput, output: ArmOutput, before: Scene, after: Scene) -> bool:
    # what fails in both arms shows the same empty board in both, and is no noise
    one_failed = (baseline.failure is None) != (output.failure is None)
    return one_failed or not look_the_same(before, after)


def _visible(scene: Scene) -> tuple[Counter[tuple[str, str]], Counter[tuple[object, ...]]]:
    shapes = {shape.id: (shape.kind, shape.label) for shape in scene.shapes}
    arrows: Counter[tuple[object, ...]] = Counter(
        (shapes.get(one.source), shapes.get(one.target), one.label) for one in scene.connections
    )
    return Counter((shape.kind, shape.label) for shape in scene.shapes), arrows


_RATES = (
    Rate(
        "label_f1_drop",
        "mean label F1 of the transcript arm's boards minus that of this arm's, item by item",
        "lower",
        lambda sums: divide(sums[..., _BASELINE_LABELS] - sums[..., _ARM_LABELS], sums[..., _LABELLED_PAIRS]),
    ),
    Rate(
        "connection_f1_drop",
        "mean connection F1 of the transcript arm's boards minus that of this arm's, item by item",
        "lower",
        lambda sums: divide(
            sums[..., _BASELINE_CONNECTIONS] - sums[..., _ARM_CONNECTIONS], sums[..., _CONNECTED_PAIRS]
        ),
    ),
    share_of_rows(
        "degraded_board_fraction",
        "share of boards with a lower label F1 than the transcript arm's",
        "lower",
        _DEGRADED,
        _LABELLED_PAIRS,
    ),
    share_of_rows(
        "improved_board_fraction",
        "share of boards with a higher label F1 than the transcript arm's",
        None,
        _IMPROVED,
        _LABELLED_PAIRS,
    ),
    share_of_rows(
        "board_flip_rate",
        "share of boards that differ from the transcript arm's at all",
        "lower",
        _FLIPS,
        _PAIRS,
    ),
)
