"""The page of several runs: a row each, and how their primary metrics went from run to run."""

from collections import Counter
from collections.abc import Iterator, Sequence

from misheard.report.html.charts.axis import axis_value
from misheard.report.html.charts.trend import Trend, TrendPoint, trend
from misheard.report.html.index_documents import Entry, Figure, Index, Key
from misheard.report.html.page import Block, Cell, Column, Page, Prose, Row, Section, Table
from misheard.report.html.page import Figure as Drawn
from misheard.report.labels import UNICODE, count_of, format_interval, format_value, label

_SIGNS = {"good": "✓ ", "bad": "✗ ", "quiet": "? "}
_MOST_TRENDS = 40
_MOST_FIGURES = 12_000
"""Figures of the table, runs times metrics; the pages of the runs have the others."""

_COLUMN_NOTE = "audio arm, over the items of the language, with its 95% interval"

Numbered = tuple[int, Entry]
"""An entry with its number in the table."""


def index_page(index: Index) -> Page:
    """Return the page of several runs and soaks."""
    numbered = list(enumerate(index.entries, 1))
    runs = [each for each in numbered if each[1].kind == "run"]
    counts = [count_of(len(runs), "run")]
    if soaks := len(numbered) - len(runs):
        counts.append(count_of(soaks, "soak"))
    if index.problems:
        counts.append(f"{count_of(len(index.problems), 'path')} not shown")
    days = [entry.day for entry in index.entries if entry.day]
    span = f"{days[0]} to {days[-1]}" if days else ""
    return Page(
        title=" and ".join(counts[: 2 if soaks else 1]),
        label="Runs",
        facts=tuple(filter(None, [*counts[2 if soaks else 1 :], span])),
        sections=tuple(_sections(index, numbered, runs)),
    )


def _sections(index: Index, numbered: Sequence[Numbered], runs: Sequence[Numbered]) -> Iterator[Section]:
    yield _table_section(numbered)
    yield from _trend_sections(runs)
    if index.problems:
        rows = tuple(Row(problem.folder, (Cell(problem.why),)) for problem in index.problems)
        table = Table("problems", "Why", "path", (Column("why", is_text=True),), rows, sorts=False)
        yield Section("not-shown", "Not shown", (table,))


def _table_section(numbered: Sequence[Numbered]) -> Section:
    keys, more = _shown_keys(numbered)
    metrics = [metric for _, metric in keys]
    keys.sort(key=lambda key: metrics.index(key[1]))
    columns = (
        Column("number", note="in the order of time; the trends name runs by it"),
        Column("time"),
        Column("report"),
        Column("verdict", note="of verdict.json in the folder"),
        Column("items"),
        Column("failed"),
        *(Column(key[0] or "all", note=_COLUMN_NOTE, group=label(key[1])) for key in keys),
        Column("suite"),
        Column("system", is_text=True),
    )
    rows = tuple(
        Row(entry.name, tuple(_cells(number, entry, keys)), prefix="" if entry.kind == "run" else entry.kind)
        for number, entry in numbered
    )
    notes = [f"* under 50 items or 6 sessions {UNICODE.dot} {UNICODE.missing} none"]
    if more:
        notes.append(f"{more:,} more metrics, which fewer runs have, are in the pages of the runs")
    table = Table("index", "In the order of time", "run", columns, rows, notes=tuple(notes))
    return Section("runs", "Every run", (table,))


