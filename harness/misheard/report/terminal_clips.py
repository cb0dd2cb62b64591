"""The report clip by clip as it reads on a terminal."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misheard.report.labels import Marks, count_of, plain
from misheard.report.terminal import Sized

_TIMES = (
    ("audio", "audio_ms"),
    ("load", "load_ms"),
    ("infer", "transcribe_ms"),
    ("process", "process_ms"),
    ("RTF", "real_time_factor"),
)


_RATES = "WER {} S/D/I"
_MIN_NAME = 8
_FEWEST_RATES = 2

_Line = tuple[str, Mapping[str, Any]]


def render_clips(document: Mapping[str, Any]) -> Sized:
    """Return a table with a line per clip and their sums; rates are errors per 100 reference words.

    Times that no clip has get no column. Where a line is full, ids are cut and a third profile is left out;
    the JSON file has them all.
    """
    return Sized(lambda width, marks: [Group(*_clips(document, width, marks))])


def render_clips_comparison(document: Mapping[str, Any]) -> Sized:
    """Return a table with a line per run: the sums over its clips."""
    return Sized(lambda width, marks: [Group(*_comparison(document, width, marks))])


def _clips(document: Mapping[str, Any], width: int, marks: Marks) -> Iterator[RenderableType]:
    whole = document["aggregate"]
    lines = [(clip["id"], clip) for clip in document["clips"]]
    yield _table("clip", lines, ("all", whole), document["profiles"], width, marks)
    yield Text(f"{count_of(whole['clips'], 'clip')}, {whole['failed']} failed; times in seconds")
    if (own := document["run"].get("profile")) in document["profiles"]:
        yield Text(f"{own} is the profile of the run's report")
    if note := _silent(document["clips"]):
        yield Text(textwrap.fill(note, width))
    failed = [f"{clip['id']} ({clip['failure']})" for clip in document["clips"] if clip["failure"]]
    if failed:
        yield Text(f"failed: {', '.join(failed[:20])}{f' {marks.to}' if len(failed) > 20 else ''}")


def _silent(clips: Iterable[Mapping[str, Any]]) -> str | None:
    """Return what the sum has that a report's word error rate leaves out; None where no clip is silent."""
    rates = [[one for one in clip["wer"].values() if one is not None] for clip in clips]
    count = sum(bool(own) and not any(one["reference_words"] for one in own) for own in rates)
    if not count:
        return None
    return (
        f"all: with the words heard in {count_of(count, 'clip')} without reference words, which a report's "
        "word error rate leaves out"
    )


def _comparison(document: Mapping[str, Any], width: int, marks: Marks) -> Iterator[RenderableType]:
    lines = [(plain(run["name"]), run["aggregate"]) for run in document["runs"]]
    yield _table("run", lines, None, document["profiles"], width, marks)
    first, *others = document["runs"]
    for run in others:
        yield Text(
            f"{plain(run['name'])}: {run['transcripts_changed']} of {run['aggregate']['clips']} transcripts "
            f"differ from {plain(first['name'])}'s, {run['aggregate']['failed']} failed"
        )
    yield Text("times in seconds, summed over clips")


def _table(
    first: str,
    lines: Sequence[_Line],
    last: _Line | None,
    profiles: Iterable[str],
    width: int,
    marks: Marks,
) -> Table:
    everything = [*lines, *([] if last is None else [last])]
    rows, kept = [row for _, row in everything], list(profiles)
    columns, taken = _columns(rows, kept, marks)
    while taken + _MIN_NAME + 2 > width and len(kept) > _FEWEST_RATES:
        # The first is the run's own, and the last forgives most: --json has those between.
        del kept[1]
        columns, taken = _columns(rows, kept, marks)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(first, no_wrap=True, overflow="ellipsis", max_width=max(_MIN_NAME, width - taken - 2))
    for title, _ in columns:
        table.add_column(title, justify="right", no_wrap=True)
    for place, (name, _) in enumerate(everything):
        if place == len(lines):
            table.add_section()
        table.add_row(Text(name), *(cells[place] for _, cells in columns))
    return table


def _columns(
    rows: Sequence[Mapping[str, Any]], profiles: Sequence[str], marks: Marks
) -> tuple[list[tuple[str, list[str]]], int]:
    """Return the title and the cells of each column behind the names, and how wide they are together."""
    columns = [(title, [_cell(title, row, marks) for row in rows]) for title in _titles(rows, profiles)]
    return columns, sum(1 + max(map(cell_len, (title, *cells))) for title, cells in columns)


def _titles(rows: Sequence[Mapping[str, Any]], profiles: Iterable[str]) -> list[str]:
    """Return the columns that have a value in any row."""
    titles = [title for title, name in _TIMES if any(row[name] is not None for row in rows)]
    return [*titles, *(_RATES.format(profile) for profile in profiles)]


def _cell(title: str, row: Mapping[str, Any], marks: Marks) -> str:
    name = dict(_TIMES).get(title)
    if name == "real_time_factor":
        factor = row[name]
        return marks.missing if factor is None else f"{factor:.3f}"
    if name is not None:
        return marks.missing if row[name] is None else f"{row[name] / 1000.0:.2f}"
    (rates,) = [rates for profile, rates in row["wer"].items() if _RATES.format(profile) == title]
    return _rates(rates, marks)


def _rates(rates: Mapping[str, Any] | None, marks: Marks) -> str:
    if rates is None:
        return marks.missing
    rate = marks.missing if rates["wer"] is None else f"{100 * rates['wer']:.1f}%"
    return f"{rate} {rates['substitutions']}/{rates['deletions']}/{rates['insertions']}"
