"""The matrix: conditions by metrics in the audio arm, then one metric at a time in every arm."""

from collections.abc import Iterator, Mapping, Sequence

from misheard.report.html.charts.axis import axis_value
from misheard.report.html.charts.intervals import IntervalRow, Intervals, intervals
from misheard.report.html.page import (
    Block,
    Cell,
    Column,
    Figure,
    Filters,
    Mark,
    Panel,
    Panels,
    Prose,
    Row,
    Section,
    Side,
    Table,
)
from misheard.report.html.run_costs import arm_dot
from misheard.report.html.run_matrix_cells import WORST, Key, estimate_in, matrix_column
from misheard.report.labels import (
    UNICODE,
    count_of,
    format_value,
    is_shown_by_condition,
    label,
    section,
    unit_noun,
)
from misheard.report.terminal_legend import shared_signs, terms
from misheard.report.terminal_matrix import has_nothing, repeats_whole, same_items, shown_metrics
from misheard.report.values import Document

Estimates = Sequence[Document | None]

PRIMARY = Mark(UNICODE.primary, "primary metric")

_MOST_CONDITIONS = 240
"""Conditions of the page; matrix.csv has more."""

_MOST_CELLS = 4_000
"""Cells of the views of single metrics, with the names of their rows; matrix.csv has the rest."""

_MOST_SEEN = 5_000
"""Cells of the matrix itself, with the names of its rows."""

_LETTERS_OF_A_CELL = 40
"""Of the name of a row, which stands in it twice."""

_MOST_ROWS_DRAWN = 24


def matrix_section(report: Document) -> Section:
    """Return the matrix of a run. There is no row over everything."""
    groups, more = shown_groups(report)
    worst = _worst(report)
    panels, left_out = _panels(report, groups, worst)
    blocks: list[Block] = [Filters(_axes(report, groups)), _overview(report, groups, worst)]
    if more:
        blocks.append(Prose((more,), "warning"))
    if panels:
        blocks.append(Panels("metric", "One metric, every arm:", panels))
    if left_out:
        blocks.append(Prose((f"{left_out} more metrics are in matrix.csv",), "quiet"))
    note = (
        "a row per condition, over all its items, on what was heard (audio arm); "
        "combinations: misheard report RUN --by AXIS,AXIS"
    )
    return Section("by-condition", "By condition", tuple(blocks), note)


def shown_groups(report: Document) -> tuple[list[list[Document]], str]:
    """Return the cells of the matrix, those of the same items together, and a sentence on those left out.

    Of too many, those with a worst cell of the audio arm come before others; the order stays.
    """
    groups = same_items(report["matrix"])
    if len(groups) <= _MOST_CONDITIONS:
        return groups, ""
    worst = {(one["axis"], one["value"]) for one in report["worst_cells"] if one["arm"] == "audio"}
    has_none = [not any((cell["axis"], cell["value"]) in worst for cell in group) for group in groups]
    kept = sorted(sorted(range(len(groups)), key=lambda place: (has_none[place], place))[:_MOST_CONDITIONS])
    more = (
        f"{len(groups) - len(kept):,} more conditions are in matrix.csv; those with a worst cell come first"
    )
    return [groups[place] for place in kept], more


def _axes(report: Document, groups: Sequence[Sequence[Document]]) -> Mapping[str, Sequence[str | None]]:
    """Return the values of each axis that have a row, in the order of the report."""
    shown = {(cell["axis"], cell["value"]) for group in groups for cell in group}
    found: dict[str, list[str | None]] = {}
    for cell in report["matrix"]:
        if (cell["axis"], cell["value"]) in shown:
            found.setdefault(cell["axis"], []).append(cell["value"])
    return found


def _worst(report: Document) -> dict[Key, set[tuple[str, str | None]]]:
    found: dict[Key, set[tuple[str, str | None]]] = {}
    for entry in report["worst_cells"]:
        key = (entry["family"], entry["metric"], entry["arm"])
        found.setdefault(key, set()).add((entry["axis"], entry["value"]))
    return found


def _overview(
    report: Document, groups: Sequence[Sequence[Document]], worst: Mapping[Key, set[tuple[str, str | None]]]
) -> Table:
    columns, cells = [], []
    seen, left_out = _seen(report, groups)
    for metric, estimates in seen:
        columns.append(_metric_column(metric, _is_primary(estimates)))
        cells.append(matrix_column(report, metric, "audio", groups, estimates, worst))
    rows = [
        condition_row(report, group, tuple(column[place] for column in cells))
        for place, group in enumerate(groups)
    ]
    noun = unit_noun(report["items"])
    signs = list(shared_signs(report["statistics"], noun, []))
    if any(len(same) > 1 for same in groups):
        signs.append("conditions in one row: the very same items")
    if any(WORST in cell.marks for column in cells for cell in column):
        signs.append(f"{UNICODE.worst} worst cell of a column, with all that equal it")
    if any(column.mark for column in columns):
        signs.append(f"{UNICODE.primary} primary metric")
    signs.append("darker: further from the best value, as a share of the worst cell of the column")
    signs += terms([column.key for column in columns], report["scorer"])
    return Table(
        "matrix", "Every condition, audio arm", "condition", tuple(columns), tuple(rows), is_matrix=True,
        notes=(f" {UNICODE.dot} ".join(signs), *left_out),
    )  # fmt: skip


