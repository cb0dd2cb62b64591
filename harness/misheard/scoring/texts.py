"""From texts to counts: a profile, a tokeniser, and the quickest of the ways to the same numbers."""

import re
import sys
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from misheard.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from misheard.text.interning import TokenPairs

Unit = Literal["words", "chars", "graphemes", "mixed"]
Costs = Literal["unit", "sclite"]
Annotations = Literal["keep", "remove", "token"]

UNITS: tuple[Unit, ...] = ("words", "chars", "graphemes", "mixed")
COSTS: tuple[Costs, ...] = ("unit", "sclite")
ANNOTATIONS: tuple[Annotations, ...] = ("keep", "remove", "token")

Split = Callable[[str], Sequence[str]]
ItemCounts = tuple[int, int, int, int]
"""Substitutions, deletions, insertions, hits."""

Counts: TypeAlias = "list[ItemCounts] | npt.NDArray[np.int64]"
"""The counts of n pairs: tuples, or the kernels' int64[n, 4], as making tuples of that takes about as long as
counting words."""

_LIGHT_PROFILES = ("exact", "nfc")
"""Profiles that need no module: `exact` changes nothing, `nfc` nothing else that a tokeniser would see."""

_SMALL_TOKENS: dict[Costs, int] = {"unit": 400_000, "sclite": 20_000}
_SMALL_TOKENS_WITH_NUMPY = 300
"""Up to about so many tokens are counted without numpy, whose import, or call, would take longer."""

_SMALL_PAIR = 4_000_000
"""Larger pairs (reference times hypothesis, in characters) would take too much memory that way."""

_PROBE = 200
_MOSTLY_RIGHT = 0.4
"""What is mostly wrong takes long that way: beyond this share of errors in the first pairs, the rest goes on
without it."""

_CHARACTERS_PER_WORD = 5


_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class TextSettings:
    """How texts become the tokens that are compared, and what an edit costs.

    Attributes:
        profile: normalisation profile (see `misheard.text.profiles`).
        unit: `words`, `chars`, `graphemes` or `mixed` (see `misheard.text.tokenisers`).
        language: BCP-47 tag of the texts, for profiles that need it.
        costs: `unit`, or `sclite` for substitutions of 4 and deletions and insertions of 3.
        annotations: what becomes of `(laughs)` and the like: `keep`, `remove` or `token`.

    Raises InputError for a value that does not exist.
    """

    profile: str = "nfc"
    unit: Unit = "words"
    language: str | None = None
    costs: Costs = "unit"
    annotations: Annotations = "keep"

    def __post_init__(self) -> None:
        if self.profile not in _LIGHT_PROFILES:
            from misheard.text.profiles import profile_named

            profile_named(self.profile)
        _check("unit", self.unit, UNITS)
        _check("costs", self.costs, COSTS)
        _check("annotations", self.annotations, ANNOTATIONS)
        if self.language is not None and not _TAG.fullmatch(self.language):
            raise InputError(f"language: {self.language!r} is no language tag; write one such as en or pt-BR")

    def normalised(self, texts: Sequence[str]) -> Sequence[str]:
        """Return the texts under the profile; runs of white space may stay, which no tokeniser sees."""
        if self.annotations == "keep" and self.profile in _LIGHT_PROFILES:
            return texts if self.profile == "exact" else _nfc(texts)
        from misheard.text.profiles import normalise

        profile, language, annotations = self.profile, self.language, self.annotations
        return [normalise(text, profile, language, annotations=annotations) for text in texts]

    def split(self) -> Split:
        """Return the function that splits a normalised text into units."""
        if self.unit == "words":
            return str.split
        if self.unit == "chars":
            return _chars
        from misheard.text import tokenisers

        split: Split = getattr(tokenisers, self.unit)
        return split


def _check(option: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(f"{option} {value!r} is not known; use one of: {', '.join(known)}")


def _nfc(texts: Sequence[str]) -> Sequence[str]:
    if all(map(str.isascii, texts)):
        return texts
    from unicodedata import is_normalized

    from misheard.text.normal_form import normal_form

    return [text if is_normalized("NFC", text) else normal_form("NFC", text) for text in texts]


def _chars(text: str) -> str:
    """Return the code points that are not white space; as a string, which is the quickest list of them."""
    return "".join(text.split())


def count_texts(references: Sequence[str], hypotheses: Sequence[str], settings: TextSettings) -> Counts:
    """Return the counts of each pair of normalised texts. Which way they are counted changes no number."""
    split, costs = settings.split(), settings.costs
    if _is_small(references, hypotheses, costs, _CHARACTERS_PER_WORD if settings.unit == "words" else 1):
        return count_tokens(list(map(split, references)), list(map(split, hypotheses)), costs)
    from misheard.text import interning

    if settings.unit == "words":
        return _kernel_counts(interning.word_pairs(references, hypotheses), costs)
    if settings.unit == "chars":
        return _kernel_counts(interning.char_pairs(references, hypotheses), costs)
    tokens = interning.token_pairs(list(map(split, references)), list(map(split, hypotheses)))
    return _kernel_counts(tokens, costs)


def count_tokens(
    references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]], costs: Costs
) -> Counts:
    """Return the counts of each pair of token lists."""
    counts: list[ItemCounts] = []
    if _is_small(references, hypotheses, costs):
        counts = _small_counts(references[:_PROBE], hypotheses[:_PROBE], costs)
        if sum(s + d + i for s, d, i, _ in counts) <= _MOSTLY_RIGHT * sum(map(len, references[:_PROBE])):
            return counts + _small_counts(references[_PROBE:], hypotheses[_PROBE:], costs)
    done = len(counts)
    if done == len(references):
        return counts
    from misheard.text.interning import token_pairs

    rest = _kernel_counts(token_pairs(references[done:], hypotheses[done:]), costs)
    return counts + item_rows(rest) if counts else rest


def item_rows(counts: Counts) -> list[ItemCounts]:
    """Return the counts of each pair as a tuple."""
    rows = counts if isinstance(counts, list) else counts.tolist()
    return list(map(cast("Callable[[Iterable[int]], ItemCounts]", tuple), rows))


def sum_counts(counts: Counts) -> ItemCounts:
    """Return the sums over all pairs."""
    if isinstance(counts, list):
        sums = [sum(column) for column in zip(*counts, strict=True)] if counts else [0] * 4
    else:
        sums = counts.sum(axis=0).tolist()
    return sums[0], sums[1], sums[2], sums[3]


def _is_small(
    references: Sequence[Sized], hypotheses: Sequence[Sized], costs: Costs, per_token: int = 1
) -> bool:
    total = sum(map(len, references)) + sum(map(len, hypotheses))
    limit = _SMALL_TOKENS_WITH_NUMPY if "numpy" in sys.modules else _SMALL_TOKENS[costs]
    if total > limit * per_token:
        return False
    return max(map(len, references), default=0) * max(map(len, hypotheses), default=0) <= _SMALL_PAIR


def _small_counts(
    references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]], costs: Costs
) -> list[ItemCounts]:
    from misheard_kernels.small_inputs import count_edits

    return [
        (0, 0, 0, len(ref)) if ref == hyp else count_edits(ref, hyp, costs=costs)
        for ref, hyp in zip(references, hypotheses, strict=True)
    ]


def _kernel_counts(tokens: "TokenPairs", costs: Costs) -> "npt.NDArray[np.int64]":
    from misheard_kernels import edit_counts

    return edit_counts(tokens.ref_flat, tokens.ref_offsets, tokens.hyp_flat, tokens.hyp_offsets, costs=costs)
