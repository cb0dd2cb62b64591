"""How far a judge moved from the scores that it was calibrated with."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from misheard.errors import count_of
from misheard.judge.calibration_set import CalibrationItem

MAX_DRIFT = 1.0
"""The mean movement, in points, up to which a judge is still the one that was calibrated."""

_ROUNDING = 1e-9

Scores = Mapping[str, float | None]
"""Scores by id of the item; None where a reply was none."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Means of new - old score, over the items that have both, in points.

    Attributes:
        overall: over all items; None where no item has both.
        languages, questions: over those of one language or question.
        unpaired: ids of the items that have one of the two scores alone, so that nobody knows how far they
            moved.
    """

    overall: float | None
    languages: Mapping[str, float]
    questions: Mapping[str, float]
    unpaired: tuple[str, ...]

    def beyond(self) -> list[str]:
        """Return what moved too far, or cannot be told, a phrase each; empty for the same judge.

        Movements of languages or questions that cancel each other do not cancel here.
        """
        parts = {"all items": self.overall}
        parts |= {f"language {name}": value for name, value in self.languages.items()}
        parts |= {f"question {name}": value for name, value in self.questions.items()}
        found = [
            f"{name} {value:+.2f}"
            for name, value in parts.items()
            if value is not None and abs(value) > MAX_DRIFT + _ROUNDING
        ]
        if self.unpaired:
            found.append(f"{count_of(len(self.unpaired), 'item')} scored on one side only")
        return found


def measure_drift(items: Sequence[CalibrationItem], old: Scores, new: Scores) -> Drift:
    """Return how far scores moved; an item that one side lacks counts as one without a score there."""
    moved = {}
    unpaired = []
    for item in items:
        before, after = old.get(item.id), new.get(item.id)
        if before is not None and after is not None:
            moved[item.id] = after - before
        elif (before is None) != (after is None):
            unpaired.append(item.id)
    paired = [item for item in items if item.id in moved]

    def means(key: Callable[[CalibrationItem], str]) -> dict[str, float]:
        groups: dict[str, list[float]] = {}
        for item in paired:
            groups.setdefault(key(item), []).append(moved[item.id])
        return {name: fmean(values) for name, values in sorted(groups.items())}

    return Drift(
        _mean(moved.values()),
        means(lambda item: item.language_code),
        means(lambda item: item.question),
        tuple(unpaired),
    )


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
