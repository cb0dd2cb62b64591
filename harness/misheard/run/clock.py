"""Where the time went and on what machine."""

import os
import platform
import resource
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.telemetry.facade import describe_devices


class Clock:
    """Seconds per phase of this process. Phases do not nest; threads may measure at the same time."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._lock = threading.Lock()
        self._started = time.perf_counter()
        # The interpreter and the imports before this point belong to the run as well.
        self._before = time.time() - _process_start()

    @contextmanager
    def measure(self, phase: str) -> Iterator[None]:
        """Add the time spent inside to a phase."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add(phase, time.perf_counter() - started)

    def add(self, phase: str, seconds: float) -> None:
        """Add measured seconds to a phase."""
        with self._lock:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds

    def wall(self) -> float:
        """Return seconds since the process started."""
        return self._before + time.perf_counter() - self._started


def _process_start() -> float:
    try:
        import psutil
    except ImportError as error:
        raise BackendError(
            f"misheard run needs more than the base install ({error}); {INSTALL_ADVICE}"
        ) from error
    return float(psutil.Process().create_time())


def peak_memory_bytes() -> int:
    """Return the largest resident size that this process has had (Linux reports it in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def describe_machine(device: str) -> dict[str, Any]:
    """Return what the run's figures depend on: processor, cores in use, memory, device, Python."""
    import psutil

    gpus = describe_devices()
    return {
        "device": device,
        "device_name": _device_names(gpus) if device == "cuda" else _cpu_name(),
        "gpus": gpus,
        "cpu": _cpu_name(),
        "cpus_available": len(os.sched_getaffinity(0)),
        "memory_bytes": psutil.virtual_memory().total,
        "platform": platform.platform(),
        "python": platform.python_version(),
    }


def _cpu_name() -> str | None:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or None


def _device_names(gpus: Mapping[str, Any]) -> str | None:
    return ", ".join(str(device["name"]) for device in gpus["devices"]) or None
