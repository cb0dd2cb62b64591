"""What a reader finds in a source: rows, each with its place, its recording and its text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from misheard.suite.importers.files import SourceFiles


@dataclass(frozen=True, slots=True)
class Clip:
    """The part of a recording that a row is.

    Attributes:
        start, end: seconds; `end` is None for the recording's end.
        channel: counted from 0; None for all of them.
    """

    start: float = 0.0
    end: float | None = None
    channel: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance as the source has it, not yet checked.

    Attributes:
        where: its place, for messages: `train.tsv:12`, `utterance u1`.
        name: its id in the source, or what its recording is called where the source gives no ids.
        named: whether the source gives the id, so that it must be unique.
        audio: the path of the recording as it is written there; None where there is none.
        content: returns the bytes of a recording that lies inside the source; None where it is a file.
        text: the reference; None where there is none.
        clip: the part of the recording; None for all of it.
        session, language, answer: as written; None where not given.
        conditions: text per axis that the request asks for.
        wrong: why the reader cannot use the row; None where it can.
    """

    where: str
    name: str
    audio: str | None = None
    text: str | None = field(default=None, repr=False)
    named: bool = True
    content: Callable[[], bytes] | None = field(default=None, repr=False)
    clip: Clip | None = None
    session: str | None = None
    language: str | None = None
    answer: str | None = field(default=None, repr=False)
    conditions: Mapping[str, str] = field(default_factory=dict)
    wrong: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What a reader needs to know.

    Attributes:
        files: reads the source's files and remembers their hashes.
        columns: column per target (`reference`, `audio`, …) as the user gave them; None for a target that
            must not be read.
        conditions: column per condition axis.
        audio_root: the folder that recordings lie in, where it is not the source's.
    """

    files: SourceFiles
    columns: Mapping[str, str | None] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    audio_root: Path | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a reader found.

    Attributes:
        rows: every utterance, broken ones too, in the source's order.
        folders: where relative paths start, in the order in which they are tried.
        columns: column per target that was read; empty where the format has no columns.
        unused: columns that were not read.
        empty_is_non_speech: whether the format says so of an empty reference.
        notes: what else the user should know.
    """

    rows: Sequence[Row]
    folders: Sequence[Path]
    columns: Mapping[str, str] = field(default_factory=dict)
    unused: Sequence[str] = ()
    empty_is_non_speech: bool = False
    notes: Sequence[str] = ()
