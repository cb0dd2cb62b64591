"""Which stage loses how much: waterfalls, the parts with their intervals, and losses by condition."""

from collections.abc import Iterator, Sequence

from misheard.report.html.charts.axis import axis_value
from misheard.report.html.charts.waterfall import Step, Waterfall, waterfall
from misheard.report.html.page import Block, Cell, Column, Figure, Prose, Row, Section, Side, Table
from misheard.report.html.run_costs import TONES, change_cell
from misheard.report.html.run_highlights import amount_interval, stage_name
from misheard.report.html.run_matrix import condition_row, shown_groups
from misheard.report.labels import (
    UNICODE,
    count_of,
    difference_unit,
    format_interval,
    format_value,
    is_attributed,
    is_in_points,
    is_shown_by_condition,
    label,
    unit_noun,
)
from misheard.report.takeaway_stages import LEADING
from misheard.report.terminal_cells import sized
from misheard.report.terminal_differences import format_amount, verdict_word
from misheard.report.terminal_stages import (
    format_share,
    format_share_interval,
    has_stages,
    is_missing,
    largest_line,
    stages_of,
    undefined_sentences,
)
from misheard.report.values import Document

_MOST_CHARTS = 4


def losses_section(report: Document) -> Iterator[Section]:
    """Yield where what is missing to the best score was lost; nothing without a golden arm."""
    whole = next((place for place in report["attribution"] if place["axis"] is None), None)
    if whole is None:
        return
    entries = [
        one for one in whole["metrics"] if one["shortfall"] is not None and is_attributed(one["metric"])
    ]
    if not entries:
        return
    blocks: list[Block] = []
    if figures := tuple(_waterfalls(report, entries)):
        blocks.append(Side(figures))
    blocks.append(_parts_table(entries))
    told = []
    if has_stages(entries):
        told = [largest_line(one, UNICODE) for one in entries if is_missing(one) and not one["flags"]]
    blocks.append(Prose((*told, *undefined_sentences(entries)), "quiet"))
    if (table := _by_condition(report, entries)) is not None:
        blocks.append(table)
    note = "what the audio arm lacks to the best score, and which stage's golden value wins it back"
    yield Section("losses", "Where it is lost", tuple(blocks), note)


def _waterfalls(report: Document, entries: Sequence[Document]) -> Iterator[Figure]:
    leading = [one for name in LEADING for one in entries if one["metric"] == name]
    for entry in (leading or list(entries))[:_MOST_CHARTS]:
        yield _waterfall(report, entry)


def _waterfall(report: Document, entry: Document) -> Figure:
    metric = entry["metric"]
    best = (100.0 if is_in_points(metric) else 1.0) if entry["better"] == "higher" else 0.0
    down = -1.0 if entry["better"] == "higher" else 1.0
    rest = entry["remainder"]
    # From the best score down: what no golden value wins back comes first, recognition last.
    parts = [(stage_name(rest["stage"]), rest, "rest")]
    parts += [(stage_name(loss["stage"]), loss, "loss") for loss in reversed(entry["losses"])]
    steps = [Step("best score", format_value(metric, best, UNICODE), 0.0, best, "whole")]
    at = best
    for name, part, token in parts:
        after = at + down * part["amount"]
        ends = amount_interval(metric, part, entry)
        around = None if ends is None else _ordered(at + down * ends[0], at + down * ends[1])
        steps.append(
            Step(name, _amount(metric, part), at, after, token if part["amount"] >= 0 else "gain", around)
        )
        at = after
    steps.append(Step("audio arm", format_value(metric, at, UNICODE), 0.0, at, "whole"))
    limits = _limits(steps, 100.0 if is_in_points(metric) else 1.0)
    told = "; ".join(f"{step.label} {step.text}" for step in steps)
    sizes = f"{count_of(entry['n'], 'pair')}, {count_of(entry['units'], unit_noun(report['items']))}"
    chart = Waterfall(
        name=f"waterfall-{metric.replace('_', '-')}",
        title=f"Where {label(metric)} is lost",
        description=f"From the best score to the audio arm: {told}.",
        steps=tuple(steps),
        limits=limits,
        show=lambda value: axis_value(metric, value),
    )
    few = "; too few for a verdict" if entry["flags"] else ""
    return Figure(waterfall(chart), f"{label(metric)[0].upper()}{label(metric)[1:]}", f"{sizes}{few}")


