"""Definitions read slowly, for small inputs: independent of the code under test and of its kernels."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

Column = tuple[str | None, str | None]


def edits(columns: Sequence[Column]) -> tuple[int, int]:
    """(errors, substitutions) of an alignment."""
    errors = [column for column in columns if column[0] != column[1]]
    return len(errors), sum(None not in column for column in errors)


def all_alignments(reference: Sequence[str], hypothesis: Sequence[str]) -> Iterator[tuple[Column, ...]]:
    """Every alignment there is: exponential."""
    if not reference and not hypothesis:
        yield ()
    if reference and hypothesis:
        for rest in all_alignments(reference[1:], hypothesis[1:]):
            yield ((reference[0], hypothesis[0]), *rest)
    if reference:
        for rest in all_alignments(reference[1:], hypothesis):
            yield ((reference[0], None), *rest)
    if hypothesis:
        for rest in all_alignments(reference, hypothesis[1:]):
            yield ((None, hypothesis[0]), *rest)


def best_alignments(reference: Sequence[str], hypothesis: Sequence[str]) -> list[tuple[Column, ...]]:
    """Every alignment with the fewest errors and, among those, the fewest substitutions."""
    every = list(all_alignments(tuple(reference), tuple(hypothesis)))
    best = min(map(edits, every))
    return [columns for columns in every if edits(columns) == best]


def canonical(reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[int, int]:
    """(errors, substitutions) of the canonical alignment, by plain recursion."""

    @cache
    def cost(i: int, j: int) -> tuple[int, int]:
        if not i or not j:
            return (i + j, 0)
        same = reference[i - 1] == hypothesis[j - 1]
        steps = [
            (cost(i - 1, j - 1), (0, 0) if same else (1, 1)),
            (cost(i - 1, j), (1, 0)),
            (cost(i, j - 1), (1, 0)),
        ]
        return min((before[0] + step[0], before[1] + step[1]) for before, step in steps)

    return cost(len(reference), len(hypothesis))


def hits(reference: Sequence[str], hypothesis: Sequence[str]) -> int:
    errors, substitutions = canonical(reference, hypothesis)
    insertions_minus_deletions = len(hypothesis) - len(reference)
    deletions = (errors - substitutions - insertions_minus_deletions) // 2
    return len(reference) - substitutions - deletions


def paths(slots: Sequence[Sequence[Sequence[str]]]) -> Iterator[tuple[tuple[int, ...], list[str]]]:
    """Every choice of alternatives with the reference that it makes."""
    for choice in product(*(range(len(slot)) for slot in slots)):
        yield choice, [token for slot, index in zip(slots, choice, strict=True) for token in slot[index]]


def fewest_errors_with_compounds(reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[int, int, int]:
    """The least (errors, merges + splits, splits) where several words may stand for one spelled the same."""

    @cache
    def cost(i: int, j: int) -> tuple[int, int, int]:
        if not i or not j:
            return (i + j, 0, 0)
        same = reference[i - 1] == hypothesis[j - 1]
        steps = [
            (cost(i - 1, j - 1), (0 if same else 1, 0, 0)),
            (cost(i - 1, j), (1, 0, 0)),
            (cost(i, j - 1), (1, 0, 0)),
        ]
        steps += [
            (cost(i - k, j - 1), (0, 1, 0))
            for k in range(2, i + 1)
            if all(reference[i - k : i]) and "".join(reference[i - k : i]) == hypothesis[j - 1]
        ]
        steps += [
            (cost(i - 1, j - k), (0, 1, 1))
            for k in range(2, j + 1)
            if "".join(hypothesis[j - k : j]) == reference[i - 1]
        ]
        return min((b[0] + s[0], b[1] + s[1], b[2] + s[2]) for b, s in steps)

    return cost(len(reference), len(hypothesis))


def corrections(
    reference: Sequence[str], diff: Sequence[Column]
) -> tuple[tuple[int, int, int, int], set[tuple[int, int]]]:
    """Aligns a reference with the columns of a diff of raw and corrected, in every way.

    Gives the least (raw errors, raw substitutions, errors, substitutions), and the (improvements,
    over-corrections) of the alignments that have it.
    """
    best: tuple[int, int, int, int] | None = None
    judged: set[tuple[int, int]] = set()
    for columns in _with_columns(tuple(reference), tuple(diff)):
        cost = (0, 0, 0, 0)
        improvements = over_corrections = 0
        for said, raw, corrected in columns:
            step = (*_error(said, raw), *_error(said, corrected))
            cost = tuple(a + b for a, b in zip(cost, step, strict=True))  # type: ignore[assignment]
            improvements += raw != said and corrected == said
            over_corrections += said is not None and raw == said and corrected != said
        if best is None or cost < best:
            best, judged = cost, set()
        if cost == best:
            judged.add((improvements, over_corrections))
    assert best is not None
    return best, judged


def _error(said: str | None, heard: str | None) -> tuple[int, int]:
    return (said != heard, said != heard and said is not None and heard is not None)


def _with_columns(
    reference: tuple[str, ...], diff: tuple[Column, ...]
) -> Iterator[tuple[tuple[str | None, str | None, str | None], ...]]:
    if not reference and not diff:
        yield ()
    if reference and diff:
        for rest in _with_columns(reference[1:], diff[1:]):
            yield ((reference[0], *diff[0]), *rest)
    if reference:
        for rest in _with_columns(reference[1:], diff):
            yield ((reference[0], None, None), *rest)
    if diff:
        for rest in _with_columns(reference, diff[1:]):
            yield ((None, *diff[0]), *rest)
