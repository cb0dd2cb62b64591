"""What a gate file may hold: claims, guards, budgets and what they must look like."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from misheard.errors import InputError
from misheard.gate.options import Part, Reason, Seconds, Share
from misheard.metrics.base import Arm
from misheard.report.labels import is_in_points
from misheard.soak.limits import Limits, known_check
from misheard.stats.gate import Rule
from misheard.stats.selection import Condition, parse_where
from misheard.stats.slices import MIN_ITEMS
from misheard.stats.verdict import MIN_UNITS

FORMAT = "misheard-gate/1"
PRIMARY = "primary"
"""In place of a metric: the one that the suite names for each language."""

ALL = "all"
"""In place of the names of checks of a session: all of them."""

_MAX_ENTRIES = 100

_MOST_POINTS = 100.0

Margin = Annotated[float, Field(strict=True, ge=0.0, le=_MOST_POINTS, allow_inf_nan=False)]
PositiveMargin = Annotated[float, Field(strict=True, gt=0.0, le=_MOST_POINTS, allow_inf_nan=False)]
Bound = Annotated[float, Field(strict=True, ge=0.0, le=_MOST_POINTS, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=0, le=10**9)]
Size = Annotated[int, Field(strict=True, ge=1, le=10**9)]
Axis = Annotated[str, Field(strict=True, pattern=r"^[a-z][a-z0-9_]{0,79}$")]
Axes = Annotated[tuple[Axis, ...], Field(max_length=6)]

_RULES = {"must": Rule.MUST_IMPROVE, **{str(rule): rule for rule in Rule if rule is not Rule.MUST_IMPROVE}}
"""The option that each rule is written as."""


def _different(axes: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(axes)) < len(axes):
        raise ValueError("names an axis twice")
    return axes


class _Filtered(Part):
    """A rate of some items, with exactly one tolerance.

    Attributes:
        metric: as reports name it.
        arm: where it is measured.
        where: a filter, such as `noise=5dB`; see `misheard.stats.selection.parse_where`.
    """

    metric: Annotated[str, Field(strict=True, min_length=1, max_length=80)]
    arm: Arm = Arm.AUDIO
    where: Annotated[str, Field(strict=True, max_length=1000)] | None = None

    @field_validator("where")
    @classmethod
    def _check_where(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                parse_where(value)
            except InputError as error:
                raise ValueError(str(error).removeprefix("--where ")) from error
        return value

    @model_validator(mode="after")
    def _check_one_rule(self) -> Self:
        if len(self._given()) != 1:
            names = [name for name in _RULES if name in type(self).model_fields]
            raise ValueError(f"give exactly one of {', '.join(names)}")
        return self

    @field_validator(*(name for name in _RULES if name != "must"), check_fields=False)
    @classmethod
    def _check_size(cls, value: float | None, info: ValidationInfo) -> float | None:
        """Check that only the scores of a judge have a tolerance in points; every other rate is a share."""
        if value is not None and value > 1.0 and not is_in_points(str(info.data.get("metric"))):
            raise ValueError("must be at most 1; scores of a judge alone are in points")
        return value

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes whose every combination of values is checked by itself."""
        return ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The filter; empty where there is none."""
        return () if self.where is None else parse_where(self.where)

    @property
    def rule(self) -> tuple[Rule, float]:
        """The tolerance: its rule and its value."""
        return self._given()[0]

    def _given(self) -> list[tuple[Rule, float]]:
        values = {rule: getattr(self, name, None) for name, rule in _RULES.items()}
        return [
            (rule, 0.0 if rule is Rule.MUST_IMPROVE else value)
            for rule, value in values.items()
            if value is not None
        ]


class _Selection(_Filtered):
    """A rate of some items, or of every slice of them.

    Attributes:
        metric: as reports name it, or `primary`: the suite's primary metric of each language.
        by: axes; every combination of their values is checked by itself.
    """

    by: Axes = ()

    @field_validator("by")
    @classmethod
    def _check_by(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _different(value)

    @property
    def axes(self) -> tuple[str, ...]:
        return self.by


class PrimaryClaim(_Selection):
    """What the change is for.

    Attributes:
        must: `improve`: the interval excludes zero on the better side.
        must_fall_by_at_least, must_rise_by_at_least: the whole interval is at least this far from zero.
        may_rise_by_at_most, may_fall_by_at_most: not worse by more than a margin (non-inferiority).
    """

    must: Literal["improve"] | None = None
    must_fall_by_at_least: PositiveMargin | None = None
    must_rise_by_at_least: PositiveMargin | None = None
    may_rise_by_at_most: Margin | None = None
    may_fall_by_at_most: Margin | None = None


class AnyOfClaim(_Filtered):
    """One of several improvements of which any one is enough.

    Attributes:
        must: `improve`.
    """

    must: Literal["improve"]


class Guard(_Selection):
    """What must not get worse, or must be good enough.

    Attributes:
        may_rise_by_at_most, may_fall_by_at_most: against the baseline.
        at_most, at_least: of the candidate alone.
    """

    may_rise_by_at_most: Margin | None = None
    may_fall_by_at_most: Margin | None = None
    at_most: Bound | None = None
    at_least: Bound | None = None


class Latency(Part):
    """A latency budget of the audio arm.

    Attributes:
        stage: `recognize`, `correct`, `llm` or `first_token` of answers, `plan` or `render`.
        p95_seconds_at_most: for the upper confidence bound of the 95th percentile.
    """

    stage: Literal["recognize", "correct", "llm", "first_token", "plan", "render"]
    p95_seconds_at_most: Seconds


class Failures(Part):
    """How many of the candidate's items may fail, in any arm.

    Attributes:
        count_at_most: items; 0 where neither is given.
        rate_at_most: share of all items.
    """

    count_at_most: Count | None = None
    rate_at_most: Share | None = None

    @model_validator(mode="after")
    def _check_given(self) -> Self:
        if self.count_at_most is None and self.rate_at_most is None:
            raise ValueError("give count_at_most or rate_at_most; without `failures` no item may fail")
        return self


class RequiredSlices(Part):
    """Slices that must be large enough.

    Attributes:
        by: axes; every combination of their declared values must be there.
        items_at_least, sessions_at_least: what each holds, of items that did not fail. An item without a
            session is one of its own.
    """

    by: Annotated[Axes, Field(min_length=1)]
    items_at_least: Size = MIN_ITEMS
    sessions_at_least: Size = MIN_UNITS

    @field_validator("by")
    @classmethod
    def _check_by(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _different(value)


def _as_names(value: object) -> object:
    return (ALL,) if value == ALL else value


def _all_or_known(name: str) -> str:
    return name if name == ALL else known_check(name)


RequiredName = Annotated[str, Field(strict=True, max_length=80), AfterValidator(_all_or_known)]


class SoakSection(Part):
    """What a long session must show.

    Attributes:
        require: checks that must pass, by their names; ALL alone for what `misheard soak check` decides by.
        limits: what the session may do, in place of the limits that it was played with.
        may_differ: in what the session need not agree with the run, each with the reason.
        at_least_minutes: how long the session must be; of a trace, its time from first to last event.
    """

    require: Annotated[
        tuple[RequiredName, ...], BeforeValidator(_as_names), Field(min_length=1, max_length=_MAX_ENTRIES)
    ]
    limits: Limits | None = None
    may_differ: Mapping[Literal["system", "suite"], Reason] = Field(default_factory=dict)
    at_least_minutes: Annotated[float, Field(strict=True, gt=0.0, le=1440.0)] | None = None

    @model_validator(mode="after")
    def _check_choice(self) -> Self:
        if ALL in self.require and len(self.require) > 1:
            raise ValueError("require: give all, or a list of checks")
        if self.limits is not None:
            if self.limits.require:
                raise ValueError("limits.require: name the checks under require of the section")
            if both := sorted({*self.require} & {*self.limits.waived}):
                raise ValueError(f"{', '.join(both)}: give require or limits.waived, not both")
        return self

    @property
    def requires_all(self) -> bool:
        """Whether every check is asked."""
        return self.require == (ALL,)


class Gate(Part):
    """What may ship.

    Attributes:
        format: `misheard-gate/1`.
        primary: what the change is for.
        primary_any_of: improvements of which any one is enough, in place of `primary`.
        guards: what must not get worse.
        latency: budgets of times.
        failures: how many items may fail.
        required_slices: slices that must be large enough.
        waived_axes: gate axes of the suite that no check looks at, with the reason.
        soak: what a long session must show.
    """

    format: Literal["misheard-gate/1"]
    primary: PrimaryClaim | None = None
    primary_any_of: Annotated[tuple[AnyOfClaim, ...], Field(max_length=_MAX_ENTRIES)] = ()
    guards: Annotated[tuple[Guard, ...], Field(max_length=_MAX_ENTRIES)] = ()
    latency: Annotated[tuple[Latency, ...], Field(max_length=_MAX_ENTRIES)] = ()
    failures: Failures = Failures(count_at_most=0)
    required_slices: Annotated[tuple[RequiredSlices, ...], Field(max_length=_MAX_ENTRIES)] = ()
    waived_axes: Mapping[Axis, Reason] = Field(default_factory=dict)
    soak: SoakSection | None = None

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        if self.primary is not None and self.primary_any_of:
            raise ValueError("give primary or primary_any_of, not both")
        if len(self.primary_any_of) == 1:
            raise ValueError("primary_any_of needs two claims; a single one is a primary")
        if self.primary is None and not self.primary_any_of and not self.guards:
            raise ValueError("has neither a primary claim nor a guard: it would let everything pass")
        return self