def _ordered(a: float, b: float) -> tuple[float, float]:
    return (a, b) if a <= b else (b, a)


def _limits(steps: Sequence[Step], top: float) -> tuple[float, float]:
    ends = [end for step in steps for end in (step.start, step.end, *(step.interval or ()))]
    return (min(0.0, *ends), max(top, *ends))


def _amount(metric: str, part: Document) -> str:
    amount = f"{format_amount(metric, part['amount'], UNICODE)}{difference_unit(metric)}"
    return amount if part["share"] is None else f"{amount}, {format_share(part['share'], UNICODE)}"


def _parts_table(entries: Sequence[Document]) -> Table:
    """Return a row per metric, a column per stage."""
    rests = dict.fromkeys(entry["remainder"]["stage"] for entry in entries)
    stages = [*stages_of(entries), *sorted(rests, key=lambda stage: stage != "rendering")]
    titles = list(map(stage_name, stages))
    rows = []
    for entry in entries:
        metric = entry["metric"]
        parts = {part["stage"]: part for part in (*entry["losses"], entry["remainder"])}
        cells = [_part_cell(metric, parts.get(stage), entry) for stage in stages]
        missing = Cell(
            format_amount(metric, entry["shortfall"], UNICODE),
            sizes=f"n {sized(entry)}",
            sort=entry["shortfall"],
        )
        rows.append(Row(label(metric), (missing, *cells)))
    columns = [Column("missing", note="what the audio arm lacks to the best score"), *map(Column, titles)]
    return Table(
        "losses-table",
        "The parts of what is missing",
        "",
        tuple(columns),
        tuple(rows),
        notes=(
            "in each part: its amount, the 95% interval of the amount, and its share of all that is missing",
        ),
    )


def _part_cell(metric: str, part: Document | None, entry: Document) -> Cell:
    if part is None or part["amount"] is None:
        return Cell(UNICODE.missing, tone="quiet")
    ends = amount_interval(metric, part, entry)
    share = ""
    if part["share"] is not None:
        around = format_share_interval(part, UNICODE)
        share = format_share(part["share"], UNICODE) + ("" if around == UNICODE.missing else f" ({around})")
    verdict = part["difference"]["verdict"] if "difference" in part else ""
    return Cell(
        format_amount(metric, part["amount"], UNICODE)
        + (f" {UNICODE.noise}" if part.get("within_noise") else ""),
        below="no interval" if ends is None else format_interval(metric, ends, UNICODE),
        sizes=share,
        sort=part["amount"],
        tone=TONES.get(verdict, ""),
        tip=(f"verdict: {verdict_word(verdict)}",) if verdict else (),
    )


def _by_condition(report: Document, entries: Sequence[Document]) -> Table | None:
    """Return what mishearing and other stages cost in every condition cell, metrics and stages in columns."""
    metrics = [one["metric"] for one in entries if is_shown_by_condition(one["metric"])]
    places = {(place["axis"], place["value"]): place for place in report["attribution"]}
    groups, more = shown_groups(report)
    if not metrics or not groups:
        return None
    stages = stages_of(entries)
    rows = tuple(
        condition_row(report, group, _changes(places[group[0]["axis"], group[0]["value"]], metrics, stages))
        for group in groups
    )
    columns = tuple(
        Column(label(metric), group=f"lost to {stage.replace('_', ' ')}")
        for stage in stages
        for metric in metrics
    )
    return Table(
        "losses-by-condition",
        "What each stage costs, by condition",
        "condition",
        columns,
        rows,
        is_matrix=True,
        notes=(
            "change without the stage's golden value, pair by pair, with its 95% interval",
            *([more] if more else []),
        ),
    )


def _changes(place: Document, metrics: Sequence[str], stages: Sequence[str]) -> tuple[Cell, ...]:
    found = {
        (loss["stage"], entry["metric"]): loss["difference"]
        for entry in place["metrics"]
        for loss in entry["losses"]
    }
    return tuple(_change(metric, found.get((stage, metric))) for stage in stages for metric in metrics)


def _change(metric: str, difference: Document | None) -> Cell:
    """Return what a stage changes, nothing where no pair says it."""
    if difference is None or difference["difference"] is None:
        return Cell()
    return change_cell(metric, difference)
