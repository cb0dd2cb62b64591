"""The sentences of a verdict: what was found, what is allowed, and why the status is what it is.

Numbers and the ends of intervals are those that reports show; the fields of a check have them as computed.
"""

from misheard.gate.verdict import MECHANISM, Check, GateVerdict, Outcome
from misheard.report.labels import (
    UNICODE,
    count_of,
    difference_unit,
    format_difference,
    format_difference_interval,
    format_interval,
    format_value,
    is_score,
    label,
    plain,
    points_of,
    reachable,
)
from misheard.stats.gate import ABSOLUTE, ALPHA, LatencyFigures, Rule, Status
from misheard.stats.slices import MIN_ITEMS, NO_VALUE
from misheard.stats.verdict import MIN_UNITS

REASONS = {
    "acceptable": "acceptable",
    "unacceptable": "every value in the interval is unacceptable",
    "spans": "the interval holds acceptable and unacceptable values",
    "same": "the same on every pair",
    "cancels": "changes cancel within every unit, which is no interval to judge by",
    "undefined": "the rate is undefined: its denominator is 0",
    "no_pairs": "no item counts on both sides",
    "no_items": "no item",
    "not_measured": "a run did not measure it",
    "too_few_items": f"under {MIN_ITEMS} items there is no verdict",
    "too_few_units": f"under {MIN_UNITS} units there is no verdict",
    "no_interval": "there is no interval: some resamples leave the rate undefined",
    "no_variation": "no unit differs from another, which is no interval to judge by",
    "holm": f"not below {ALPHA:g} once adjusted for several claims",
    "a_claim_holds": "at least one of the claims holds, adjusted for their number",
    "a_claim_is_wrong": "one of the claims is shown to be wrong",
    "a_claim_without_evidence": "one of the claims has no evidence",
    "no_claim_holds": "none of the claims is shown to hold",
    "missing_times": "times are missing",
    "no_times": "there is no time",
    "too_few_times": "under 59 times there is no bound on the 95th percentile",
    "over_budget": "more than the budget",
    "too_small": "fewer than required",
    "gate_axis_unchecked": "no check looks at the slices of this axis; add it to by: of a guard, or waive it",
    "waived": "waived",
}
"""Every reason of a status, in words."""

HEADLINES = {
    Outcome.SHIP: "SHIP",
    Outcome.NO_SHIP: "NO SHIP",
    Outcome.INCONCLUSIVE: "INCONCLUSIVE",
    Outcome.INCOMPLETE: "INCOMPLETE",
    Outcome.NOT_COMPARABLE: "NOT COMPARABLE",
}

_RULES = {
    Rule.MUST_IMPROVE: "must improve",
    Rule.MUST_FALL: "must fall by at least",
    Rule.MUST_RISE: "must rise by at least",
    Rule.MAY_RISE: "may rise by at most",
    Rule.MAY_FALL: "may fall by at most",
    Rule.AT_MOST: "at most",
    Rule.AT_LEAST: "at least",
}


def undecided(check: Check) -> str:
    """Return what to say behind the name of a check that does not decide; empty for one that does."""
    if check.decides:
        return ""
    return " (decides only where required)" if check.role == MECHANISM else " (one of several claims)"


def slice_name(conditions: tuple[tuple[str, str | None], ...]) -> str:
    """Return what a slice is called: `language=en, noise=5dB`."""
    return ", ".join(f"{axis}={NO_VALUE if value is None else plain(value)}" for axis, value in conditions)


def rate_sentence(check: Check) -> str:
    """Return the sentence of a check of a rate."""
    metric = str(check.metric)
    rule = Rule(str(check.rule))
    subject = f"{label(metric)}, {check.arm} arm"
    if check.slice:
        subject += f", {slice_name(check.slice)}"
    figures = _absolute_figures(check, metric) if rule in ABSOLUTE else _relative_figures(check, metric)
    wanted = rule_words(rule, check.limit, metric)
    return f"{subject}: {figures}; {wanted}: {REASONS[check.reason]}"


def rule_words(rule: Rule, limit: float | None, metric: str) -> str:
    """Return what a tolerance asks for: `may rise by at most 2 points`."""
    if limit is None:
        return _RULES[rule]
    unit = ("" if is_score(metric) else "%") if rule in ABSOLUTE else difference_unit(metric)
    return f"{_RULES[rule]} {points_of(metric, limit):g}{unit}"


