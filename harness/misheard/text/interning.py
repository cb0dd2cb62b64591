"""Texts as arrays: tokens become int32 ids that are equal where the tokens are.

Ids are comparable within one `TokenPairs` only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard.text.tokenisers import words


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
    return token_pairs([words(text) for text in references], [words(text) for text in hypotheses])


def char_pairs(references: Sequence[str], hypotheses: Sequence[str]) -> TokenPairs:
    """Return the code points without white space of texts that pair up by position.

    An id is the code point itself. Lone surrogates are code points like others. Raises ValueError where there
    are not as many hypotheses as references.
    """
    _check_lengths(references, hypotheses)
    return TokenPairs(*_code_points(references), *_code_points(hypotheses))


def token_pairs(references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]]) -> TokenPairs:
    """Return the tokens of lists that pair up by position.

    Raises ValueError where there are not as many hypotheses as references.
    """
    _check_lengths(references, hypotheses)
    ids: dict[str, int] = {}
    return TokenPairs(*_interned(references, ids), *_interned(hypotheses, ids))


def _check_lengths(references: Sequence[object], hypotheses: Sequence[object]) -> None:
    if len(references) != len(hypotheses):
        raise ValueError(f"{len(references)} references but {len(hypotheses)} hypotheses")


def _code_points(texts: Sequence[str]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    bare = ["".join(text.split()) for text in texts]
    encoded = "".join(bare).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(encoded, dtype="<i4").astype(np.int32), _offsets(map(len, bare), len(bare))


def _interned(
    lists: Sequence[Sequence[str]], ids: dict[str, int]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    flat = [ids.setdefault(token, len(ids)) for tokens in lists for token in tokens]
    return np.array(flat, dtype=np.int32), _offsets(map(len, lists), len(lists))


def _offsets(lengths: Iterable[int], count: int) -> npt.NDArray[np.int64]:
    offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, dtype=np.int64, count=count), out=offsets[1:])
    return offsets
