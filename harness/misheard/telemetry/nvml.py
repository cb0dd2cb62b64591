"""NVIDIA's management library: what the driver says about devices. The only module that knows `pynvml`.

Units are those of the names: NVML's milliwatts and millijoules become watts and joules. On devices from
Ampere on (but GA100) the driver's power is a mean over one second.
"""

import contextlib
import functools
import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from misheard.telemetry.devices import Gpu, MigSlice, Visible
from misheard.telemetry.readings import PERMANENT, Reading, Reason, none_for

FIGURES = (
    "memory_used_bytes", "memory_own_bytes", "utilization_percent", "memory_utilization_percent",
    "power_watts", "energy_joules", "clock_sm_mhz", "clock_memory_mhz", "throttle_bits",
    "temperature_celsius",
)  # fmt: skip
"""What a sample holds of each device. `memory_own_bytes` is that of the run's own processes."""

_OF_A_SLICE = frozenset({"memory_used_bytes", "memory_own_bytes"})

THROTTLE_BITS = (
    "gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "sync_boost",
    "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "display_clock_setting",
    "board_limit", "reliability",
)  # fmt: skip
"""NVML's clocks event reasons, from the lowest bit on. `gpu_idle` and the settings are no slow-down."""

_REASONS = {
    3: Reason.NOT_SUPPORTED,
    4: Reason.NO_PERMISSION,
    9: Reason.NO_DRIVER,
    12: Reason.NO_DRIVER,
    13: Reason.NOT_SUPPORTED,
    15: Reason.DEVICE_LOST,
    16: Reason.DEVICE_LOST,
    18: Reason.DRIVER_MISMATCH,
    25: Reason.NOT_SUPPORTED,
}
"""By nvmlReturn_t; a function that the driver does not have (13, 25) is one that it does not support."""


@dataclass(slots=True)
class Device:
    """A visible device with its handle, and the sensors that were found not to answer."""

    visible: Visible
    handle: Any
    silent: dict[str, Reading] = field(default_factory=dict)

    def is_lost(self) -> bool:
        """Whether it fell off the bus."""
        return any(reading.reason is Reason.DEVICE_LOST for reading in self.silent.values())


@dataclass(frozen=True, slots=True)
class Memory:
    """Of a device, or of a slice of one; what the driver reserves is neither free nor used."""

    free_bytes: int
    total_bytes: int


