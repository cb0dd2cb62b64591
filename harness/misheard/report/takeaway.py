"""The sentences that a reader should take away from a report, computed from its verdicts alone."""

from collections.abc import Iterator, Sequence

from misheard.errors import count_of
from misheard.report.labels import (
    UNICODE,
    difference_interval,
    format_interval,
    format_value,
    label,
    rate_interval,
    unit_noun,
)
from misheard.report.takeaway_stages import (
    LEADING,
    amount_of,
    correction_sentence,
    is_or_are,
    sizes_of,
    stage_sentences,
)
from misheard.report.values import Document

TIE = 1e-12
"""Losses that differ by no more are the same."""


def takeaway(report: Document) -> list[str]:
    """Return what a report says in a few sentences: a pure function of it (see `build_report`).

    What is lost to mishearing with its verdict, where it is worst, which share of everything that is wrong it
    has, how it stands to the control arm, which stage loses most, what the corrector wins, and what failed.
    Where there is nothing to lose: why, and where recognition is worst.
    """
    lost = report["propagation"]["lost_to_recognition"]
    metric = leading(lost)
    if metric is None:
        sentences = [*_no_answers(report), *_worst_recognition(report)]
    else:
        sentences = [*_loss_sentences(report, metric, lost[metric]), *stage_sentences(report, metric)]
    return [*sentences, *correction_sentence(report), *_failures(report)]


def leading(lost: Document) -> str | None:
    """Return the first leading metric that has enough pairs for a verdict, else the first that has any."""
    counted = [name for name in LEADING if lost.get(name, {}).get("n")]
    enough = [name for name in counted if not lost[name]["flags"]]
    return next(iter(enough + counted), None)


def _loss_sentences(report: Document, metric: str, difference: Document) -> Iterator[str]:
    noun = unit_noun(report["items"])
    yield _loss(report, metric, difference, noun)
    if _is_small(difference):
        return
    yield from _worst_loss(report, metric, noun)
    whole = next((place for place in report["attribution"] if place["axis"] is None), None)
    if whole is not None and difference["verdict"] in ("worse", "better"):
        (parts,) = [entry for entry in whole["metrics"] if entry["metric"] == metric]
        yield from _share(metric, parts)
        yield from _noise(parts, whole["control_flip_rate"])


def _is_small(difference: Document) -> bool:
    """Whether a difference has too few pairs or units for a verdict."""
    return any(flag.startswith("under_") for flag in difference["flags"])


def _loss(report: Document, metric: str, difference: Document, noun: str) -> str:
    what, verdict = LEADING[metric], difference["verdict"]
    sizes = sizes_of(report, metric, difference)
    settings = report["statistics"]
    unknown = "Nothing can be said about what mishearing costs"
    if verdict == "too_few_items":
        return f"{unknown}: {sizes}, and under {settings['min_items']} pairs there is no verdict."
    if difference["units"] < settings["min_units"]:
        few = f"{settings['min_units']} {noun}s"
        return f"{unknown}: {sizes}, and under {few} no interval is trusted."
    if verdict == "same":
        return f"Mishearing costs nothing here: {what} {is_or_are(what)} the same on every pair ({sizes})."
    interval = _lost_interval(metric, difference)
    if interval is None or difference["difference"] is None:
        return f"{unknown}: {sizes}, and no interval for {what}."
    lost = amount_of(metric, -difference["difference"])
    ends = format_interval(metric, interval, UNICODE)
    if verdict == "worse":
        return f"Mishearing costs {lost} of {what} ({ends}, {sizes}): worse."
    if verdict == "better":
        gained = amount_of(metric, difference["difference"])
        ends = format_interval(metric, [-end for end in reversed(interval)], UNICODE)
        return f"Mishearing gains {gained} of {what} ({ends}, {sizes}): better; see which answers changed."
    return f"No loss is shown: {lost} of {what} ({ends}, {sizes}): {verdict}{_power(metric, difference)}."


def _power(metric: str, difference: Document) -> str:
    smallest = difference["smallest_detectable"]
    return "" if smallest is None else f"; this suite can show {amount_of(metric, smallest)} at 80% power"


def _worst_loss(report: Document, metric: str, noun: str) -> Iterator[str]:
    """Yield the condition cell that loses most, of those that are large enough for a verdict.

    It takes another such cell on its axis. Of smaller cells any may be the worst by an answer or two.
    """
    cells = [
        (place, entry["losses"][0])
        for place in report["attribution"]
        for entry in place["metrics"]
        if place["axis"] is not None and entry["metric"] == metric and entry["shortfall"] is not None
    ]
    large = [(place, loss) for place, loss in cells if not _is_small(loss["difference"])]
    axes = [place["axis"] for place, _ in large]
    rivals = [(place, loss) for place, loss in large if axes.count(place["axis"]) > 1]
    amounts = [loss["amount"] for _, loss in rivals]
    if not amounts or max(amounts) <= TIE or max(amounts) - min(amounts) <= TIE:
        return
    worst = [pair for pair, amount in zip(rivals, amounts, strict=True) if max(amounts) - amount <= TIE]
    difference = worst[0][1]["difference"]
    interval = _lost_interval(metric, difference) if len(worst) == 1 else None
    ends = "" if interval is None else f"{format_interval(metric, interval, UNICODE)}, "
    each = " each" if len(worst) > 1 else ""
    sizes = f"{ends}{count_of(difference['n'], 'pair')}, {count_of(difference['units'], noun)}{each}"
    names = ", ".join(_cell_name(place["axis"], place["value"]) for place, _ in worst)
    verdict = " or ".join(sorted({loss["difference"]["verdict"] for _, loss in worst}))
    yield f"Most is lost at {names}: {amount_of(metric, max(amounts))} ({sizes}): {verdict}."


