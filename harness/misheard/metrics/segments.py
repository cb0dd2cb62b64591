"""Family `segments`: into how many pieces a recognizer cuts speech.

How many turns come back is how a recognizer ends them and says nothing about what it hears, so the rate has
no better direction: it is shown, and nothing can be ranked by it.
"""

from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, divide

_SEGMENTS, _RECORDINGS = range(2)


class Segments:
    """Pieces per recording: speech items, audio arm, where the recognizer tells."""

    name = "segments"
    columns: tuple[str, ...] = ("segments", "recordings")
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        Rate(
            "segments_per_recording",
            "mean number of pieces that the recognizer cut a recording into; no measure of quality",
            None,
            lambda sums: divide(sums[..., _SEGMENTS], sums[..., _RECORDINGS]),
        ),
    )

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row whose recognizer tells its segments and did not fail."""
        values = np.zeros((len(rows), len(self.columns)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            segments = row.output.segments
            if row.item.is_speech and segments is not None:
                present[index] = True
                values[index] = (segments, 1.0)
        return Counts(values, present)
