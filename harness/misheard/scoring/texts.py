"""From texts to counts: a profile, a tokeniser, and the quickest of the ways to the same numbers."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from misheard.errors import InputError

if TYPE_CHECKING:
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

_LIGHT_PROFILES = ("exact", "nfc")
"""Profiles that need no module: `exact` changes nothing, `nfc` nothing else that a tokeniser would see."""

_SMALL_CHARACTERS = 60_000
_SMALL_CHARACTERS_WITH_NUMPY = 1_000
"""Up to so much text is counted without numpy: importing it would take longer, or calling it."""


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
    from unicodedata import is_normalized, normalize

    return [text if is_normalized("NFC", text) else normalize("NFC", text) for text in texts]


def _chars(text: str) -> str:
    """Return the code points that are not white space; as a string, which is the quickest list of them."""
    return "".join(text.split())


def count_texts(
    references: Sequence[str], hypotheses: Sequence[str], settings: TextSettings
) -> list[ItemCounts]:
    """Return the counts of each pair of normalised texts. Which way they are counted changes no number."""
    split = settings.split()
    if _is_small(sum(map(len, references)) + sum(map(len, hypotheses))):
        pairs = zip(references, hypotheses, strict=True)
        return _small_counts([(split(ref), split(hyp)) for ref, hyp in pairs], settings.costs)
    from misheard.text import interning

    if settings.unit == "words":
        tokens = interning.word_pairs(references, hypotheses)
    elif settings.unit == "chars":
        tokens = interning.char_pairs(references, hypotheses)
    else:
        tokens = interning.token_pairs([split(t) for t in references], [split(t) for t in hypotheses])
    return _kernel_counts(tokens, settings.costs)


def count_tokens(
    references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]], costs: Costs
) -> list[ItemCounts]:
    """Return the counts of each pair of token lists."""
    if _is_small(4 * (sum(map(len, references)) + sum(map(len, hypotheses)))):
        return _small_counts(list(zip(references, hypotheses, strict=True)), costs)
    from misheard.text.interning import token_pairs

    return _kernel_counts(token_pairs(references, hypotheses), costs)


def _is_small(characters: int) -> bool:
    return characters <= (_SMALL_CHARACTERS_WITH_NUMPY if "numpy" in sys.modules else _SMALL_CHARACTERS)


def _small_counts(pairs: Sequence[tuple[Sequence[str], Sequence[str]]], costs: Costs) -> list[ItemCounts]:
    from misheard_kernels.small_inputs import count_edits

    return [(0, 0, 0, len(ref)) if ref == hyp else count_edits(ref, hyp, costs=costs) for ref, hyp in pairs]


def _kernel_counts(tokens: "TokenPairs", costs: Costs) -> list[ItemCounts]:
    from misheard_kernels import edit_counts

    counts = edit_counts(
        tokens.ref_flat, tokens.ref_offsets, tokens.hyp_flat, tokens.hyp_offsets, costs=costs
    )
    rows: list[ItemCounts] = [(s, d, i, h) for s, d, i, h in counts.tolist()]
    return rows
