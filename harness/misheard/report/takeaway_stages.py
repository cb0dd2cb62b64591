"""The sentences of a takeaway about other stages than recognition: which loses most, and the corrector."""

from collections.abc import Iterator

from misheard.report.labels import (
    UNICODE,
    count_of,
    difference_interval,
    difference_unit,
    format_interval,
    format_value,
    label,
    unit_noun,
)
from misheard.report.values import Document

LEADING = {
    "correct_rate": "correct answers",
    "response_quality": "answer quality",
    "label_f1": "label F1",
    "connection_f1": "connection F1",
}
"""What a report leads with, and what it is called in a sentence."""

_OF_BOARDS = ("label_f1", "connection_f1")


def is_or_are(what: str) -> str:
    """Return the verb for what a report leads with."""
    return "are" if what.endswith("s") else "is"


def amount_of(metric: str, value: float) -> str:
    """Return how much of a metric is lost or gained."""
    return format_value(metric, value, UNICODE).removesuffix("%") + difference_unit(metric)


def sizes_of(report: Document, metric: str, difference: Document) -> str:
    """Return how many pairs and units a difference is of; which units, where others have no answer."""
    items = report["items"]
    sizes = f"{count_of(difference['n'], 'pair')}, {count_of(difference['units'], unit_noun(items))}"
    if difference["units"] >= items["units"]:
        return sizes
    return f"{sizes} with {'boards' if metric in _OF_BOARDS else 'answers'}"


def stage_sentences(report: Document, metric: str) -> Iterator[str]:
    """Yield which stage loses most of a metric, or that it is not proven; nothing without a plan arm."""
    whole = next((place for place in report["attribution"] if place["axis"] is None), None)
    entries = [] if whole is None else [entry for entry in whole["metrics"] if entry["metric"] == metric]
    for entry in entries:
        for one in entry["undefined"]:
            if one["reason"] == "arm_not_run":
                yield f"What {one['stage']} loses by itself is not known: an arm that it takes was not run."
        if entry["remainder"]["stage"] == "rendering" and _is_lost(entry):
            yield _largest(metric, entry)


def _is_lost(entry: Document) -> bool:
    """Whether anything is missing to the best score, so that it can be asked where it was lost."""
    return entry["largest"] is not None and entry["remainder"]["reason"] != "nothing_lost"


def _largest(metric: str, entry: Document) -> str:
    parts = {part["stage"]: _part(metric, part) for part in (*entry["losses"], entry["remainder"])}
    largest = entry["largest"]
    if entry["flags"]:
        what = LEADING.get(metric, label(metric))
        return f"Of what {what} lacks, with too few items for a verdict: {', '.join(parts.values())}."
    if not largest["shown"]:
        return f"Which stage loses most is not proven: {', '.join(parts.values())}."
    lead = amount_of(metric, largest["lead"])
    ends = format_interval(metric, largest["intervals"]["deciding"], UNICODE)
    stage, following = largest["stage"], largest["next"].replace("_", " ")
    share, _, of_share = parts.pop(stage).removeprefix(f"{stage.replace('_', ' ')} ").partition(" (")
    most = f"{share} of all that is missing ({of_share}, {lead} more than {following} ({ends})"
    return f"{stage.replace('_', ' ').capitalize()} loses most: {most}; {', '.join(parts.values())}."


def _part(metric: str, part: Document) -> str:
    name = part["stage"].replace("_", " ")
    if part["share"] is None or part["intervals"]["deciding"] is None:
        return f"{name} {amount_of(metric, part['amount'])}"
    ends = UNICODE.to.join(f"{100 * end:.0f}" for end in part["intervals"]["deciding"])
    return f"{name} {100 * part['share']:.0f}% ({ends})".replace("-", UNICODE.minus)


def correction_sentence(report: Document) -> Iterator[str]:
    """Yield what the corrector wins or harms; nothing without an arm that leaves it out."""
    contrast = report["propagation"]["correction"]
    metric = next((name for name in LEADING if contrast.get(name, {}).get("n")), None)
    if metric is None:
        return
    difference = contrast[metric]
    sizes = sizes_of(report, metric, difference)
    what, verdict, change = LEADING[metric], difference["verdict"], difference["difference"]
    if verdict == "same":
        yield f"The corrector changes nothing: {what} {is_or_are(what)} the same on every pair ({sizes})."
        return
    interval = difference_interval(metric, difference)
    if verdict == "too_few_items" or interval is None or change is None:
        yield f"Nothing can be said about what the corrector wins: {sizes}."
        return
    flipped = verdict == "worse"
    ends = sorted(-end for end in interval) if flipped else interval
    figures = f"{amount_of(metric, abs(change) if flipped else change)} of {what}"
    close = f"({format_interval(metric, ends, UNICODE)}, {sizes}): {verdict}."
    verb = {"better": "The corrector wins", "worse": "The corrector costs"}.get(verdict)
    yield f"{verb or 'No effect of the corrector is shown:'} {figures} {close}"