class Nvml:
    """A session with the driver; made by `open_nvml`."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def close(self) -> None:
        """End the session; a driver that has gone meanwhile, however it says so, is no error."""
        with contextlib.suppress(Exception):
            self._library.nvmlShutdown()

    def gpus(self) -> tuple[Gpu, ...]:
        """Return all devices; one that does not tell its UUID cannot be named, and is left out."""
        count = self._ask(self._library.nvmlDeviceGetCount)
        found = []
        for index in range(0 if isinstance(count, Reading) else int(count)):
            handle = self._ask(self._library.nvmlDeviceGetHandleByIndex, index)
            uuid = handle if isinstance(handle, Reading) else self._text("nvmlDeviceGetUUID", handle)
            if isinstance(uuid, str):
                name = self._text("nvmlDeviceGetName", handle)
                found.append(
                    Gpu(index, uuid, name if isinstance(name, str) else "unknown", self._slices(handle))
                )
        return tuple(found)

    def device(self, visible: Visible) -> Device | Reading:
        """Return a device that can be asked."""
        handle = self._ask(self._library.nvmlDeviceGetHandleByIndex, visible.gpu.index)
        if visible.slice is not None and not isinstance(handle, Reading):
            handle = next(
                (part for found, part in self._slice_handles(handle) if found == visible.slice.uuid),
                none_for(Reason.NVML_ERROR, "the MIG slice is gone"),
            )
        return handle if isinstance(handle, Reading) else Device(visible, handle)

    def read(self, device: Device, own: Collection[int]) -> dict[str, Reading]:
        """Return every one of FIGURES. A sensor that will never answer is asked once.

        Args:
            device: whose.
            own: the ids of the run's processes.
        """
        readings: dict[str, Reading] = {}
        for names, ask in self._sensors(own):
            if device.is_lost():
                readings |= dict.fromkeys(names, none_for(Reason.DEVICE_LOST))
            elif names[0] in device.silent:
                readings |= dict.fromkeys(names, device.silent[names[0]])
            else:
                found = self._read(device, names, ask)
                readings |= dict(zip(names, found, strict=True))
                if found[0].reason in PERMANENT:
                    device.silent[names[0]] = found[0]
        return readings

    def describe(self, visible: Visible) -> dict[str, Any]:
        """Return what a device is, as JSON: index, UUID, name, MIG, memory and power limit."""
        device = self.device(visible)
        memory: Reading | Any = device
        limit: Reading | Any = device
        if isinstance(device, Device):
            memory = self._ask(self._memory, device.handle)
            limit = none_for(Reason.MIG)
            if visible.slice is None:
                limit = self._ask(self._library.nvmlDeviceGetEnforcedPowerLimit, device.handle)
        return {
            "index": visible.gpu.index,
            "uuid": visible.uuid,
            "name": visible.gpu.name,
            "mig": visible.gpu.mig is not None,
            "parent_uuid": visible.gpu.uuid,
            "memory_bytes": _as_reading(memory, lambda info: float(info.total)).document(),
            "power_limit_watts": _as_reading(limit, _thousandth).document(),
        }

    def memory(self, visible: Visible) -> Memory | Reading:
        """Return how much memory a device has, and how much of it is free now."""
        device = self.device(visible)
        answer = device if isinstance(device, Reading) else self._ask(self._memory, device.handle)
        return answer if isinstance(answer, Reading) else Memory(int(answer.free), int(answer.total))

    def capability(self, visible: Visible) -> tuple[int, int] | Reading:
        """Return the CUDA compute capability of a device, major and minor."""
        handle = self._ask(self._library.nvmlDeviceGetHandleByIndex, visible.gpu.index)
        if isinstance(handle, Reading):
            return handle
        answer = self._ask(self._library.nvmlDeviceGetCudaComputeCapability, handle)
        return answer if isinstance(answer, Reading) else (int(answer[0]), int(answer[1]))

    def versions(self) -> dict[str, str | None]:
        """Return the versions of the driver and of the CUDA that it speaks; None where it does not tell."""
        driver = self._text("nvmlSystemGetDriverVersion")
        cuda = self._ask(self._library.nvmlSystemGetCudaDriverVersion)
        return {
            "driver_version": driver if isinstance(driver, str) else None,
            "cuda_driver_version": None
            if isinstance(cuda, Reading)
            else f"{cuda // 1000}.{cuda % 1000 // 10}",
        }

    def _sensors(self, own: Collection[int]) -> Iterator[tuple[tuple[str, ...], Callable[[Any], list[Any]]]]:
        """Yield the figures that one call to the driver gives, and the call."""
        library = self._library
        yield ("memory_used_bytes",), lambda handle: [self._memory(handle).used]
        yield ("memory_own_bytes",), lambda handle: [self._own_memory(handle, own)]
        yield ("utilization_percent", "memory_utilization_percent"), self._utilization
        yield ("power_watts",), lambda handle: [library.nvmlDeviceGetPowerUsage(handle) / 1000]
        yield ("energy_joules",), lambda handle: [library.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000]
        for name, clock in (
            ("clock_sm_mhz", library.NVML_CLOCK_SM),
            ("clock_memory_mhz", library.NVML_CLOCK_MEM),
        ):
            yield (name,), functools.partial(self._clock, clock)
        yield ("throttle_bits",), lambda handle: [self._throttle(handle)]
        sensor = library.NVML_TEMPERATURE_GPU
        yield ("temperature_celsius",), lambda handle: [library.nvmlDeviceGetTemperature(handle, sensor)]

    def _read(self, device: Device, names: tuple[str, ...], ask: Callable[[Any], list[Any]]) -> list[Reading]:
        if device.visible.slice is not None and names[0] not in _OF_A_SLICE:
            return [none_for(Reason.MIG)] * len(names)
        answer = self._ask(ask, device.handle)
        if isinstance(answer, Reading):
            return [answer] * len(names)
        return [_as_reading(value, float) for value in answer]

    def _memory(self, handle: Any) -> Any:
        """Return memory in bytes; the second form tells what is used from what the driver reserves."""
        library = self._library
        try:
            return library.nvmlDeviceGetMemoryInfo(handle, version=library.nvmlMemory_v2)
        except library.NVMLError as error:
            if error.value not in (3, 13, 25):
                raise
            return library.nvmlDeviceGetMemoryInfo(handle)

    def _own_memory(self, handle: Any, own: Collection[int]) -> float | Reading:
        listed = [
            process
            for process in self._library.nvmlDeviceGetComputeRunningProcesses(handle)
            if process.pid in own
        ]
        if not listed:
            return none_for(Reason.NOT_LISTED)
        sizes = [process.usedGpuMemory for process in listed]
        # the driver of a hypervisor's guest, and that of Windows, list processes without their memory
        return none_for(Reason.NOT_SUPPORTED) if None in sizes else float(sum(sizes))

    def _utilization(self, handle: Any) -> list[Any]:
        rates = self._library.nvmlDeviceGetUtilizationRates(handle)
        return [rates.gpu, rates.memory]

    def _clock(self, clock: int, handle: Any) -> list[Any]:
        return [self._library.nvmlDeviceGetClockInfo(handle, clock)]

    def _throttle(self, handle: Any) -> Any:
        library = self._library
        try:
            return library.nvmlDeviceGetCurrentClocksEventReasons(handle)
        except library.NVMLError as error:
            if error.value != 13:
                raise
            # the name of drivers before 535
            return library.nvmlDeviceGetCurrentClocksThrottleReasons(handle)

    def _slices(self, handle: Any) -> tuple[MigSlice, ...] | None:
        mode = self._ask(self._library.nvmlDeviceGetMigMode, handle)
        if isinstance(mode, Reading) or not mode[0]:
            return None
        slices = []
        for uuid, part in self._slice_handles(handle):
            instances = [
                self._ask(self._library.nvmlDeviceGetGpuInstanceId, part),
                self._ask(self._library.nvmlDeviceGetComputeInstanceId, part),
            ]
            numbers = [-1 if isinstance(number, Reading) else int(number) for number in instances]
            slices.append(MigSlice(uuid, *numbers))
        return tuple(slices)

    def _slice_handles(self, handle: Any) -> Iterator[tuple[str, Any]]:
        count = self._ask(self._library.nvmlDeviceGetMaxMigDeviceCount, handle)
        for index in range(0 if isinstance(count, Reading) else int(count)):
            part = self._ask(self._library.nvmlDeviceGetMigDeviceHandleByIndex, handle, index)
            uuid = part if isinstance(part, Reading) else self._text("nvmlDeviceGetUUID", part)
            if isinstance(uuid, str):
                yield uuid, part

    def _text(self, function: str, *arguments: Any) -> str | Reading:
        answer = self._ask(getattr(self._library, function), *arguments)
        if isinstance(answer, Reading):
            return answer
        return answer.decode() if isinstance(answer, bytes) else str(answer)

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function of the library says, or a reading with the reason why it says nothing."""
        library = self._library
        try:
            return function(*arguments)
        except library.NVMLError as error:
            return _reading_of(error)
        except library.NVMLLibraryMismatchError:
            return none_for(Reason.NOT_SUPPORTED, "the driver is too old for this nvidia-ml-py")


