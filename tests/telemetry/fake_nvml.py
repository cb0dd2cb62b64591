"""A stand-in for the module `pynvml`, at the boundary to NVIDIA's library: devices that follow a script.

Errors and constants are the real module's, and a test holds the functions to its names and parameters.
"""

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

pynvml = pytest.importorskip("pynvml", reason="needs the extra run")

GIB = 1024**3

NOT_SUPPORTED = pynvml.NVMLError_NotSupported
NO_PERMISSION = pynvml.NVMLError_NoPermission
LOST = pynvml.NVMLError_GpuIsLost

Scripted = float | type[Exception] | Exception | Callable[[float], float]
"""What a sensor says: a number, an error that it raises, or a function of the time."""


@dataclass
class FakeProcess:
    pid: int
    usedGpuMemory: int | None  # noqa: N815 - the library's name


@dataclass
class FakeSlice:
    uuid: str
    gpu_instance: int
    compute_instance: int
    used: int = GIB
    total: int = 10 * GIB
    processes: list[FakeProcess] = field(default_factory=list)


@dataclass
class FakeGpu:
    """A device; its defaults are those of a server card that tells everything, at constant 300 W."""

    uuid: str = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
    name: str = "NVIDIA H100 80GB HBM3"
    memory: Scripted = 10 * GIB
    memory_v2: Scripted = 9 * GIB
    total: int = 80 * GIB
    free: int = 70 * GIB
    capability: tuple[int, int] | type[Exception] = (9, 0)
    processes: list[FakeProcess] | type[Exception] = field(default_factory=list)
    utilization: Scripted = 87
    power_mw: Scripted = 300_000
    energy_mj: Scripted = lambda now: 300_000 * now
    clock_sm: Scripted = 1_980
    clock_memory: Scripted = 2_619
    events: Scripted = 0
    events_old_name: Scripted = NOT_SUPPORTED
    temperature: Scripted = 41
    limit_mw: Scripted = 700_000
    mig: list[FakeSlice] | None = None
    lost_at: float = float("inf")


class FakeNvml(types.ModuleType):
    """The module: `now` is the time that scripts are asked for, `calls` counts what was asked."""

    NVMLError = pynvml.NVMLError
    NVMLLibraryMismatchError = pynvml.NVMLLibraryMismatchError
    NVML_CLOCK_SM = pynvml.NVML_CLOCK_SM
    NVML_CLOCK_MEM = pynvml.NVML_CLOCK_MEM
    NVML_TEMPERATURE_GPU = pynvml.NVML_TEMPERATURE_GPU
    nvmlMemory_v2 = pynvml.nvmlMemory_v2  # noqa: N815

    def __init__(self, *gpus: FakeGpu, init: type[Exception] | None = None) -> None:
        super().__init__("pynvml")
        self.gpus = gpus
        self.init = init
        self.now = 0.0
        self.sessions = 0
        self.calls: dict[str, int] = {}

    def _say(self, handle: Any, function: str, scripted: Any) -> Any:
        self.calls[function] = self.calls.get(function, 0) + 1
        if isinstance(handle, FakeGpu) and self.now >= handle.lost_at:
            raise LOST()
        if isinstance(scripted, type | Exception):
            raise scripted() if isinstance(scripted, type) else scripted
        return scripted(self.now) if callable(scripted) else scripted

    def _of_gpu(self, handle: Any, function: str, scripted: Callable[[FakeGpu], Any]) -> Any:
        # a slice's handle is refused by what the library has for whole devices alone
        if isinstance(handle, FakeSlice):
            return self._say(handle, function, pynvml.NVMLError_InvalidArgument)
        return self._say(handle, function, scripted(handle))

    def nvmlInit(self) -> None:  # noqa: N802
        if self.init is not None:
            raise self.init()
        self.sessions += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.sessions -= 1

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        return "580.65.06"

    def nvmlSystemGetCudaDriverVersion(self) -> int:  # noqa: N802
        return 13_000

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:  # noqa: N802
        return self.gpus[index]

    def nvmlDeviceGetUUID(self, handle: Any) -> str:  # noqa: N802
        return str(self._say(handle, "uuid", handle.uuid))

    def nvmlDeviceGetName(self, handle: Any) -> str:  # noqa: N802
        return str(handle.name)

    def nvmlDeviceGetMigMode(self, device: Any) -> list[int]:  # noqa: N802
        return [0, 0] if device.mig is None else [1, 1]

    def nvmlDeviceGetMaxMigDeviceCount(self, device: Any) -> int:  # noqa: N802
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, device: Any, index: int) -> Any:  # noqa: N802
        if index >= len(device.mig):
            raise pynvml.NVMLError_NotFound()
        return device.mig[index]

    def nvmlDeviceGetGpuInstanceId(self, device: Any) -> int:  # noqa: N802
        return int(device.gpu_instance)

    def nvmlDeviceGetComputeInstanceId(self, device: Any) -> int:  # noqa: N802
        return int(device.compute_instance)

    def nvmlDeviceGetMemoryInfo(self, handle: Any, version: int | None = None) -> Any:  # noqa: N802
        if isinstance(handle, FakeSlice):
            return types.SimpleNamespace(
                total=handle.total, used=handle.used, free=handle.total - handle.used
            )
        used = self._say(handle, "memory", handle.memory if version is None else handle.memory_v2)
        return types.SimpleNamespace(total=handle.total, used=used, free=handle.free)

    def nvmlDeviceGetCudaComputeCapability(self, handle: Any) -> Any:  # noqa: N802
        return self._of_gpu(handle, "capability", lambda gpu: gpu.capability)

    def nvmlDeviceGetComputeRunningProcesses(self, handle: Any) -> Any:  # noqa: N802
        return self._say(handle, "processes", handle.processes)

    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any:  # noqa: N802
        busy = self._of_gpu(handle, "utilization", lambda gpu: gpu.utilization)
        return types.SimpleNamespace(gpu=busy, memory=busy / 2)

    def nvmlDeviceGetPowerUsage(self, handle: Any) -> Any:  # noqa: N802
        return self._of_gpu(handle, "power", lambda gpu: gpu.power_mw)

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any) -> Any:  # noqa: N802
        return self._of_gpu(handle, "energy", lambda gpu: gpu.energy_mj)

    def nvmlDeviceGetClockInfo(self, handle: Any, type: int) -> Any:  # noqa: N802
        is_sm = type == pynvml.NVML_CLOCK_SM
        return self._of_gpu(handle, "clock", lambda gpu: gpu.clock_sm if is_sm else gpu.clock_memory)

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: Any) -> Any:  # noqa: N802
        return self._of_gpu(handle, "events", lambda gpu: gpu.events)

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: Any) -> Any:  # noqa: N802
        return self._of_gpu(handle, "events", lambda gpu: gpu.events_old_name)

    def nvmlDeviceGetTemperature(self, handle: Any, sensor: int) -> Any:  # noqa: N802
        return self._of_gpu(handle, "temperature", lambda gpu: gpu.temperature)

    def nvmlDeviceGetEnforcedPowerLimit(self, handle: Any) -> Any:  # noqa: N802
        return self._of_gpu(handle, "limit", lambda gpu: gpu.limit_mw)


def install(monkeypatch: pytest.MonkeyPatch, *gpus: FakeGpu, **options: Any) -> FakeNvml:
    """Put a stand-in with these devices in the library's place; all of them are visible."""
    fake = FakeNvml(*gpus, **options)
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    for variable in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
        monkeypatch.delenv(variable, raising=False)
    return fake