def _lost_interval(metric: str, difference: Document) -> Sequence[float] | None:
    """Return the interval of what is lost in a metric that is better high, as tables show it."""
    interval = difference_interval(metric, difference)
    return None if interval is None else sorted(-end for end in interval)


def _share(metric: str, entry: Document) -> Iterator[str]:
    part = entry["losses"][0]
    if part["stage"] != "recognition" or part["share"] is None or part["intervals"]["deciding"] is None:
        return
    ends = UNICODE.to.join(f"{100 * end:.0f}" for end in part["intervals"]["deciding"])
    share = f"Mishearing is {100 * part['share']:.0f}% of all that is missing in {LEADING[metric]} ({ends})"
    yield f"{share}; the rest is missing with the human transcript too.".replace("-", UNICODE.minus)


def _noise(entry: Document, flips: Document | None) -> Iterator[str]:
    part = entry["losses"][0]
    if part["within_noise"] is None:
        yield "There is no control arm: how far answers change without any mishearing is not known."
    elif part["within_noise"]:
        rate = "" if flips is None or flips["value"] is None else f" ({100 * flips['value']:.1f}% of answers)"
        yield f"The control arm changes as much without any mishearing{rate}."


def _no_answers(report: Document) -> Iterator[str]:
    """Yield why it is not known what mishearing costs."""
    draws = any(entry["metric"] == "label_f1" for entry in report["metrics"])
    name, what = ("label_f1", "a board") if draws else ("response_quality", "an answer")
    quality = report["arms"].get("audio", {}).get(name, {"n": 0, "failed": 0})
    if quality["n"] and "transcript" not in report["arms"]:
        yield "What mishearing costs is not measured: the run has no transcript arm."
    elif list(report["arms"]) != ["audio"]:
        yield f"Nothing can be said about what mishearing costs: no item has {what} in both arms."
    elif draws:
        yield "No boards are measured: no item with a golden plan has one."
    elif (report["run"] or {}).get("planner"):
        yield "No boards are measured: no item of the suite has a golden plan."
    else:
        why = {
            True: "no item has a reference_answer" if not quality["failed"] else "no item has an answer",
            False: "the run has no language model",
            None: "that takes a language model, and items with a reference_answer",
        }[(report["run"] or {}).get("language_model")]
        yield f"No answers are measured: {why}."


def _worst_recognition(report: Document) -> Iterator[str]:
    """Yield the cell where each primary metric is worst; the word error rate where none is named."""
    for metric in dict.fromkeys([*report["primary_metrics"].values()] or ["wer"]):
        worst = [
            entry for entry in report["worst_cells"] if entry["metric"] == metric and entry["arm"] == "audio"
        ]
        if worst:
            yield _worst_rate(report, metric, worst)


def _worst_rate(report: Document, metric: str, worst: Sequence[Document]) -> str:
    first = worst[0]
    place = (first["axis"], first["value"])
    cell = next(cell for cell in report["matrix"] if (cell["axis"], cell["value"]) == place)
    family = next(entry for entry in report["metrics"] if entry["metric"] == metric)
    estimate = next(entry for entry in cell["estimates"] if _is_of(entry, first))
    interval = rate_interval(metric, estimate)
    ends = "" if interval is None else f"{format_interval(metric, interval, UNICODE)}, "
    sizes = f"{count_of(estimate['n'], 'item')}, {count_of(estimate['units'], unit_noun(report['items']))}"
    small = ", too few for a verdict" if any(flag.startswith("under_") for flag in first["flags"]) else ""
    names = ", ".join(_cell_name(entry["axis"], entry["value"]) for entry in worst)
    extreme = "highest" if family["better"] == "lower" else "lowest"
    value = format_value(metric, first["rate"], UNICODE)
    return f"The {label(metric)} is {extreme} at {names}: {value} ({ends}{sizes}{small})."


def _is_of(estimate: Document, cell: Document) -> bool:
    return all(estimate[key] == cell[key] for key in ("family", "metric", "arm"))


def _cell_name(axis: str, value: str | None) -> str:
    return f"{axis}={'(none)' if value is None else value}"


def _failures(report: Document) -> Iterator[str]:
    failed, samples = report["failures"]["samples_failed"], report["failures"]["samples"]
    if failed:
        how = (
            "counts as all wrong"
            if report["scorer"].get("on_failure") == "worst"
            else "is left out of what it failed in"
        )
        yield f"{failed} of {count_of(samples, 'item')} failed; each {how}."
