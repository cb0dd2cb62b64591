"""Chains of arms: from nothing golden to the most golden arm in which a family is counted."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import Arm, BoolArray, Counts, Family, FloatArray, Rate
from misheard.metrics.table import CountTable
from misheard.stats.estimates import family_arms, spans_arms

STAGES: Mapping[Arm, str] = {Arm.TRANSCRIPT: "recognition", Arm.PLAN: "planning"}
"""The golden arms in the order of the pipeline, and the stage whose golden value enters there."""

AFTER = {Arm.TRANSCRIPT: "after_transcript", Arm.PLAN: "rendering"}
"""Where what is still missing is lost, by the most golden arm of a chain."""

_PLANNED = ("plan", "render")
"""The stages that only a system with a planner has."""


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a chain: the stage, the arm with its golden value, and the arm before it.

    Where an arm between two was not run the link spans both stages, as `recognition_and_planning`.
    """

    stage: str
    golden: Arm
    arm: Arm


@dataclass(frozen=True, slots=True)
class Undefined:
    """A stage whose loss a chain does not have by itself.

    `reason` is `no_planner` (the system does not plan), `arm_not_run` (an arm that it takes is missing) or
    `not_scored` (the family counts nothing in the arm with its golden value).
    """

    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The counts of one family in every arm of its chain, side by side: float64[n, arms * K].

    Attributes:
        steps: from the audio arm on.
        undefined: the stages that have no step of their own.
        values, present: present where every arm counts the item.
    """

    family: Family
    steps: tuple[Step, ...]
    undefined: tuple[Undefined, ...]
    values: FloatArray
    present: BoolArray

    @property
    def arms(self) -> tuple[Arm, ...]:
        """From the audio arm to the most golden one."""
        return (self.steps[0].arm, *(step.golden for step in self.steps))

    def rate(self, rate: Rate, arm: Arm, sums: FloatArray) -> FloatArray:
        """Return a rate in one arm, from sums over the chain: [..., arms * K] -> [...]."""
        place, columns = self.arms.index(arm), len(self.family.columns)
        return rate.compute(sums[..., place * columns : (place + 1) * columns])


def find_chains(table: CountTable, families: Sequence[Family]) -> list[Chain]:
    """Return the chain of every family that is counted in the audio arm and in a golden one."""
    counts = {(family.name, arm): counts for family, arm, counts in family_arms(table, families)}
    is_planned = _is_planned(table, families)
    found = []
    for family in families:
        own = {arm: counts[family.name, arm] for arm in family.arms if (family.name, arm) in counts}
        arms = [Arm.AUDIO, *(arm for arm in STAGES if _is_link(arm, own))]
        if spans_arms(family) and Arm.AUDIO in own and len(arms) > 1:
            parts = [own[arm] for arm in arms]
            found.append(
                Chain(
                    family=family,
                    steps=tuple(_steps(arms)),
                    undefined=tuple(_undefined(family, arms, table, is_planned=is_planned)),
                    values=np.concatenate([part.values for part in parts], axis=1),
                    present=np.logical_and.reduce([part.present for part in parts]),
                )
            )
    return found


def _is_link(arm: Arm, own: Mapping[Arm, Counts]) -> bool:
    """Whether an arm is part of a family's chain: one without a golden plan to score leaves no link."""
    return arm in own and (arm is Arm.TRANSCRIPT or bool(own[arm].present.any()))


def _is_planned(table: CountTable, families: Sequence[Family]) -> bool:
    """Whether the system has a planner: it has its arm, failures of it, or something planned was counted."""
    failures = (failure for arm in table.arms.values() for failure in arm.failures)
    return (
        Arm.PLAN in table.arms
        or any(failure is not None and failure.stage in _PLANNED for failure in failures)
        or any(
            counts.present.any()
            for family, _, counts in family_arms(table, families)
            if Arm.PLAN in family.arms
        )
    )


def _steps(arms: Sequence[Arm]) -> Iterator[Step]:
    order = list(STAGES)
    begin = 0
    for before, golden in itertools.pairwise(arms):
        end = order.index(golden) + 1
        yield Step("_and_".join(STAGES[arm] for arm in order[begin:end]), golden, before)
        begin = end


def _undefined(
    family: Family, arms: Sequence[Arm], table: CountTable, *, is_planned: bool
) -> Iterator[Undefined]:
    own = {step.stage for step in _steps(arms)}
    for golden, stage in STAGES.items():
        if stage in own:
            continue
        if golden is Arm.PLAN and not is_planned:
            yield Undefined(stage, "no_planner")
        elif golden not in family.arms or (golden in table.arms and golden not in arms):
            yield Undefined(stage, "not_scored")
        else:
            yield Undefined(stage, "arm_not_run")
