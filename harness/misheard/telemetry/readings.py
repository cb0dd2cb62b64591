"""A figure, or the reason why there is none. A sensor that cannot be read is never 0."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """Why a figure is null, or what to know about one that is not."""

    LIBRARY_MISSING = "library_missing"
    NO_DRIVER = "no_driver"
    DRIVER_MISMATCH = "driver_mismatch"
    NO_DEVICE = "no_device"
    NOT_USED = "not_used"
    NO_PERMISSION = "no_permission"
    NOT_SUPPORTED = "not_supported"
    MIG = "mig"
    DEVICE_LOST = "device_lost"
    NOT_LISTED = "not_listed"
    NVML_ERROR = "nvml_error"
    NO_RAPL = "no_rapl"
    READ_ERROR = "read_error"
    DISABLED = "disabled"
    NOT_SAMPLED = "not_sampled"
    TOO_SHORT = "too_short"
    SCHEDULE_OVERLAP = "schedule_overlap"
    NO_BASELINE = "no_baseline"
    BELOW_BASELINE = "below_baseline"
    NO_WORK = "no_work"
    NO_PRICE = "no_price"
    NO_TOKENS = "no_tokens"


SENTENCES: dict[Reason, str] = {
    Reason.LIBRARY_MISSING: "the library that reads it (nvidia-ml-py, psutil) is not installed",
    Reason.NO_DRIVER: "no NVIDIA driver answers on this machine or in this container",
    Reason.DRIVER_MISMATCH: "the driver's library and its kernel module differ in version",
    Reason.NO_DEVICE: "no device is visible to this process",
    Reason.NOT_USED: "the run uses no device",
    Reason.NO_PERMISSION: "this user may not read it",
    Reason.NOT_SUPPORTED: "the device or its driver does not measure it",
    Reason.MIG: "it is measured for the whole device, not for a MIG slice",
    Reason.DEVICE_LOST: "the device was lost while the run worked",
    Reason.NOT_LISTED: "the driver lists no process of this run, as in many containers",
    Reason.NVML_ERROR: "the driver answered with an error",
    Reason.NO_RAPL: "the kernel shows no counter",
    Reason.READ_ERROR: "it could not be read",
    Reason.DISABLED: "telemetry.enabled is false",
    Reason.NOT_SAMPLED: "no samples enclose the stage",
    Reason.TOO_SHORT: "the stage is too short for the sampling interval",
    Reason.SCHEDULE_OVERLAP: "stages ran at the same time (schedule overlap)",
    Reason.NO_BASELINE: "no idle baseline was measured",
    Reason.BELOW_BASELINE: "less than the idle baseline, so that the figure is negative",
    Reason.NO_WORK: "nothing was worked on in this process",
    Reason.NO_PRICE: "the config names no price",
    Reason.NO_TOKENS: "no tokens were counted",
}  # fmt: skip
"""What each reason means, for people."""

PERMANENT = frozenset(
    {Reason.NO_PERMISSION, Reason.NOT_SUPPORTED, Reason.MIG, Reason.DEVICE_LOST, Reason.NO_RAPL}
)
"""Reasons that do not go away while a process lives: such a sensor is asked once."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A value in the unit of its name, or None with a reason. The reason of a value is a remark on it."""

    value: float | None
    reason: Reason | None = None
    detail: str = ""

    def __post_init__(self) -> None:
        if self.value is None and self.reason is None:
            raise ValueError("a reading without a value needs a reason")

    def document(self) -> dict[str, Any]:
        """Return it as JSON: `value`, and `reason` and `detail` where there are any."""
        return {"value": self.value, **why(self.reason, self.detail)}


def none_for(reason: Reason, detail: str = "") -> Reading:
    """Return a reading without a value."""
    return Reading(None, reason, detail)


def why(reason: Reason | None, detail: str = "") -> dict[str, str]:
    """Return a reason as JSON, empty where there is none."""
    if reason is None:
        return {}
    return {"reason": str(reason), **({"detail": detail} if detail else {})}
