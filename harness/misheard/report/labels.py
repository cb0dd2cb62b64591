"""How the terminal names metrics and writes numbers."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from misheard.report.values import Document
from misheard.stats.verdict import MIN_UNITS
from misheard.suite.problems import shown, suggestion

_LABELS = {
    "wer": "word error rate",
    "cer": "character error rate",
    "mer": "mixed error rate",
    "pier_entities": "entity words wrong",
    "pier_numbers": "numbers wrong",
    "entity_preservation": "entities kept",
    "script_mismatch_rate": "wrong script",
    "script_mismatch_character_rate": "wrong-script characters",
    "word_information_lost": "word information lost",
    "word_information_preserved": "word information kept",
    "wer_compounds_joined": "WER, compounds joined",
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
    "mer": "Recognition",
    "entities": "Entities and numbers",
    "pier_entities": "Entities and numbers",
    "pier_numbers": "Entities and numbers",
    "script_mismatch": "Scripts",
    "information": "Words and sentences",
    "error_categories": "Kinds of errors",
    "bursts": "Insertion bursts",
    "compounds": "Compounds",
    "response": "Answers, {arm}",
    "answer_class": "Answers, {arm}",
    "non_speech": "Clips without speech",
}

_PROFILES = {
    "nfc": "case and punctuation count as errors",
    "exact": "case, punctuation and Unicode form count as errors",
    "plain": "case and punctuation do not count",
    "spoken": "case, punctuation and how numbers are written do not count",
}

_SCRIPT_RATE = re.compile(r"(cer|wer|pier)_(?!mean)([a-z]{4})")
_SCRIPT_SHARE = re.compile(r"([a-z]{4})_(precision|recall)")

_DETAIL_SUFFIXES = (
    "_mean",
    "_bounded",
    "_substitution_rate",
    "_deletion_rate",
    "_insertion_rate",
    "_error_rate",
    "_character_rate",
)
_DETAILS = (
    "baseline_quality",
    "arm_quality",
    "word_information_lost",
    "word_information_preserved",
    "burst_item_rate",
    "burst_loop_rate",
    "burst_novel_rate",
    "wer_compounds_joined",
)
_NOT_BY_CONDITION = ("exact_match_rate", "abstention_rate", "improved_fraction", "response_agreement_f1")
_SCORES = ("response_quality", "quality_drop", "response_agreement_f1", "baseline_quality", "arm_quality")
_SHARE_SUFFIXES = ("_rate", "_fraction", "_mean")
_RANGES = {
    "quality_drop": (-1.0, 1.0),
    "response_quality": (0.0, 1.0),
    "response_agreement_f1": (0.0, 1.0),
    "entity_preservation": (0.0, 1.0),
}


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
    noise: str = "≈"


UNICODE = Marks()
ASCII = Marks(worst="^", primary="+", missing="-", to="..", dot="|", minus="-", times="x", noise="~")


def label(metric: str) -> str:
    """Return what a metric is called in a table."""
    if rate := _SCRIPT_RATE.fullmatch(metric):
        script = rate[2].capitalize()
        return f"{script} words wrong" if rate[1] == "pier" else f"{rate[1].upper()} of {script} alone"
    if share := _SCRIPT_SHARE.fullmatch(metric):
        return f"{share[1].capitalize()} {share[2]}"
    return _LABELS.get(metric, metric.replace("_", " "))


def metric_suggestion(name: str, known: Iterable[str]) -> str:
    """Return a hint at a known metric for a name that is none: the one with that label, else one like it."""
    names = list(known)
    wanted = " ".join(name.casefold().split())
    called = [metric for metric in names if wanted in (label(metric).casefold(), metric.replace("_", " "))]
    return f" (did you mean {shown(called[0])}?)" if called else suggestion(name, names)


def plain(text: str) -> str:
    """Return a suite's or run's own text with control characters as visible escapes."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def section(family: str, arm: str) -> str:
    """Return the heading under which a family stands in an arm."""
    if _SCRIPT_RATE.fullmatch(family):
        return "Recognition"
    return _SECTIONS.get(family, f"{family.replace('_', ' ')} ({{arm}})").format(arm=arm)


def is_detail(metric: str) -> bool:
    """Whether a metric only breaks another one down, and is left to report.json and matrix.csv."""
    return metric in _DETAILS or metric.endswith(_DETAIL_SUFFIXES)


def is_shown_by_condition(metric: str) -> bool:
    """Whether a metric has a row in the terminal's matrix; matrix.csv has all of them."""
    return not is_detail(metric) and metric not in _NOT_BY_CONDITION


