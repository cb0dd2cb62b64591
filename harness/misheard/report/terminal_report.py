"""The blocks of a run's report on a terminal."""

from collections.abc import Iterator, Mapping

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
    label,
    plain,
)
from misheard.report.terminal_cells import dim, grid, heading, sized
from misheard.report.terminal_matrix import matrix_block, unit_noun
from misheard.report.values import Document

_ARMS = ("audio", "transcript", "control")
_VERDICT_STYLES = {"better": "bold green", "worse": "bold red", "changed": "bold"}


def blocks(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the blocks from top to bottom."""
    yield _header(report, marks)
    yield from _arms(report, marks)
    yield from _propagation(report, marks)
    yield matrix_block(report, width, marks)
    yield from _recognition(report, marks)
    yield from _failures(report, marks)
    yield from _timings(report, width)
    yield _legend(report, marks)


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
    return Text(f"{plain(name)}  ", style="bold").append(f" {marks.dot} ".join(parts), style="not bold")


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
        heading("What mishearing costs", f"change: audio {marks.minus} transcript, paired by item"),
        table,
    )


def _size(estimate: Document | None, marks: Marks) -> str:
    return marks.missing if estimate is None else sized(estimate)


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
    table.add_row(Text("n", style="dim"), dim(sized(audio[shown[0]])), "", dim(sized(control[shown[0]])))
    for metric in shown:
        cells = []
        for estimate in (audio[metric], control[metric]):
            cells.append(Text(format_value(metric, estimate["value"], marks)))
            cells.append(dim(format_interval(metric, deciding(estimate), marks)))
        table.add_row(label(metric), *cells)
    yield Group(
        heading("Answer by answer, against the transcript arm", "control: the noise floor"),
        table,
    )


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
            dim(sized(estimate)),
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
    statistics, noun = report["statistics"], unit_noun(report)
    parts = [
        f"* under {statistics['min_items']} items or {statistics['min_units']} {noun}s: no verdict",
        f"{marks.primary} primary metric",
        f"{marks.missing} no value",
        f"intervals: 95%, over {noun}s",
    ]
    if noun == "unit":
        parts.append("unit: a session, or an item without one")
    return Text(f" {marks.dot} ".join(parts), style="dim")
