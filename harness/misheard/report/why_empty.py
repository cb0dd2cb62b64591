"""Why a metric has no value in a run: what items, or the run, lack for it."""

from collections.abc import Iterable, Iterator, Sequence

from misheard.report.labels import label
from misheard.report.values import Document

_NEEDS = {
    "response": "a reference_answer",
    "answer_class": "a fact",
    "propagation": "an answer in both arms",
    "scene": "a golden plan",
    "scene_propagation": "a board in both arms",
    "entities": "entities",
    "non_speech": "no speech",
}
"""What an item must have to count, per family; other families count every item with speech."""

_OF_ANSWERS = ("response", "answer_class", "propagation")
_OF_PLANS = ("scene", "scene_propagation")


def why_empty(family: str, run: Document | None, *, all_failed: bool = False) -> str:
    """Return why no item counts.

    Args:
        family: of the metric.
        run: the part of a report that says whether there is a language model and a planner.
        all_failed: whether every item failed.
    """
    if all_failed:
        return "every item failed"
    if family in _OF_ANSWERS and (run or {}).get("language_model") is False:
        return "the run has no language model"
    if family in _OF_PLANS and (run or {}).get("planner") is False:
        return "the run has no planner"
    return f"no item has {_NEEDS[family]}" if family in _NEEDS else "no item counts in it"


def without_value(report: Document, metrics: Iterable[Document], cells: Sequence[Document]) -> list[Document]:
    """Return the metrics without a value in any arm of any cell, each with why, as JSON values.

    Args:
        report: of the run.
        metrics: those that are shown.
        cells: of a matrix of the report's items.
    """
    return [
        {"family": metric["family"], "metric": metric["metric"], "why": why}
        for metric in metrics
        for why in _why(report, metric, cells)
    ]


def _why(report: Document, metric: Document, cells: Sequence[Document]) -> Iterator[str]:
    name = (metric["family"], metric["metric"])
    own = [
        (cell["items"], estimate)
        for cell in cells
        for estimate in cell["estimates"]
        if (estimate["family"], estimate["metric"]) == name
    ]
    if any(estimate["value"] is not None for _, estimate in own):
        return
    if any(estimate["n"] for _, estimate in own):
        yield "nothing that it divides by is in these items"
        return
    all_failed = any(items for items, _ in own) and all(items == one["failed"] for items, one in own)
    yield why_empty(metric["family"], report["run"], all_failed=all_failed)


def empty_sentences(found: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence per reason, with the metrics that it holds for.

    Args:
        found: name of a metric and why it has no value.
    """
    by_reason: dict[str, list[str]] = {}
    for metric, why in found:
        by_reason.setdefault(why, []).append(label(metric))
    for why, names in by_reason.items():
        yield f"{', '.join(names)}: {why}"
