"""The blocks of a run's report on a terminal."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.report.labels import (
    Marks,
    count_of,
    format_value,
    is_detail,
    label,
    plain,
    system_name,
    unit_noun,
    with_marks,
)
from misheard.report.terminal_attribution import attribution_block, shares_block
from misheard.report.terminal_cells import Grid, dim, fitting, heading, joined, sized, suite_line
from misheard.report.terminal_costs import answers_block, arms_block
from misheard.report.terminal_determinism import determinism_block
from misheard.report.terminal_holdout import holdout_block
from misheard.report.terminal_judge import judge_block
from misheard.report.terminal_latencies import latencies_block
from misheard.report.terminal_legend import legend_block, profile_line, shared_signs, terms
from misheard.report.terminal_matrix import has_worst_cell, matrix_block, same_items
from misheard.report.terminal_telemetry import telemetry_block
from misheard.report.terminal_timings import timings_block
from misheard.report.values import Document

EDITS = {"subst.": "substitutions", "del.": "deletions", "ins.": "insertions", "of": "reference_units"}
SPREAD = ("mean", "p50", "p95")


def blocks(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the blocks from top to bottom."""
    yield _header(report, width, marks)
    yield from holdout_block(report, width, marks)
    yield from _takeaway(report, width, marks)
    yield from arms_block(report, width, marks)
    yield from answers_block(report, width, marks)
    yield from shares_block(report, width, marks)
    yield from attribution_block(report, width, marks)
    yield matrix_block(report, width, marks)
    yield from judge_block(report, width, marks)
    yield from determinism_block(report, width, marks)
    yield from _recognition(report, width, marks)
    yield from _failures(report, width, marks)
    if times := timings_block(report["timings"] or {}, width, marks):
        yield times
    yield from latencies_block(report, width, marks)
    measured = (report["timings"] or {}).get("telemetry") or [None]
    if machine := telemetry_block(measured[-1], width, marks):
        yield machine
    yield _legend(report, width, marks)


def _header(report: Document, width: int, marks: Marks) -> RenderableType:
    line = suite_line(suite_title(report), header_parts(report), width, marks)
    name = system_name(report["system"])
    return line if name is None else Group(line, Text(f"system: {name}"))


def suite_title(report: Document) -> str:
    """Return the name and version of a report's suite."""
    return plain(" ".join(str(report["suite"][key]) for key in ("name", "version") if key in report["suite"]))


def header_parts(report: Document) -> list[str]:
    """Return how many items and sessions a report is of, and how many failed."""
    items, failures = report["items"], report["failures"]
    parts = [
        count_of(items["total"], "item"),
        f"{items['speech']} with speech",
        f"{items['non_speech']} without",
    ]
    parts.append(count_of(items["units"], unit_noun(items)))
    if items["sessions"] and items["without_session"]:
        parts[-1] += f" ({count_of(items['sessions'], 'session')})"
    parts.append(f"{failures['samples_failed']} failed")
    return parts


