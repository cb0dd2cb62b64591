"""Edit counts and alignments without numpy or numba: Python's integers are the bit vectors.

Myers' bit-parallel distance (1999) in Hyyrö's form (2003) gives, column by column, the differences between
neighbouring cells of the table of distances, one bit a reference token. The differences tell which steps lie
on an alignment with the fewest errors. Going back from the end over those steps alone, and minimising the
substitutions from there to the end, finds the canonical alignment; there are few such steps, so that this
costs little.

Results equal those of the compiled kernels (see `misheard_kernels.conventions`).
"""

from collections.abc import Hashable, Sequence

from misheard_kernels.conventions import (
    DELETION,
    INSERTION,
    MATCH,
    RAPIDFUZZ_SPLIT_BYTES,
    SCLITE_GAP,
    SCLITE_SUBSTITUTION,
    SUBSTITUTION,
    check_convention,
)

Tokens = Sequence[Hashable]
_Column = tuple[int, int, int]

# A cell's value is 4 * substitutions to the end + the best step out of it; a smaller step is preferred.
_DIAGONAL, _DOWN, _RIGHT = range(3)
_NO_STEP = ~3
_UNSEEN = 1 << 62


def count_edits(
    reference: Tokens, hypothesis: Tokens, *, costs: str = "unit", ties: str = "canonical"
) -> tuple[int, int, int, int]:
    """Return substitutions, deletions, insertions and hits of one pair of token sequences.

    Raises ValueError for an unknown convention, and for `ties="rapidfuzz"` on a pair so long that rapidfuzz
    divides it (about 2,000 by 2,000 tokens), which `misheard_kernels.edit_counts` does.
    """
    convention = check_convention(costs, ties)
    if convention != "canonical":
        operations = _operations(reference, hypothesis, convention)
        counts = [operations.count(operation) for operation in (SUBSTITUTION, DELETION, INSERTION)]
        return counts[0], counts[1], counts[2], operations.count(MATCH)
    head, tail = _common_ends(reference, hypothesis)
    ref = reference[head : len(reference) - tail]
    hyp = hypothesis[head : len(hypothesis) - tail]
    if not ref or not hyp:
        return 0, len(ref), len(hyp), head + tail
    columns, errors = _columns(ref, hyp)
    substitutions = 0
    if errors > abs(len(ref) - len(hyp)):
        substitutions = _explore(ref, hyp, columns, prune=True)[0][0] >> 2
    deletions = (errors - substitutions + len(ref) - len(hyp)) // 2
    insertions = errors - substitutions - deletions
    return substitutions, deletions, insertions, len(reference) - substitutions - deletions


def edit_distance(reference: Tokens, hypothesis: Tokens) -> int:
    """Return the unit-cost Levenshtein distance."""
    head, tail = _common_ends(reference, hypothesis)
    ref = reference[head : len(reference) - tail]
    hyp = hypothesis[head : len(hypothesis) - tail]
    if not ref or not hyp:
        return len(ref) + len(hyp)
    return _columns(ref, hyp)[1]


def edit_operations(
    reference: Tokens, hypothesis: Tokens, *, costs: str = "unit", ties: str = "canonical"
) -> bytes:
    """Return the alignment of one pair, an operation (see `misheard_kernels.conventions`) a byte.

    Raises ValueError as `count_edits` does.
    """
    return bytes(_operations(reference, hypothesis, check_convention(costs, ties)))


def _operations(reference: Tokens, hypothesis: Tokens, convention: str) -> bytearray:
    head, tail = _common_ends(reference, hypothesis)
    if convention == "canonical":
        tail = 0  # matching the ends first could make another path
    elif convention == "sclite":
        head = 0
        tail = _common_tail(reference, hypothesis, 0)
    ref = reference[head : len(reference) - tail]
    hyp = hypothesis[head : len(hypothesis) - tail]
    if not ref or not hyp:
        middle = bytearray([DELETION]) * len(ref) + bytearray([INSERTION]) * len(hyp)
    elif convention == "canonical":
        middle = _walk(ref, hyp, _explore(ref, hyp, _columns(ref, hyp)[0], prune=False))
    elif convention == "sclite":
        middle = _sclite_path(ref, hyp)
    else:
        middle = _rapidfuzz_path(ref, hyp)
    return bytearray([MATCH]) * head + middle + bytearray([MATCH]) * tail


def _common_ends(reference: Tokens, hypothesis: Tokens) -> tuple[int, int]:
    """Return the lengths of the common start and, in what is left, of the common end."""
    shorter = min(len(reference), len(hypothesis))
    head = 0
    while head < shorter and reference[head] == hypothesis[head]:
        head += 1
    return head, _common_tail(reference, hypothesis, head)


def _common_tail(reference: Tokens, hypothesis: Tokens, head: int) -> int:
    longest = min(len(reference), len(hypothesis)) - head
    tail = 0
    while tail < longest and reference[-1 - tail] == hypothesis[-1 - tail]:
        tail += 1
    return tail


