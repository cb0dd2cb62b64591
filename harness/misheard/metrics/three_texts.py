"""Reference, raw and corrected transcript in one alignment, given that of raw and corrected.

The best alignment is found in a table of reference tokens by columns. A cell of it keeps two bits, whether
pairing and whether passing over the column loses nothing, so that 15,000 tokens by 15,000 columns take 56 MB.
Of more than `MOST_CELLS` cells there is no table: the reference is aligned with the raw transcript alone, in
memory that grows with the length.
"""

import numpy as np
import numpy.typing as npt

from misheard.metrics.dynamic_rows import IntRow, after_insertions, prefix_costs
from misheard_kernels.alignment import align, align_pairs

GAP = -1
"""The id of a missing token."""

MOST_CELLS = 1 << 29
"""The largest table; it takes 128 MiB."""

Columns = tuple[IntRow, IntRow, IntRow]
"""Reference, raw and corrected with gaps, int64[L] each."""

_Bits = npt.NDArray[np.uint8]


def edit_columns(raw: IntRow, corrected: IntRow) -> tuple[IntRow, IntRow]:
    """Return raw and corrected with gaps, int64[L] each, in their canonical alignment."""
    alignment = align(raw.astype(np.int32), corrected.astype(np.int32))
    return _with_gaps(raw, alignment.reference_index), _with_gaps(corrected, alignment.hypothesis_index)


def with_reference(
    reference: IntRow, raw: IntRow, corrected: IntRow, most_cells: int = MOST_CELLS
) -> Columns:
    """Return the columns of all three texts.

    In a table: fewest errors of raw, then its fewest substitutions, then the same of corrected; of equal
    ones, from the end, a pairing before passing over a column before a missing reference token. Without one:
    the canonical alignment of reference and raw, whose errors and substitutions are as few, and between two
    raw tokens the canonical one of the reference tokens that raw misses and the tokens that were put in.

    Args:
        reference: int64[n], ids of tokens.
        raw: int64[m], of the columns of `edit_columns`.
        corrected: int64[m], likewise.
        most_cells: tables of more than this many cells are not made; at most `MOST_CELLS`, since the costs
            of larger ones do not fit 63 bits.
    """
    if len(reference) * len(raw) > most_cells:
        return _through_raw(reference, raw, corrected)
    return _in_table(reference, raw, corrected)


def _with_gaps(tokens: IntRow, index: npt.NDArray[np.int32]) -> IntRow:
    return np.append(tokens, GAP)[index]


def _in_table(reference: IntRow, raw: IntRow, corrected: IntRow) -> Columns:
    most_substitutions = min(len(reference), len(raw)) + 1
    substitution, error = 1, most_substitutions
    raw_substitution = error * (len(reference) + len(raw) + 1)
    raw_error = raw_substitution * most_substitutions

    raw_differs = np.where(raw == GAP, raw_error, raw_error + raw_substitution)
    differs = np.where(corrected == GAP, error, error + substitution)
    insertion = np.where(raw == GAP, 0, raw_error) + np.where(corrected == GAP, 0, error)
    prefix = prefix_costs(insertion)
    pairs, passes = (np.empty((len(reference), (len(raw) + 7) // 8), np.uint8) for _ in range(2))
    above = prefix
    for row, token in enumerate(reference):
        pairing = above[:-1] + np.where(raw == token, 0, raw_differs)
        pairing += np.where(corrected == token, 0, differs)
        candidates = above + (raw_error + error)
        np.minimum(candidates[1:], pairing, out=candidates[1:])
        here = after_insertions(candidates, prefix)
        pairs[row] = np.packbits(here[1:] == pairing)
        passes[row] = np.packbits(here[1:] == here[:-1] + insertion)
        above = here
    spoken, heard = _trace(pairs, passes, len(raw))
    return _with_gaps(reference, spoken), _with_gaps(raw, heard), _with_gaps(corrected, heard)


def _trace(pairs: _Bits, passes: _Bits, columns: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the place in the reference and the column of each step, GAP where a step has none."""
    row, column = len(pairs), columns
    spoken: list[int] = []
    heard: list[int] = []
    while row and column:
        byte, bit = (column - 1) >> 3, 0x80 >> ((column - 1) & 7)
        is_pair = bool(pairs[row - 1, byte] & bit)
        is_column = is_pair or bool(passes[row - 1, byte] & bit)
        is_reference = is_pair or not is_column
        row, column = row - is_reference, column - is_column
        spoken.append(row if is_reference else GAP)
        heard.append(column if is_column else GAP)
    spoken.extend([*range(row - 1, -1, -1), *[GAP] * column])
    heard.extend([*[GAP] * row, *range(column - 1, -1, -1)])
    return np.array(spoken[::-1], np.int32), np.array(heard[::-1], np.int32)


def _through_raw(reference: IntRow, raw: IntRow, corrected: IntRow) -> Columns:
    """Return the columns of two alignments that share the raw tokens.

    Reference tokens that raw misses and tokens that the corrector put in are gathered by the number of raw
    tokens before them, and those with one number are aligned with each other.
    """
    kept = raw != GAP
    tokens = raw[kept]
    alignment = align(reference.astype(np.int32), tokens.astype(np.int32))
    missed = alignment.hypothesis_index == -1
    spoken = _with_gaps(reference, alignment.reference_index)
    missing = _Gathered(spoken[missed], np.cumsum(~missed)[missed], len(tokens))
    added = _Gathered(corrected[~kept], np.cumsum(kept)[~kept], len(tokens))
    between = align_pairs(missing.tokens, missing.offsets, added.tokens, added.offsets)
    found = [
        (
            _with_gaps(missing.of(place), pair.reference_index),
            _with_gaps(added.of(place), pair.hypothesis_index),
        )
        for place in np.flatnonzero(np.diff(between.offsets)).tolist()
        for pair in [between.pair(place)]
    ]
    put_in = [np.concatenate([spoken[~missed], *(side[0] for side in found)])]
    put_in.append(np.concatenate([corrected[kept], *(side[1] for side in found)]))
    none_heard = np.full(len(put_in[0]) - len(tokens), GAP, np.int64)
    return put_in[0], np.concatenate([tokens, none_heard]), put_in[1]


class _Gathered:
    """Tokens by place 0..places: `of(place)` are those of one, in order."""

    def __init__(self, tokens: IntRow, places: IntRow, last_place: int) -> None:
        self.tokens = tokens.astype(np.int32)
        self.offsets = np.zeros(last_place + 2, np.int64)
        np.cumsum(np.bincount(places, minlength=last_place + 1), out=self.offsets[1:])

    def of(self, place: int) -> IntRow:
        return self.tokens[self.offsets[place] : self.offsets[place + 1]].astype(np.int64)
