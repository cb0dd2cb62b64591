"""How the terminal names metrics and writes numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from misheard.report.values import Document

_LABELS = {
    "wer": "word error rate",
    "cer": "character error rate",
    "response_quality": "answer quality",
    "exact_match_rate": "exact match",
    "correct_rate": "correct",
    "abstention_rate": "abstained",
    "hallucination_rate": "hallucinated",
    "non_speech_hallucination_rate": "text where none is",
    "quality_drop": "quality lost",
    "degraded_fraction": "answers worse",
    "improved_fraction": "answers better",
    "response_agreement_f1": "agreement (F1)",
    "flip_rate": "answers changed",
}

_SECTIONS = {
    "propagation": "Lost to mishearing",
    "wer": "Recognition",
    "cer": "Recognition",
    "response": "Answers, {arm}",
    "answer_class": "Answers, {arm}",
    "non_speech": "Clips without speech",
}

_DETAIL_SUFFIXES = ("_mean", "_substitution_rate", "_deletion_rate", "_insertion_rate")
_DETAILS = ("baseline_quality", "arm_quality")
_NOT_BY_CONDITION = ("exact_match_rate", "abstention_rate", "improved_fraction", "response_agreement_f1")
_SCORES = ("response_quality", "quality_drop", "response_agreement_f1", "baseline_quality", "arm_quality")
_SHARE_SUFFIXES = ("_rate", "_fraction", "_mean")
_RANGES = {"quality_drop": (-1.0, 1.0), "response_quality": (0.0, 1.0), "response_agreement_f1": (0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class Marks:
    """The signs that need more than ASCII, with stand-ins for terminals that have no more."""

    worst: str = "▲"
    primary: str = "◆"
    missing: str = "–"
    to: str = "…"
    dot: str = "·"
    minus: str = "−"
    times: str = "×"


UNICODE = Marks()
ASCII = Marks(worst="^", primary="+", missing="-", to="..", dot="|", minus="-", times="x")


def label(metric: str) -> str:
    """Return what a metric is called in a table."""
    return _LABELS.get(metric, metric.replace("_", " "))


def plain(text: str) -> str:
    """Return a suite's or run's own text with control characters as visible escapes."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def section(family: str, arm: str) -> str:
    """Return the heading under which a family stands in an arm."""
    return _SECTIONS.get(family, f"{family.replace('_', ' ')} ({{arm}})").format(arm=arm)


def is_detail(metric: str) -> bool:
    """Whether a metric only breaks another one down, and is left to report.json and matrix.csv."""
    return metric in _DETAILS or metric.endswith(_DETAIL_SUFFIXES)


def is_shown_by_condition(metric: str) -> bool:
    """Whether a metric has a row in the terminal's matrix; matrix.csv has all of them."""
    return not is_detail(metric) and metric not in _NOT_BY_CONDITION


def is_score(metric: str) -> bool:
    """Whether a metric is a score from 0 to 1 and not a share that reads better in percent."""
    return metric in _SCORES or not (metric.endswith(_SHARE_SUFFIXES) or metric in _LABELS)


def format_value(metric: str, value: float | None, marks: Marks) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return marks.missing
    return _signs(_digits(metric, value, "") + ("" if is_score(metric) else "%"), marks)


def format_difference(metric: str, value: float | None, marks: Marks) -> str:
    """Return a difference with its sign; shares differ by percentage points."""
    if value is None:
        return marks.missing
    return _signs(_digits(metric, value, "+"), marks)


def format_interval(metric: str, interval: Sequence[float] | None, marks: Marks) -> str:
    """Return a rate's interval without its unit, or nothing where there is none.

    Ends that no rate can reach, such as less than no errors, are shown as the nearest that one can.
    """
    if interval is None:
        return ""
    low, high = _RANGES.get(metric, (0.0, 1.0 if metric.endswith(_SHARE_SUFFIXES) else math.inf))
    ends = [min(max(end, low), high) for end in interval]
    return marks.to.join(_signs(_digits(metric, end, ""), marks) for end in ends)


def format_difference_interval(metric: str, interval: Sequence[float] | None, marks: Marks) -> str:
    """Return the interval of a difference, with signs, or nothing where there is none."""
    if interval is None:
        return ""
    return marks.to.join(_signs(_digits(metric, end, "+"), marks) for end in interval)


def _digits(metric: str, value: float, sign: str) -> str:
    return f"{value:{sign}.3f}" if is_score(metric) else f"{100 * value:{sign}.1f}"


def _signs(text: str, marks: Marks) -> str:
    is_zero = not any(digit in text for digit in "123456789")
    return text.replace("-", "" if is_zero else marks.minus).replace("+", "" if is_zero else "+")


def deciding(document: Document) -> Sequence[float] | None:
    """Return the deciding interval of an estimate or difference."""
    intervals: Mapping[str, Sequence[float] | None] | None = document["intervals"]
    return None if intervals is None else intervals["deciding"]


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun in the right number."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
