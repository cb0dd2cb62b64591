"""What a user should know of an import beside its counts."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from misheard.errors import count_of, counted
from misheard.suite.importers.checks import Usable
from misheard.suite.importers.rows import Found
from misheard.suite.items import Suite
from misheard.suite.primary import usual_metric, without_language, without_primary
from misheard.text.annotations import has_annotations

IDS_NAME = "ids.csv"
_MAX_LANGUAGES = 4


def import_notes(
    found: Found,
    asked: Mapping[str, str | None],
    taken: Sequence[Usable],
    kept: Sequence[tuple[str, str]],
    renamed_sessions: Collection[str],
    suite: Suite,
) -> Iterator[str]:
    """Yield a sentence for each thing.

    Args:
        found: what the reader found.
        asked: column per target as the user gave them; None for a target that must not be read.
        taken: the rows that became items.
        kept: the name in the source and the id of each item.
        renamed_sessions: sessions whose names are no labels.
        suite: the new suite.
    """
    yield from found.notes
    yield from _untaken(found, asked)
    yield from _same_recordings(taken)
    if renamed := sum(name != identifier for name, identifier in kept):
        yield f"{count_of(renamed, 'id')} had to change; {IDS_NAME} says which is which"
    if renamed_sessions:
        yield (
            f"of {count_of(len(renamed_sessions), 'session')} the name is not one line of at most 80 "
            "characters; its sha256 stands for it"
        )
    if annotated := sum(has_annotations(item.reference) for item in suite.items):
        yield (
            f"{counted(annotated, 'reference holds', 'references hold')} annotations such as <s> or [noise], "
            "which count as words; --annotations remove takes them out"
        )
    yield from _of_languages(suite)


def _untaken(found: Found, asked: Mapping[str, str | None]) -> Iterator[str]:
    """Say which columns that make a suite a better one were not found, where the source has columns."""
    if not found.columns:
        return
    if "id" not in found.columns and "id" not in asked:
        yield "no column was taken for the id: recordings give the names; --map id=COLUMN"
    if "session" not in found.columns and "session" not in asked:
        yield (
            "no column was taken for the session: every recording counts as a speaker of its own; "
            "--map session=COLUMN"
        )


def _same_recordings(taken: Sequence[Usable]) -> Iterator[str]:
    """Say how many rows have the recording of an earlier one, and name the first two."""
    places: dict[object, str] = {}
    again = [
        (usable.row.where, first)
        for usable in taken
        if usable.path is not None
        and (first := places.setdefault((usable.path, usable.row.clip), usable.row.where)) != usable.row.where
    ]
    if again:
        place, first = again[0]
        yield (
            f"{counted(len(again), 'row has', 'rows have')} the recording of an earlier row: {place} that of "
            f"{first}{', and others' if len(again) > 1 else ''}"
        )


def _of_languages(suite: Suite) -> Iterator[str]:
    if nameless := without_language(suite.items):
        yield (
            f"{counted(len(nameless), 'speech item has', 'speech items have')} no language, by which "
            "`spoken` reads numerals, scripts are checked and primary metrics go; --language en, or another "
            "tag, gives it to rows that name none"
        )
    if deciding := without_primary(suite):
        languages = [tag for tag in deciding if tag is not None] or ["en"]
        primary = ", ".join(f"{tag}: {usual_metric(tag)}" for tag in languages[:_MAX_LANGUAGES])
        more = ", …" if len(languages) > _MAX_LANGUAGES else ""
        yield (
            "suite.yaml names no primary metric, which `metric: primary` in a gate needs; add a line such as "
            f"primary: {{{primary}{more}}}"
        )
