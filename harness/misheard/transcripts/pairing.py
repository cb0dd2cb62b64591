"""References and hypotheses as pairs: by id where both sides have ids, else by line.

Nothing is dropped, padded or shifted: what has no counterpart is an error that names it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from misheard.errors import InputError, count_of, counted
from misheard.transcripts.formats import Transcripts
from misheard.transcripts.source import Source, every, named, read_text

Missing = Literal["error", "deletions"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """n references with the hypotheses of each system, in the order of the references.

    Attributes:
        ids: n ids, or the line numbers from 1 where the reference has none.
        paired_by: `id` or `line`, per system.
        references: n texts.
        hypotheses: per system, n texts.
        missing: per system, how many hypotheses were missing and count as empty.
        sessions: n sessions, or None where none are known.
    """

    ids: tuple[str, ...]
    paired_by: tuple[Literal["id", "line"], ...]
    references: tuple[str, ...] = field(repr=False)
    hypotheses: tuple[tuple[str, ...], ...] = field(repr=False)
    missing: tuple[int, ...]
    sessions: tuple[str | None, ...] | None = None


def pair(
    reference: Transcripts,
    hypotheses: Sequence[Transcripts],
    missing: Missing = "error",
    sessions: Mapping[str, str] | Sequence[str] | None = None,
) -> Pairs:
    """Pair every system's hypotheses with the references.

    Args:
        reference: the references.
        hypotheses: one entry per system.
        missing: `error`, or `deletions`: an id without a hypothesis counts as an empty one.
        sessions: session per id, or one per line; the reference file's own where None.

    Raises:
        InputError: ids on one side only, naming them; other numbers of lines, naming both; of every system;
            no session for an id.
    """
    matched = every(partial(_match, reference, hypothesis, missing) for hypothesis in hypotheses)
    ids = reference.ids or tuple(str(number) for number in range(1, len(reference.texts) + 1))
    return Pairs(
        ids=ids,
        paired_by=tuple("line" if _by_line(reference, hypothesis) else "id" for hypothesis in hypotheses),
        references=reference.texts,
        hypotheses=tuple(texts for texts, _ in matched),
        missing=tuple(count for _, count in matched),
        sessions=reference.sessions if sessions is None else _sessions(reference, ids, sessions),
    )


def _by_line(reference: Transcripts, hypothesis: Transcripts) -> bool:
    return reference.ids is None or hypothesis.ids is None


def _match(reference: Transcripts, hypothesis: Transcripts, missing: Missing) -> tuple[tuple[str, ...], int]:
    if reference.ids is None or hypothesis.ids is None:
        if len(reference.texts) != len(hypothesis.texts):
            raise InputError(
                f"{reference.name} has {count_of(len(reference.texts), 'reference')} ({reference.format}), "
                f"but {hypothesis.name} has {counted(len(hypothesis.texts), 'hypothesis', 'hypotheses')} "
                f"({hypothesis.format}); both need one per utterance, in one order, or ids"
            )
        return hypothesis.texts, 0
    if reference.ids == hypothesis.ids:
        return hypothesis.texts, 0
    found = dict(zip(hypothesis.ids, hypothesis.texts, strict=True))
    known = set(reference.ids)
    absent = [identifier for identifier in reference.ids if identifier not in found]
    extra = [identifier for identifier in hypothesis.ids if identifier not in known]
    if extra or (absent and missing == "error"):
        raise InputError(_mismatch(reference, hypothesis, absent, extra, missing))
    return tuple(found.get(identifier, "") for identifier in reference.ids), len(absent)


def _mismatch(
    reference: Transcripts, hypothesis: Transcripts, absent: list[str], extra: list[str], missing: Missing
) -> str:
    lines = [f"{hypothesis.name} and {reference.name} do not hold the same ids"]
    if absent:
        lines.append(f"  without a hypothesis ({len(absent)}): {named(absent)}")
    if extra:
        lines.append(f"  without a reference ({len(extra)}): {named(extra)}")
    elif missing == "error":
        lines.append("  --missing deletions counts a missing hypothesis as an empty one")
    return "\n".join(lines)


def begin_with_ids(reference: Transcripts, hypothesis: Transcripts) -> bool:
    """Return whether files that were read as plain lines look like Kaldi's text.

    They do where every line begins with a word of its own, not of letters alone, and both have the same.
    """
    if (reference.format, hypothesis.format) != ("lines", "lines") or len(reference.texts) < 2:
        return False
    ids = _first_words(reference.texts)
    return ids is not None and ids == _first_words(hypothesis.texts)


def _first_words(texts: Sequence[str]) -> set[str] | None:
    found: set[str] = set()
    for text in texts:
        word = next(iter(text.split(None, 1)), "")
        if not word or word.isalpha() or word in found:
            return None
        found.add(word)
    return found


def read_sessions(place: str) -> dict[str, str] | list[str]:
    """Read `id session` lines (as Kaldi's utt2spk), or one session a line, from a file.

    Raises InputError for empty lines, lines of both kinds and repeated ids.
    """
    source = Source(place, read_text(place))
    rows = [line.split(None, 1) for line in source.lines()]
    widths = {len(row) for row in rows}
    if not widths <= {1} and not widths <= {2}:
        raise source.error("every line must be `id session`, or every line one session without spaces")
    if widths <= {1}:
        return [row[0] for row in rows]
    source.check_unique([row[0] for row in rows])
    return {row[0]: row[1].strip() for row in rows}


def _sessions(
    reference: Transcripts, ids: Sequence[str], sessions: Mapping[str, str] | Sequence[str]
) -> tuple[str, ...]:
    if isinstance(sessions, Mapping):
        absent = [identifier for identifier in ids if identifier not in sessions]
        if absent:
            raise InputError(f"--sessions: no session for {named(absent)}")
        return tuple(sessions[identifier] for identifier in ids)
    if len(sessions) != len(ids):
        raise InputError(
            f"--sessions: {count_of(len(sessions), 'session')} for {count_of(len(ids), 'reference')} of "
            f"{reference.name}"
        )
    return tuple(sessions)
