"""STM and CTM, of which the text is read: all words of a recording, in order of time."""

from collections.abc import Sequence

from misheard.errors import count_of
from misheard.transcripts.source import Source, Utterances

_IGNORED = "ignore_time_segment_in_scoring"

_Timed = dict[tuple[str, str], list[tuple[float, str]]]


def read_stm(source: Source) -> Utterances:
    """Read STM: `recording channel speaker begin end [<label>] words`; comments begin with `;;`.

    An utterance is a recording (`recording/channel` where one has several channels): the words of its
    segments by begin.
    """
    found: _Timed = {}
    for number, parts in _rows(source, 5):
        begin = _seconds(source, parts[3], number)
        _seconds(source, parts[4], number)
        words = parts[5] if len(parts) > 5 else ""
        if words.startswith("<") and ">" in words:
            words = words[words.index(">") + 1 :]
        if words.strip().lower() == _IGNORED:
            what = "excludes a stretch of time; only text is compared, so cut it out of both files"
            raise source.error(what, number)
        found.setdefault((parts[0], parts[1]), []).append((begin, words.strip()))
    return _joined(source, found)


def read_ctm(source: Source) -> Utterances:
    """Read CTM: `recording channel begin duration word [confidence]`; comments begin with `;;`."""
    found: _Timed = {}
    for number, parts in _rows(source, 4):
        begin = _seconds(source, parts[2], number)
        _seconds(source, parts[3], number)
        word = parts[4] if len(parts) > 4 else ""
        if word.upper().startswith("<ALT"):
            raise source.error("alternatives in CTM are not supported; keep one of them", number)
        found.setdefault((parts[0], parts[1]), []).append((begin, word))
    return _joined(source, found)


def _rows(source: Source, fields: int) -> list[tuple[int, Sequence[str]]]:
    rows: list[tuple[int, Sequence[str]]] = []
    for number, line in enumerate(source.lines(), 1):
        if not line.strip() or line.lstrip().startswith(";;"):
            continue
        parts = line.split(None, 5)
        if len(parts) < fields:
            raise source.error(f"{count_of(len(parts), 'field')}, but at least {fields} are needed", number)
        rows.append((number, parts))
    return rows


def _seconds(source: Source, value: str, line: int) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds < 1e9:
        raise source.error("a time is not a number of seconds", line)
    return seconds


def _joined(source: Source, found: _Timed) -> Utterances:
    channels: dict[str, int] = {}
    for recording, _ in found:
        channels[recording] = channels.get(recording, 0) + 1
    ids = [name if channels[name] == 1 else f"{name}/{channel}" for name, channel in found]
    source.check_unique(ids)
    texts = [" ".join(w for _, w in sorted(rows, key=lambda row: row[0]) if w) for rows in found.values()]
    return Utterances(texts, ids)
