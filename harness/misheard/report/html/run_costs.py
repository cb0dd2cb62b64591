"""The arms side by side: what mishearing costs, pair by pair, and answer by answer beside the noise floor."""

from collections.abc import Iterator, Sequence

from misheard.report.html.charts.axis import axis_value
from misheard.report.html.charts.intervals import Dot, IntervalRow, Intervals, intervals
from misheard.report.html.page import Block, Cell, Column, Figure, Prose, Row, Section, Side, Table
from misheard.report.labels import (
    UNICODE,
    difference_interval,
    format_difference,
    format_difference_interval,
    format_interval,
    format_value,
    is_detail,
    is_in_points,
    is_score,
    label,
    rate_interval,
)
from misheard.report.terminal_cells import sized
from misheard.report.terminal_costs import (
    ARMS,
    RELATIVE,
    SIDES,
    further_arms,
    noise_floor,
    unpaired,
    within_noise,
    without_pairs,
)
from misheard.report.terminal_differences import verdict_word
from misheard.report.values import Document
from misheard.report.why_empty import empty_sentences

SHAPES = {"audio": "o", "uncorrected": "v", "transcript": "s", "plan": "D", "control": "^"}
"""How each arm is marked in a chart, so that its colour is not alone."""

MEANINGS = {
    "audio": "what was heard",
    "uncorrected": "what was heard, without the corrector",
    "transcript": "what a person wrote down",
    "plan": "the plan that a person made",
    "control": "the transcript once more",
}
"""What goes on to the later stages in each arm."""

TONES = {"worse": "bad", "better": "good", "too_few_items": "quiet"}
"""The tone of a verdict."""

_NO_MARK = UNICODE.missing


def costs_section(report: Document) -> Iterator[Section]:
    """Yield the arms side by side; nothing where there is one arm alone."""
    lost = report["propagation"]["lost_to_recognition"]
    shown = [metric for metric in lost if not is_detail(metric)]
    if not shown:
        return
    further = further_arms(report, shown)
    arms = [arm for arm in ARMS if arm in further or arm in SIDES]
    seen = [metric for metric in shown if _has_value(metric, lost[metric], further)]
    notes = [", ".join(parts) for parts in unpaired([lost[metric] for metric in seen])]
    blocks: list[Block] = [_arms_table(report, seen, arms, further, notes)] if seen else []
    blocks.append(Prose(tuple(empty_sentences(without_pairs(report, shown))), "quiet"))
    blocks += [Prose(tuple(noise_floor(report, UNICODE)), "quiet")]
    blocks += _charts(report, shown, arms)
    blocks += _answers(report)
    meanings = [f"{arm}: {MEANINGS[arm]}" for arm in arms]
    change = f"change: audio {UNICODE.minus} transcript, pair by pair, of shares in points"
    note = f" {UNICODE.dot} ".join([*meanings, change, "other arms over their own items"])
    yield Section("arms", "What mishearing costs", tuple(blocks), note)


def _has_value(metric: str, difference: Document, further: Document) -> bool:
    """Whether a metric has a pair, or an item in an arm beside audio and transcript."""
    return bool(difference["n"]) or any(own.get(metric, {}).get("n") for own in further.values())


def _arms_table(
    report: Document, shown: Sequence[str], arms: Sequence[str], further: Document, notes: Sequence[str]
) -> Table:
    lost, noisy = report["propagation"]["lost_to_recognition"], within_noise(report)
    rows = []
    for metric in shown:
        difference = lost[metric]
        cells = [
            _estimate_cell(metric, further[arm].get(metric))
            if arm in further
            else _side_cell(metric, difference, arm)
            for arm in arms
        ]
        name = f"{label(metric)} {UNICODE.noise}" if metric in noisy else label(metric)
        rows.append(Row(name, (*cells, change_cell(metric, difference), verdict_cell(difference))))
    columns = [Column(arm) for arm in arms] + [Column("change"), Column("verdict", is_text=True)]
    if noisy:
        notes = [*notes, f"{UNICODE.noise} smaller than what the control arm's own change may be"]
    return Table("arms-table", "The arms side by side", "", tuple(columns), tuple(rows), notes=tuple(notes))


def _side_cell(metric: str, difference: Document, arm: str) -> Cell:
    value = difference[SIDES[arm]]
    return Cell(format_value(metric, value, UNICODE), sizes=f"n {sized(difference)}", sort=value)


