"""Transcribers' annotations: `(laughs)`, `[noise]`, `<unk>`, `{cough}`.

An annotation is a short label in one pair of brackets: at most 40 characters, at least one letter among them,
spaces between its words; no digits, so that `(555)` is text, no sentence punctuation, and in `<…>` no
spaces, so that `a < b and c > d` is text. Of nested brackets the innermost are looked at first; `remove` then
looks again at what is left.

No profile touches them unless it is asked to, because a speaker's words may stand in brackets too:

| option | `well (laughs) yes` under `plain` |
| --- | --- |
| `keep`, the default | `well laughs yes` |
| `remove` | `well yes` |
| `token` | `well <laughs> yes` |

A token is the label under `plain` with hyphens for its spaces, between `<` and `>`, whatever the brackets
were, so that `[LAUGHS]` and `(laughs)` are the same. Annotations are found before the profile sees the text.
Words on both sides of a token never join into a number.
"""

import re
from collections.abc import Callable
from typing import Literal, get_args

from misheard.errors import InputError
from misheard.text.folding import folded, plain_words

Annotations = Literal["keep", "remove", "token"]

KEEP: Annotations = "keep"

# not \w, which lacks the combining marks of Indic scripts
_CHARACTER = r"[^\s\d()\[\]<>{}.,;:!?\"“”&+=*#$%@]"
_LABEL = rf"{_CHARACTER}(?:[ ]*{_CHARACTER}){{0,39}}"
_ANNOTATION = re.compile(
    rf"\((?P<round>{_LABEL})\)|\[(?P<square>{_LABEL})\]|\{{(?P<curly>{_LABEL})\}}|<(?P<angle>{_CHARACTER}{{1,40}})>"
)
_TOKEN_LABEL = re.compile(rf"{_CHARACTER}{{1,40}}")


def has_annotations(text: str) -> bool:
    """Whether a text holds annotations."""
    return _ANNOTATION.search(text) is not None and _without(text) != text


def with_annotations(text: str, normalise: Callable[[str], str], annotations: Annotations) -> str:
    """Return `text` normalised, its annotations as asked. Raises InputError for an unknown option."""
    if annotations == KEEP:
        return normalise(text)
    if annotations not in get_args(Annotations):
        known = ", ".join(get_args(Annotations))
        raise InputError(f"annotations {annotations!r} is not known; use one of: {known}")
    if annotations == "remove":
        return normalise(_without(text))
    return _with_tokens(text, normalise)


def _without(text: str) -> str:
    while True:
        shorter = _ANNOTATION.sub(lambda match: " " if _label(match) else match[0], text)
        if shorter == text:
            return text
        text = shorter


def _with_tokens(text: str, normalise: Callable[[str], str]) -> str:
    parts: list[str] = []
    position = 0
    for match in _ANNOTATION.finditer(text):
        label = _label(match)
        if not label:
            continue
        parts += [normalise(text[position : match.start()]), f"<{label}>"]
        position = match.end()
    parts = [part for part in [*parts, normalise(text[position:])] if part]
    return "".join(map(_spaced, parts, [*parts[1:], ""]))


def _spaced(part: str, following: str) -> str:
    apart = not following or part[-1].isspace() or following[0].isspace()
    return part if apart else f"{part} "


def _label(match: re.Match[str]) -> str:
    """Return the label of an annotation as its token has it; empty where the brackets hold ordinary text."""
    label = next(group for group in match.groups() if group is not None)
    token = "-".join(plain_words(folded(label)))
    return token if _TOKEN_LABEL.fullmatch(token) else ""
