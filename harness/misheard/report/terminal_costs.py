"""The first blocks of a report: what mishearing costs, arm against arm and answer by answer."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.report.labels import (
    Marks,
    count_of,
    format_interval,
    format_value,
    is_detail,
    label,
    rate_interval,
    unit_noun,
)
from misheard.report.terminal_cells import Grid, dim, fitting, heading, joined, sized
from misheard.report.terminal_differences import difference_cells, difference_columns
from misheard.report.values import Document
from misheard.report.why_empty import empty_sentences, why_empty

ARMS = ("audio", "uncorrected", "transcript", "plan", "control")
RELATIVE = ("audio", "uncorrected", "control")
"""The arms that are set against the transcript arm item by item."""

SIDES = {"audio": "b", "transcript": "a"}
"""The sides of the paired change that the first block is about."""

_UNPAIRED = {
    "b_failed": "that failed in the audio arm",
    "a_failed": "that failed in the transcript arm",
    "both_failed": "that failed in both",
    "not_counted": "without a value in one arm",
}


def arms_block(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the arms side by side: answers from what was heard against answers from what was said.

    Audio and transcript stand over the pairs that their change is made of, other arms over their own items.
    """
    lost = report["propagation"]["lost_to_recognition"]
    shown = [metric for metric in lost if not is_detail(metric)]
    if not shown:
        return
    further = further_arms(report, shown)
    noisy = within_noise(report)
    layouts = [_arms_grid(lost, shown, further, noisy, marks, is_wide=wide) for wide in (True, False)]
    yield Group(
        heading("What mishearing costs", f"change: audio {marks.minus} transcript, pair by pair", width),
        fitting(width, *layouts),
        *(dim(joined(parts, width, marks)) for parts in unpaired([lost[metric] for metric in shown])),
        *(dim(joined([line], width, marks)) for line in empty_sentences(without_pairs(report, shown))),
        *(dim(joined([line], width, marks)) for line in noise_floor(report, marks)),
    )


