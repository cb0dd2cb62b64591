"""Texts as arrays of numbers: the compiled part of it, for many or long texts."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

CodePoints = npt.NDArray[np.uint32]
IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]

_LEAST_SHARE = 500_000
"""Code points for which another thread is not worth starting."""


def intern_words(
    text: CodePoints, starts: IntArray, *, threads: int | None = None
) -> tuple[TokenArray, IntArray]:
    """Return the words of n texts, as numbers that are equal where the words are, and their offsets.

    Args:
        text: uint32, the code points of all texts, one after the other, each with one white space more at its
            end. Words are separated by white space, as `str.isspace` sees it.
        starts: int64[n + 1], ascending; text i, with the white space, is `text[starts[i]:starts[i + 1]]`.
        threads: every processor available where None. The numbers do not depend on it.

    Returns:
        int32, the words of all texts, numbered from 0 in the order in which they occur first; int64[n + 1],
        text i has those from `offsets[i]` to `offsets[i + 1]`.
    """
    from misheard_kernels.batches import available_processors
    from misheard_kernels.interning_compiled import intern_range, merge_words

    workers = max(1, min(threads or available_processors(), len(text) // _LEAST_SHARE))
    cuts = np.searchsorted(starts, np.linspace(starts[0], starts[-1], workers + 1)[1:-1]).tolist()
    edges = [0, *cuts, len(starts) - 1]
    counts = np.zeros(len(starts), np.int64)

    def intern(share: int) -> tuple[TokenArray, IntArray]:
        first, last = edges[share], edges[share + 1]
        most = int(starts[last] - starts[first]) // 2
        ids = np.empty(most, np.int32)
        words = intern_range(text, starts, first, last, ids, counts[1:])
        return ids[: counts[first + 1 : last + 1].sum()], words

    if workers == 1:
        ids = intern(0)[0]
    else:
        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(intern, range(workers)))
        numbers = merge_words(text, np.concatenate([words for _, words in parts]))
        starts = np.cumsum([0, *(len(words) for _, words in parts)])
        ids = np.concatenate([numbers[start:][part] for (part, _), start in zip(parts, starts, strict=False)])
    return ids, np.cumsum(counts)


def bare_code_points(pieces: Iterable[CodePoints], starts: IntArray) -> tuple[TokenArray, IntArray]:
    """Return the code points of n texts that are no white space, int32, and their offsets, int64[n + 1].

    The `pieces` are the `text` of `intern_words`, divided between texts; `starts` begins with 0.
    """
    from misheard_kernels.interning_compiled import strip_spaces

    bare = np.empty(starts[-1], np.int32)
    counts = np.zeros(len(starts), np.int64)
    first, written = 0, 0
    for piece in pieces:
        last = int(np.searchsorted(starts, starts[first] + len(piece)))
        bounds = starts[first : last + 1] - starts[first]
        written += strip_spaces(piece, bounds, bare[written:], counts[first + 1 : last + 1])
        first = last
    return bare[:written], np.cumsum(counts)
