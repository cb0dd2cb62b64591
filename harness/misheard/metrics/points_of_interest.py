"""Points of interest: error rates at the places of a reference that matter.

PIER (Pham et al., "PIER: A Novel Metric for Evaluating What Matters in Code-Switching", ICASSP 2025,
arXiv:2501.09512) is the number of reference points that the canonical alignment has wrong, substituted or
deleted, over the number of points. Insertions belong to no reference token: they are not charged, and
reported apart. An item counts where its reference has a point; whether it has one does not depend on what was
heard, so that paired comparisons lose no pair to a system's errors. Points may be anything: words of an
embedded language, numbers, named entities, words with a tag.

Where tokens of the hypothesis can be points too, as embedded-language words can, precision is the share of
those in the hypothesis that are aligned to an equal token, and recall (1 - PIER) that of those in the
reference (EnP and EnR of English words).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import Arm, BoolArray, Counts, Rate, ScoredRow, divide
from misheard.metrics.token_kinds import entity_mask, is_number, script_mask
from misheard.metrics.transcripts import AlignedPair, Transcripts
from misheard.suite.items import Item
from misheard_kernels.alignment import DELETION, INSERTION, MATCH, SUBSTITUTION, Alignment

COLUMNS = ("errors", "points", "insertions", "correct", "hypothesis_points")
_ERRORS, _POINTS, _INSERTIONS, _CORRECT, _HYPOTHESIS_POINTS = range(len(COLUMNS))

Points = Callable[[Item, Sequence[str]], Sequence[bool]]
"""Which tokens of a text about an item are points."""


@dataclass(frozen=True, slots=True)
class PointCounts:
    """Counts of one pair.

    Attributes:
        errors: points of the reference that are substituted or deleted.
        points: points of the reference.
        insertions: inserted tokens that are points, or all of them where hypothesis points are not known.
        correct: points of the reference that are aligned to an equal token; points - errors.
        hypothesis_points: points of the hypothesis; 0 where they are not known.
    """

    errors: int
    points: int
    insertions: int
    correct: int
    hypothesis_points: int


def point_counts(
    alignment: Alignment, reference_points: Sequence[bool], hypothesis_points: Sequence[bool] | None = None
) -> PointCounts:
    """Return the counts at points of interest.

    Args:
        alignment: of the reference's and hypothesis's tokens.
        reference_points: of each reference token, whether it is a point.
        hypothesis_points: the same of the hypothesis, None where points are places of the reference alone.
    """
    points = np.asarray(reference_points, dtype=bool)
    operations = alignment.operations
    wrong = alignment.reference_index[(operations == SUBSTITUTION) | (operations == DELETION)]
    right = alignment.reference_index[operations == MATCH]
    inserted = alignment.hypothesis_index[operations == INSERTION]
    heard: BoolArray | None = None
    if hypothesis_points is not None:
        heard = np.asarray(hypothesis_points, dtype=bool)
    return PointCounts(
        errors=int(np.count_nonzero(points[wrong])),
        points=int(np.count_nonzero(points)),
        insertions=len(inserted) if heard is None else int(np.count_nonzero(heard[inserted])),
        correct=int(np.count_nonzero(points[right])),
        hypothesis_points=0 if heard is None else int(np.count_nonzero(heard)),
    )


def tag_points(tags: Sequence[str], wanted: Collection[str]) -> list[bool]:
    """Return which tokens are points, given the tag of each, such as `NE`, and the tags that count."""
    return [tag in wanted for tag in tags]


class PointsOfInterest:
    """Errors at points of interest in transcripts: speech items with a point in their reference, audio arm.

    The family and its first rate are called `pier_{kind}`; `what` says in words what the points are. With
    `precision_and_recall` there are also `{kind}_precision` and `{kind}_recall`.
    """

    columns: tuple[str, ...] = COLUMNS
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None

    def __init__(
        self,
        kind: str,
        what: str,
        transcripts: Transcripts,
        points: Points,
        *,
        precision_and_recall: bool = False,
    ) -> None:
        self.name = f"pier_{kind}"
        self.rates: tuple[Rate, ...] = _rates(kind, what, precision_and_recall)
        self._transcripts, self._points = transcripts, points

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has a point in its reference, and a transcript."""
        values, present = self._transcripts.count(rows, len(COLUMNS), self._count)
        present &= values[:, _POINTS] > 0
        values[~present] = 0.0
        return Counts(values, present)

    def _count(self, row: ScoredRow, pair: AlignedPair) -> tuple[float, ...]:
        item = row.item
        found = point_counts(
            pair.alignment, self._points(item, pair.reference), self._points(item, pair.hypothesis)
        )
        return (found.errors, found.points, found.insertions, found.correct, found.hypothesis_points)


def script_words(script: str, mixed: Transcripts) -> PointsOfInterest:
    """Return the family whose points are the words of one script, such as English words in Chinese speech."""
    return PointsOfInterest(
        script.lower(),
        f"words in {script}",
        mixed,
        lambda _item, tokens: script_mask(tokens, {script}),
        precision_and_recall=True,
    )


def numbers(words: Transcripts) -> PointsOfInterest:
    """Return the family whose points are numbers."""
    return PointsOfInterest(
        "numbers",
        "numbers",
        words,
        lambda item, tokens: [is_number(token, item.language) for token in tokens],
    )


def entities(words: Transcripts) -> PointsOfInterest:
    """Return the family whose points are the words of an item's entities."""
    return PointsOfInterest(
        "entities",
        "words of entities",
        words,
        lambda item, tokens: entity_mask(tokens, item.entities, item.language),
    )


def _rates(kind: str, what: str, precision_and_recall: bool) -> tuple[Rate, ...]:
    pier = (
        Rate(
            f"pier_{kind}",
            f"point-of-interest error rate: share of the reference's {what} that are wrong",
            "lower",
            lambda sums: divide(sums[..., _ERRORS], sums[..., _POINTS]),
        ),
        Rate(
            f"pier_{kind}_insertion_rate",
            f"inserted {what} per one of the reference",
            "lower",
            lambda sums: divide(sums[..., _INSERTIONS], sums[..., _POINTS]),
        ),
    )
    if not precision_and_recall:
        return pier
    return (
        *pier,
        Rate(
            f"{kind}_precision",
            f"share of the transcripts' {what} that are correctly aligned",
            "higher",
            lambda sums: divide(sums[..., _CORRECT], sums[..., _HYPOTHESIS_POINTS]),
        ),
        Rate(
            f"{kind}_recall",
            f"share of the reference's {what} that are correctly aligned",
            "higher",
            lambda sums: divide(sums[..., _CORRECT], sums[..., _POINTS]),
        ),
    )
