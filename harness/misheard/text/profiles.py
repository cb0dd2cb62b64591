"""Versioned normalisation profiles: what a text becomes before it is compared.

| name | what it does |
| --- | --- |
| `exact` | nothing |
| `nfc` | Unicode NFC, runs of white space to one space, none at the ends; case and punctuation stay |
| `plain` | NFKC, case folded, apostrophes inside words kept, other punctuation and symbols separate |
| `spoken` | `plain`, and numerals in one form per language |

`plain` keeps combining marks in every script, and points and commas between digits; the rules for joiners and
other special characters are in `misheard.text.folding`, those for numerals in `misheard.text.spoken`.

White space is Unicode's, as `str.split` sees it. Every profile is idempotent. A profile whose result changes
for any text gets a new version.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from misheard.errors import InputError
from misheard.text.annotations import KEEP, Annotations, with_annotations
from misheard.text.folding import folded, plain_words
from misheard.text.normal_form import normal_form
from misheard.text.word_cache import WordCache


class Normaliser(Protocol):
    """A function of a text and the BCP-47 tag of its language, None where that is not known."""

    def __call__(self, text: str, language: str | None = None) -> str: ...


@dataclass(frozen=True, slots=True)
class Profile:
    """A normalisation with the name and version under which reports cite it."""

    name: str
    version: int
    apply: Normaliser = field(repr=False, compare=False)


def _exact(text: str, language: str | None = None) -> str:
    return text


def _nfc(text: str, language: str | None = None) -> str:
    return " ".join(normal_form("NFC", text).split())


_plain_words = WordCache(lambda word: " ".join(plain_words(folded(word))))


def _plain(text: str, language: str | None = None) -> str:
    return _plain_words.joined(text.split())


def _spoken(text: str, language: str | None = None) -> str:
    # text2num and its tables are loaded for this profile alone
    from misheard.text.spoken import spoken

    return spoken(text, language)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("exact", 1, _exact),
        Profile("nfc", 1, _nfc),
        Profile("plain", 1, _plain),
        Profile("spoken", 3, _spoken),
    )
}


def profile_named(name: str) -> Profile:
    """Return the profile of that name. Raises InputError, naming those there are, where there is none."""
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(PROFILES)
        raise InputError(f"normalisation profile {name!r} is not known; use one of: {known}") from None


def normalise(
    text: str, profile: str, language: str | None = None, *, annotations: Annotations = KEEP
) -> str:
    """Return `text` under the profile of that name.

    Args:
        text: any text, lone surrogates included.
        profile: one of `PROFILES`.
        language: BCP-47 tag of the text; only `spoken` depends on it.
        annotations: what becomes of `(laughs)`, `[noise]`, `<unk>` and `{cough}`: `keep` leaves them to the
            profile like any text, `remove` drops them, `token` makes each one word such as `<laughs>`
            (see `misheard.text.annotations`).

    Raises InputError where there is no such profile or no such way with annotations.
    """
    apply: Callable[[str, str | None], str] = profile_named(profile).apply
    return with_annotations(text, lambda part: apply(part, language), annotations)
