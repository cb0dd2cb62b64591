"""How the terminal names metrics and writes numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from misheard.errors import count_of as count_of
from misheard.report.metric_names import (
    DETAIL_SUFFIXES,
    DETAILS,
    JUDGED,
    LABELS,
    NOT_ATTRIBUTED,
    NOT_BY_CONDITION,
    POINTS,
    PROFILES,
    RANGES,
    SCORES,
    SCRIPT_RATE,
    SCRIPT_SHARE,
    SECTIONS,
    SHARE_SUFFIXES,
    SHARES,
    TOKEN_CHANGE,
)
from misheard.report.values import Document
from misheard.stats.verdict import MIN_UNITS
from misheard.suite.problems import shown, suggestion


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
    if rate := SCRIPT_RATE.fullmatch(metric):
        script = rate[2].capitalize()
        return f"{script} words wrong" if rate[1] == "pier" else f"{rate[1].upper()} of {script} alone"
    if share := SCRIPT_SHARE.fullmatch(metric):
        return f"{share[1].capitalize()} {share[2]}"
    if change := TOKEN_CHANGE.fullmatch(metric):
        return f"{(change[1] or change[2]).capitalize()} words touched"
    return LABELS.get(metric, metric.replace("_", " "))


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
    if SCRIPT_RATE.fullmatch(family):
        return "Recognition"
    if TOKEN_CHANGE.fullmatch(family):
        return SECTIONS["correction"]
    return SECTIONS.get(family, f"{family.replace('_', ' ')} ({{arm}})").format(arm=arm)


def is_detail(metric: str) -> bool:
    """Whether a metric only breaks another one down, and is left to report.json and matrix.csv."""
    judged = JUDGED.fullmatch(metric)
    if judged is not None:
        return judged[2] != "score"
    return metric in DETAILS or metric.endswith(DETAIL_SUFFIXES)


def is_shown_by_condition(metric: str) -> bool:
    """Whether a metric has a row in the terminal's matrix; matrix.csv has all of them."""
    return not is_detail(metric) and metric not in NOT_BY_CONDITION


def is_attributed(metric: str) -> bool:
    """Whether the terminal shows what each stage loses of a metric; report.json has it of all."""
    return not is_detail(metric) and metric not in NOT_ATTRIBUTED


def is_score(metric: str) -> bool:
    """Whether a metric stands as it is, and is not a share that reads better in percent."""
    if metric in SCORES or is_in_points(metric):
        return True
    is_share = metric.endswith((*SHARE_SUFFIXES, "_bounded")) or metric in SHARES or metric in LABELS
    return not (is_share or SCRIPT_RATE.match(metric) or SCRIPT_SHARE.match(metric))


def is_in_points(metric: str) -> bool:
    """Whether a metric is a score from 0 to 100, whose differences are in points."""
    judged = JUDGED.fullmatch(metric)
    return judged is not None and judged[2] in POINTS


def points_of(metric: str, value: float) -> float:
    """Return a difference, a margin or a bound in the unit of tables: points where shares are in percent."""
    return value if is_score(metric) else round(100.0 * value, 10)


def difference_unit(metric: str) -> str:
    """Return what stands behind a difference in a sentence."""
    return " points" if is_in_points(metric) or not is_score(metric) else ""


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
    return metric.endswith(SHARE_SUFFIXES) or metric.startswith("pier_") or bool(SCRIPT_SHARE.match(metric))


def format_difference_interval(metric: str, interval: Sequence[float] | None, marks: Marks) -> str:
    """Return the interval of a difference, with signs."""
    if interval is None:
        return marks.missing
    return marks.to.join(_signs(_digits(metric, end, "+"), marks) for end in interval)


def _digits(metric: str, value: float, sign: str) -> str:
    if is_in_points(metric):
        return f"{value:{sign}.1f}"
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


def format_size(metric: str, value: float, marks: Marks) -> str:
    """Return the size of a difference without unit and plus sign."""
    return _digits(metric, value, "").replace("-", marks.minus)


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
    what = PROFILES.get(str(profile))
    return f"profile {plain(str(profile))}" + (f": {what}" if what else "")


def _in_languages(tags: Sequence[str | None]) -> str:
    """Return `in hi, ta and where no language is given`, for None, which comes last."""
    parts = [f"in {', '.join(tag for tag in tags if tag is not None)}"] if tags[0] is not None else []
    return " and ".join([*parts, "where no language is given"] if tags[-1] is None else parts)


def _range(metric: str) -> tuple[float, float]:
    if is_in_points(metric):
        return (0.0, 100.0)
    return RANGES.get(metric, (0.0, 1.0 if _is_within_one(metric) else math.inf))


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


def unit_noun(counts: Document) -> str:
    """Return what units are called: sessions, unless some items have none.

    Args:
        counts: `without_session` says how many.
    """
    return "unit" if counts["without_session"] else "session"


def system_name(system: Mapping[str, object] | None) -> str | None:
    """Return what a system was called where its outputs were imported; None where it has no name."""
    recognizer = (system or {}).get("recognizer")
    name = recognizer.get("name") if isinstance(recognizer, Mapping) else None
    return plain(str(name)) if name else None


def with_marks(text: str, marks: Marks) -> str:
    """Return a sentence of a document, which has the signs of UNICODE, with those of a terminal."""
    for name in Marks.__dataclass_fields__:
        text = text.replace(getattr(UNICODE, name), getattr(marks, name))
    return text