def _relative_figures(check: Check, metric: str) -> str:
    parts = [f"from {value(metric, check.baseline)} to {value(metric, check.candidate)}"]
    if check.difference is not None:
        parts.append(f"change {change(metric, check.difference)}")
    if check.interval is not None:
        ends = reachable(metric, (check.interval.low, check.interval.high), is_difference=True)
        parts.append(f"95% interval {format_difference_interval(metric, ends, UNICODE)}")
    if check.p_value is not None:
        parts.append(f"adjusted p {check.p_value:.4f}")
    return ", ".join([*parts, _size(check, "pair")])


def _absolute_figures(check: Check, metric: str) -> str:
    parts = [value(metric, check.candidate)]
    if check.interval is not None:
        ends = reachable(metric, (check.interval.low, check.interval.high))
        kind = "exact 95% interval with each unit as one trial" if check.by_unit else "95% interval"
        parts.append(f"{kind} {format_interval(metric, ends, UNICODE)}")
    return ", ".join([*parts, _size(check, "item")])


def _size(check: Check, noun: str) -> str:
    size = f"{count_of(check.n or 0, noun)}, {count_of(check.units or 0, 'unit')}"
    failed = [
        f"{count} failed in the {side}"
        for side, count in (("baseline", check.failed_baseline), ("candidate", check.failed_candidate))
        if count
    ]
    return ", ".join([size, *failed])


def value(metric: str, number: float | None) -> str:
    """Return a rate as reports show it."""
    return "none" if number is None else format_value(metric, number, UNICODE)


def change(metric: str, number: float) -> str:
    """Return a difference of a rate with its sign."""
    return format_difference(metric, number, UNICODE) + difference_unit(metric)


def latency_sentence(
    stage: str, figures: LatencyFigures, n: int, missing: int, at_most: float, reason: str
) -> str:
    """Return the sentence of a latency budget."""
    measured = "no time" if figures.p95 is None else f"p95 {figures.p95:.3f} s"
    if figures.upper is not None:
        measured += f", at most {figures.upper:.3f} s with 95 % confidence"
    sizes = count_of(n, "time") + (f", {missing} missing" if missing else "")
    return f"{stage} latency: {measured}, {sizes}; at most {at_most:g} s: {REASONS[reason]}"


def failures_sentence(
    failed: int, items: int, count_at_most: int | None, rate_at_most: float | None, reason: str
) -> str:
    """Return the sentence of the budget of failed items."""
    budgets = []
    if count_at_most is not None:
        budgets.append(f"at most {count_at_most}")
    if rate_at_most is not None:
        budgets.append(f"at most {100 * rate_at_most:g}%")
    return f"failed items: {failed} of {items}; {' and '.join(budgets)}: {REASONS[reason]}"


def size_sentence(
    name: str, items: int, units: int, items_at_least: int, sessions_at_least: int, reason: str
) -> str:
    """Return the sentence of a required slice."""
    wanted = f"at least {count_of(items_at_least, 'item')} and {count_of(sessions_at_least, 'unit')}"
    found = f"{count_of(items, 'item')} that did not fail in any run, {count_of(units, 'unit')}"
    return f"{name}: {found}; {wanted}: {REASONS[reason]}"


def summary(verdict: GateVerdict) -> str:
    """Return the verdict in one line: `NO SHIP: 1 of 6 checks failed, 2 inconclusive`."""
    head = HEADLINES[verdict.outcome]
    if verdict.refusals:
        return f"{head}: nothing was checked"
    deciding = [
        check.status for check in verdict.checks if check.decides and check.status is not Status.WAIVED
    ]
    total = count_of(len(deciding), "check")
    if verdict.outcome is Outcome.SHIP:
        return f"{head}: {total} passed"
    words = {
        Status.NO_EVIDENCE: "without evidence",
        Status.FAIL: "failed",
        Status.INCONCLUSIVE: "inconclusive",
    }
    counted = [f"{deciding.count(s)} {word}" for s, word in words.items() if s in deciding]
    return f"{head}: of {total} {', '.join(counted)}" if counted else f"{head}: there is no check"
