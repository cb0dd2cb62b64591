"""What a reader of a run's page sees first: worst cells, the stage to blame, what failed."""

from collections import Counter
from collections.abc import Iterator, Sequence

from misheard.report.html.page import Highlight
from misheard.report.labels import (
    UNICODE,
    count_of,
    difference_interval,
    format_interval,
    format_value,
    label,
    rate_interval,
    unit_noun,
)
from misheard.report.takeaway import TIE, leading
from misheard.report.takeaway_stages import LEADING, amount_of
from misheard.report.terminal_stages import format_share, format_share_interval
from misheard.report.values import Document

MATRIX, LOSSES, FAILURES = "by-condition", "losses", "failures"
"""The sections that highlights link to."""

_MOST_WORST, _MOST_NAMED = 3, 6
_WEAK = "too few for a verdict"
_BLAME, _LATER = "Stage to blame", "After the transcript"
_ANYWAY = "missing anyway"
"""What the human transcript does not win back."""


def highlights(report: Document) -> Iterator[Highlight]:
    """Yield the worst cell, the stage that loses most and where, other worst cells, and what failed."""
    costliest = costliest_cell(report)
    metrics = deciding_metrics(report) if costliest is None else _primary_metrics(report)
    worst, *further = _worst(report, metrics)
    yield worst
    yield from filter(None, (stage_to_blame(report), costliest))
    yield from further
    yield _failed(report)


def _worst(report: Document, metrics: Sequence[str]) -> Iterator[Highlight]:
    """Yield the worst cell of each metric; that there is none, where there is none."""
    found = [one for metric in metrics if (one := worst_cell(report, metric)) is not None]
    if not found:
        yield Highlight(
            "Worst cell",
            UNICODE.missing,
            "none: no axis has two values that differ",
            link=MATRIX,
            tone="quiet",
        )
    yield from found[:_MOST_WORST]


def deciding_metrics(report: Document) -> list[str]:
    """Return the primary metric of each language, or the word error rate, then what the report leads with."""
    lead = leading(report["propagation"]["lost_to_recognition"])
    return list(dict.fromkeys([*_primary_metrics(report), *([] if lead is None else [lead])]))


def _primary_metrics(report: Document) -> list[str]:
    return list(dict.fromkeys(report["primary_metrics"].values())) or ["wer"]


def worst_cell(report: Document, metric: str) -> Highlight | None:
    """Return the worst condition cell of a metric in the audio arm; None where none is worse."""
    entries = [
        entry for entry in report["worst_cells"] if (entry["metric"], entry["arm"]) == (metric, "audio")
    ]
    if not entries:
        return None
    first = entries[0]
    cell = next(c for c in report["matrix"] if (c["axis"], c["value"]) == (first["axis"], first["value"]))
    keys = ("family", "metric", "arm")
    estimate = next(e for e in cell["estimates"] if all(e[key] == first[key] for key in keys))
    interval = rate_interval(metric, estimate)
    noun = unit_noun(report["items"])
    ends = "no interval" if interval is None else f"95% interval {format_interval(metric, interval, UNICODE)}"
    parts = [ends, count_of(estimate["n"], "item"), count_of(estimate["units"], noun)]
    if estimate["failed"]:
        parts.append(f"{estimate['failed']} failed")
    return Highlight(
        title="Worst cell",
        value=format_value(metric, first["rate"], UNICODE),
        what=label(metric),
        where=named_cells(entries),
        detail=f" {UNICODE.dot} ".join(parts),
        note=_WEAK if first["flags"] else "",
        link=f"metric={metric}",
        tone="quiet" if first["flags"] else "bad",
        conditions=tuple((entry["axis"], entry["value"]) for entry in entries),
        items_order="lost" if metric in LEADING else "errors",
    )


def costliest_cell(report: Document) -> Highlight | None:
    """Return the condition at which recognition loses most of what the report leads with.

    None without a golden arm, and where no axis has two values that differ.
    """
    metric = leading(report["propagation"]["lost_to_recognition"])
    cells = [
        (place, entry, loss)
        for place in report["attribution"]
        for entry in place["metrics"]
        for loss in entry["losses"]
        if place["axis"] is not None and entry["metric"] == metric and entry["shortfall"] is not None
        if loss["stage"] == "recognition"
    ]
    axes = Counter(place["axis"] for place, _, _ in cells)
    rivals = [one for one in cells if axes[one[0]["axis"]] > 1]
    amounts = [loss["amount"] for _, _, loss in rivals]
    if metric is None or not amounts or max(amounts) <= max(min(amounts), 0.0) + TIE:
        return None
    worst = [one for one in rivals if max(amounts) - one[2]["amount"] <= TIE]
    _, entry, loss = worst[0]
    difference, noun = loss["difference"], unit_noun(report["items"])
    interval = amount_interval(metric, loss, entry)
    ends = "no interval" if interval is None else f"95% interval {format_interval(metric, interval, UNICODE)}"
    sizes = [count_of(difference["n"], "pair"), count_of(difference["units"], noun)]
    is_proven = difference["verdict"] == "worse"
    return Highlight(
        title="Mishearing costs most",
        value=amount_of(metric, max(amounts)),
        what=f"of {LEADING[metric]}",
        where=named_cells([place for place, _, _ in worst]),
        detail=f" {UNICODE.dot} ".join([ends, *sizes]),
        note=_WEAK if entry["flags"] else "" if is_proven else f"not proven: {difference['verdict']}",
        link=LOSSES,
        tone="bad" if is_proven else "quiet",
        conditions=tuple((place["axis"], place["value"]) for place, _, _ in worst),
        items_order="lost",
    )


