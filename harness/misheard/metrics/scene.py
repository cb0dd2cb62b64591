"""Family `scene`: what stands on the board against the item's golden plan, in every arm.

Shapes are compared by their labels, connections by the labels of their two ends, and by their own label too
in `labelled_connection_f1`; each as a multiset (see `misheard.metrics.scene_labels`). A hit is a member of
both the board and the golden plan, as often as both have it.
"""

from collections.abc import Callable, Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, FloatArray, Rate, ScoredRow, divide, share_of_rows
from misheard.metrics.scene_labels import common, connection_counts, label_counts, pair_counts
from misheard.scenes.scene import EMPTY_SCENE, Scene

COLUMNS = (
    "shapes",
    "golden_shapes",
    "label_hits",
    "connections",
    "golden_connections",
    "connection_hits",
    "labelled_connection_hits",
    "boards",
    "empty_boards",
    "boards_with_golden_shapes",
    "accepted_connections",
    "undrawn_connections",
    "refused_operations",
)
(
    _SHAPES,
    _GOLDEN_SHAPES,
    _LABEL_HITS,
    _CONNECTIONS,
    _GOLDEN_CONNECTIONS,
    _CONNECTION_HITS,
    _LABELLED_HITS,
    _BOARDS,
    _EMPTY,
    _TO_FILL,
    _ACCEPTED,
    _UNDRAWN,
    _REFUSED,
) = range(len(COLUMNS))


def board_counts(board: Scene, golden: Scene, language: str | None) -> tuple[int, ...]:
    """Return of a board the columns of COLUMNS up to `labelled_connection_hits`.

    `language` is that of the labels (BCP-47, None if unknown).
    """
    labels, golden_labels = label_counts(board, language), label_counts(golden, language)
    arrows, golden_arrows = connection_counts(board, language), connection_counts(golden, language)
    return (
        labels.total(),
        golden_labels.total(),
        common(labels, golden_labels),
        arrows.total(),
        golden_arrows.total(),
        common(pair_counts(arrows), pair_counts(golden_arrows)),
        common(arrows, golden_arrows),
    )


def undrawn_connections(plan: Scene, board: Scene, language: str | None) -> int:
    """Return how many connections of a plan never became an arrow between shapes of those labels.

    A connection to a shape that the plan lacks is one of them.
    """
    planned = pair_counts(connection_counts(plan, language))
    drawn = pair_counts(connection_counts(board, language))
    return len(plan.connections) - common(planned, drawn)


class SceneMatch:
    """Boards against golden plans: items with a golden plan, in every arm that has a board."""

    name = "scene"
    columns: tuple[str, ...] = COLUMNS
    arms: tuple[Arm, ...] = tuple(Arm)
    relative_to: Arm | None = None

    def __init__(self) -> None:
        self.rates: tuple[Rate, ...] = _RATES

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every row with a golden plan and a board."""
        values = np.zeros((len(rows), len(COLUMNS)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            golden, board = row.item.plan, row.output.board
            if golden is None or board is None:
                continue
            present[index] = True
            plan = row.output.plan or EMPTY_SCENE
            values[index] = (
                *board_counts(board, golden, row.item.language),
                1,
                bool(golden.shapes) and not board.shapes,
                bool(golden.shapes),
                len(plan.connections),
                undrawn_connections(plan, board, row.item.language),
                row.output.refused,
            )
        return Counts(values, present)


def _share(hits: int, of: int, golden: int) -> Callable[[FloatArray], FloatArray]:
    """Return hits / a column; undefined where the golden plans have nothing to hit."""
    return lambda sums: divide(sums[..., hits], np.where(sums[..., golden] > 0, sums[..., of], 0.0))


def _f1(hits: int, drawn: int, golden: int) -> Callable[[FloatArray], FloatArray]:
    """Return 2 * hits / (drawn + golden); undefined where the golden plans have nothing to hit."""

    def compute(sums: FloatArray) -> FloatArray:
        both = sums[..., drawn] + sums[..., golden]
        return divide(2.0 * sums[..., hits], np.where(sums[..., golden] > 0, both, 0.0))

    return compute


def _ratio(numerator: int, denominator: int) -> Callable[[FloatArray], FloatArray]:
    return lambda sums: divide(sums[..., numerator], sums[..., denominator])


_RATES = (
    Rate(
        "label_f1",
        "2 · label hits / (shapes on the boards + shapes of the golden plans)",
        "higher",
        _f1(_LABEL_HITS, _SHAPES, _GOLDEN_SHAPES),
    ),
    Rate(
        "label_precision",
        "share of the shapes on the boards whose label the golden plan has",
        "higher",
        _share(_LABEL_HITS, _SHAPES, _GOLDEN_SHAPES),
    ),
    Rate(
        "label_recall",
        "share of the golden plans' shapes whose label is on the board",
        "higher",
        _share(_LABEL_HITS, _GOLDEN_SHAPES, _GOLDEN_SHAPES),
    ),
    Rate(
        "connection_f1",
        "2 · connection hits / (connections on the boards + connections of the golden plans)",
        "higher",
        _f1(_CONNECTION_HITS, _CONNECTIONS, _GOLDEN_CONNECTIONS),
    ),
    Rate(
        "connection_precision",
        "share of the connections on the boards that the golden plan has",
        "higher",
        _share(_CONNECTION_HITS, _CONNECTIONS, _GOLDEN_CONNECTIONS),
    ),
    Rate(
        "connection_recall",
        "share of the golden plans' connections that are on the board",
        "higher",
        _share(_CONNECTION_HITS, _GOLDEN_CONNECTIONS, _GOLDEN_CONNECTIONS),
    ),
    Rate(
        "labelled_connection_f1",
        "connection F1 where the connection's own label counts too",
        "higher",
        _f1(_LABELLED_HITS, _CONNECTIONS, _GOLDEN_CONNECTIONS),
    ),
    share_of_rows(
        "empty_board_rate",
        "share of boards without a shape among those whose golden plan has one",
        "lower",
        _EMPTY,
        _TO_FILL,
    ),
    Rate(
        "undrawn_connection_rate",
        "share of the planners' connections that never became an arrow on the board",
        "lower",
        _ratio(_UNDRAWN, _ACCEPTED),
    ),
    Rate("shapes_per_board", "mean number of shapes on a board", None, _ratio(_SHAPES, _BOARDS)),
    Rate(
        "connections_per_board", "mean number of connections on a board", None, _ratio(_CONNECTIONS, _BOARDS)
    ),
    Rate(
        "refused_operations_per_board",
        "mean number of operations that a board refused",
        None,
        _ratio(_REFUSED, _BOARDS),
    ),
)