def _shown_keys(numbered: Sequence[Numbered]) -> tuple[list[Key], int]:
    """Return the metrics of the table in order, those of most runs, and how many have no room."""
    runs = Counter(key for _, entry in numbered for key in entry.figures)
    most = max(1, _MOST_FIGURES // len(numbered))
    kept = {key for key, _ in runs.most_common(most)}
    return [key for key in runs if key in kept], len(runs) - len(kept)


def _title(key: Key) -> str:
    language, metric = key
    return f"{label(metric)}, {language}" if language else label(metric)


def _cells(number: int, entry: Entry, keys: Sequence[Key]) -> Iterator[Cell]:
    yield Cell(str(number), sort=number)
    yield Cell(entry.day, sort=entry.when, tip=(f"from {entry.dated_by}",))
    yield Cell("report.html", href=entry.href) if entry.href else Cell(UNICODE.missing, tone="quiet")
    sign = _SIGNS.get(entry.verdict_tone, "")
    yield Cell(f"{sign}{entry.verdict}", sort=entry.verdict, tone=entry.verdict_tone)
    yield Cell(entry.items, sort=int(entry.items) if entry.items else None)
    yield Cell(
        "" if entry.failed is None else str(entry.failed),
        sort=entry.failed,
        tone="bad" if entry.failed else "",
    )
    for key in keys:
        yield _figure_cell(key[1], entry.figures.get(key))
    yield Cell(entry.suite, sort=entry.suite)
    yield Cell(entry.system, sort=entry.system)


def _figure_cell(metric: str, figure: Figure | None) -> Cell:
    if figure is None:
        return Cell(UNICODE.missing, tone="quiet")
    failed = f", {figure.failed} failed" if figure.failed else ""
    return Cell(
        format_value(metric, figure.value, UNICODE),
        below="" if figure.interval is None else format_interval(metric, figure.interval, UNICODE),
        sizes=f"n {figure.n}{'*' if figure.is_weak else ''}{failed}",
        sort=figure.value,
    )


def _trend_sections(runs: Sequence[Numbered]) -> Iterator[Section]:
    """Yield a section per suite that has at least two runs, with a trend per primary metric."""
    suites: dict[str, list[Numbered]] = {}
    for each in runs:
        suites.setdefault(each[1].suite_name, []).append(each)
    drawn = 0
    for place, (suite, own) in enumerate(suites.items(), 1):
        keys = list(dict.fromkeys(key for _, entry in own for key in entry.figures))
        if len(own) < 2 or not keys:
            continue
        breaks = dict(_breaks(own))
        room = _MOST_TRENDS - drawn
        blocks: list[Block] = [
            _trend(f"trend-{place}-{number}", key, own, breaks) for number, key in enumerate(keys[:room], 1)
        ]
        drawn += len(blocks)
        if len(keys) > room:
            blocks.append(Prose((f"{len(keys) - room} more metrics are in the table alone.",), "quiet"))
        if breaks:
            blocks.append(_changes(f"changes-{place}", own, breaks))
        note = "primary metrics, audio arm; a run is a point over its number, upright lines are 95% intervals"
        yield Section(
            f"trends-{place}", f"Trends of {suite or 'a suite without a name'}", tuple(blocks), note
        )


def _breaks(own: Sequence[Numbered]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the places of runs with what changed before them: they are not to be compared with those."""
    for place in range(1, len(own)):
        before, after = own[place - 1][1], own[place][1]
        words = (
            ("suite", before.suite_sha256 != after.suite_sha256),
            ("scorer", before.scorer != after.scorer),
            ("judge", before.judge != after.judge),
        )
        if changed := tuple(word for word, is_other in words if is_other):
            yield place, changed


def _trend(name: str, key: Key, own: Sequence[Numbered], breaks: dict[int, tuple[str, ...]]) -> Drawn:
    metric = key[1]
    points = []
    for number, entry in own:
        figure = entry.figures.get(key)
        points.append(
            TrendPoint(number, None) if figure is None else TrendPoint(number, figure.value, figure.interval)
        )
    known = [point for point in points if point.value is not None]
    told = "no run has a value"
    if known:
        first, last = known[0], known[-1]
        told = (
            f"{count_of(len(known), 'run')}: {format_value(metric, first.value, UNICODE)} in run "
            f"{first.number}, {format_value(metric, last.value, UNICODE)} in run {last.number}"
        )
    title = _title(key)
    chart = Trend(
        name=name,
        title=f"{title} from run to run",
        description=f"{told}; {count_of(len(breaks), 'change')} of suite, scorer or judge between runs",
        points=tuple(points),
        breaks=breaks,
        show=lambda value: axis_value(metric, value),
    )
    note = "broken where suite, scorer or judge changed" if breaks else ""
    return Drawn(trend(chart), f"{title[0].upper()}{title[1:]}", note, is_wide=True)


def _changes(name: str, own: Sequence[Numbered], breaks: dict[int, tuple[str, ...]]) -> Table:
    rows = []
    for place, words in breaks.items():
        (old, before), (new, after) = own[place - 1], own[place]
        rows.append(
            Row(f"{old} to {new}", (Cell(", ".join(words)), Cell(", ".join(_details(before, after, words)))))
        )
    columns = (Column("changed", is_text=True), Column("in particular", is_text=True))
    return Table(name, "What changed between runs", "runs", columns, tuple(rows), sorts=False)


def _details(before: Entry, after: Entry, words: Sequence[str]) -> Iterator[str]:
    if "suite" in words:
        yield f"suite {before.suite_sha256[:8]} to {after.suite_sha256[:8]}"
    if "scorer" in words:
        ours, theirs = before.scorer or {}, after.scorer or {}
        names = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
        yield f"scorer: {', '.join(names)}"
    if "judge" in words:
        yield "judge"