def _takeaway(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the sentences that the report comes down to."""
    sentences = [plain(with_marks(sentence, marks)) for sentence in report["takeaway"]]
    if sentences:
        yield Text("\n".join(textwrap.fill(sentence, width) for sentence in sentences), style="bold")


def _recognition(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield how the errors divide and how they are spread over the items."""
    whole = whole_distributions(report)
    profile = profile_line(report["scorer"])
    if not whole:
        yield from [] if profile is None else [profile]
        return
    yield Group(
        heading("Errors of recognition", "mean, p50 and p95 are of the items' own rates", width),
        *_error_tables(report, whole, width, marks),
        *([] if profile is None else [profile]),
    )


def whole_distributions(report: Document) -> list[Document]:
    """Return how the metrics that tables show are spread over all items that have one."""
    return [
        entry
        for entry in report["distributions"]
        if entry["axis"] is None and entry["n"] and not is_detail(entry["metric"])
    ]


def _error_tables(
    report: Document, whole: Sequence[Document], width: int, marks: Marks
) -> list[RenderableType]:
    """Return one table of edits and spread, or two where they do not fit side by side."""
    edits, spread = ("corpus", *EDITS), SPREAD
    wide = _error_grid(report, whole, (*edits, *spread, "n"), marks)
    if wide.width <= width:
        return [wide.table()]
    parts = (_error_grid(report, whole, (*part, "n"), marks) for part in (edits, spread))
    first, second = (fitting(width, part) for part in parts)
    return [first, Text(""), second]


def _error_grid(report: Document, whole: Sequence[Document], titles: Sequence[str], marks: Marks) -> Grid:
    grid = Grid([("", "left"), *((title, "right") for title in titles)])
    for entry in whole:
        metric = entry["metric"]
        estimate = report["arms"][entry["arm"]][metric]
        figures = {
            "corpus": format_value(metric, estimate["value"], marks),
            **{title: str(estimate["counts"].get(column, marks.missing)) for title, column in EDITS.items()},
            **{name: format_value(metric, entry[name], marks) for name in SPREAD},
        }
        grid.add(label(metric), *(dim(sized(estimate)) if t == "n" else figures[t] for t in titles))
    return grid


def _failures(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    failures = report["failures"]
    failed, samples = failures["samples_failed"], failures["samples"]
    if not failed:
        yield Text("No item failed.")
        return
    lines = []
    for arm, summary in failures["by_arm"].items():
        if summary["samples_failed"]:
            parts = [count_of(summary["samples_failed"], "item")]
            parts += [_counts(summary[key], marks) for key in ("by_stage", "by_kind")]
            lines.append(Text(f"{arm:<12}{joined(parts, width, marks, indent=12, start=12)}"))
    share = f"{failed} of {count_of(samples, 'item')} ({100 * failures['failure_rate']:.1f}%)"
    share = f"{share}, each named in failures.csv"
    yield Group(heading("Failures", share, width), *lines)


def _counts(counts: Mapping[str, int], marks: Marks) -> str:
    return ", ".join(f"{name} {marks.times}{count}" for name, count in counts.items())


def _legend(report: Document, width: int, marks: Marks) -> RenderableType:
    shared = shared_signs(report["statistics"], unit_noun(report["items"]), same_items(report["matrix"]))
    signs = [*shared, f"{marks.missing} no value"]
    if has_worst_cell(report):
        signs.append(
            f"{marks.worst} worst cell of a row, with all that equal it; no verdict where its n has a *"
        )
    if any("primary" in entry["flags"] for cell in report["matrix"] for entry in cell["estimates"]):
        signs.append(f"{marks.primary} primary metric")
    signs += _attribution_signs(report, marks)
    lost = report["propagation"]["lost_to_recognition"]
    if any(difference["verdict"] == "same" for difference in lost.values()):
        signs.append("same: equal on every pair")
    counted = [name for name, one in report["arms"].get("audio", {}).items() if one["value"] is not None]
    numbers = [name for name in counted if name == "pier_numbers"]
    shown = [*numbers, *lost, *report["propagation"]["control"]]
    return legend_block([signs, terms(shown, report["scorer"])], width, marks)


def _attribution_signs(report: Document, marks: Marks) -> Iterator[str]:
    entries = [entry for place in report["attribution"] for entry in place["metrics"]]
    losses = [loss for entry in entries for loss in entry["losses"]]
    if any(loss["share"] is not None for loss in losses):
        rest = "rendering: missing with the golden plan too"
        if not any(entry["remainder"]["stage"] == "rendering" for entry in entries):
            rest = "anyway: missing with the transcript too"
        yield f"missing: what the audio arm lacks to the best score; {rest}"
    if any(loss["within_noise"] for loss in losses):
        yield f"{marks.noise} smaller than what the control arm's own change may be"
