"""Which stage loses how much: over all items as parts of what is missing, then by condition."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.report.labels import (
    Marks,
    difference_interval,
    format_difference,
    format_difference_interval,
    format_interval,
    format_value,
    is_attributed,
    is_shown_by_condition,
    label,
    rate_interval,
)
from misheard.report.terminal_cells import Cell, Grid, Row, cell_tables, dim, fitting, heading, sized
from misheard.report.terminal_differences import VERDICT_STYLES, format_amount
from misheard.report.terminal_matrix import cell_columns, same_items, section_row, spaced
from misheard.report.terminal_stages import (
    format_share,
    format_share_interval,
    has_stages,
    stages_block,
    stages_of,
    undefined_lines,
)
from misheard.report.values import Document

FLIP_RATE, BOARD_FLIP_RATE = "flip_rate", "board_flip_rate"


def shares_block(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield what the audio arm lacks to the best score, and how it divides; nothing without a golden arm."""
    whole = next((place for place in report["attribution"] if place["axis"] is None), None)
    shown = [entry for entry in whole["metrics"] if _has_shortfall(entry)] if whole is not None else []
    if not shown:
        return
    if has_stages(shown):
        yield stages_block(shown, width, marks)
        return
    layouts = [_shares_grid(shown, marks, is_wide=wide) for wide in (True, False)]
    yield Group(
        heading("What is missing to the best score", "lost to recognition, or missing anyway", width),
        fitting(width, *layouts),
        *undefined_lines(shown, width, marks),
    )


def _has_shortfall(entry: Document) -> bool:
    return entry["shortfall"] is not None and is_attributed(entry["metric"])


def _shares_grid(entries: Sequence[Document], marks: Marks, *, is_wide: bool) -> Grid:
    """Return a row per metric, a part per stage, and what is missing with every golden value."""
    stages = [loss["stage"] for loss in entries[0]["losses"]]
    shares = ("share", "95% interval") if is_wide else ("share",)
    titles = ["missing", *(title for stage in stages for title in (stage, *shares)), "anyway"]
    grid = Grid([("", "left"), *((title, "right") for title in titles)])
    previous = None
    for entry in entries:
        if sized(entry) != previous:
            previous = sized(entry)
            grid.add(dim("n pairs"), dim(previous))
        metric = entry["metric"]
        parts: list[str | Text] = []
        for loss in entry["losses"]:
            share, interval = format_share(loss["share"], marks), dim(format_share_interval(loss, marks))
            parts.append(format_amount(metric, loss["amount"], marks))
            parts += [share, interval] if is_wide else [Text("\n").join([Text(share), interval])]
        rest = format_amount(metric, entry["remainder"]["amount"], marks)
        grid.add(label(metric), format_amount(metric, entry["shortfall"], marks), *parts, rest)
    return grid


