"""Times: per stage and item, with the budgets of a gate, of the whole run, and what the machine did."""

from collections.abc import Iterator

import numpy as np

from misheard.metrics.base import Arm
from misheard.report.html.charts.latency import Latency, latency
from misheard.report.html.charts.timeline import Timeline, TimelinePanel, TimelineSpan, timeline
from misheard.report.html.page import Block, Cell, Column, Facts, Figure, Prose, Row, Section, Side, Table
from misheard.report.html.run_documents import RunDocuments
from misheard.report.html.samples import Samples
from misheard.report.labels import UNICODE, plain
from misheard.report.terminal_latencies import ARM, MEANINGS, STAGES, TOKENS, kind_of
from misheard.report.terminal_telemetry import machine_rows, machine_sentences
from misheard.report.terminal_timings import time_lines
from misheard.report.values import Document

_POINTS = 200
_QUANTILES = ("p50", "p95", "p99")


def latencies_section(documents: RunDocuments) -> Iterator[Section]:
    """Yield the times per item of the audio arm; nothing where none was measured."""
    found = (documents.report["timings"] or {}).get("per_item", {}).get(ARM, {})
    stages = [name for name in STAGES if name in found]
    if not stages:
        return
    kinds = {name: kind_of(documents.report["system"], name) for name in stages}
    figures = tuple(
        figure for name in stages if (figure := _figure(documents, name, found[name], kinds[name]))
    )
    blocks: list[Block] = [Side(figures)] if figures else []
    blocks.append(_table(documents, stages, found, kinds))
    tokens = [f"{what} {found[name]['sum']:,}" for name, what in TOKENS if name in found]
    told = [meaning for kind, meaning in MEANINGS.items() if kind in kinds.values()]
    if tokens:
        told.append(f"tokens: {', '.join(tokens)}")
    if not documents.latency_budgets:
        told.append("no budget: no verdict of a gate with latency budgets was given (--verdict)")
    blocks.append(Prose(tuple(told), "quiet"))
    note = "audio arm; bound: of p95 at 95%, from 59 items on"
    yield Section("latencies", "Seconds per item", tuple(blocks), note)


def _figure(documents: RunDocuments, name: str, times: Document, kind: str | None) -> Figure | None:
    arm = documents.table.arms.get(Arm(ARM))
    column = None if arm is None else arm.timings.get(name)
    values = np.empty(0) if column is None else np.sort(column[np.isfinite(column)])
    if not values.size:
        return None
    places = np.unique(np.linspace(0, values.size - 1, min(_POINTS, values.size)).round().astype(int))
    title = ", ".join(part for part in (STAGES[name], kind) if part)
    quantiles = [(key, times[key], float(key[1:]) / 100) for key in _QUANTILES if times[key] is not None]
    # p99 stands on p95 where there are few items, and says nothing of its own.
    distinct = [one for place, one in enumerate(quantiles) if place == 0 or one[1] > quantiles[place - 1][1]]
    budget = documents.latency_budgets.get(name)
    told = [f"{key} {seconds:.3f} s" for key, seconds, _ in quantiles]
    if budget is not None:
        told.append(f"budget {budget:g} s")
    chart = Latency(
        name=f"latency-{name.replace('_', '-')}",
        title=f"{title}: seconds per item",
        description=f"{times['n']} items: {', '.join(told)}",
        seconds=(float(values[0]), *values[places].tolist()),
        shares=(0.0, *((places + 1) / values.size).tolist()),
        quantiles=tuple(distinct),
        upper_bound=times["p95_upper_bound"],
        budget=budget,
    )
    return Figure(latency(chart), title, f"share of {times['n']} items that took at most as long")


def _table(
    documents: RunDocuments, stages: list[str], found: Document, kinds: dict[str, str | None]
) -> Table:
    budgets = documents.latency_budgets
    titles = ["p50", "p95", "bound", "p99", *(["budget"] if budgets else []), "n"]
    rows = []
    for name in stages:
        times = found[name]
        cells = [_seconds(times[key]) for key in ("p50", "p95", "p95_upper_bound", "p99")]
        if budgets:
            cells.append(_budget(budgets.get(name), times["p95_upper_bound"]))
        cells.append(Cell(str(times["n"]), sort=times["n"]))
        rows.append(Row(STAGES[name], tuple(cells), below=kinds[name] or ""))
    return Table("latency-table", "Quantiles, in seconds", "stage", tuple(map(Column, titles)), tuple(rows))


def _seconds(value: float | None) -> Cell:
    return Cell(
        UNICODE.missing if value is None else f"{value:.3f}" if value >= 0.0005 or not value else "<0.001",
        sort=value,
        tone="quiet" if value is None else "",
    )


def _budget(budget: float | None, bound: float | None) -> Cell:
    """Return a budget, and whether the bound of the p95 keeps within it; without one nothing is shown."""
    if budget is None:
        return Cell(UNICODE.missing, tone="quiet")
    if bound is None:
        return Cell(f"{budget:g}", below="no bound", sort=budget)
    kept = bound <= budget
    return Cell(
        f"{budget:g}",
        below="kept" if kept else "not shown to be kept",
        sort=budget,
        tone="good" if kept else "bad",
    )


def machine_section(documents: RunDocuments) -> Iterator[Section]:
    """Yield where the time went and what the machine did; nothing where nothing was measured."""
    timings = documents.report["timings"] or {}
    blocks: list[Block] = []
    if lines := tuple((title, f" {UNICODE.dot} ".join(parts)) for title, parts in time_lines(timings)):
        blocks.append(Facts(lines))
    if documents.samples is not None:
        blocks.append(_timeline(documents.samples))
    telemetry = (timings.get("telemetry") or [None])[-1]
    if telemetry and telemetry.get("enabled") and telemetry["stages"]:
        titles, found = machine_rows(telemetry, UNICODE)
        rows = tuple(Row(name, tuple(map(Cell, cells))) for name, cells in found)
        if rows:
            columns = tuple(map(Column, titles))
            blocks.append(
                Table("machine-table", "The machine, stage by stage", "stage", columns, rows, sorts=False)
            )
        blocks.append(Prose(tuple(machine_sentences(telemetry, UNICODE)), "quiet"))
    if blocks:
        yield Section("machine", "Time and machine", tuple(blocks))


def _timeline(samples: Samples) -> Figure:
    panels = tuple(
        TimelinePanel(
            f"{line.title}, {line.unit}",
            tuple(line.seconds.tolist()),
            tuple(float(v) if np.isfinite(v) else None for v in line.values),
        )
        for line in samples.lines
    )
    peaks = "; ".join(
        f"{line.title} up to {np.nanmax(line.values):.2f} {line.unit}" for line in samples.lines
    )
    chart = Timeline(
        name="telemetry",
        title="What the machine did over time",
        description=peaks,
        panels=panels,
        spans=tuple(TimelineSpan(plain(s.stage.replace(":", " ")), s.start, s.end) for s in samples.spans),
    )
    note = (
        ""
        if samples.of == 1
        else f"process {samples.number} of {samples.of}; the earlier ones are in telemetry.parquet"
    )
    return Figure(timeline(chart), "Over time", note, is_wide=True)
