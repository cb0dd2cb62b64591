"""What the NVIDIA driver tells of itself and its devices, as the probe `devices` found it."""

from dataclasses import dataclass

from misheard.doctor.child import Outcome


@dataclass(frozen=True, slots=True)
class Device:
    """A device, or a MIG slice of one; sizes in bytes, and what is not told is None.

    `visible` says whether a process of this environment may use it.
    """

    index: int
    name: str
    uuid: str
    is_slice: bool
    free: int | None
    total: int | None
    capability: str | None
    visible: bool


@dataclass(frozen=True, slots=True)
class Devices:
    """The answer of the driver.

    Attributes:
        driver, cuda: versions of the driver, and of the newest CUDA that it runs; None where not told.
        devices: those that a process may use in CUDA's order, then the hidden ones.
        failed: why the driver cannot be asked (a `Reason` of telemetry, or `died`); empty where it can.
        detail: the same in words.
        seconds: how long asking took.
    """

    driver: str | None = None
    cuda: str | None = None
    devices: tuple[Device, ...] = ()
    failed: str = ""
    detail: str = ""
    seconds: float = 0.0

    @property
    def visible(self) -> tuple[Device, ...]:
        """The devices that a process may use."""
        return tuple(device for device in self.devices if device.visible)


def read_devices(outcome: Outcome) -> Devices:
    """Return what the probe found."""
    rows = outcome.rows
    seconds = outcome.seconds
    if rows and "failed" in rows[0]:
        return Devices(failed=str(rows[0]["failed"]), detail=str(rows[0]["detail"]), seconds=seconds)
    if outcome.problem or not rows or "driver_version" not in rows[0]:
        detail = outcome.problem or "it said nothing that can be read"
        return Devices(failed="died", detail=detail, seconds=seconds)
    devices = tuple(Device(**row) for row in rows[1:])
    return Devices(rows[0]["driver_version"], rows[0]["cuda_driver_version"], devices, seconds=seconds)
