"""The texts that recognition metrics compare: which rows have them, what a profile makes of them."""

from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import Arm, ArmOutput, BoolArray, ScoredRow
from misheard.text.profiles import Profile

CORRECTING_ARMS = (Arm.AUDIO, Arm.TRANSCRIPT, Arm.CONTROL)
"""The arms in which a system with a corrector corrects the transcript."""


def has_transcript(rows: Sequence[ScoredRow]) -> BoolArray:
    """Return which rows are speech with a transcript: bool[n]."""
    return np.array([row.item.is_speech and row.output.transcript is not None for row in rows], dtype=bool)


def normalised_texts(rows: Sequence[ScoredRow], profile: Profile) -> tuple[list[str], list[str]]:
    """Return the references and transcripts of rows under a profile; a missing transcript is empty."""
    references = [profile.apply(row.item.reference, row.item.language) for row in rows]
    return references, [profile.apply(row.output.transcript or "", row.item.language) for row in rows]


def corrected_text(output: ArmOutput) -> str | None:
    """Return what the corrector made of a transcript; None where there is nothing corrected.

    Of an output whose recognition failed, it is the empty text that counts instead, where there is one.
    """
    if output.correction is not None:
        return output.correction.text
    return output.transcript if output.unheard else None
