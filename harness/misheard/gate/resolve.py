"""A gate file applied to a run: which rates it means, and everything in it that does not fit the run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from misheard.errors import GateError, InputError, Problem
from misheard.gate.spec import PRIMARY, AnyOfClaim, Gate, Guard, PrimaryClaim
from misheard.metrics.base import Arm, Family, Rate
from misheard.report.labels import metric_suggestion
from misheard.run.finished import FinishedRun
from misheard.stats.gate import ABSOLUTE, Rule, Tolerance
from misheard.stats.selection import Condition, axis_values, selectable_axes, slices_by, where_rows
from misheard.suite.items import ItemKind
from misheard.suite.problems import shown, suggestion

LANGUAGE_AXIS = "language"


@dataclass(frozen=True, slots=True)
class Claim:
    """One rate that a gate asks about.

    Attributes:
        place: where in the gate file, such as `guards[0]`.
        role: `primary` or `guard`.
        any_of: whether it is one of several claims of which any is enough.
        family, metric, arm: the rate.
        tolerance: which values of it, or of its difference, are acceptable.
        conditions: filter of the items.
        axes: the axes whose every combination of values is checked by itself.
    """

    place: str
    role: str
    any_of: bool
    family: Family
    metric: str
    arm: Arm
    tolerance: Tolerance
    conditions: tuple[Condition, ...]
    axes: tuple[str, ...]

    @property
    def is_absolute(self) -> bool:
        """Whether it is about the candidate alone."""
        return self.tolerance.rule in ABSOLUTE


def resolve_gate(path: Path, gate: Gate, run: FinishedRun) -> tuple[Claim, ...]:
    """Return the claims of a gate, in the order of the file.

    Raises GateError with every metric, arm, axis, value or direction that does not fit the run.
    """
    resolver = _Resolver(run)
    claims = [claim for place, part in _parts(gate) for claim in resolver.claims(place, part)]
    for place, required in enumerate(gate.required_slices):
        resolver.check_axes(f"required_slices[{place}].by", required.by)
    resolver.check_waivers(gate)
    if resolver.problems:
        raise GateError(str(path), resolver.problems)
    return tuple(claims)


def needs_baseline(gate: Gate) -> bool:
    """Whether anything in a gate is about a difference."""
    return any(part.rule[0] not in ABSOLUTE for _, part in _parts(gate))


def _parts(gate: Gate) -> list[tuple[str, PrimaryClaim | AnyOfClaim | Guard]]:
    parts: list[tuple[str, PrimaryClaim | AnyOfClaim | Guard]] = []
    if gate.primary is not None:
        parts.append(("primary", gate.primary))
    parts.extend((f"primary_any_of[{place}]", claim) for place, claim in enumerate(gate.primary_any_of))
    parts.extend((f"guards[{place}]", guard) for place, guard in enumerate(gate.guards))
    return parts


class _Resolver:
    """Looks names up in one run and collects what it does not find."""

    def __init__(self, run: FinishedRun) -> None:
        self._run = run
        self._axes = run.report["axes"]
        self._rates = {rate.name: (family, rate) for family in run.families for rate in family.rates}
        self.problems: list[Problem] = []

    def claims(self, place: str, part: PrimaryClaim | AnyOfClaim | Guard) -> list[Claim]:
        """Return the claims that one part makes: one, or one per language for `primary`."""
        self.check_axes(f"{place}.by", part.axes)
        self._check_where(f"{place}.where", part.conditions)
        if part.metric != PRIMARY:
            claim = self._claim(place, part, part.metric)
            return [] if claim is None else [claim]
        found = []
        for metric, condition in self._primary_metrics(f"{place}.metric"):
            claim = self._claim(place, part, metric)
            if claim is not None:
                found.append(replace(claim, conditions=(*claim.conditions, *condition)))
        return found

    def _why_missing(self, metric: str) -> str:
        """Return what to say behind the name of a metric that the run does not have."""
        judge = self._run.report.get("judge")
        if metric.startswith("judge_") and judge is not None and judge["status"] == "withheld":
            return f": the judge's numbers are withheld, {judge['reason']}"
        return metric_suggestion(metric, self._rates)

    def check_axes(self, place: str, axes: Sequence[str]) -> None:
        """Note axes that the run does not have, and too many combinations of their values."""
        known = selectable_axes(self._run.table.items, self._axes)
        unknown = [axis for axis in axes if axis not in known]
        for axis in unknown:
            self._problem(place, f"unknown axis {shown(axis)}{suggestion(axis, known)}")
        if axes and not unknown:
            try:
                slices_by(self._run.table.items, self._axes, axes)
            except InputError as error:
                self._problem(place, str(error).removeprefix("--by "))

    def check_waivers(self, gate: Gate) -> None:
        """Note waived axes that the suite does not ask for."""
        known = self._run.report["suite"]["gate_axes"]
        for axis in gate.waived_axes:
            if axis not in known:
                what = f"{shown(axis)} is no gate axis of the suite{suggestion(axis, known)}"
                self._problem("waived_axes", what)

    def _problem(self, place: str, what: str) -> None:
        self.problems.append(Problem(place, what))

    def _check_where(self, place: str, conditions: Sequence[Condition]) -> None:
        for condition in conditions:
            try:
                where_rows(self._run.table.items, self._axes, [condition])
            except InputError as error:
                self._problem(place, str(error).removeprefix("--where "))

    def _primary_metrics(self, place: str) -> list[tuple[str, tuple[Condition, ...]]]:
        """Return the suite's primary metrics, each with the filter for its language."""
        metrics: dict[str, str] = self._run.report["primary_metrics"]
        if not metrics:
            self._problem(place, "the suite names no primary metric; name the metric here")
            return []
        if LANGUAGE_AXIS not in self._axes:
            if len(metrics) > 1:
                what = "the suite has several languages and declares no axis language; name the metric here"
                self._problem(place, what)
                return []
            return [(metric, ()) for metric in metrics.values()]
        self._check_languages(place, metrics)
        return [(m, (Condition(LANGUAGE_AXIS, (language,)),)) for language, m in metrics.items()]

    def _check_languages(self, place: str, metrics: dict[str, str]) -> None:
        items = self._run.table.items
        spoken = {
            value
            for value, item in zip(axis_values(items, LANGUAGE_AXIS, self._axes), items, strict=True)
            if item.kind is ItemKind.SPEECH
        }
        for language in sorted(spoken - metrics.keys(), key=str):
            name = "items without a language" if language is None else f"language {shown(language)}"
            self._problem(place, f"the suite names no primary metric for {name}")

    def _claim(self, place: str, part: PrimaryClaim | AnyOfClaim | Guard, metric: str) -> Claim | None:
        if metric not in self._rates:
            self._problem(f"{place}.metric", f"no metric {shown(metric)}{self._why_missing(metric)}")
            return None
        family, rate = self._rates[metric]
        if part.arm not in family.arms:
            arms = ", ".join(map(str, family.arms))
            self._problem(f"{place}.arm", f"{metric} is not measured in the {part.arm} arm; use {arms}")
            return None
        rule, value = part.rule
        tolerance = Tolerance(rule, value, rate.better)
        if not tolerance.fits:
            self._problem(place, _misfit(rule, rate))
            return None
        role = "guard" if isinstance(part, Guard) else "primary"
        is_any_of = isinstance(part, AnyOfClaim)
        return Claim(place, role, is_any_of, family, metric, part.arm, tolerance, part.conditions, part.axes)


_OTHER_WAY = {
    Rule.MUST_FALL: Rule.MUST_RISE,
    Rule.MUST_RISE: Rule.MUST_FALL,
    Rule.MAY_RISE: Rule.MAY_FALL,
    Rule.MAY_FALL: Rule.MAY_RISE,
    Rule.AT_MOST: Rule.AT_LEAST,
    Rule.AT_LEAST: Rule.AT_MOST,
}


def _misfit(rule: Rule, rate: Rate) -> str:
    if rule is Rule.MUST_IMPROVE:
        return f"{rate.name} is better in neither direction; it cannot improve"
    return f"{rate.name} is better when {rate.better}: give {_OTHER_WAY[rule]} instead of {rule}"