def _columns(ref: Tokens, hyp: Tokens) -> tuple[list[_Column], int]:
    """Return the differences around each column of the table of distances, and the distance.

    Bit i of a column's three integers, for cell (i + 1, j + 1): it is one more than the cell above it; it is
    one more than the cell before it; it equals the cell before the one above it.
    """
    masks: dict[Hashable, int] = {}
    bit = 1
    for token in ref:
        masks[token] = masks.get(token, 0) | bit
        bit <<= 1
    ones = bit - 1
    plus, minus = ones, 0
    columns = []
    for token in hyp:
        match = masks.get(token, 0) | minus
        level = ((((match & plus) + plus) ^ plus) | match) & ones
        right = minus | (ones ^ (level | plus))
        shifted = (right << 1 | 1) & ones
        plus = ((level & plus) << 1) & ones | (ones ^ (level | shifted))
        minus = shifted & level
        columns.append((plus, right, level))
    return columns, len(hyp) + plus.bit_count() - minus.bit_count()


def _explore(ref: Tokens, hyp: Tokens, columns: list[_Column], *, prune: bool) -> list[dict[int, int]]:
    """Return, for each column, the values of its cells on an alignment with the fewest errors.

    `prune` leaves out what the number of substitutions does not need: no way into a cell is better than a
    match.
    """
    cells = {len(ref): 0}
    explored = [cells]
    for j in range(len(hyp) - 1, -1, -1):
        plus, right, level = columns[j]
        token = hyp[j]
        before: dict[int, int] = {}
        i, low = max(cells), min(cells)
        while i >= low:
            if i not in cells:
                i -= 1
                continue
            cost = cells[i] & _NO_STEP
            bit = 1 << i >> 1
            same = i > 0 and ref[i - 1] == token
            if not (prune and same):
                if not i or right & bit:
                    before[i] = min(before.get(i, _UNSEEN), cost | _RIGHT)
                if plus & bit:
                    cells[i - 1] = min(cells.get(i - 1, _UNSEEN), cost | _DOWN)
                    low = min(low, i - 1)
            if same:
                before[i - 1] = cost | _DIAGONAL
            elif i and not level & bit:
                before[i - 1] = cost + 4 | _DIAGONAL
            i -= 1
        cells = before
        explored.append(cells)
    for i in range(max(cells), 0, -1):
        if i in cells:
            cells[i - 1] = min(cells.get(i - 1, _UNSEEN), cells[i] & _NO_STEP | _DOWN)
    return explored[::-1]


def _walk(ref: Tokens, hyp: Tokens, explored: list[dict[int, int]]) -> bytearray:
    operations = bytearray()
    i = j = 0
    while i < len(ref) or j < len(hyp):
        step = explored[j][i] & 3
        if step == _DIAGONAL:
            operations.append(MATCH if ref[i] == hyp[j] else SUBSTITUTION)
            i += 1
            j += 1
        elif step == _DOWN:
            operations.append(DELETION)
            i += 1
        else:
            operations.append(INSERTION)
            j += 1
    return operations


def _rapidfuzz_path(ref: Tokens, hyp: Tokens) -> bytearray:
    if len(ref) * len(hyp) // 4 >= RAPIDFUZZ_SPLIT_BYTES and len(ref) > 64 and len(hyp) > 9:
        raise ValueError('a pair this long needs the compiled kernels for ties="rapidfuzz"')
    columns, _ = _columns(ref, hyp)
    operations = bytearray()
    i, j = len(ref), len(hyp)
    while i and j:
        plus, right, level = columns[j - 1]
        bit = 1 << i >> 1
        if plus & bit:
            operations.append(DELETION)
            i -= 1
        elif level & right & bit:
            operations.append(INSERTION)
            j -= 1
        else:
            i -= 1
            j -= 1
            operations.append(MATCH if ref[i] == hyp[j] else SUBSTITUTION)
    operations += bytearray([DELETION]) * i + bytearray([INSERTION]) * j
    operations.reverse()
    return operations


def _sclite_path(ref: Tokens, hyp: Tokens) -> bytearray:
    row = [SCLITE_GAP * j for j in range(len(hyp) + 1)]
    steps = []
    for i, token in enumerate(ref):
        taken = bytearray(len(hyp))
        diagonal, row[0] = row[0], SCLITE_GAP * (i + 1)
        for j, other in enumerate(hyp):
            operation = MATCH if token == other else SUBSTITUTION
            cost = diagonal if operation == MATCH else diagonal + SCLITE_SUBSTITUTION
            diagonal = row[j + 1]
            if min(diagonal, row[j]) + SCLITE_GAP < cost:
                operation = DELETION if diagonal < row[j] else INSERTION
                cost = min(diagonal, row[j]) + SCLITE_GAP
            taken[j] = operation
            row[j + 1] = cost
        steps.append(taken)
    operations = bytearray()
    i, j = len(ref), len(hyp)
    while i and j:
        operation = steps[i - 1][j - 1]
        operations.append(operation)
        i -= operation != INSERTION
        j -= operation != DELETION
    operations += bytearray([DELETION]) * i + bytearray([INSERTION]) * j
    operations.reverse()
    return operations
