"""Families `script_mismatch`: transcripts, corrected ones too, in scripts that the item does not allow.

A character mismatches where its Unicode script (UAX #24) is neither Common nor Inherited nor declared for the
item. Digits, most punctuation and emoji are Common. An item that declares no scripts does not count.
"""

from collections.abc import Callable, Sequence

import numpy as np

from misheard.metrics.base import Arm, ArmOutput, Counts, Rate, ScoredRow, divide, share_of_rows
from misheard.metrics.texts import corrected_text
from misheard.text.scripts import foreign_characters, scripts_of

_WITH_MISMATCH, _ITEMS, _MISMATCHED, _CHARACTERS = range(4)


def script_mismatch_counts(text: str, allowed: Sequence[str]) -> tuple[int, int]:
    """Return how many characters mismatch, and how many have a script (neither Common nor Inherited)."""
    return len(foreign_characters(text, allowed)), sum(scripts_of(text).values())


class ScriptMismatch:
    """Characters of scripts that were not declared: speech items with declared scripts.

    An unheard item that counts at all (policy `worst`) is a mismatch. `text` is that of an output, None where
    it has none; `prefix` stands before the names of the rates, and `what` says what the text is.
    """

    columns: tuple[str, ...] = (
        "items_with_mismatch",
        "items",
        "mismatched_characters",
        "scripted_characters",
    )
    relative_to: Arm | None = None

    def __init__(
        self,
        name: str,
        prefix: str,
        where: str,
        arms: tuple[Arm, ...],
        text: Callable[[ArmOutput], str | None],
    ) -> None:
        self.name = name
        self.arms = arms
        self.rates: tuple[Rate, ...] = (
            share_of_rows(
                f"{prefix}script_mismatch_rate",
                f"share of items with a character of a script that is not declared{where}",
                "lower",
                _WITH_MISMATCH,
                _ITEMS,
            ),
            Rate(
                f"{prefix}script_mismatch_character_rate",
                f"share of such characters among those that belong to a script{where}",
                "lower",
                lambda sums: divide(sums[..., _MISMATCHED], sums[..., _CHARACTERS]),
            ),
        )
        self._text = text

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that declares scripts and has a text."""
        values = np.zeros((len(rows), len(self.columns)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            text = self._text(row.output)
            if not row.item.is_speech or not row.item.scripts or text is None:
                continue
            present[index] = True
            mismatched, scripted = script_mismatch_counts(text, row.item.scripts)
            failed = row.output.unheard
            values[index] = (mismatched > 0 or failed, 1, mismatched, scripted)
        return Counts(values, present)


def of_transcripts() -> ScriptMismatch:
    """Return the family of what recognition writes: audio arm."""
    return ScriptMismatch("script_mismatch", "", "", (Arm.AUDIO,), lambda output: output.transcript)


def of_corrected_texts() -> ScriptMismatch:
    """Return the family of what the corrector makes of a transcript, in the arms that correct."""
    return ScriptMismatch(
        "script_mismatch_corrected",
        "corrected_",
        ", in the corrected transcript",
        (Arm.AUDIO,),
        corrected_text,
    )
