"""The cells of a matrix: a value with its interval and sizes, its shade, and the mark of the worst."""

from collections.abc import Mapping, Sequence

from misheard.report.html.page import SHADES, Cell, Mark
from misheard.report.labels import (
    UNICODE,
    count_of,
    format_interval,
    format_value,
    is_in_points,
    rate_interval,
    unit_noun,
)
from misheard.report.terminal_cells import sized
from misheard.report.values import Document

WORST = Mark(UNICODE.worst, "worst cell")

Key = tuple[str, str, str]
"""Family, metric and arm."""


def estimate_in(cell: Document, metric: Document, arm: str) -> Document | None:
    """Return the estimate of a metric in an arm; None where the condition has none."""
    wanted = (metric["family"], metric["metric"], arm)
    found = (one for one in cell["estimates"] if (one["family"], one["metric"], one["arm"]) == wanted)
    return next(found, None)


def matrix_column(
    report: Document,
    metric: Document,
    arm: str,
    groups: Sequence[Sequence[Document]],
    estimates: Sequence[Document | None],
    worst: Mapping[Key, set[tuple[str, str | None]]],
) -> list[Cell]:
    """Return the cells of a metric in an arm, shaded from its best value to the worst of the column.

    Args:
        report: of the run.
        metric: of `report["metrics"]`.
        arm: of the estimates.
        groups: the cells of each row, which have the very same items.
        estimates: of each row.
        worst: the conditions that are marked, per metric and arm.
    """
    marked = worst.get((metric["family"], metric["metric"], arm), set())
    badness = [_badness(metric, one) for one in estimates]
    known = [one for one in badness if one is not None]
    top = max(known, default=0.0)
    cells = []
    for group, estimate, bad in zip(groups, estimates, badness, strict=True):
        is_worst = any((cell["axis"], cell["value"]) in marked for cell in group)
        shade = None if bad is None else (round((SHADES - 1) * bad / top) if top > 0 else 0)
        cells.append(_cell(metric["metric"], estimate, is_worst, shade, unit_noun(report["items"])))
    return cells


def _badness(metric: Document, estimate: Document | None) -> float | None:
    """Return how far a value is from the best; None without a value, or where no direction is better."""
    if metric["better"] is None or estimate is None or estimate["value"] is None:
        return None
    value: float = estimate["value"]
    if metric["better"] == "lower":
        return max(value, 0.0)
    return max((100.0 if is_in_points(metric["metric"]) else 1.0) - value, 0.0)


def _cell(metric: str, estimate: Document | None, is_worst: bool, shade: int | None, noun: str) -> Cell:
    if estimate is None or (not estimate["n"] and not estimate["failed"]):
        return Cell()
    sizes = f"n {sized(estimate)} {UNICODE.dot} {count_of(estimate['units'], noun)}"
    if estimate["failed"]:
        sizes += f" {UNICODE.dot} {estimate['failed']} failed"
    if estimate["value"] is None:
        return Cell(UNICODE.missing, sizes=sizes, tone="quiet", tip=_tip(metric, estimate, noun))
    interval = rate_interval(metric, estimate)
    return Cell(
        format_value(metric, estimate["value"], UNICODE),
        below="no interval" if interval is None else format_interval(metric, interval, UNICODE),
        sizes=sizes,
        marks=(WORST,) if is_worst else (),
        tip=_tip(metric, estimate, noun),
        sort=estimate["value"],
        shade=shade,
    )


def _tip(metric: str, estimate: Document, noun: str) -> tuple[str, ...]:
    """Return the lines behind a cell: sizes, failures, flags, intervals, and the sums of the rate."""
    sizes = (
        f"{count_of(estimate['n'], 'item')}, {count_of(estimate['units'], noun)}, {estimate['failed']} failed"
    )
    lines = [sizes]
    if estimate["value"] is None:
        lines.append(f"no value: {str(estimate['reason']).replace('_', ' ')}")
    found = estimate["intervals"] or {}
    lines += [
        f"{name} {format_interval(metric, found[name], UNICODE)}"
        for name in ("bootstrap", "jackknife", "exact")
        if found.get(name) is not None
    ]
    if flags := [flag.replace("_", " ") for flag in estimate["flags"]]:
        lines.append(f"flags: {', '.join(flags)}")
    return tuple(lines)
