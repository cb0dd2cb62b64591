"""Records of JSON: an object a line (JSON Lines, NeMo manifests), or a list of objects."""

import json
import re
from collections.abc import Iterable
from typing import Any

from misheard.transcripts.fields import id_field, session_field, text_field
from misheard.transcripts.source import Source, Utterances, named

_SIGN = re.compile(r"[{}/\\]")


def read_jsonl(source: Source) -> Utterances:
    """Read an object a line; empty lines are skipped."""
    lines = ((number, line) for number, line in enumerate(source.lines(), 1) if line.strip())
    return records(source, ((number, parse_line(source, line, number)) for number, line in lines))


def parse_line(source: Source, text: str, line: int) -> Any:
    """Return the value of one line. Raises InputError, naming the line, where it is no JSON."""
    return _parsed(source, text, line)


def parse_json(source: Source) -> Any:
    """Return the value of a JSON document. Raises InputError, naming the place, where it is none."""
    return _parsed(source, source.text, None)


def _parsed(source: Source, text: str, line: int | None) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except _RepeatedKeyError as error:
        raise source.error(f"the same key twice in one object: {named([str(error)])}", line) from None
    except json.JSONDecodeError as error:
        what = f"not valid JSON ({error.msg} at column {error.colno})"
        raise source.error(what, line or error.lineno) from None
    except (ValueError, RecursionError):
        raise source.error("not valid JSON: nested too deeply, or a number that is too long", line) from None


class _RepeatedKeyError(Exception):
    """A key that stands twice in an object, of which a parser would keep the last without a word."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return found


def records(source: Source, rows: Iterable[tuple[int | None, Any]]) -> Utterances:
    """Return the utterances of objects that each hold a text and, all or none of them, an id.

    A reference may be a list of texts and lists of accepted texts: `["my", ["office", "ऑफिस"], "is near"]`.
    In a file with such a list, braces in references that are no lists are text.
    """
    texts: list[str] = []
    ids: list[str] = []
    sessions: list[str | None] = []
    slotted: dict[int, str] = {}
    for number, (line, record) in enumerate(rows, 1):
        where = line if line is not None else None
        if not isinstance(record, dict):
            raise source.error(f"record {number} is no object", where)
        key = text_field(source, record, where)
        if isinstance(record[key], list) and source.role == "reference":
            slotted[len(texts)] = _slots(source, record[key], number, where)
            texts.append("")
        else:
            texts.append(_string(source, record, key, number, where))
        identifier = id_field(source, record, where)
        if identifier is not None:
            ids.append(_string(source, record, identifier, number, where))
        if (identifier is not None) != (len(ids) == number):
            raise source.error(f"record {number} has an id and an earlier one has none", where)
        if len(ids) not in (0, number):
            raise source.error(f"record {number} has no id, and an earlier one has", where)
        session = session_field(record)
        known = session is not None and record[session] not in (None, "")
        sessions.append(_string(source, record, session, number, where) if session and known else None)
    source.check_unique(ids)
    if slotted:
        texts = [slotted[n] if n in slotted else _escaped(text) for n, text in enumerate(texts)]
    return Utterances(texts, ids or None, sessions if any(sessions) else None, bool(slotted))


def _escaped(text: str) -> str:
    return _SIGN.sub(r"\\\g<0>", text)


def _slots(source: Source, slots: list[Any], number: int, line: int | None) -> str:
    """Return a reference given as a list in the notation of `misheard.text.alternatives`."""
    written = []
    for slot in slots:
        accepted = slot if isinstance(slot, list) else [slot]
        if not accepted or not all(isinstance(text, str) for text in accepted):
            raise source.error(f"record {number}: a slot is neither a text nor a list of texts", line)
        written.append(f"{{{' / '.join(map(_escaped, accepted))}}}")
    return " ".join(written)


def _string(source: Source, record: dict[str, Any], key: str, number: int, line: int | None) -> str:
    value = record[key]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise source.error(f"record {number}: {key} is no text but {_kind(value)}", line)
    return value


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
