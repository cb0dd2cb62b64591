"""Which arms run which stage, in which order, and in which execution."""

from collections.abc import Sequence
from dataclasses import dataclass

from misheard.execution import Schedule
from misheard.metrics.base import Arm

HEARD = frozenset({Arm.AUDIO, Arm.UNCORRECTED})
"""The arms that begin with what was recognized."""

_ASKING = (Arm.AUDIO, Arm.UNCORRECTED, Arm.TRANSCRIPT, Arm.CONTROL)
"""A request that several arms share is run, and its time counted, in the first of them that is asked."""

_CORRECTED = (Arm.AUDIO, Arm.TRANSCRIPT, Arm.CONTROL)


def asking_arms(arms: Sequence[Arm]) -> tuple[Arm, ...]:
    """Return the arms of a run that answer or plan, in the order in which they run."""
    return tuple(arm for arm in _ASKING if arm in arms)


@dataclass(frozen=True, slots=True)
class Pass:
    """Arms that are asked one after the other, and the arms that were asked before them."""

    arms: tuple[Arm, ...]
    earlier: tuple[Arm, ...] = ()

    @property
    def begins_with_recognition(self) -> bool:
        """Whether an arm begins with what was recognized."""
        return not HEARD.isdisjoint(self.arms)


def passes_of(arms: Sequence[Arm], schedule: Schedule) -> tuple[Pass, ...]:
    """Return the arms of a run that answer or plan, in the order of the schedule.

    With `overlap` the arms that need no recognition are asked first, while it runs.
    """
    asking = asking_arms(arms)
    if schedule == "serial":
        return (Pass(asking),)
    golden = tuple(arm for arm in asking if arm not in HEARD)
    heard = tuple(arm for arm in asking if arm in HEARD)
    return tuple(one for one in (Pass(golden), Pass(heard, golden)) if one.arms)


def corrected_arms(arms: Sequence[Arm]) -> tuple[Arm, ...]:
    """Return the arms of a run that have a corrector, in the order in which they run."""
    return tuple(arm for arm in _CORRECTED if arm in arms)


def execution(arm: Arm, item: str) -> str:
    """Return the execution that a request belongs to: the control arm has one per item, the others share."""
    return f"control:{item}" if arm is Arm.CONTROL else "shared"