def without_pairs(report: Document, shown: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each metric without a pair, and why."""
    family = {metric["metric"]: metric["family"] for metric in report["metrics"]}
    failures = report["failures"]
    for metric in shown:
        if not report["propagation"]["lost_to_recognition"][metric]["n"]:
            all_failed = failures["samples_failed"] == failures["samples"]
            yield metric, why_empty(family[metric], report["run"], all_failed=all_failed)


def further_arms(report: Document, shown: Sequence[str]) -> dict[str, Document]:
    """Return the metrics of the arms beside audio and transcript, where one counts what is shown."""
    arms = {arm: report["arms"].get(arm, {}) for arm in ("uncorrected", "plan", "control")}
    return {
        arm: metrics
        for arm, metrics in arms.items()
        if metrics and (arm == "control" or any(metrics.get(metric, {}).get("n") for metric in shown))
    }


def noise_floor(report: Document, marks: Marks) -> Iterator[str]:
    """Yield how often answers or boards change without any mishearing, where a control arm says so."""
    for metric, what in (("flip_rate", "answers"), ("board_flip_rate", "boards")):
        flips = report["propagation"]["control"].get(metric)
        if flips is not None and flips["value"] is not None:
            ends = format_interval(metric, rate_interval(metric, flips), marks)
            rate = format_value(metric, flips["value"], marks)
            pairs = f"{sized(flips)} pair{'' if flips['n'] == 1 else 's'}"
            sizes = f"{pairs}, {count_of(flips['units'], unit_noun(report['items']))}"
            yield f"noise floor: control changed {rate} of {what} ({ends}, {sizes})"


def within_noise(report: Document) -> set[str]:
    """Return the metrics whose change is smaller than what the control arm's own may be."""
    whole = [entry for place in report["attribution"] if place["axis"] is None for entry in place["metrics"]]
    return {entry["metric"] for entry in whole if entry["losses"][0]["within_noise"]}


def _arms_grid(
    lost: Document,
    shown: Sequence[str],
    further: Mapping[str, Document],
    noisy: set[str],
    marks: Marks,
    *,
    is_wide: bool,
) -> Grid:
    arms = [arm for arm in ARMS if arm in further or arm in ("audio", "transcript")]
    grid = Grid([("", "left"), *((arm, "right") for arm in arms), *difference_columns("change", is_wide)])
    previous = None
    for metric in shown:
        difference = lost[metric]
        cells = [
            _arm_cells(metric, further[arm].get(metric), marks)
            if arm in further
            else (sized(difference), format_value(metric, difference[SIDES[arm]], marks))
            for arm in arms
        ]
        sizes, values = [size for size, _ in cells], [value for _, value in cells]
        if sizes != previous:
            grid.add(dim("n pairs" if previous is None else "n pairs below"), *map(dim, sizes))
            previous = sizes
        name = f"{label(metric)} {marks.noise}" if metric in noisy else label(metric)
        grid.add(*difference_cells(name, values, metric, difference, marks, is_wide))
    return grid


def _arm_cells(metric: str, own: Document | None, marks: Marks) -> tuple[str, str]:
    """Return n and value of a metric in an arm of its own items."""
    if own is None:
        return marks.missing, marks.missing
    return sized(own), format_value(metric, own["value"], marks)


def unpaired(differences: Sequence[Document]) -> Iterator[list[str]]:
    """Yield, per number of pairs, how many items are in none and why."""
    told: list[list[str]] = []
    for difference in differences:
        reasons = [
            f"{count_of(difference['unpaired'][reason], 'item')} {why}"
            for reason, why in _UNPAIRED.items()
            if difference["unpaired"][reason]
        ]
        if reasons:
            reasons[0] = f"not in the {count_of(difference['n'], 'pair')}: {reasons[0]}"
            if reasons not in told:
                told.append(reasons)
                yield reasons


def answers_block(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield what happened to each answer or board, beside what happens to it without any mishearing."""
    arms = {arm: report["propagation"][arm] for arm in RELATIVE if report["propagation"][arm]}
    shown = [metric for metric in arms.get("audio", ()) if not metric.endswith("_response_quality")]
    if not shown:
        return
    layouts = [_answers_grid(arms, shown, marks, is_wide) for is_wide in (True, False)]
    note = "control: the noise floor" if "control" in arms else ""
    title = "Board by board" if "board_flip_rate" in shown else "Answer by answer"
    yield Group(
        heading(f"{title}, against the transcript arm", note, width),
        fitting(width, *layouts),
        *(dim(joined(parts, width, marks)) for parts in _failed(arms, shown[0])),
    )


def _answers_grid(arms: Mapping[str, Document], shown: Sequence[str], marks: Marks, is_wide: bool) -> Grid:
    """Return a line per metric, or two: then the interval stands below the value."""
    grid = Grid([("", "left")])
    for arm in arms:
        grid.columns.append((arm, "right"))
        if is_wide:
            grid.columns.append(("95% interval", "right"))
    sizes = [[dim(sized(estimates[shown[0]])), Text()] for estimates in arms.values()]
    grid.add(dim("n pairs"), *(cell for pair in sizes for cell in pair[: 2 if is_wide else 1]))
    for metric in shown:
        cells = [_estimate_cells(metric, estimates[metric], marks) for estimates in arms.values()]
        if is_wide:
            grid.add(label(metric), *(cell for pair in cells for cell in pair))
        else:
            grid.add(label(metric), *(Text("\n").join(pair) for pair in cells))
    return grid


def _estimate_cells(metric: str, estimate: Document, marks: Marks) -> tuple[Text, Text]:
    interval = format_interval(metric, rate_interval(metric, estimate), marks)
    return Text(format_value(metric, estimate["value"], marks)), dim(interval)


def _failed(arms: Mapping[str, Document], metric: str) -> Iterator[list[str]]:
    """Yield how many items failed in each arm or in the one that it is compared with, where any did."""
    failed = {arm: estimates[metric]["failed"] for arm, estimates in arms.items()}
    parts = [f"{arm} {count_of(count, 'item')}" for arm, count in failed.items() if count]
    if parts:
        yield [f"failed there or in the transcript arm: {parts[0]}", *parts[1:]]
