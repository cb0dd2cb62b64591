"""Samples in memory: one column of numbers per figure, bounded in length."""

import math
from array import array
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from misheard.telemetry.readings import Reading, Reason

FloatArray = npt.NDArray[np.float64]

MAX_SAMPLES = 20_000
"""Samples that are held; where there would be more, every second one goes and the interval is doubled."""


class Columns:
    """Readings over time.

    A missing value is NaN in its column; the column keeps the last reason for one. All columns are as long as
    `times`.
    """

    def __init__(self, max_samples: int = MAX_SAMPLES) -> None:
        self._max_samples = max_samples
        self._times = array("d")
        self._values: dict[str, array[float]] = {}
        self.missing: dict[str, Reading] = {}

    def __len__(self) -> int:
        return len(self._times)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def add(self, at: float, readings: Mapping[str, Reading]) -> None:
        """Add a sample taken at a time in seconds. A figure that comes later than others begins with NaN."""
        for name, reading in readings.items():
            if name not in self._values:
                self._values[name] = array("d", [math.nan]) * len(self._times)
            if reading.value is None:
                self.missing[name] = reading
            self._values[name].append(math.nan if reading.value is None else reading.value)
        self._times.append(at)
        for column in self._values.values():
            if len(column) < len(self._times):
                column.append(math.nan)

    def thin_out(self) -> bool:
        """Drop every second sample where they are too many, never the first; say whether that was done."""
        if len(self._times) < self._max_samples:
            return False
        self._times = self._times[::2]
        self._values = {name: column[::2] for name, column in self._values.items()}
        return True

    def times(self) -> FloatArray:
        """Return when samples were taken, in seconds, ascending."""
        return np.array(self._times, dtype=np.float64)

    def values(self, name: str) -> FloatArray:
        """Return a column with NaN for what is missing; all NaN where there is no such figure."""
        if name not in self._values:
            return np.full(len(self._times), np.nan)
        return np.array(self._values[name], dtype=np.float64)

    def reason(self, name: str) -> Reading:
        """Return a reading that says why a figure is missing."""
        return self.missing.get(name, Reading(None, Reason.NOT_SAMPLED))
