"""The blocks of a run's report on a terminal."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misheard.report.labels import (
    Marks,
    count_of,
    deciding,
    format_difference,
    format_difference_interval,
    format_interval,
    format_value,
    is_detail,
    is_shown_by_condition,
    label,
    section,
)
from misheard.report.terminal_cells import Column, Row, cell_tables
from misheard.report.values import Document

_ARMS = ("audio", "transcript", "control")
_VERDICT_STYLES = {"better": "bold green", "worse": "bold red", "changed": "bold"}


def blocks(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the blocks from top to bottom."""
    yield _header(report, marks)
    yield from _arms(report, marks)
    yield from _propagation(report, marks)
    yield from _matrix(report, width, marks)
    yield from _recognition(report, marks)
    yield from _failures(report, marks)
    yield from _timings(report, width)
    yield _legend(report, marks)


def heading(title: str, note: str = "") -> Text:
    """Return a block's title with a remark behind it."""
    text = Text(title, style="bold cyan")
    return text.append(f"  {note}", style="not bold dim") if note else text


def grid() -> Table:
    """Return an empty table without lines."""
    return Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False, header_style="dim")


def _header(report: Document, marks: Marks) -> RenderableType:
    items, failures = report["items"], report["failures"]
    name = " ".join(str(report["suite"][key]) for key in ("name", "version") if key in report["suite"])
    parts = [
        count_of(items["total"], "item"),
        f"{items['speech']} with speech",
        f"{items['non_speech']} without",
        count_of(items["sessions"], "session"),
        f"{failures['samples_failed']} failed",
    ]
    return Text(f"{name}  ", style="bold").append(f" {marks.dot} ".join(parts), style="not bold")


def _arms(report: Document, marks: Marks) -> Iterator[RenderableType]:
    """Yield the arms side by side: answers from what was heard against answers from what was said."""
    lost = report["propagation"]["lost_to_recognition"]
    arms = [arm for arm in _ARMS if report["arms"].get(arm)]
    shared = [metric for metric in lost if not is_detail(metric)]
    if not shared:
        return
    table = grid()
    table.add_column("")
    for arm in arms:
        table.add_column(arm, justify="right")
    table.add_column("change", justify="right")
    table.add_column("95% interval")
    table.add_column("pairs", justify="right")
    previous = None
    for metric in shared:
        sizes = [_size(report["arms"][arm].get(metric), marks) for arm in arms]
        if sizes != previous:
            table.add_row(Text("n", style="dim"), *(Text(size, style="dim") for size in sizes))
            previous = sizes
        values = [_value_of(report["arms"][arm].get(metric), metric, marks) for arm in arms]
        table.add_row(label(metric), *values, *_difference_cells(lost[metric], metric, marks))
    yield Group(
        heading(
            "What mishearing costs", "the same questions, heard (audio) and as they were said (transcript)"
        ),
        table,
    )


def _size(estimate: Document | None, marks: Marks) -> str:
    return marks.missing if estimate is None else sized(estimate)


def sized(document: Document) -> str:
    """Return n, with an asterisk where it is too small for a verdict."""
    weak = any(flag.startswith("under_") for flag in document["flags"])
    return f"{document['n']}{'*' if weak else ''}"


def _value_of(estimate: Document | None, metric: str, marks: Marks) -> str:
    return format_value(metric, None if estimate is None else estimate["value"], marks)


def _difference_cells(difference: Document, metric: str, marks: Marks) -> tuple[Text, Text, Text]:
    style = _VERDICT_STYLES.get(difference["verdict"], "")
    return (
        Text(format_difference(metric, difference["difference"], marks), style=style),
        Text(format_difference_interval(metric, deciding(difference), marks), style="dim"),
        Text(sized(difference), style="dim"),
    )


