"""Scripts that a text is written in, and how much it mixes them.

A character's script is its Unicode property Script (UAX #24), named by its ISO 15924 code. Script_Extensions
are not looked at: a mark or sign that several scripts share is Common or Inherited and so belongs to none of
them. Code points without a script, such as unassigned ones and lone surrogates, are of the script `Zzzz`,
which cannot be declared.

Where scripts are declared, the codes of writing systems stand for what they are made of: `Jpan` for Han,
Hiragana and Katakana, `Kore` for Hangul and Han, `Hans` and `Hant` for Han.
"""

from __future__ import annotations

import string
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from misheard.errors import InputError

if TYPE_CHECKING:
    import regex

COMMON, INHERITED, UNKNOWN = "Zyyy", "Zinh", "Zzzz"

WRITING_SYSTEMS = {
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",),
    "Hant": ("Hani",),
    "Hanb": ("Hani", "Bopo"),
    "Hrkt": ("Hira", "Kana"),
    "Jamo": ("Hang",),
    "Aran": ("Arab",),
    "Latf": ("Latn",),
    "Latg": ("Latn",),
    "Cyrs": ("Cyrl",),
    "Syre": ("Syrc",),
    "Syrj": ("Syrc",),
    "Syrn": ("Syrc",),
}

DENSITIES = ("none", "low", "medium", "high")
# upper bounds of low and medium; two languages in equal parts have an index of 50
LOW_UP_TO, MEDIUM_UP_TO = 15.0, 30.0

# The values of the property Script in Unicode 17 (PropertyValueAliases.txt), without Common and the like.
_CODE_NAMES = """
Adlm Aghb Ahom Arab Armi Armn Avst Bali Bamu Bass Batk Beng Berf Bhks Bopo Brah Brai Bugi Buhd Cakm Cans
Cari Cham Cher Chrs Copt Cpmn Cprt Cyrl Deva Diak Dogr Dsrt Dupl Egyp Elba Elym Ethi Gara Geor Glag Gong
Gonm Goth Gran Grek Gujr Gukh Guru Hang Hani Hano Hatr Hebr Hira Hluw Hmng Hmnp Hung Ital Java Kali Kana
Kawi Khar Khmr Khoj Kits Knda Krai Kthi Lana Laoo Latn Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Maka Mand
Mani Marc Medf Mend Merc Mero Mlym Modi Mong Mroo Mtei Mult Mymr Nagm Nand Narb Nbat Newa Nkoo Nshu Ogam
Olck Onao Orkh Orya Osge Osma Ougr Palm Pauc Perm Phag Phli Phlp Phnx Plrd Prti Rjng Rohg Runr Samr Sarb
Saur Sgnw Shaw Shrd Sidd Sidt Sind Sinh Sogd Sogo Sora Soyo Sund Sunu Sylo Syrc Tagb Takr Tale Talu Taml
Tang Tavt Tayo Telu Tfng Tglg Thaa Thai Tibt Tirh Tnsa Todr Tols Toto Tutg Ugar Vaii Vith Wara Wcho Xpeo
Xsux Yezi Yiii Zanb
"""
_CODES = frozenset(_CODE_NAMES.split())

# Blocks of Thai, Lao, Myanmar, Khmer, kana and Han (Unicode 16, Blocks.txt; of U+3000 to U+303F only the
# letters and numbers that Scripts.txt counts as Han).
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x19E0, 0x19FF),
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0x16FE3, 0x16FE3),
    (0x16FF0, 0x16FF6),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_STARTS = [start for start, _ in _UNSPACED]

_ASCII_SCRIPTS = {char: "Latn" if char in string.ascii_letters else COMMON for char in map(chr, range(128))}


def regex_version() -> str:
    """Return the version of the library that knows the scripts and grapheme clusters of Unicode."""
    from importlib.metadata import version  # costs more than all else here

    return version("regex")


def is_unspaced(char: str) -> bool:
    """Return whether a letter or mark belongs to a script that sets no spaces between words.

    These are Han, Hiragana, Katakana, Thai, Lao, Khmer and Myanmar.
    """
    code = ord(char)
    if code < _UNSPACED[0][0]:
        return False
    block = bisect_right(_STARTS, code) - 1
    return code <= _UNSPACED[block][1]


def script_of(character: str) -> str:
    """Return the ISO 15924 code of a character's script: `Zyyy` for Common, `Zinh` for Inherited."""
    return _ASCII_SCRIPTS.get(character) or _script_beyond_ascii(character)


