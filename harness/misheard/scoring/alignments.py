"""Alignments of single pairs, token by token, and what is confused most often."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from misheard.scoring.texts import Costs

if TYPE_CHECKING:
    from misheard.metrics.confusions import Confusions

Operation = Literal["match", "substitution", "deletion", "insertion"]

_OPERATIONS: tuple[Operation, ...] = ("match", "substitution", "deletion", "insertion")
_LARGE = 2_000
"""Longer pairs than so many tokens a side are aligned by the compiled kernel."""


class AlignedToken(NamedTuple):
    """One step of an alignment; `reference` is None in an insertion, `hypothesis` in a deletion."""

    operation: Operation
    reference: str | None
    hypothesis: str | None


def align_tokens(
    reference: Sequence[str], hypothesis: Sequence[str], costs: Costs = "unit"
) -> tuple[AlignedToken, ...]:
    """Return the alignment of two token lists: the one that their counts count."""
    left, right = iter(reference), iter(hypothesis)
    steps = []
    for code in _codes(reference, hypothesis, costs):
        operation = _OPERATIONS[code]
        steps.append(
            AlignedToken(
                operation,
                None if operation == "insertion" else next(left),
                None if operation == "deletion" else next(right),
            )
        )
    return tuple(steps)


def _codes(reference: Sequence[str], hypothesis: Sequence[str], costs: Costs) -> Iterable[int]:
    if max(len(reference), len(hypothesis)) <= _LARGE:
        from misheard_kernels.small_inputs import edit_operations

        return edit_operations(reference, hypothesis, costs=costs)
    from misheard.text.interning import token_pairs
    from misheard_kernels.alignment import align

    pairs = token_pairs([reference], [hypothesis])
    codes: list[int] = align(pairs.ref_flat, pairs.hyp_flat, costs=costs).operations.tolist()
    return codes


class Alignments(Sequence[tuple[AlignedToken, ...]]):
    """The alignments of n pairs, each made when it is asked for and kept."""

    def __init__(
        self, references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]], costs: Costs
    ) -> None:
        self._pairs = list(zip(references, hypotheses, strict=True))
        self._costs = costs
        self._made: dict[int, tuple[AlignedToken, ...]] = {}

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        if place not in self._made:
            reference, hypothesis = self._pairs[place]
            self._made[place] = align_tokens(reference, hypothesis, self._costs)
        return self._made[place]

    def __iter__(self) -> Iterator[tuple[AlignedToken, ...]]:
        return (self[place] for place in range(len(self)))


def confusions_of(alignments: Iterable[Sequence[AlignedToken]]) -> "Confusions":
    """Return how often which tokens were substituted, deleted and inserted."""
    from misheard.metrics.confusions import Confusions

    found = Confusions()
    for steps in alignments:
        for _, reference, hypothesis in (step for step in steps if step.operation != "match"):
            if reference is None:
                found.insertions[hypothesis or ""] += 1
            elif hypothesis is None:
                found.deletions[reference] += 1
            else:
                found.substitutions[reference, hypothesis] += 1
    return found