def attribution_block(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the losses by condition, a column per set of items; nothing without a golden arm."""
    places = {(place["axis"], place["value"]): place for place in report["attribution"]}
    groups = same_items(report["matrix"])
    shown = [places[cells[0]["axis"], cells[0]["value"]] for cells in groups] if places else []
    rows = list(_rows(shown, marks))
    if not rows:
        return
    groups, rows = _asked(groups, rows)
    title, note = "What mishearing costs", f"change: audio {marks.minus} transcript, pair by pair"
    if has_stages(shown[0]["metrics"]):
        title, note = "What each stage loses", "change: without its golden value, pair by pair"
    yield Group(
        heading(f"{title}, by condition", f"{note}; interval below", width),
        *spaced(cell_tables(cell_columns(report, groups), rows, width, marks.missing)),
    )


def _asked(groups: Sequence[list[Document]], rows: Sequence[Row]) -> tuple[list[list[Document]], list[Row]]:
    """Return cells and rows without the cells of items of which nothing counts here, and none failed.

    A condition that the suite asks for and no item has keeps its place, and so does what failed.
    """
    kept = [
        place
        for place, (first, *_) in enumerate(groups)
        if first["samples_failed"] or not first["items"] or any(row.cells[place] for row in rows)
    ]
    return (
        [groups[place] for place in kept],
        [replace(row, cells=tuple(row.cells[place] for place in kept)) for row in rows],
    )


def _rows(places: Sequence[Document], marks: Marks) -> Iterator[Row]:
    if not places:
        return
    metrics = [
        (number, metric)
        for number, metric in enumerate(places[0]["metrics"])
        if is_shown_by_condition(metric["metric"]) and is_attributed(metric["metric"])
    ]
    chains = [metric for _, metric in metrics]
    for stage in stages_of(chains):
        yield from _stage_rows(places, metrics, stage, marks)
    if has_stages(chains):
        yield from _rest_rows(places, metrics, marks)
    for flip, name in ((FLIP_RATE, "control_flip_rate"), (BOARD_FLIP_RATE, "control_board_flip_rate")):
        flips = [place[name] for place in places]
        if any(one is not None and one["n"] for one in flips):
            yield section_row("Control arm", tuple(f"n {sized(f)}" if f and f["n"] else "" for f in flips))
            yield Row(label(flip), tuple(_flips(flip, one, marks) for one in flips))


def _stage_rows(
    places: Sequence[Document], metrics: Sequence[tuple[int, Document]], stage: str, marks: Marks
) -> Iterator[Row]:
    sizes: tuple[str, ...] | None = None
    for number, metric in metrics:
        entries = [place["metrics"][number] for place in places]
        losses = [_loss(entry, stage) for entry in entries]
        if not any(entry["n"] for entry in entries) or None in losses:
            continue
        pairs = tuple(f"n {sized(entry)}" if entry["n"] else "" for entry in entries)
        if pairs != sizes:
            sizes = pairs
            yield section_row(f"Lost to {stage.replace('_', ' ')}", sizes)
        name = metric["metric"]
        yield Row(label(name), tuple(_change(loss, name, marks) for loss in losses if loss is not None))
        shares = tuple(_share(loss, marks) for loss in losses if loss is not None)
        if any(shares):
            yield Row("  share of missing", shares)


def _rest_rows(
    places: Sequence[Document], metrics: Sequence[tuple[int, Document]], marks: Marks
) -> Iterator[Row]:
    """Yield what is lost with the golden plan."""
    sizes: tuple[str, ...] | None = None
    for number, metric in metrics:
        entries = [place["metrics"][number] for place in places]
        if not any(entry["n"] for entry in entries) or metric["remainder"]["stage"] != "rendering":
            continue
        pairs = tuple(f"n {sized(entry)}" if entry["n"] else "" for entry in entries)
        if pairs != sizes:
            sizes = pairs
            yield section_row("Lost in rendering", sizes)
        yield Row(label(metric["metric"]), tuple(_rest(entry, marks) for entry in entries))
        shares = tuple(_share(entry["remainder"], marks) for entry in entries)
        if any(shares):
            yield Row("  share of missing", shares)


def _loss(entry: Document, stage: str) -> Document | None:
    return next((loss for loss in entry["losses"] if loss["stage"] == stage), None)


def _change(loss: Document, metric: str, marks: Marks) -> Cell | None:
    difference = loss["difference"]
    if difference["difference"] is None:
        return None
    verdict = difference["verdict"]
    style = VERDICT_STYLES.get(verdict, "")
    text = Text(justify="right")
    if verdict in ("better", "worse", "same"):
        text.append(f"{verdict} ", style=style)
    text.append(format_difference(metric, difference["difference"], marks), style=style)
    text.append(noise_mark(loss, marks))
    interval = difference_interval(metric, difference)
    return Cell(text, format_difference_interval(metric, interval, marks), interval is not None)


def _rest(entry: Document, marks: Marks) -> Cell | None:
    part, metric = entry["remainder"], entry["metric"]
    if part["amount"] is None:
        return None
    interval = rate_interval(metric, {"intervals": part["amount_intervals"], "flags": entry["flags"]})
    text = Text(format_amount(metric, part["amount"], marks))
    return Cell(text, format_interval(metric, interval, marks), interval is not None)


def noise_mark(loss: Document, marks: Marks) -> str:
    """Return the sign of a change that is smaller than what the control arm shows by itself."""
    return f" {marks.noise}" if loss["within_noise"] else ""


def _share(part: Document, marks: Marks) -> Cell | None:
    if part["share"] is None:
        return None
    interval = format_share_interval(part, marks)
    return Cell(Text(format_share(part["share"], marks)), interval, interval != marks.missing)


def _flips(metric: str, flip: Document | None, marks: Marks) -> Cell | None:
    if flip is None or flip["value"] is None:
        return None
    interval = rate_interval(metric, flip)
    text = Text(format_value(metric, flip["value"], marks))
    return Cell(text, format_interval(metric, interval, marks), interval is not None)
