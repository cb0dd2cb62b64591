"""What the NVIDIA driver tells of its devices, and which of them a process may use."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from misheard.doctor.child import Outcome

VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class Device:
    """A device, or one of the MIG devices that a device is divided into; what is not told is None."""

    index: int
    name: str
    uuid: str
    free: int | None
    total: int | None
    capability: str | None
    parent: str | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Devices:
    """The answer of the driver.

    Attributes:
        driver, cuda: versions of the driver, and of the newest CUDA that it runs; None without a driver.
        devices: those that a process could see; a divided device is listed as its parts.
        visible: those that CUDA_VISIBLE_DEVICES leaves.
        failed: why the driver cannot be asked: `no_library`, NVML's name of the error, or `broken`.
        reason: the same in words.
        seconds: how long asking took.
    """

    driver: str | None = None
    cuda: str | None = None
    devices: tuple[Device, ...] = ()
    visible: tuple[Device, ...] = ()
    failed: str = ""
    reason: str = ""
    seconds: float = 0.0


def read_devices(outcome: Outcome, variable: str | None) -> Devices:
    """Return what the probe `devices` found; `variable` is CUDA_VISIBLE_DEVICES, None where it is not set."""
    rows = outcome.rows
    failure = next((row for row in rows if "failed" in row), None)
    if failure is not None:
        return Devices(
            failed=str(failure["failed"]), reason=str(failure.get("reason", "")), seconds=outcome.seconds
        )
    driver = next((row for row in rows if "driver" in row), None)
    if outcome.problem or driver is None:
        reason = outcome.problem or "it said nothing that can be read"
        return Devices(failed="broken", reason=reason, seconds=outcome.seconds)
    devices = tuple(device for row in rows if "index" in row for device in _devices(row))
    return Devices(
        driver=str(driver["driver"]),
        cuda=str(driver.get("cuda")),
        devices=devices,
        visible=visible_devices(devices, variable),
        seconds=outcome.seconds,
    )


def _devices(row: dict[str, Any]) -> list[Device]:
    name, uuid = str(row.get("name", "")), str(row.get("uuid", ""))
    whole = Device(
        row["index"], name, uuid, row.get("free"), row.get("total"), row.get("capability"),
        error=str(row.get("error", "")),
    )  # fmt: skip
    if row.get("parts") is None:
        return [whole]
    return [
        Device(
            whole.index, name, str(part["uuid"]), part.get("free"), part.get("total"), whole.capability, uuid
        )
        for part in row["parts"]
    ]


def visible_devices(devices: Sequence[Device], variable: str | None) -> tuple[Device, ...]:
    """Return the devices that CUDA shows to a process.

    By the CUDA C++ programming guide, "CUDA environment variables": indices or beginnings of UUIDs, and
    nothing from the first that names no device on. Of divided devices one part is shown at most, and without
    the variable the first of the machine.
    """
    usable = [device for device in devices if not device.error]
    if variable is None:
        whole = [device for device in usable if device.parent is None]
        return tuple(whole or usable[:1])
    found: list[Device] = []
    for name in variable.split(","):
        device = _named(usable, name.strip())
        if device is None or device in found:
            break
        found.append(device)
    return tuple(found)


def _named(devices: Sequence[Device], name: str) -> Device | None:
    if name.isdecimal():
        return next((device for device in devices if device.index == int(name)), None)
    if not name.startswith(("GPU-", "MIG-")):
        return None
    matching = [device for device in devices if device.uuid.startswith(name)]
    return matching[0] if len(matching) == 1 else None
