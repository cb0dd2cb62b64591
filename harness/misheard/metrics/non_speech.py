"""Family `non_speech`: how often recognition makes text of recordings that hold no speech."""

from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, share_of_rows
from misheard.text.profiles import normalise

_CLIPS_WITH_TEXT, _CLIPS = range(2)


class NonSpeech:
    """Clips with any text but white space: non-speech items, audio arm.

    An unheard clip that counts at all (policy `worst`) counts as text.
    """

    name = "non_speech"
    columns: tuple[str, ...] = ("clips_with_text", "clips")
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        share_of_rows(
            "non_speech_hallucination_rate",
            "share of non-speech clips with any text",
            "lower",
            _CLIPS_WITH_TEXT,
            _CLIPS,
        ),
    )

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every non-speech row that has a transcript, be it empty."""
        values = np.zeros((len(rows), len(self.columns)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            transcript = row.output.transcript
            if row.item.is_speech or transcript is None:
                continue
            present[index] = True
            has_text = row.output.unheard or normalise(transcript, "nfc") != ""
            values[index] = (has_text, 1.0)
        return Counts(values, present)
