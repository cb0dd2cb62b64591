"""The texts that enter an arm, before and after the corrector."""

from collections.abc import Sequence

from misheard.metrics.base import Arm
from misheard.run.arms import HEARD
from misheard.run.context import RunContext
from misheard.run.outputs import correction_of
from misheard.run.recognized import Recognized
from misheard.run.replies import Replies


def entering(context: RunContext, recognized: Sequence[Recognized], arm: Arm) -> dict[str, str]:
    """Return what enters an arm, by item id: what was recognized, or references where they are needed."""
    if arm in HEARD:
        return {
            item.id: one.transcript
            for item, one in zip(context.suite.items, recognized, strict=True)
            if item.is_speech and one.transcript is not None
        }
    return {item.id: item.reference for item in context.said}


def going_on(
    context: RunContext, recognized: Sequence[Recognized], arm: Arm, corrections: Replies | None
) -> dict[str, str]:
    """Return what is answered or planned in an arm, by item id: corrected where the arm has a corrector."""
    texts = entering(context, recognized, arm)
    if corrections is None or arm is Arm.UNCORRECTED:
        return texts
    corrected = {item: correction_of(text, corrections.of(arm, item)) for item, text in texts.items()}
    return {
        item: text if (correction := corrected[item]) is None else correction.text
        for item, text in texts.items()
    }
