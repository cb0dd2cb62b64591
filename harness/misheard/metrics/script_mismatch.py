"""Family `script_mismatch`: transcripts in scripts that the item does not allow.

A character mismatches where its Unicode script (UAX #24) is neither Common nor Inherited nor declared for the
item. Digits, most punctuation and emoji are Common. An item that declares no scripts does not count.
"""

from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, divide, share_of_rows
from misheard.metrics.texts import has_transcript
from misheard.text.scripts import foreign_characters, scripts_of

_WITH_MISMATCH, _ITEMS, _MISMATCHED, _CHARACTERS = range(4)


def script_mismatch_counts(text: str, allowed: Sequence[str]) -> tuple[int, int]:
    """Return how many characters mismatch, and how many have a script (neither Common nor Inherited)."""
    return len(foreign_characters(text, allowed)), sum(scripts_of(text).values())


class ScriptMismatch:
    """Characters of scripts that were not declared: speech items with declared scripts, audio arm.

    A failed output that counts at all (policy `worst`) is a mismatch.
    """

    name = "script_mismatch"
    columns: tuple[str, ...] = (
        "items_with_mismatch",
        "items",
        "mismatched_characters",
        "scripted_characters",
    )
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        share_of_rows(
            "script_mismatch_rate",
            "share of items with a character of a script that is not declared",
            "lower",
            _WITH_MISMATCH,
            _ITEMS,
        ),
        Rate(
            "script_mismatch_character_rate",
            "share of such characters among those that belong to a script",
            "lower",
            lambda sums: divide(sums[..., _MISMATCHED], sums[..., _CHARACTERS]),
        ),
    )

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that declares scripts and has a transcript."""
        values = np.zeros((len(rows), len(self.columns)))
        present = has_transcript(rows) & np.array([bool(row.item.scripts) for row in rows], dtype=bool)
        for index in np.flatnonzero(present).tolist():
            row = rows[index]
            mismatched, scripted = script_mismatch_counts(row.output.transcript or "", row.item.scripts)
            failed = row.output.failure is not None
            values[index] = (mismatched > 0 or failed, 1, mismatched, scripted)
        return Counts(values, present)
