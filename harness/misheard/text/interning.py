"""Texts as arrays: tokens become int32 ids that are equal where the tokens are.

Ids are comparable within one `TokenPairs` only. Small inputs are split by Python, large ones by compiled
kernels; the ids are the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard.text.tokenisers import words
from misheard_kernels.interning import bare_code_points, intern_words
from misheard_kernels.loading import compiled_pays

_WORDS_SECONDS = 4e-8
_CHARS_SECONDS = 2.5e-8
"""What Python takes for a code point."""

_PIECE = 400


@dataclass(frozen=True, slots=True)
class TokenPairs:
    """n references and hypotheses as the kernels take them.

    Attributes:
        ref_flat: int32, the ids of all references, one after the other.
        ref_offsets: int64[n + 1]; reference i is `ref_flat[ref_offsets[i]:ref_offsets[i + 1]]`.
        hyp_flat, hyp_offsets: the same of the hypotheses.
    """

    ref_flat: npt.NDArray[np.int32]
    ref_offsets: npt.NDArray[np.int64]
    hyp_flat: npt.NDArray[np.int32]
    hyp_offsets: npt.NDArray[np.int64]


def word_pairs(references: Sequence[str], hypotheses: Sequence[str]) -> TokenPairs:
    """Return the words (see `misheard.text.tokenisers`) of texts that pair up by position.

    Raises ValueError where there are not as many hypotheses as references.
    """
    _check_lengths(references, hypotheses)
    starts = _bounds(references, hypotheses, between=1)
    if not compiled_pays(starts[-1] * _WORDS_SECONDS):
        return token_pairs([words(text) for text in references], [words(text) for text in hypotheses])
    text, written = np.empty(starts[-1], np.uint32), 0
    for piece in _encoded(references, hypotheses, " "):
        text[written : written + len(piece)] = piece
        written += len(piece)
    return _divided(*intern_words(text, starts))


def char_pairs(references: Sequence[str], hypotheses: Sequence[str]) -> TokenPairs:
    """Return the code points without white space of texts that pair up by position.

    An id is the code point itself. Lone surrogates are code points like others. Raises ValueError where there
    are not as many hypotheses as references.
    """
    _check_lengths(references, hypotheses)
    starts = _bounds(references, hypotheses, between=1)
    if not compiled_pays(starts[-1] * _CHARS_SECONDS):
        ref, hyp = (["".join(text.split()) for text in texts] for texts in (references, hypotheses))
        pieces = [piece.astype(np.int32) for piece in _encoded(ref, hyp, "")]
        return _divided(np.concatenate([np.empty(0, np.int32), *pieces]), _bounds(ref, hyp))
    return _divided(*bare_code_points(_encoded(references, hypotheses, " "), starts))


def token_pairs(references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]]) -> TokenPairs:
    """Return the tokens of lists that pair up by position.

    Raises ValueError where there are not as many hypotheses as references.
    """
    _check_lengths(references, hypotheses)
    ids: dict[str, int] = {}
    flat = [
        ids.setdefault(token, len(ids))
        for lists in (references, hypotheses)
        for tokens in lists
        for token in tokens
    ]
    return _divided(np.array(flat, dtype=np.int32), _bounds(references, hypotheses))


def _check_lengths(references: Sequence[object], hypotheses: Sequence[object]) -> None:
    if len(references) != len(hypotheses):
        raise ValueError(f"{len(references)} references but {len(hypotheses)} hypotheses")


def _encoded(
    references: Sequence[str], hypotheses: Sequence[str], end: str
) -> Iterator[npt.NDArray[np.uint32]]:
    """Yield the code points of all texts, each with an `end`; of so few at a time that they stay in cache.

    New memory for the code points of all texts at once takes longer than writing to it.
    """
    for texts in (references, hypotheses):
        for first in range(0, len(texts), _PIECE):
            text = end.join([*texts[first : first + _PIECE], ""])
            code_points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
            yield code_points.astype(np.uint32, copy=False)


def _bounds(
    references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]], between: int = 0
) -> npt.NDArray[np.int64]:
    """Return where each reference, then each hypothesis, starts when all follow each other, and the end.

    `between` is added to every length.
    """
    bounds = np.zeros(len(references) + len(hypotheses) + 1, dtype=np.int64)
    for lists, part in (
        (references, bounds[1 : len(references) + 1]),
        (hypotheses, bounds[len(references) + 1 :]),
    ):
        part[:] = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)) + between
    return np.cumsum(bounds, out=bounds)


def _divided(flat: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> TokenPairs:
    """Return pairs from the ids and offsets of all references and then all hypotheses."""
    middle = len(offsets) // 2
    cut = offsets[middle]
    return TokenPairs(flat[:cut], offsets[: middle + 1], flat[cut:], offsets[middle:] - cut)
