"""Versioned normalisation profiles: what a text becomes before it is compared.

| name | what it does |
| --- | --- |
| `exact` | nothing |
| `nfc` | Unicode NFC, runs of white space to one space, none at the ends; case and punctuation stay |

White space is Unicode's, as `str.split` sees it. Every profile is idempotent. A profile whose result changes
for any text gets a new version.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from misheard.errors import InputError


@dataclass(frozen=True, slots=True)
class Profile:
    """A normalisation with the name and version under which reports cite it."""

    name: str
    version: int
    apply: Callable[[str], str] = field(repr=False, compare=False)


def _exact(text: str) -> str:
    return text


def _nfc(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


PROFILES = {profile.name: profile for profile in (Profile("exact", 1, _exact), Profile("nfc", 1, _nfc))}


def profile_named(name: str) -> Profile:
    """Return the profile of that name. Raises InputError, naming those there are, where there is none."""
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(PROFILES)
        raise InputError(f"normalisation profile {name!r} is not known; use one of: {known}") from None


def normalise(text: str, profile: str) -> str:
    """Return `text` under the profile of that name. Raises InputError where there is none."""
    return profile_named(profile).apply(text)
