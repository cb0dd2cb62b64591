"""One file of transcripts as text: strict UTF-8, line ends of any system, and errors that name the line.

Messages name files, lines, bytes and ids. They never hold a transcript.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from misheard.errors import InputError, count_of

STDIN = "-"
MAX_BYTES = 2 * 1024**3
MAX_NAMED_IDS = 20
_MAX_ID = 200
_SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers")

Role = Literal["reference", "hypothesis"]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Utterances:
    """What a reader found, in the file's order.

    Attributes:
        texts: one text per utterance.
        ids: one unique id per utterance; None where the file gives none, so that its lines count.
        sessions: one session per utterance, None where an utterance has none; None where no field gives any.
        has_alternatives: whether texts hold accepted spellings as `{a / b}`.
    """

    texts: Sequence[str]
    ids: Sequence[str] | None = None
    sessions: Sequence[str | None] | None = None
    has_alternatives: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A file as a reader sees it.

    Attributes:
        name: what messages call it.
        text: its content, without a byte order mark.
        role: whether references or hypotheses are read from it, for files that hold both.
        fields: names of the columns or keys `text` and `id`, where the user gave them.
    """

    name: str
    text: str = field(repr=False)
    role: Role = "reference"
    fields: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return the lines without their ends (LF, CR LF or CR); one at the very end begins no other line."""
        text = self.text
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return lines

    def error(self, what: str, line: int | None = None) -> InputError:
        """Return the error about this file, or about one of its lines (from 1)."""
        return InputError(f"{self.name}:{line}: {what}" if line else f"{self.name}: {what}")

    def check_unique(self, ids: Sequence[str]) -> None:
        """Raise InputError, naming them, where ids repeat or are empty."""
        if len(set(ids)) == len(ids) and "" not in ids:
            return
        if "" in ids:
            raise self.error("an id is empty")
        seen: set[str] = set()
        twice = []
        for identifier in ids:
            if identifier in seen:
                twice.append(identifier)
            seen.add(identifier)
        raise self.error(f"the same id more than once: {named(twice)}")


def refuse_spreadsheet(path: Path) -> None:
    """Raise InputError where a file is called like a spreadsheet, saying what to save it as."""
    if path.name.lower().endswith(_SPREADSHEETS):
        raise InputError(f'{path}: is a spreadsheet; save it as "CSV UTF-8" and name that')


def every(tasks: Iterable[Callable[[], _T]]) -> list[_T]:
    """Return what each task returns. Raises one InputError with the messages of all that raise one."""
    results: list[_T] = []
    problems: list[str] = []
    for task in tasks:
        try:
            results.append(task())
        except InputError as error:
            problems.append(str(error))
    if problems:
        shown = list(dict.fromkeys(problems))
        more = len(shown) - MAX_NAMED_IDS
        rest = [f"and {count_of(more, 'more such problem')}"] if more > 0 else []
        raise InputError("\n".join(shown[:MAX_NAMED_IDS] + rest))
    return results


def named(ids: Iterable[str]) -> str:
    """Return ids as a message names them: ASCII, a bounded number of them, each of a bounded length."""
    every = list(dict.fromkeys(ids))
    parts = [_shown(identifier) for identifier in every[:MAX_NAMED_IDS]]
    more = len(every) - len(parts)
    return ", ".join(parts) + (f" and {more} more" if more else "")


def _shown(identifier: str) -> str:
    short = identifier if len(identifier) <= _MAX_ID else identifier[:_MAX_ID] + "…"
    return short.encode("ascii", "backslashreplace").decode("ascii") if short.isprintable() else ascii(short)


def display_name(place: str) -> str:
    """Return what messages and reports call a file."""
    return "<stdin>" if place == STDIN else place


def read_text(place: str) -> str:
    """Return the text of a file, or of standard input for `-`.

    Raises InputError, naming file, line and byte, for what is missing, too large, not UTF-8 or not text.
    """
    name = display_name(place)
    if place != STDIN:
        refuse_spreadsheet(Path(place))
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1) if place == STDIN else _read_file(Path(place))
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or 'cannot be read'}") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{name}: over {MAX_BYTES} bytes; split it")
    return decoded(data, name)


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def decoded(data: bytes, name: str) -> str:
    """Return bytes as text. Raises InputError, naming line and byte, where they are not UTF-8 text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name}: is UTF-16; convert it with: iconv -f UTF-16 -t UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = _place(data, error.start)
        hint = ' (in Excel: save it as "CSV UTF-8")' if name.lower().endswith(".csv") else ""
        raise InputError(f"{name}:{where}: not UTF-8; convert the file to UTF-8{hint}") from None
    nul = text.find("\0")
    if nul >= 0:
        where = _place(data, data.index(b"\0"))
        raise InputError(f"{name}:{where}: a NUL character; this is not a text file, or it is UTF-16 or -32")
    return text.removeprefix("\ufeff")


def _place(data: bytes, offset: int) -> str:
    line = data.count(b"\n", 0, offset) + 1
    return f"{line}: byte {offset - (data.rfind(chr(10).encode(), 0, offset) + 1) + 1} of the line"