def _seen(
    report: Document, groups: Sequence[Sequence[Document]]
) -> tuple[list[tuple[Document, Estimates]], list[str]]:
    """Return the metrics that cells have with their estimates, and a note on those without room.

    Of too many, primary metrics come before others; the order stays.
    """
    cells = [group[0] for group in groups]
    found: list[tuple[Document, Estimates]] = []
    for metric in shown_metrics(report, all_metrics=False):
        estimates = [estimate_in(cell, metric, "audio") for cell in cells]
        if not (all(one is None or has_nothing(one) for one in estimates) or repeats_whole(metric, cells)):
            found.append((metric, estimates))
    room = max(1, (_MOST_SEEN - sum(map(_name_size, groups))) // max(1, len(cells)))
    kept = sorted(range(len(found)), key=lambda place: not _is_primary(found[place][1]))[:room]
    left_out = [f"{len(found) - room} more metrics are in matrix.csv"] if len(found) > room else []
    return [found[place] for place in sorted(kept)], left_out


def _is_primary(estimates: Estimates) -> bool:
    return any(one is not None and "primary" in one["flags"] for one in estimates)


def _metric_column(metric: Document, is_primary: bool) -> Column:
    better = (
        "" if metric["better"] is None else f"; better {'low' if metric['better'] == 'lower' else 'high'}"
    )
    return Column(
        label(metric["metric"]),
        note=f"{metric['description']}{better}",
        group=section(metric["family"], "audio"),
        key=metric["metric"],
        mark=PRIMARY if is_primary else None,
    )


def condition_row(report: Document, group: Sequence[Document], cells: tuple[Cell, ...]) -> Row:
    """Return the row of condition cells with the same items; the page filters it by each of them."""
    first, noun = group[0], unit_noun(report["items"])
    sizes = "no items"
    if first["items"]:
        parts = [count_of(first["items"], "item"), count_of(first["units"], noun)]
        sizes = f" {UNICODE.dot} ".join([*parts, f"{first['samples_failed']} failed"])
    names = [(cell["axis"], "(none)" if cell["value"] is None else cell["value"]) for cell in group]
    return Row(
        name=names[0][1],
        cells=cells,
        prefix=names[0][0],
        others=tuple(names[1:]),
        below=sizes,
        conditions={cell["axis"]: cell["value"] for cell in group},
        is_one_condition=True,
    )


def _panels(
    report: Document, groups: Sequence[Sequence[Document]], worst: Mapping[Key, set[tuple[str, str | None]]]
) -> tuple[tuple[Panel, ...], int]:
    """Return a view per metric, those that tables show first, and how many have none for lack of room."""
    metrics = sorted(report["metrics"], key=lambda metric: not is_shown_by_condition(metric["metric"]))
    room, panels, left_out = _MOST_CELLS, [], 0
    names = sum(map(_name_size, groups))
    for metric in metrics:
        columns = {arm: [estimate_in(cells[0], metric, arm) for cells in groups] for arm in metric["arms"]}
        columns = {arm: found for arm, found in columns.items() if any(one and one["n"] for one in found)}
        if not columns:
            continue
        size = len(columns) * len(groups) + names
        if size > room:
            left_out += 1
            continue
        room -= size
        panels.append(_panel(report, metric, columns, groups, worst))
    return tuple(panels), left_out


def _name_size(group: Sequence[Document]) -> int:
    """Return how many cells the name of a row takes the room of."""
    return 1 + sum(len(cell["axis"]) + len(cell["value"] or "") for cell in group) // _LETTERS_OF_A_CELL


def _panel(
    report: Document,
    metric: Document,
    columns: Mapping[str, Sequence[Document | None]],
    groups: Sequence[Sequence[Document]],
    worst: Mapping[Key, set[tuple[str, str | None]]],
) -> Panel:
    name = metric["metric"]
    cells = {arm: matrix_column(report, metric, arm, groups, found, worst) for arm, found in columns.items()}
    rows = [
        condition_row(report, group, tuple(column[place] for column in cells.values()))
        for place, group in enumerate(groups)
    ]
    table = Table(
        f"metric-{name}-table", f"{label(name)}, by condition and arm", "condition",
        tuple(Column(arm) for arm in cells), tuple(rows), is_matrix=True,
    )  # fmt: skip
    better = {"lower": "better low", "higher": "better high"}.get(
        str(metric["better"]), "no better direction"
    )
    blocks: list[Block] = [Prose((f"{metric['description']}; {better}",), "quiet")]
    if is_shown_by_condition(name) and len(groups) <= _MOST_ROWS_DRAWN:
        blocks += _figure(metric, columns, groups)
    arm = next(iter(columns))
    shown: Block = Side((blocks.pop(), table)) if len(blocks) > 1 else table
    return Panel(name, label(name), section(metric["family"], arm), (*blocks, shown))


def _figure(
    metric: Document, columns: Mapping[str, Sequence[Document | None]], groups: Sequence[Sequence[Document]]
) -> Iterator[Block]:
    name = metric["metric"]
    rows = []
    for place, group in enumerate(groups):
        dots = [
            arm_dot(name, arm, one)
            for arm, found in columns.items()
            if (one := found[place]) is not None and one["value"] is not None
        ]
        title = ", ".join("(none)" if cell["value"] is None else cell["value"] for cell in group)
        if dots:
            rows.append(IntervalRow(title, tuple(dots)))
    if len(rows) < 2:
        return
    told = "; ".join(
        f"{row.label}: "
        + ", ".join(f"{dot.series} {format_value(name, dot.value, UNICODE)}" for dot in row.dots)
        for row in rows
    )
    chart = Intervals(
        name=f"by-condition-{name.replace('_', '-')}",
        title=f"{label(name)} by condition",
        description=told,
        rows=tuple(rows),
        show=lambda value: axis_value(name, value),
    )
    yield Figure(intervals(chart), f"{label(name)}, with 95% intervals")
