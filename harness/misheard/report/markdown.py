"""The report of a run as Markdown for a pull request: worst cells, losses, verdict, a small matrix."""

from collections.abc import Iterator, Sequence

from misheard.errors import count_of, counted
from misheard.report.html.page import Highlight
from misheard.report.html.run_highlights import deciding_metrics, highlights
from misheard.report.html.run_verdict import banner, blocking
from misheard.report.labels import (
    UNICODE,
    difference_interval,
    format_difference,
    format_difference_interval,
    format_interval,
    format_value,
    is_detail,
    label,
    plain,
    rate_interval,
)
from misheard.report.terminal_cells import sized
from misheard.report.terminal_differences import verdict_word
from misheard.report.terminal_matrix import cell_estimate, same_items
from misheard.report.terminal_report import header_parts, suite_title
from misheard.report.values import Document

MAX_BYTES = 60_000
"""A comment on a pull request holds 65,536 characters."""

_MOST_CELLS, _MOST_METRICS, _MOST_LOSSES, _MOST_FINDINGS = 24, 5, 8, 10
_SPECIAL = frozenset("\\`*_{}[]()#+-.!|<>~&:@")


def markdown_text(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    shown = plain(text.replace("\n", " "))
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in shown)


def report_markdown(report: Document, verdict: Document | None = None) -> str:
    """Return a summary of at most MAX_BYTES. No text of an item is in it.

    Args:
        report: of a run.
        verdict: what `misheard gate --json` wrote of the same run, if any.
    """
    lines = [f"## {markdown_text(suite_title(report))}", "", markdown_text(_joined(header_parts(report))), ""]
    if (found := banner(verdict)) is not None:
        lines += [f"**{markdown_text(found.word)}** {markdown_text(found.sentence)}", ""]
        lines += [*(f"* {markdown_text(finding)}" for finding in blocking(verdict)[:_MOST_FINDINGS]), ""]
    lines += [f"* {_highlight(one)}" for one in highlights(report)]
    lines += ["", *(markdown_text(sentence) for sentence in report["takeaway"])]
    lines += [*_losses(report), *_matrix(report)]
    return cut_lines(lines, MAX_BYTES, "the HTML report")


def _joined(parts: Sequence[str]) -> str:
    return f" {UNICODE.dot} ".join(part for part in parts if part)


def _highlight(one: Highlight) -> str:
    where = f" at **{markdown_text(one.where)}**" if one.where else ""
    detail = _joined([one.detail, one.more, one.note])
    return f"{markdown_text(one.title)}: **{markdown_text(one.value)}** {markdown_text(one.what)}{where}" + (
        f" ({markdown_text(detail)})" if detail else ""
    )


def _losses(report: Document) -> Iterator[str]:
    lost = report["propagation"]["lost_to_recognition"]
    shown = [metric for metric in lost if not is_detail(metric) and lost[metric]["n"]][:_MOST_LOSSES]
    if not shown:
        return
    yield from ["", "### What mishearing costs", ""]
    yield "| | audio | transcript | change | 95% interval | verdict | pairs |"
    yield "| --- | ---: | ---: | ---: | ---: | --- | ---: |"
    for metric in shown:
        difference = lost[metric]
        ends = format_difference_interval(metric, difference_interval(metric, difference), UNICODE)
        cells = [
            label(metric),
            format_value(metric, difference["b"], UNICODE),
            format_value(metric, difference["a"], UNICODE),
            format_difference(metric, difference["difference"], UNICODE),
            ends,
            verdict_word(difference["verdict"]),
            sized(difference),
        ]
        yield _row(cells)


def _matrix(report: Document) -> Iterator[str]:
    """Yield the deciding metrics by condition, in the audio arm; the worst cells are among those shown."""
    metrics = [
        next(entry for entry in report["metrics"] if entry["metric"] == name)
        for name in deciding_metrics(report)
        if any(entry["metric"] == name and "audio" in entry["arms"] for entry in report["metrics"])
    ][:_MOST_METRICS]
    groups = same_items(report["matrix"])
    if not metrics or not groups:
        return
    worst = {
        (one["metric"], one["axis"], one["value"]) for one in report["worst_cells"] if one["arm"] == "audio"
    }
    names = [metric["metric"] for metric in metrics]
    places = sorted(range(len(groups)), key=lambda place: (not _is_worst(groups[place], names, worst), place))
    shown = sorted(places[:_MOST_CELLS])
    yield from ["", f"### By condition, audio arm ({UNICODE.worst} worst cell of a column)", ""]
    yield _row(["", *map(label, names), "failed"])
    yield "| --- |" + " ---: |" * (len(names) + 1)
    for place in shown:
        cells = groups[place]
        titles = _joined(
            [f"{cell['axis']}={'(none)' if cell['value'] is None else cell['value']}" for cell in cells]
        )
        values = [
            _value(
                cell_estimate(cells[0], metric), metric["metric"], _is_worst(cells, [metric["metric"]], worst)
            )
            for metric in metrics
        ]
        yield _row([titles, *values, str(cells[0]["samples_failed"])])
    if len(shown) < len(groups):
        more = counted(len(groups) - len(shown), "more cell is", "more cells are")
        yield from ["", f"{more} in matrix\\.csv\\."]
    few = report["statistics"]
    yield from [
        "",
        markdown_text(f"* under {few['min_items']} items or {few['min_units']} units: no verdict"),
    ]


def _is_worst(
    cells: Sequence[Document], metrics: Sequence[str], worst: set[tuple[str, str, str | None]]
) -> bool:
    return any((metric, cell["axis"], cell["value"]) in worst for cell in cells for metric in metrics)


def _value(estimate: Document | None, metric: str, is_worst: bool) -> str:
    if estimate is None or estimate["value"] is None:
        return UNICODE.missing
    interval = rate_interval(metric, estimate)
    ends = "" if interval is None else f" ({format_interval(metric, interval, UNICODE)})"
    mark = f"{UNICODE.worst} " if is_worst else ""
    return f"{mark}{format_value(metric, estimate['value'], UNICODE)}{ends}, n {sized(estimate)}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(markdown_text(cell) for cell in cells) + " |"


def cut_lines(lines: Sequence[str], most_bytes: int, where: str) -> str:
    """Return whole lines as far as they fit, and say how many did not; `where` has them all."""
    size = 0
    for number, line in enumerate(lines):
        size += len(line.encode("utf-8", "backslashreplace")) + 1
        if size > most_bytes:
            rest = count_of(len(lines) - number, "more line")
            return "\n".join([*lines[:number], "", f"{rest}: see {where}", ""])
    return "\n".join([*lines, ""])
