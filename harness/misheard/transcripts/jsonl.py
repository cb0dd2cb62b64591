"""Records of JSON: an object a line (JSON Lines, NeMo manifests), or a list of objects."""

import json
from collections.abc import Iterable
from typing import Any

from misheard.transcripts.fields import id_field, session_field, text_field
from misheard.transcripts.source import Source, Utterances


def read_jsonl(source: Source) -> Utterances:
    """Read an object a line; empty lines are skipped."""
    lines = ((number, line) for number, line in enumerate(source.lines(), 1) if line.strip())
    return records(source, ((number, _parsed(source, line, number)) for number, line in lines))


def parse_json(source: Source) -> Any:
    """Return the value of a JSON document. Raises InputError, naming the place, where it is none."""
    return _parsed(source, source.text, None)


def _parsed(source: Source, text: str, line: int | None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"not valid JSON ({error.msg} at column {error.colno})"
        raise source.error(what, line or error.lineno) from None
    except (ValueError, RecursionError):
        raise source.error("not valid JSON: nested too deeply, or a number that is too long", line) from None


def records(source: Source, rows: Iterable[tuple[int | None, Any]]) -> Utterances:
    """Return the utterances of objects that each hold a text and, all or none of them, an id."""
    texts: list[str] = []
    ids: list[str] = []
    sessions: list[str | None] = []
    for number, (line, record) in enumerate(rows, 1):
        where = line if line is not None else None
        if not isinstance(record, dict):
            raise source.error(f"record {number} is no object", where)
        texts.append(_string(source, record, text_field(source, record, where), number, where))
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
    return Utterances(texts, ids or None, sessions if any(sessions) else None)


def _string(source: Source, record: dict[str, Any], key: str, number: int, line: int | None) -> str:
    value = record[key]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise source.error(f"record {number}: {key} is no text but {_kind(value)}", line)
    return value


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
