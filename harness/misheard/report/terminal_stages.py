"""Where a metric is lost in a chain of several stages, as parts of what is missing to its best score."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.report.labels import ASCII, Marks, difference_unit, format_interval, label
from misheard.report.terminal_cells import Grid, dim, fitting, heading, joined, sized
from misheard.report.terminal_differences import format_amount
from misheard.report.values import Document

_REASONS = {
    "no_planner": "the system does not plan",
    "arm_not_run": "an arm that it takes was not run",
    "not_scored": "nothing is scored with its golden value",
}


def has_stages(entries: Sequence[Document]) -> bool:
    """Whether any attribution goes on behind the transcript."""
    return any(entry["remainder"]["stage"] == "rendering" for entry in entries)


def stages_of(entries: Sequence[Document]) -> list[str]:
    """Return the stages that have a loss of their own in any of the attributions, in order."""
    return list(dict.fromkeys(loss["stage"] for entry in entries for loss in entry["losses"]))


def stages_block(entries: Sequence[Document], width: int, marks: Marks) -> RenderableType:
    """Return what is missing, what each stage has of it, and which has most."""
    return Group(
        heading("Where it is lost", "missing to the best score; share of it and interval below", width),
        fitting(width, _stages_grid(entries, marks)),
        *(
            dim(joined([largest_line(entry, marks)], width, marks))
            for entry in entries
            if is_missing(entry) and not entry["flags"]
        ),
        *undefined_lines(entries, width, marks),
    )


def undefined_lines(entries: Sequence[Document], width: int, marks: Marks) -> Iterator[Text]:
    """Yield the `undefined_sentences` as lines."""
    for line in undefined_sentences(entries):
        yield dim(joined([line], width, marks))


def undefined_sentences(entries: Sequence[Document]) -> Iterator[str]:
    """Yield which stage has no loss of its own, for which metrics, and why.

    That a system which answers has no planner is no gap in its report.
    """
    told: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        for one in entry["undefined"]:
            if one["reason"] != "no_planner":
                told.setdefault((one["stage"], one["reason"]), []).append(label(entry["metric"]))
    for (stage, reason), metrics in told.items():
        yield f"not defined: the loss of {stage} in {', '.join(metrics)}: {_REASONS[reason]}"


def format_share(share: float | None, marks: Marks) -> str:
    """Return a share of what is missing in percent."""
    return marks.missing if share is None else f"{100 * share:.0f}%".replace("-", marks.minus)


def format_share_interval(part: Document, marks: Marks) -> str:
    """Return the interval of a share in percent, without its unit."""
    deciding = None if part["intervals"] is None else part["intervals"]["deciding"]
    if deciding is None:
        return marks.missing
    return marks.to.join(f"{100 * end:.0f}".replace("-", marks.minus) for end in deciding)


def _stages_grid(entries: Sequence[Document], marks: Marks) -> Grid:
    """Return a row per metric, a column per stage; the share of each part stands below its amount."""
    rests = dict.fromkeys(entry["remainder"]["stage"] for entry in entries)
    stages = [*stages_of(entries), *sorted(rests, key=lambda stage: stage != "rendering")]
    titles = ["missing", *(stage.replace("_", " ") for stage in stages)]
    grid = Grid([("", "left"), *((title, "right") for title in titles)])
    previous = None
    for entry in entries:
        if sized(entry) != previous:
            previous = sized(entry)
            grid.add(dim("n pairs"), dim(previous))
        metric = entry["metric"]
        parts = {loss["stage"]: loss for loss in (*entry["losses"], entry["remainder"])}
        missing = format_amount(metric, entry["shortfall"], marks)
        grid.add(label(metric), missing, *(_part(metric, parts.get(stage), marks) for stage in stages))
    return grid


def is_missing(entry: Document) -> bool:
    """Whether an attribution has more missing than a table's digits round to nothing."""
    return (
        entry["largest"] is not None and float(format_amount(entry["metric"], entry["shortfall"], ASCII)) > 0
    )


def _part(metric: str, part: Document | None, marks: Marks) -> Text:
    if part is None:
        return Text(marks.missing)
    amount = Text(format_amount(metric, part["amount"], marks))
    if part["share"] is None:
        return amount
    share = f"{format_share(part['share'], marks)} ({format_share_interval(part, marks)})"
    return Text("\n").join([amount, dim(share)])


def largest_line(entry: Document, marks: Marks) -> str:
    """Return in which stage most of a metric is lost, or that it is not proven."""
    metric, largest = entry["metric"], entry["largest"]
    if not largest["shown"]:
        return f"{label(metric)}: which stage loses most is not proven"
    lead = f"{format_amount(metric, largest['lead'], marks)}{difference_unit(metric)}"
    ends = format_interval(metric, largest["intervals"]["deciding"], marks)
    names = [largest[name].replace("_", " ") for name in ("stage", "next")]
    return f"{label(metric)}: most is lost in {names[0]}, {lead} more than in {names[1]} ({ends})"