def scripts_of(text: str) -> dict[str, int]:
    """Return how many characters of each script a text has, in order of appearance.

    Characters that are Common or Inherited do not count.
    """
    return dict(Counter(code for code in map(script_of, text) if code not in (COMMON, INHERITED)))


def expanded_scripts(codes: Iterable[str]) -> tuple[str, ...]:
    """Return declared scripts as values of the property Script, sorted, writing systems taken apart.

    Raises InputError for a code that is no ISO 15924 code of a script in Unicode.
    """
    return _expanded(frozenset(codes))


def foreign_characters(text: str, allowed: Iterable[str]) -> list[str]:
    """Return the characters whose script is neither Common nor Inherited nor declared, in order.

    Args:
        text: any text.
        allowed: ISO 15924 codes of the declared scripts and writing systems.

    Raises InputError for a code that is not known.
    """
    scripts = expanded_scripts(allowed)
    if text.isascii() and "Latn" in scripts:
        return []
    foreign: list[str] = _foreign_pattern(scripts).findall(text)
    return foreign


def foreign_share(text: str, allowed: Iterable[str]) -> float | None:
    """Return the share of foreign characters among those that belong to a script; None where none does."""
    scripted = sum(scripts_of(text).values())
    return len(foreign_characters(text, allowed)) / scripted if scripted else None


def code_mixing_index(tokens: Sequence[str], languages: Sequence[str | None] | None = None) -> float:
    """Return the code-mixing index of an utterance, from 0 (one language) to below 100.

    With n tokens of which u belong to no language, and w of the most frequent language, it is
    100 (1 - w / (n - u)), and 0 where n = u (Das and Gambäck 2014, "Identifying Languages at the Word Level
    in Code-Mixed Indian Social Media Text", ICON).

    Args:
        tokens: words, or `mixed` tokens where a language sets no spaces.
        languages: the language of each token, None for those of no language, such as numbers and names.
            Without them a token counts for the script of its first character that has one, Han and kana as
            one: that does not see Hindi in Latin letters.

    Raises ValueError where there are not as many languages as tokens.
    """
    if languages is None:
        languages = [_stand_in_language(token) for token in tokens]
    elif len(languages) != len(tokens):
        raise ValueError(f"{len(tokens)} tokens but {len(languages)} languages")
    counts = Counter(language for language in languages if language is not None)
    total = counts.total()
    return 100 * (1 - max(counts.values()) / total) if total else 0.0


def code_switch_density(index: float) -> str:
    """Return the value of the condition `code_switch` for a code-mixing index.

    `none` at 0, `low` up to 15, `medium` up to 30, `high` above; the bounds belong to the lower bin.
    """
    if index <= 0:
        return "none"
    if index <= LOW_UP_TO:
        return "low"
    return "medium" if index <= MEDIUM_UP_TO else "high"


def _stand_in_language(token: str) -> str | None:
    for char in token:
        code = script_of(char)
        if code not in (COMMON, INHERITED):
            return "Hani" if code in ("Hira", "Kana") else code
    return None


@lru_cache(maxsize=256)
def _expanded(codes: frozenset[str]) -> tuple[str, ...]:
    expanded: set[str] = set()
    for code in sorted(codes):
        if code not in WRITING_SYSTEMS and code not in _CODES and code not in (COMMON, INHERITED):
            raise InputError(f"script {code!r} is not known; use ISO 15924 codes such as Latn, Deva or Jpan")
        expanded.update(WRITING_SYSTEMS.get(code, (code,)))
    return tuple(sorted(expanded))


@lru_cache(maxsize=65_536)
def _script_beyond_ascii(character: str) -> str:
    match = _script_pattern().match(character)
    return match.lastgroup or UNKNOWN if match else UNKNOWN


@lru_cache(maxsize=1)
def _script_pattern() -> regex.Pattern[str]:
    import regex  # takes longer to load than the rest of this package

    known = []
    for code in [*sorted(_CODES), COMMON, INHERITED]:
        try:
            regex.compile(rf"\p{{Script={code}}}")
        except regex.error:  # a script that came after this version of regex
            continue
        known.append(rf"(?P<{code}>\p{{Script={code}}})")
    return regex.compile("|".join(known))


@lru_cache(maxsize=256)
def _foreign_pattern(scripts: tuple[str, ...]) -> regex.Pattern[str]:
    import regex

    known = "".join(rf"\p{{Script={code}}}" for code in {*scripts, COMMON, INHERITED})
    return regex.compile(rf"[^{known}]")
