"""References with several accepted spellings, written into the text.

In `my {office / ऑफिस} is {near by / nearby}` a slot is a pair of braces with at least one slash between white
space in it. `@` or nothing is the empty alternative. Braces without such a slash are text.
"""

import re
from collections.abc import Sequence

from misheard.scoring.texts import TextSettings

_SLOT = re.compile(r"\{((?:[^{}\s]|\s(?!/\s))*(?:\s/\s[^{}]*)+)\}")
_SLASH = re.compile(r"\s/(?=\s)")


def slots(reference: str, settings: TextSettings) -> list[list[list[str]]]:
    """Return the slots of a reference, each with its alternatives as tokens; fixed text has one."""
    found: list[list[list[str]]] = []
    end = 0
    for match in _SLOT.finditer(reference):
        _add(found, [reference[end : match.start()]], settings)
        written = [part.strip() for part in _SLASH.split(f"{match[1]} ")]
        _add(found, ["" if part == "@" else part for part in written], settings)
        end = match.end()
    _add(found, [reference[end:]], settings)
    return found


def _add(found: list[list[list[str]]], texts: list[str], settings: TextSettings) -> None:
    split = settings.split()
    alternatives = [list(split(text)) for text in settings.normalised(texts)]
    if len(alternatives) > 1 or alternatives[0]:
        found.append(alternatives)


def matched_references(
    references: Sequence[str], hypotheses: Sequence[Sequence[str]], settings: TextSettings
) -> list[Sequence[str]]:
    """Return, per reference, the tokens of the path through its slots that is closest to its hypothesis."""
    from misheard.metrics.alternatives import matched_reference

    return [
        matched_reference(slots(reference, settings), hypothesis)
        for reference, hypothesis in zip(references, hypotheses, strict=True)
    ]
