"""The report clip by clip as it reads on a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misheard.report.labels import plain

_COLUMNS = (
    ("audio", "audio_ms"),
    ("load", "load_ms"),
    ("infer", "transcribe_ms"),
    ("process", "process_ms"),
)


def render_clips(document: Mapping[str, Any]) -> RenderableType:
    """Return a table with a line per clip and their sums; rates are errors / reference words."""
    table = _table("clip", document["profiles"])
    for clip in document["clips"]:
        table.add_row(Text(clip["id"]), *_cells(clip, document["profiles"]))
    table.add_section()
    whole = document["aggregate"]
    table.add_row("all", *_cells(whole, document["profiles"]))
    lines = [f"{whole['clips']} clips, {whole['failed']} failed; times in seconds"]
    failed = [f"{clip['id']} ({clip['failure']})" for clip in document["clips"] if clip["failure"]]
    if failed:
        lines.append(f"failed: {', '.join(failed[:20])}{' …' if len(failed) > 20 else ''}")
    return Group(table, *map(Text, lines))


def render_clips_comparison(document: Mapping[str, Any]) -> RenderableType:
    """Return a table with a line per run: the sums over its clips."""
    table = _table("run", document["profiles"])
    for run in document["runs"]:
        table.add_row(Text(plain(run["name"])), *_cells(run["aggregate"], document["profiles"]))
    first, *others = document["runs"]
    lines = [
        f"{plain(run['name'])}: {run['transcripts_changed']} of {run['aggregate']['clips']} transcripts "
        f"differ from {plain(first['name'])}'s, {run['aggregate']['failed']} failed"
        for run in others
    ]
    return Group(table, *map(Text, lines), Text("times in seconds, summed over clips"))


def _table(first: str, profiles: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(first, overflow="fold")
    for title in (*(title for title, _ in _COLUMNS), "RTF"):
        table.add_column(title, justify="right", no_wrap=True)
    for profile in profiles:
        table.add_column(f"WER {profile} S/D/I", justify="right", no_wrap=True)
    return table


def _cells(row: Mapping[str, Any], profiles: Sequence[str]) -> list[str]:
    cells = [_seconds(row[name]) for _, name in _COLUMNS]
    factor = row["real_time_factor"]
    cells.append("–" if factor is None else f"{factor:.3f}")
    cells += [_rates(row["wer"][profile]) for profile in profiles]
    return cells


def _rates(rates: Mapping[str, Any] | None) -> str:
    if rates is None:
        return "–"
    rate = "–" if rates["wer"] is None else f"{rates['wer']:.3f}"
    return f"{rate} {rates['substitutions']}/{rates['deletions']}/{rates['insertions']}"


def _seconds(milliseconds: float | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds / 1000.0:.2f}"
