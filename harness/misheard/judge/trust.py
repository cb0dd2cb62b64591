"""Whether the numbers of a judge may be shown: only where this very judge was calibrated."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from misheard.canonical import changed_names
from misheard.judge.calibration import Calibration
from misheard.judge.drift import Drift

_CALIBRATE = "misheard judge calibrate CONFIG, then misheard score RUN --calibration FILE"


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether a judge is trusted; `reason` says why it is not, and what to do.

    `drift` and `beyond` are of the calibration: how far the judge moved from its anchor in all items, in
    points, and what of it was too far.
    """

    is_trusted: bool
    reason: str = ""
    drift: float | None = None
    beyond: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values, for a report."""
        return {
            "status": "trusted" if self.is_trusted else "withheld",
            "reason": self.reason or None,
            "drift": self.drift,
            "beyond": list(self.beyond),
        }


def trust(judge: Mapping[str, Mapping[str, Any]], calibration: Calibration | None) -> Trust:
    """Return whether a judge, by its fingerprint per question, is the one that was calibrated, and well."""
    if calibration is None:
        return Trust(False, f"the judge was not calibrated: {_CALIBRATE}")
    missing = sorted(judge.keys() - calibration.judge.keys())
    if missing:
        return Trust(False, f"the calibration set has no item of the question {', '.join(missing)}")
    changed = [
        f"{question}: {name}"
        for question, fingerprint in judge.items()
        for name in changed_names(fingerprint, calibration.judge[question])  # type: ignore[index]
    ]
    if changed:
        return Trust(
            False, f"the judge is not the calibrated one ({', '.join(changed)} differ): {_CALIBRATE}"
        )
    part = calibration.drift
    drift = (
        None if part is None else Drift(part.overall, part.languages, part.questions, tuple(part.unpaired))
    )
    overall, beyond = (None, ()) if drift is None else (drift.overall, tuple(drift.beyond()))
    if calibration.status == "unscored":
        return Trust(False, "the judge gave no valid score in its calibration", overall, beyond)
    if calibration.status == "drifted":
        reason = (
            f"the judge drifted from its calibration ({'; '.join(beyond)}); go back to the judge as it was, "
            "or take the new one with misheard judge calibrate CONFIG --accept REASON"
        )
        return Trust(False, reason, overall, beyond)
    return Trust(True, "", overall, beyond)
