"""Which arms run which stage, in which order, and in which execution."""

from collections.abc import Sequence

from misheard.metrics.base import Arm

HEARD = frozenset({Arm.AUDIO, Arm.UNCORRECTED})
"""The arms that begin with what was recognized."""

_ASKING = (Arm.AUDIO, Arm.UNCORRECTED, Arm.TRANSCRIPT, Arm.CONTROL)
"""A request that several arms share is run, and its time counted, in the first of them."""

_CORRECTED = (Arm.AUDIO, Arm.TRANSCRIPT, Arm.CONTROL)


def asking_arms(arms: Sequence[Arm]) -> tuple[Arm, ...]:
    """Return the arms of a run that answer or plan, in the order in which they run."""
    return tuple(arm for arm in _ASKING if arm in arms)


def corrected_arms(arms: Sequence[Arm]) -> tuple[Arm, ...]:
    """Return the arms of a run that have a corrector, in the order in which they run."""
    return tuple(arm for arm in _CORRECTED if arm in arms)


def execution(arm: Arm, item: str) -> str:
    """Return the execution that a request belongs to: the control arm has one per item, the others share."""
    return f"control:{item}" if arm is Arm.CONTROL else "shared"
