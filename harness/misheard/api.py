"""The public functions of misheard for texts that are already there: `misheard.score`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING

from misheard.errors import InputError, count_of, counted
from misheard.scoring.texts import (
    Annotations,
    Costs,
    Counts,
    ItemCounts,
    TextSettings,
    Unit,
    count_texts,
    count_tokens,
    item_rows,
    sum_counts,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from misheard.scoring.alignments import Alignments


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """Hypotheses against references: corpus sums, and what they are made of.

    Edits are unit-cost Levenshtein, counted on the alignment with the fewest errors and then the fewest
    substitutions; or, with costs `sclite`, as NIST's sclite aligns. Pairs are never joined.

    Attributes:
        substitutions, deletions, insertions, hits: sums over all pairs.
        reference_units, hypothesis_units: tokens on either side.
        settings: profile, unit, language and costs that were used.
    """

    substitutions: int
    deletions: int
    insertions: int
    hits: int
    reference_units: int
    hypothesis_units: int
    settings: TextSettings
    _counts: Counts = field(repr=False)
    _references: Sequence[str] | Sequence[Sequence[str]] = field(repr=False)
    _hypotheses: Sequence[str] | Sequence[Sequence[str]] = field(repr=False)

    @cached_property
    def items(self) -> tuple[ItemCounts, ...]:
        """Substitutions, deletions, insertions and hits of each pair."""
        return tuple(item_rows(self._counts))

    @property
    def errors(self) -> int:
        """Substitutions, deletions and insertions."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self) -> float | None:
        """Errors per reference unit, which may exceed 1; None where there is no reference unit."""
        return self.errors / self.reference_units if self.reference_units else None

    @property
    def item_substitutions(self) -> "npt.NDArray[np.int64]":
        """Substitutions of each pair: int64[n]."""
        return self.item_counts[:, 0]

    @property
    def item_deletions(self) -> "npt.NDArray[np.int64]":
        """Deletions of each pair: int64[n]."""
        return self.item_counts[:, 1]

    @property
    def item_insertions(self) -> "npt.NDArray[np.int64]":
        """Insertions of each pair: int64[n]."""
        return self.item_counts[:, 2]

    @property
    def item_hits(self) -> "npt.NDArray[np.int64]":
        """Hits of each pair: int64[n]."""
        return self.item_counts[:, 3]

    @property
    def item_errors(self) -> "npt.NDArray[np.int64]":
        """Errors of each pair: int64[n]."""
        errors: npt.NDArray[np.int64] = self.item_counts[:, :3].sum(axis=1)
        return errors

    @property
    def item_reference_units(self) -> "npt.NDArray[np.int64]":
        """Reference units of each pair: int64[n]."""
        units: npt.NDArray[np.int64] = self.item_counts[:, [0, 1, 3]].sum(axis=1)
        return units

    @property
    def item_hypothesis_units(self) -> "npt.NDArray[np.int64]":
        """Hypothesis units of each pair: int64[n]."""
        units: npt.NDArray[np.int64] = self.item_counts[:, [0, 2, 3]].sum(axis=1)
        return units

    @property
    def item_rates(self) -> "npt.NDArray[np.float64]":
        """Each pair's own rate: float64[n], NaN where its reference is empty."""
        import numpy as np

        units = self.item_reference_units
        rates = np.full(len(units), np.nan)
        np.divide(self.item_errors, units, out=rates, where=units > 0)
        return rates

    @cached_property
    def item_counts(self) -> "npt.NDArray[np.int64]":
        """Substitutions, deletions, insertions and hits of each pair: int64[n, 4], read-only."""
        import numpy as np

        counts = np.array(self._counts, dtype=np.int64).reshape(-1, 4)
        counts.setflags(write=False)
        return counts

    @cached_property
    def alignments(self) -> "Alignments":
        """The alignment of each pair, made when it is asked for; its operations add up to the counts."""
        from misheard.scoring.alignments import Alignments

        split = self.settings.split()
        sides = [
            [split(text) if isinstance(text, str) else text for text in side]
            for side in (self._references, self._hypotheses)
        ]
        return Alignments(sides[0], sides[1], self.settings.costs)

    def __repr__(self) -> str:
        rate = "None" if self.rate is None else f"{self.rate:.4f}"
        return (
            f"Score(rate={rate}, substitutions={self.substitutions}, deletions={self.deletions}, "
            f"insertions={self.insertions}, hits={self.hits}, reference_units={self.reference_units}, "
            f"hypothesis_units={self.hypothesis_units}, pairs={len(self._counts)})"
        )


def score(
    references: str | Sequence[str],
    hypotheses: str | Sequence[str],
    profile: str = "nfc",
    unit: Unit = "words",
    language: str | None = None,
    costs: Costs = "unit",
    *,
    annotations: Annotations = "keep",
    alternatives: bool = False,
) -> Score:
    """Score hypotheses against references; the same numbers as `misheard score --ref R --hyp H`.

    Args:
        references: the texts that were said, or one text.
        hypotheses: what was recognized instead, as many and in the same order, or one text.
        profile: what texts become before they are compared: `exact`, `nfc`, `plain` or `spoken`.
        unit: what is counted: `words`, `chars` (code points), `graphemes` or `mixed`.
        language: BCP-47 tag of the texts; `spoken` depends on it.
        costs: `unit`, or `sclite` for substitutions of 4 and deletions and insertions of 3.
        annotations: what becomes of `(laughs)` and the like: `keep`, `remove` or `token`.
        alternatives: whether `{a / b}` in a reference means that either is accepted (see
            `misheard.text.alternatives`).

    Returns:
        The sums of errors over all pairs, their rate, and the counts and alignment of each pair. With
        `found = score(["the cat sat"], ["the bat sat"])`, `found.rate` is 1 / 3.

    Raises:
        InputError: other numbers of references and hypotheses, naming both; an option that does not exist.
        TypeError: something else than texts.
    """
    settings = TextSettings(profile, unit, language, costs, annotations)
    refs, hyps = _texts("references", references), _texts("hypotheses", hypotheses)
    if len(refs) != len(hyps):
        references = count_of(len(refs), "reference")
        hypotheses = counted(len(hyps), "hypothesis", "hypotheses")
        raise InputError(f"{references} but {hypotheses}; both need one per utterance")
    if alternatives:
        from misheard.scoring.alternatives import matched_references

        split = settings.split()
        hyp_tokens = [split(text) for text in settings.normalised(hyps)]
        ref_tokens = matched_references(refs, hyp_tokens, settings)
        return _score(settings, ref_tokens, hyp_tokens, count_tokens(ref_tokens, hyp_tokens, costs))
    ref_texts, hyp_texts = settings.normalised(refs), settings.normalised(hyps)
    return _score(settings, ref_texts, hyp_texts, count_texts(ref_texts, hyp_texts, settings))


def _score(
    settings: TextSettings,
    references: Sequence[str] | Sequence[Sequence[str]],
    hypotheses: Sequence[str] | Sequence[Sequence[str]],
    counts: Counts,
) -> Score:
    substitutions, deletions, insertions, hits = sum_counts(counts)
    return Score(
        substitutions=substitutions,
        deletions=deletions,
        insertions=insertions,
        hits=hits,
        reference_units=substitutions + deletions + hits,
        hypothesis_units=substitutions + insertions + hits,
        settings=settings,
        _counts=counts,
        _references=references,
        _hypotheses=hypotheses,
    )


def _texts(name: str, texts: str | Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        return [texts]
    listed = list(texts)
    if not all(map(isinstance, listed, repeat(str))):
        raise TypeError(f"{name} must be a text or a sequence of texts")
    return listed