def named_cells(entries: Sequence[Document]) -> str:
    """Return the conditions of cells that share a value, the first of them by name."""
    names = [
        f"{one['axis']}={'(none)' if one['value'] is None else one['value']}" for one in entries[:_MOST_NAMED]
    ]
    more = len(entries) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def stage_to_blame(report: Document) -> Highlight | None:
    """Return the stage that loses most of what the report leads with; None without a golden arm."""
    metric = leading(report["propagation"]["lost_to_recognition"])
    whole = next((place for place in report["attribution"] if place["axis"] is None), None)
    if metric is None or whole is None:
        return None
    entry = next((entry for entry in whole["metrics"] if entry["metric"] == metric), None)
    if entry is None or entry["shortfall"] is None:
        return None
    is_reachable = not _is_out_of_reach(metric, entry)
    parts = sorted(
        [*entry["losses"], *([entry["remainder"]] if is_reachable else [])], key=lambda part: -part["amount"]
    )
    largest, *others = parts
    if largest["amount"] <= 0:
        return Highlight(_BLAME, UNICODE.missing, "no stage loses anything", link=LOSSES, tone="quiet")
    notes = list(_doubts(entry, largest, len(parts)))
    amount, what = amount_of(metric, largest["amount"]), LEADING[metric]
    others += [] if is_reachable else [entry["remainder"]]
    is_rest = largest["stage"] == "after_transcript"
    name = stage_name(largest["stage"])
    if len(parts) == 1:
        # Where no other stage can be named, it is not the one to blame among several.
        title, value, told = f"Lost to {name}", amount, f"of {what}"
    elif is_rest:
        title, value, told = _BLAME, _LATER, f"{amount} of {what} missing with the human transcript too"
    else:
        title, value, told = _BLAME, name.capitalize(), f"loses {amount} of {what}"
    return Highlight(
        title=title,
        value=value,
        what=told,
        detail=_amount_detail(metric, largest, entry),
        more="; ".join(_other(metric, part) for part in others),
        note="; ".join(notes),
        link=LOSSES,
        tone="quiet" if notes else "bad",
    )


def _is_out_of_reach(metric: str, entry: Document) -> bool:
    """Whether the remainder is no stage's loss: no system answers in the very words of the reference."""
    return metric == "response_quality" and entry["remainder"]["stage"] == "after_transcript"


def stage_name(stage: str) -> str:
    """Return what a stage's loss is called, or what no golden value wins back."""
    return _ANYWAY if stage == "after_transcript" else stage.replace("_", " ")


def _doubts(entry: Document, largest: Document, parts: int) -> Iterator[str]:
    """Yield what weakens the finding that a stage loses most."""
    lead = entry["largest"]
    if entry["flags"]:
        yield _WEAK
    elif parts > 1 and not (lead and lead["shown"]):
        yield "which of them loses most is not proven"
    elif "difference" in largest and largest["difference"]["verdict"] != "worse":
        yield f"not proven to be a loss: {largest['difference']['verdict']}"
    if largest.get("within_noise"):
        yield "the control arm changes as much"


def _other(metric: str, part: Document) -> str:
    share = "" if part["share"] is None else f", {format_share(part['share'], UNICODE)}"
    return f"{stage_name(part['stage'])}: {amount_of(metric, part['amount'])}{share}"


def amount_interval(metric: str, part: Document, entry: Document) -> Sequence[float] | None:
    """Return the interval of what a stage loses as tables show it; a stage may also win something back."""
    return difference_interval(metric, {"intervals": part["amount_intervals"], "flags": entry["flags"]})


def _amount_detail(metric: str, part: Document, entry: Document) -> str:
    amounts = amount_interval(metric, part, entry)
    parts = [] if amounts is None else [f"95% interval {format_interval(metric, amounts, UNICODE)}"]
    if part["share"] is not None:
        share, ends = format_share(part["share"], UNICODE), format_share_interval(part, UNICODE)
        parts.append(f"{share} of all that is missing" + ("" if ends == UNICODE.missing else f" ({ends})"))
    parts.append(count_of(entry["n"], "pair"))
    return f" {UNICODE.dot} ".join(parts)


def _failed(report: Document) -> Highlight:
    failures = report["failures"]
    failed, samples = failures["samples_failed"], failures["samples"]
    kinds = [f"{kind} {UNICODE.times}{count}" for kind, count in failures["by_kind"].items()]
    return Highlight(
        title="Failed items",
        value=str(failed),
        what=f"of {count_of(samples, 'item')}",
        detail=", ".join(kinds),
        link=FAILURES,
        tone="bad" if failed else "",
    )
