"""SubRip (SRT) and WebVTT: one recording whose text is that of its cues, in the file's order."""

import html
import re

from misheard.transcripts.source import Source, Utterances

_TIME = r"(?:\d+:)?\d{1,3}:\d{2}[.,]\d{1,3}"
_TIMING = re.compile(rf"^\s*{_TIME}\s+-->\s+{_TIME}(?:\s.*)?$")
_TAG = re.compile(r"</?(?:[ibuvc]|font|lang|ruby|rt)(?:[\s.][^<>]*)?>|<\d[\d:.]*>", re.IGNORECASE)
_OVERRIDE = re.compile(r"\{\\[^{}]*\}")


def read_srt(source: Source) -> Utterances:
    """Read SRT: markup such as `<i>`, and override codes in braces, are left out."""
    cues = _cues(source, source.lines())
    return Utterances([" ".join(_OVERRIDE.sub("", _TAG.sub("", cue)) for cue in cues)])


def read_vtt(source: Source) -> Utterances:
    """Read WebVTT: headers, notes, styles and tags are left out, character references resolved."""
    lines = source.lines()
    if not lines or not lines[0].startswith("WEBVTT"):
        raise source.error("does not begin with WEBVTT", 1)
    cues = _cues(source, lines[1:], first_line=2)
    return Utterances([" ".join(html.unescape(_TAG.sub("", cue)) for cue in cues)])


def looks_like_srt(text: str) -> bool:
    """Whether the first two lines with anything in them are a number and a timing."""
    lines = [line for line in text[:400].splitlines() if line.strip()][:2]
    return len(lines) == 2 and lines[0].strip().isdigit() and _TIMING.match(lines[1]) is not None


def _cues(source: Source, lines: list[str], first_line: int = 1) -> list[str]:
    """Return the text lines of blocks that have a timing line."""
    cues: list[str] = []
    blocks = 0
    inside = False
    for number, line in enumerate(lines, first_line):
        if not line.strip():
            inside = False
        elif _TIMING.match(line):
            inside, blocks = True, blocks + 1
        elif "-->" in line and not inside:
            raise source.error("a cue's times cannot be read", number)
        elif inside:
            cues.append(line.strip())
    if not blocks and any(line.strip() for line in lines) and first_line == 1:
        raise source.error("has no cue: no line with two times and -->")
    return cues