def is_score(metric: str) -> bool:
    """Whether a metric is a score from 0 to 1 and not a share that reads better in percent."""
    is_share = metric.endswith((*_SHARE_SUFFIXES, "_bounded")) or metric in _LABELS
    return metric in _SCORES or not (is_share or _SCRIPT_RATE.match(metric) or _SCRIPT_SHARE.match(metric))


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
    """Return a rate's interval without its unit."""
    if interval is None:
        return marks.missing
    return marks.to.join(_signs(_digits(metric, end, ""), marks) for end in interval)


def _is_within_one(metric: str) -> bool:
    return metric.endswith(_SHARE_SUFFIXES) or metric.startswith("pier_") or bool(_SCRIPT_SHARE.match(metric))


def format_difference_interval(metric: str, interval: Sequence[float] | None, marks: Marks) -> str:
    """Return the interval of a difference, with signs."""
    if interval is None:
        return marks.missing
    return marks.to.join(_signs(_digits(metric, end, "+"), marks) for end in interval)


def _digits(metric: str, value: float, sign: str) -> str:
    return f"{value:{sign}.3f}" if is_score(metric) else f"{100 * value:{sign}.1f}"


def _signs(text: str, marks: Marks) -> str:
    is_zero = not any(digit in text for digit in "123456789")
    return text.replace("-", "" if is_zero else marks.minus).replace("+", "" if is_zero else "+")


def rate_interval(metric: str, estimate: Document) -> Sequence[float] | None:
    """Return the interval of an estimate as tables show it; report.json has it as it was computed.

    There is none under 6 units, where it would say more about the method than about the rate, and an end that
    no rate can reach, such as less than no errors, is the nearest that one can.
    """
    return _within(_range(metric), estimate)


def difference_interval(metric: str, difference: Document) -> Sequence[float] | None:
    """Return the interval of a difference as tables show it, in the manner of `rate_interval`."""
    return difference_ends(metric, difference, "deciding")


def difference_ends(metric: str, difference: Document, name: str) -> Sequence[float] | None:
    """Return one of the intervals of a difference, by its name, in the manner of `difference_interval`."""
    low, high = _range(metric)
    return _within((low - high, high - low), difference, name)


def reachable(metric: str, ends: Sequence[float], *, is_difference: bool = False) -> Sequence[float]:
    """Return the ends of an interval of a rate, or of a difference, each within what it can reach."""
    low, high = _range(metric)
    return _clamped((low - high, high - low) if is_difference else (low, high), ends)


def format_p(p: float | None, marks: Marks) -> str:
    """Return a p-value; under 0.001 it says no more."""
    if p is None:
        return marks.missing
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def profile_sentence(scorer: Document) -> str | None:
    """Return what the profile of a scorer does not count as an error; None where no profile is named."""
    profile = scorer.get("profile")
    if profile is None:
        return None
    if profile == "spoken" and scorer.get("number_words_kept"):
        return f"profile spoken: number words stay words {_in_languages(scorer['number_words_kept'])}"
    what = _PROFILES.get(str(profile))
    return f"profile {plain(str(profile))}" + (f": {what}" if what else "")


def _in_languages(tags: Sequence[str | None]) -> str:
    """Return `in hi, ta and where no language is given`, for None, which comes last."""
    parts = [f"in {', '.join(tag for tag in tags if tag is not None)}"] if tags[0] is not None else []
    return " and ".join([*parts, "where no language is given"] if tags[-1] is None else parts)


def _range(metric: str) -> tuple[float, float]:
    return _RANGES.get(metric, (0.0, 1.0 if _is_within_one(metric) else math.inf))


def _within(
    bounds: tuple[float, float], document: Document, name: str = "deciding"
) -> Sequence[float] | None:
    intervals: Mapping[str, Sequence[float] | None] | None = document["intervals"]
    ends = None if intervals is None else intervals[name]
    if ends is None or f"under_{MIN_UNITS}_units" in document["flags"]:
        return None
    return _clamped(bounds, ends)


def _clamped(bounds: tuple[float, float], ends: Sequence[float]) -> list[float]:
    return [min(max(end, bounds[0]), bounds[1]) for end in ends]


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun in the right number."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def unit_noun(counts: Document) -> str:
    """Return what units are called: sessions, unless some items have none.

    Args:
        counts: `without_session` says how many.
    """
    return "unit" if counts["without_session"] else "session"


def with_marks(text: str, marks: Marks) -> str:
    """Return a sentence of a document, which has the signs of UNICODE, with those of a terminal."""
    for name in Marks.__dataclass_fields__:
        text = text.replace(getattr(UNICODE, name), getattr(marks, name))
    return text
