"""The most frequent confusions, deletions and insertions. They hold text, so no report has them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from misheard.metrics.transcripts import AlignedPair
from misheard_kernels.alignment import DELETION, INSERTION, SUBSTITUTION

_Key = TypeVar("_Key", str, tuple[str, str])


@dataclass(frozen=True, slots=True)
class Confusions:
    """How often what was heard for what, what was lost, and what was put in.

    Attributes:
        substitutions: per (reference token, hypothesis token).
        deletions: per reference token.
        insertions: per hypothesis token.
    """

    substitutions: Counter[tuple[str, str]] = field(default_factory=Counter)
    deletions: Counter[str] = field(default_factory=Counter)
    insertions: Counter[str] = field(default_factory=Counter)

    def most_frequent(self, limit: int) -> "Confusions":
        """Return the `limit` most frequent of each kind, in order; equal ones in that of code points."""
        return Confusions(
            Counter(dict(_top(self.substitutions, limit))),
            Counter(dict(_top(self.deletions, limit))),
            Counter(dict(_top(self.insertions, limit))),
        )


def confusions(pairs: Iterable[AlignedPair]) -> Confusions:
    """Return the edits of all pairs, each by its tokens."""
    found = Confusions()
    for pair in pairs:
        alignment = pair.alignment
        for operation, said, heard in zip(
            alignment.operations.tolist(),
            alignment.reference_index.tolist(),
            alignment.hypothesis_index.tolist(),
            strict=True,
        ):
            if operation == SUBSTITUTION:
                found.substitutions[pair.reference[said], pair.hypothesis[heard]] += 1
            elif operation == DELETION:
                found.deletions[pair.reference[said]] += 1
            elif operation == INSERTION:
                found.insertions[pair.hypothesis[heard]] += 1
    return found


def _top(counts: Counter[_Key], limit: int) -> list[tuple[_Key, int]]:
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:limit]
