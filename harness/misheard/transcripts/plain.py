"""Formats of one utterance a line: plain lines, sclite's trn, Kaldi's text."""

import re

from misheard.transcripts.source import Source, Utterances

_TRN_ID = re.compile(r"\(([^\s()]+)\)\s*$")


def read_lines(source: Source) -> Utterances:
    """Read plain lines: a line is an utterance, an empty one too; nothing in it has a meaning."""
    return Utterances(source.lines())


def read_trn(source: Source) -> Utterances:
    """Read sclite's trn: `words (id)`.

    A line that begins with `;;` and ends with no id is a comment, and empty lines are skipped; what else has
    no id is an error. What braces and `@` mean is not decided here (see `misheard.text.alternatives`).
    """
    texts, ids = [], []
    for number, line in enumerate(source.lines(), 1):
        found = _TRN_ID.search(line)
        if found is not None:
            texts.append(line[: found.start()])
            ids.append(found[1])
        elif line.strip() and not line.startswith(";;"):
            raise source.error("does not end with an id in parentheses, as lines of trn do", number)
    source.check_unique(ids)
    return Utterances(texts, ids)


def looks_like_trn(text: str) -> bool:
    """Whether every line that is not empty ends with an id of its own, one that has a digit, `-` or `_`."""
    ids: set[str] = set()
    for line in text.split("\n"):
        if not line.strip():
            continue
        found = _TRN_ID.search(line)
        if found is None or found[1] in ids or not any(char.isdigit() or char in "-_" for char in found[1]):
            return False
        ids.add(found[1])
    return bool(ids)


def read_kaldi(source: Source) -> Utterances:
    """Read Kaldi's text: `id words`; an id alone is an empty utterance."""
    texts, ids = [], []
    for number, line in enumerate(source.lines(), 1):
        parts = line.split(None, 1)
        if not parts:
            raise source.error("is empty; lines of Kaldi's text begin with an id", number)
        ids.append(parts[0])
        texts.append(parts[1] if len(parts) > 1 else "")
    source.check_unique(ids)
    return Utterances(texts, ids)
