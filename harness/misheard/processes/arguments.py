"""Arguments of programs as files and reports may show them."""

import re
from collections.abc import Iterable

from misheard.canonical import sha256_json

_SECRET_WORDS = frozenset(
    {"token", "key", "apikey", "secret", "password", "passwd", "passphrase", "credential", "credentials"}
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_SECRET_HEADERS = re.compile(r"\b(authorization|bearer)\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"(?<!\{)\{[a-z]+\}(?!\})")


def without_secrets(arguments: Iterable[str]) -> list[str]:
    """Return arguments in which what sounds like a secret is replaced by its hash.

    That is what belongs to an option or a variable with such a name (`--name value`, `--name=value`,
    `NAME=value`), and a header that authorizes. Values with placeholders stay: they name files and models.
    """
    shown: list[str] = []
    hide_next = False
    for argument in arguments:
        name, separator, value = argument.partition("=")
        secret = not _SECRET_WORDS.isdisjoint(map(str.lower, _WORD.findall(name)))
        is_option = name.startswith("-")
        if (hide_next and not is_option) or _SECRET_HEADERS.search(argument):
            shown.append(_hash(argument))
        else:
            shown.append(f"{name}={_hash(value)}" if secret and separator else argument)
        hide_next = secret and is_option and not separator
    return shown


def hashed(text: str) -> str:
    """Return what stands for a text that is not to be shown: equal texts look equal."""
    return f"sha256:{sha256_json(text)}"


def _hash(value: str) -> str:
    return value if _PLACEHOLDER.search(value) else hashed(value)