@contextmanager
def nvml_session() -> Iterator[Nvml | Reading]:
    """Open the driver's library for a moment; a reading says why that cannot be done."""
    session = open_nvml()
    try:
        yield session
    finally:
        if isinstance(session, Nvml):
            session.close()


def open_nvml() -> Nvml | Reading:
    """Return a session that has to be closed, or the reason why there is none."""
    try:
        import pynvml
    except ImportError:
        return none_for(Reason.LIBRARY_MISSING)
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return _reading_of(error)
    except OSError as error:
        return none_for(Reason.NO_DRIVER, type(error).__name__)
    return Nvml(pynvml)


def throttle_name(bit: int) -> str:
    """Return the name of a reason for lower clocks; one that is not known goes by its bit."""
    return THROTTLE_BITS[bit] if bit < len(THROTTLE_BITS) else f"bit_{bit}"


def _reading_of(error: Any) -> Reading:
    code = int(error.value)
    reason = _REASONS.get(code, Reason.NVML_ERROR)
    return none_for(reason, f"NVML error {code}" if reason is Reason.NVML_ERROR else "")


def _as_reading(answer: Any, convert: Callable[[Any], float]) -> Reading:
    if isinstance(answer, Reading):
        return answer
    value = convert(answer)
    return Reading(value) if math.isfinite(value) else none_for(Reason.NVML_ERROR, "not a finite number")


def _thousandth(value: Any) -> float:
    return float(value) / 1000