def _estimate_cell(metric: str, estimate: Document | None) -> Cell:
    if estimate is None:
        return Cell(_NO_MARK, tone="quiet")
    ends = format_interval(metric, rate_interval(metric, estimate), UNICODE)
    return Cell(
        format_value(metric, estimate["value"], UNICODE),
        below="" if ends == _NO_MARK else ends,
        sizes=f"n {sized(estimate)}",
        sort=estimate["value"],
    )


def change_cell(metric: str, difference: Document) -> Cell:
    """Return a paired difference with its interval and what it rests on."""
    ends = format_difference_interval(metric, difference_interval(metric, difference), UNICODE)
    return Cell(
        format_difference(metric, difference["difference"], UNICODE),
        below="no interval" if ends == _NO_MARK else ends,
        sizes=f"n {sized(difference)}",
        sort=difference["difference"],
        tone=TONES.get(difference["verdict"], ""),
        tip=_rests_on(metric, difference),
    )


def _rests_on(metric: str, difference: Document) -> tuple[str, ...]:
    lines = [f"{difference['n']} pairs, {difference['units']} units"]
    found = difference["intervals"] or {}
    lines += [
        f"{name} interval {format_difference_interval(metric, found[name], UNICODE)}"
        for name in ("bootstrap", "jackknife", "exact")
        if found.get(name) is not None
    ]
    if difference["sign_flip"] is not None and difference["sign_flip"]["p"] is not None:
        lines.append(f"sign-flip test p = {difference['sign_flip']['p']:.4f}")
    return tuple(lines)


def verdict_cell(difference: Document) -> Cell:
    """Return the verdict of a difference in words."""
    verdict = difference["verdict"]
    return Cell(verdict_word(verdict), tone=TONES.get(verdict, ""), sort=verdict)


def _charts(report: Document, shown: Sequence[str], arms: Sequence[str]) -> Iterator[Block]:
    """Yield a chart of the metrics in percent and one of the scores: they have no axis in common."""
    figures = []
    for is_share, name in ((True, "shares"), (False, "scores")):
        metrics = [m for m in shown if is_score(m) is not is_share and not is_in_points(m)]
        rows = [IntervalRow(label(m), tuple(_dots(report, m, arms))) for m in metrics]
        rows = [row for row in rows if row.dots]
        if rows:
            figures.append(_arms_chart(f"arms-{name}", name, rows, metrics[0]))
    if figures:
        yield Side(tuple(figures))


def _dots(report: Document, metric: str, arms: Sequence[str]) -> Iterator[Dot]:
    for arm in arms:
        estimate = report["arms"].get(arm, {}).get(metric)
        if estimate is not None and estimate["value"] is not None:
            yield arm_dot(metric, arm, estimate)


def arm_dot(metric: str, arm: str, estimate: Document) -> Dot:
    """Return an arm's estimate as a dot of a chart."""
    ends = rate_interval(metric, estimate)
    return Dot(arm, estimate["value"], None if ends is None else (ends[0], ends[1]), arm, SHAPES[arm])


def _arms_chart(name: str, what: str, rows: Sequence[IntervalRow], metric: str) -> Figure:
    told = "; ".join(
        f"{row.label}: "
        + ", ".join(f"{dot.series} {format_value(metric, dot.value, UNICODE)}" for dot in row.dots)
        for row in rows
    )
    chart = Intervals(
        name=name,
        title=f"The arms side by side, {what}",
        description=told,
        rows=tuple(rows),
        show=lambda value: axis_value(metric, value),
    )
    return Figure(intervals(chart), f"By arm, {what}", "each arm over its own items; lines are 95% intervals")


def _answers(report: Document) -> Iterator[Block]:
    """Yield what happened to each answer or board, beside what happens to it without any mishearing."""
    arms = {arm: report["propagation"][arm] for arm in RELATIVE if report["propagation"][arm]}
    shown = [metric for metric in arms.get("audio", ()) if not metric.endswith("_response_quality")]
    if not shown:
        return
    title = "Board by board" if "board_flip_rate" in shown else "Answer by answer"
    rows = [
        Row(label(metric), tuple(_estimate_cell(metric, arms[arm].get(metric)) for arm in arms))
        for metric in shown
    ]
    notes = ["control: the noise floor"] if "control" in arms else []
    yield Table(
        "answers-table",
        f"{title}, against the transcript arm",
        "",
        tuple(Column(arm) for arm in arms),
        tuple(rows),
        notes=tuple(notes),
    )