def _propagation(report: Document, marks: Marks) -> Iterator[RenderableType]:
    """Yield what happened to each answer, beside what happens to it without any mishearing."""
    audio, control = report["propagation"]["audio"], report["propagation"]["control"]
    shown = [metric for metric in audio if metric in control and not metric.endswith("_response_quality")]
    if not shown:
        return
    table = grid()
    table.add_column("")
    table.add_column("audio", justify="right")
    table.add_column("95% interval")
    table.add_column("control", justify="right")
    table.add_column("95% interval")
    table.add_row(Text("n", style="dim"), _dim(sized(audio[shown[0]])), "", _dim(sized(control[shown[0]])))
    for metric in shown:
        cells = []
        for estimate in (audio[metric], control[metric]):
            cells.append(Text(format_value(metric, estimate["value"], marks)))
            cells.append(_dim(format_interval(metric, deciding(estimate), marks)))
        table.add_row(label(metric), *cells)
    yield Group(
        heading("Answer by answer, against the transcript arm", "control: the noise floor"),
        table,
    )


def _dim(text: str) -> Text:
    return Text(text, style="dim")


def _matrix(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    cells = distinct_cells(report["matrix"], "estimates")
    columns = [_column(same) for same in cells]
    rows = list(_matrix_rows(report, [same[0] for same in cells], marks))
    yield Group(
        heading("By condition", f"audio arm; interval below; {marks.worst} worst cell of a row"),
        *spaced(cell_tables(columns, rows, width, marks.missing)),
    )


def spaced(tables: Iterable[Table]) -> Iterator[RenderableType]:
    """Yield tables with an empty line between them."""
    for place, table in enumerate(tables):
        if place:
            yield Text("")
        yield table


def distinct_cells(cells: Sequence[Document], numbers: str) -> list[list[Document]]:
    """Return the cells, those with the same `numbers` together: axes with one value repeat one another."""
    same: dict[str, list[Document]] = {}
    for cell in cells:
        values = [
            {**entry, "flags": [flag for flag in entry["flags"] if flag != "primary"]}
            for entry in cell[numbers]
        ]
        key = json.dumps([cell["items"], values], sort_keys=True)
        same.setdefault(key if cell["items"] else f"{cell['axis']}={cell['value']}", []).append(cell)
    return list(same.values())


def _column(cells: Sequence[Document]) -> Column:
    first = cells[0]
    sizes = ["no items"]
    if first["items"]:
        failed = max(first["failed"].values(), default=0)
        sizes = [count_of(first["items"], "item"), count_of(first["units"], "unit"), f"{failed} failed"]
    return Column(
        axes=tuple(cell["axis"] for cell in cells),
        values=tuple("(none)" if cell["value"] is None else cell["value"] for cell in cells),
        sizes=tuple(sizes),
    )


def _matrix_rows(report: Document, cells: Sequence[Document], marks: Marks) -> Iterator[Row]:
    worst = {
        (entry["metric"], entry["arm"]): (entry["axis"], entry["value"]) for entry in report["worst_cells"]
    }
    title: tuple[str, tuple[str, ...]] | None = None
    for metric in _shown_metrics(report):
        name = metric["metric"]
        estimates = [_find(cell, metric) for cell in cells]
        if all(estimate is None or estimate["n"] + estimate["failed"] == 0 for estimate in estimates):
            continue
        sizes = tuple(
            "" if estimate is None or not estimate["n"] else f"n {sized(estimate)}" for estimate in estimates
        )
        if title != (section(metric["family"], "audio"), sizes):
            title = (section(metric["family"], "audio"), sizes)
            yield Row(title[0], tuple(_dim(size) if size else None for size in sizes), is_section=True)
        at_worst = worst.get((name, "audio"))
        values = tuple(
            _matrix_value(estimate, name, (cell["axis"], cell["value"]) == at_worst, marks)
            for cell, estimate in zip(cells, estimates, strict=True)
        )
        is_primary = any(estimate is not None and "primary" in estimate["flags"] for estimate in estimates)
        yield Row(f"{label(name)}{f' {marks.primary}' if is_primary else ''}", values)


def _shown_metrics(report: Document) -> list[Document]:
    """Return the metrics of the audio arm, losses first."""
    shown = [
        metric
        for metric in report["metrics"]
        if "audio" in metric["arms"] and is_shown_by_condition(metric["metric"])
    ]
    return sorted(shown, key=lambda metric: metric["relative_to"] is None)


def _find(cell: Document, metric: Document) -> Document | None:
    wanted = (metric["family"], metric["metric"], "audio")
    for estimate in cell["estimates"]:
        if (estimate["family"], estimate["metric"], estimate["arm"]) == wanted:
            found: Document = estimate
            return found
    return None


def _matrix_value(estimate: Document | None, metric: str, is_worst: bool, marks: Marks) -> Text | None:
    if estimate is None or estimate["value"] is None:
        return None
    text = Text(justify="right")
    if is_worst:
        text.append(f"{marks.worst} ", style="bold red")
    text.append(format_value(metric, estimate["value"], marks), style="bold red" if is_worst else "")
    interval = format_interval(metric, deciding(estimate), marks)
    return text.append(f"\n{interval}", style="dim") if interval else text


def _recognition(report: Document, marks: Marks) -> Iterator[RenderableType]:
    """Yield how the errors divide and how they are spread over the items."""
    whole = [entry for entry in report["distributions"] if entry["axis"] is None and entry["n"]]
    if not whole:
        return
    table = grid()
    for column in ("", "corpus", "subst.", "del.", "ins.", "of", "mean", "p50", "p95", "n"):
        table.add_column(column, justify="left" if not column else "right")
    for entry in whole:
        metric = entry["metric"]
        estimate = report["arms"][entry["arm"]][metric]
        counts = estimate["counts"]
        table.add_row(
            label(metric),
            format_value(metric, estimate["value"], marks),
            *(str(counts[name]) for name in ("substitutions", "deletions", "insertions", "reference_units")),
            *(format_value(metric, entry[name], marks) for name in ("mean", "p50", "p95")),
            _dim(sized(estimate)),
        )
    yield Group(heading("Errors of recognition", "mean, p50 and p95 are of the items' own rates"), table)


def _failures(report: Document, marks: Marks) -> Iterator[RenderableType]:
    failures = report["failures"]
    failed, samples = failures["samples_failed"], failures["samples"]
    if not failed:
        yield Text("No item failed.")
        return
    table = grid()
    table.show_header = False
    for arm, summary in failures["by_arm"].items():
        if summary["samples_failed"]:
            what = [_counts(summary[key], marks) for key in ("by_stage", "by_kind")]
            table.add_row(arm, count_of(summary["samples_failed"], "item"), *what)
    share = f"{failed} of {samples} items ({100 * failures['failure_rate']:.1f}%), each named in failures.csv"
    yield Group(heading("Failures", share), table)


def _counts(counts: Mapping[str, int], marks: Marks) -> str:
    return ", ".join(f"{name} {marks.times}{count}" for name, count in counts.items())


def _timings(report: Document, width: int) -> Iterator[RenderableType]:
    figures = [
        (name, value) for name, value in (report["timings"] or {}).items() if isinstance(value, int | float)
    ]
    if not figures:
        return
    pairs = max(1, width // 40)
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(pairs):
        table.add_column()
        table.add_column(justify="right")
    for start in range(0, len(figures), pairs):
        chosen = figures[start : start + pairs]
        table.add_row(*(text for name, value in chosen for text in _timing(name, value)))
    yield Group(heading("Time"), table)


def _timing(name: str, value: float) -> tuple[str, str]:
    if name.endswith("_seconds"):
        return name.removesuffix("_seconds").replace("_", " "), f"{value:.2f} s"
    return name.replace("_", " "), f"{value:.3f}"


def _legend(report: Document, marks: Marks) -> RenderableType:
    statistics = report["statistics"]
    parts = [
        f"* under {statistics['min_items']} items or {statistics['min_units']} units: no verdict",
        f"{marks.primary} primary metric",
        f"{marks.missing} no value",
        "unit: a session, or an item without one",
        "intervals: 95%, over units",
    ]
    return Text(f" {marks.dot} ".join(parts), style="dim")
