"""Family `n_best`: what a list of hypotheses holds that its first one lacks.

The oracle of a list is the hypothesis with the fewest edits against the reference; its error rate is what
choosing from the list can reach at best. Edits are those of the error rates: unit-cost Levenshtein. The
recoverable share is the part of the first hypotheses' edits that the oracle does not have. A corrector may
also write what no hypothesis says, so the oracle is no bound for it.
"""

from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, divide
from misheard.metrics.texts import has_transcript
from misheard.metrics.transcripts import Split
from misheard.text.interning import token_pairs
from misheard.text.profiles import profile_named
from misheard_kernels import edit_counts

_FIRST, _ORACLE, _TOKENS, _HYPOTHESES, _LISTS = range(5)


def hypothesis_edits(reference: Sequence[str], hypotheses: Sequence[Sequence[str]]) -> list[int]:
    """Return the edits of each hypothesis, as tokens, against the tokens of the reference."""
    pairs = token_pairs([reference] * len(hypotheses), hypotheses)
    counts = edit_counts(pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)
    edits: list[int] = counts[:, :3].sum(axis=1).tolist()
    return edits


class NBest:
    """Edits of the first and of the best hypothesis: speech items, audio arm.

    A transcript without a list is a list of itself, and so is the empty one of a failed recognition. Tokens
    are what `split` makes of a text under the profile.
    """

    name = "n_best"
    columns: tuple[str, ...] = ("first_edits", "oracle_edits", "reference_tokens", "hypotheses", "lists")
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        Rate(
            "n_best_oracle",
            "oracle error rate: sum of the fewest edits in each list / sum of reference tokens",
            "lower",
            lambda sums: divide(sums[..., _ORACLE], sums[..., _TOKENS]),
        ),
        Rate(
            "n_best_recoverable",
            "share of the first hypotheses' edits that the best ones do not have",
            None,
            lambda sums: divide(sums[..., _FIRST] - sums[..., _ORACLE], sums[..., _FIRST]),
        ),
        Rate(
            "n_best_length",
            "mean number of different hypotheses",
            None,
            lambda sums: divide(sums[..., _HYPOTHESES], sums[..., _LISTS]),
        ),
    )

    def __init__(self, profile: str, split: Split) -> None:
        self._profile, self._split = profile_named(profile), split

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has a transcript."""
        values = np.zeros((len(rows), len(self.columns)))
        present = has_transcript(rows)
        for index in np.flatnonzero(present).tolist():
            values[index] = self._count(rows[index])
        return Counts(values, present)

    def _count(self, row: ScoredRow) -> tuple[int, ...]:
        texts = row.output.n_best or (row.output.transcript or "",)
        reference, *hypotheses = (
            self._split(self._profile.apply(text, row.item.language)) for text in (row.item.reference, *texts)
        )
        edits = hypothesis_edits(reference, hypotheses)
        return (edits[0], min(edits), len(reference), len(texts), 1)
