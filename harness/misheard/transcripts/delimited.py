"""CSV and TSV with a header line."""

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence

from misheard.errors import count_of
from misheard.transcripts.fields import TEXT_FIELDS, find_field, id_field, session_field, text_field
from misheard.transcripts.source import Source, Utterances

_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?[,;\t|]*\r?\n', re.IGNORECASE)
"""What spreadsheets write before the header to say which separator they use."""


def read_csv(source: Source) -> Utterances:
    """Read CSV as RFC 4180 has it, separated as `csv_rows` says."""
    names = source.fields.get("text"), *TEXT_FIELDS[source.role]
    return _utterances(source, csv_rows(source, [name for name in names if name]))


def read_tsv(source: Source) -> Utterances:
    """Read TSV, as `tsv_rows` does."""
    return _utterances(source, tsv_rows(source))


def tsv_rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, fields) of TSV: a line is a row, fields are separated by tabs.

    A field that begins and ends with a quotation mark, with those inside doubled, loses them; other quotation
    marks are text.
    """
    for number, row in enumerate(source.lines(), 1):
        yield number, [_unquoted(value) for value in row.split("\t")]


def csv_rows(source: Source, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, fields) of CSV.

    A first line `sep=;` names the separator and is no row. Without one, fields are separated by commas where
    that makes one of `names` a column or the header has no semicolon.
    Raises InputError, naming the line, for what is no CSV.
    """
    said = _SEPARATOR_LINE.match(source.text)
    text, lines_before = (source.text, 0) if said is None else (source.text[said.end() :], 1)
    delimiter = _delimiter(text, names) if said is None else said[1]
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num + lines_before, row
    except csv.Error as error:
        raise source.error(f"not valid CSV ({error})", reader.line_num + lines_before) from None


def is_blank(row: Sequence[str]) -> bool:
    """Whether no cell of a row holds anything, as in the rows that spreadsheets leave at the end."""
    return not any(cell.strip() for cell in row)


def _delimiter(text: str, names: Sequence[str]) -> str:
    header = text.partition("\n")[0]
    commas = [name.strip(' "\r') for name in header.split(",")]
    return "," if find_field(commas, names) is not None or ";" not in header else ";"


def _unquoted(value: str) -> str:
    inner = value[1:-1]
    if len(value) < 2 or value[0] != '"' or value[-1] != '"' or '"' in inner.replace('""', ""):
        return value
    return inner.replace('""', '"')


def _utterances(source: Source, rows: Iterator[tuple[int, list[str]]]) -> Utterances:
    _, header = next(rows, (1, []))
    if len(set(header)) != len(header):
        raise source.error("a column name stands twice in the header", 1)
    text, identifier = text_field(source, header, 1), id_field(source, header, 1)
    columns = {"text": header.index(text)}
    if identifier is not None and identifier != text:
        columns["id"] = header.index(identifier)
    if (session := session_field(header)) is not None:
        columns["session"] = header.index(session)
    found: dict[str, list[str]] = {name: [] for name in columns}
    for number, row in rows:
        # without ids a row counts by its place, and an empty one may be a recording without speech
        if len(header) > 1 and (not row or ("id" in columns and is_blank(row))):
            continue
        row = row or [""]
        if len(row) != len(header):
            raise source.error(f"{count_of(len(row), 'field')}, but the header has {len(header)}", number)
        for name, place in columns.items():
            found[name].append(row[place])
    if "id" in found:
        source.check_unique(found["id"])
    sessions = found.get("session")
    return Utterances(found["text"], found.get("id"), sessions and [value or None for value in sessions])
