"""Telemetry of one run: started before anything is loaded, told of the stages, stopped at the end.

telemetry = Telemetry(TelemetryOptions(interval_seconds=0.5))
telemetry.start()
telemetry.measure_idle(2.0)
with telemetry.stage("recognize"):
    ...
result = telemetry.stop(Work(audio_seconds=3600.0))
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from misheard.telemetry.columns import MAX_SAMPLES, Columns
from misheard.telemetry.devices import Selection, select
from misheard.telemetry.nvml import FIGURES, Device, Nvml, nvml_session, open_nvml
from misheard.telemetry.price import Price
from misheard.telemetry.rapl import POWERCAP, Rapl
from misheard.telemetry.readings import Reading, Reason, none_for, why
from misheard.telemetry.result import (
    CPU,
    PACKAGES,
    RESIDENT,
    Devices,
    SamplerFacts,
    TelemetryResult,
    Work,
    device_column,
)
from misheard.telemetry.sampler import Sampler, answer_in_time
from misheard.telemetry.stages import IDLE, Interval, StageMarks
from misheard.telemetry.tree import ProcessTree


@dataclass(frozen=True, slots=True)
class TelemetryOptions:
    """What is measured.

    Attributes:
        enabled: whether anything is; without it, stages are noted for nothing and the result says so.
        interval_seconds: between samples.
        uses_devices: False for a run on the CPU, of which the devices of the machine say nothing.
        is_overlap: whether stages run at the same time, so that no energy belongs to one of them.
        price: of device hours and tokens.
        max_samples: that are held before every second one is dropped.
        powercap: where the kernel shows the processor's energy counters.
    """

    enabled: bool = True
    interval_seconds: float = 0.5
    uses_devices: bool = True
    is_overlap: bool = False
    price: Price = field(default_factory=Price)
    max_samples: int = MAX_SAMPLES
    powercap: Path = POWERCAP


class Telemetry:
    """Samples devices, processes and processor energy beside a run; nothing in it can fail the run."""

    def __init__(self, options: TelemetryOptions | None = None) -> None:
        self._options = options or TelemetryOptions()
        self._marks = StageMarks()
        self._columns = Columns(self._options.max_samples)
        self._sampler: Sampler | None = None
        self._session: Nvml | None = None
        self._sampled: list[Device | Reading] = []
        self._devices = Devices()
        self._tree = ProcessTree(lambda: [os.getpid()])
        self._rapl: Rapl | None = None
        self._began = time.monotonic()

    def start(self, pids: Callable[[], Iterable[int]] | None = None) -> None:
        """Take the first sample and go on in a thread of its own.

        Args:
            pids: the processes of the run; those below them belong to them. By default this process.
        """
        if not self._options.enabled:
            return
        if pids is not None:
            self._tree = ProcessTree(pids)
        self._rapl = Rapl(self._options.powercap)
        try:
            self._devices, self._session, self._sampled = answer_in_time(self._open_devices)
        except Exception as error:  # noqa: BLE001 - whatever a driver does, the run goes on
            self._devices = Devices(missing=none_for(Reason.READ_ERROR, type(error).__name__))
        self._sampler = Sampler(self._read, self._options.interval_seconds, self._columns)
        self._began = time.monotonic()
        self._sampler.start()

    @property
    def measures_power(self) -> bool:
        """Whether the first sample told any power or energy, so that an idle baseline says something."""
        return any(
            np.isfinite(self._columns.values(name)).any()
            for name in self._columns
            if name == PACKAGES or name.endswith((".energy_joules", ".power_watts"))
        )

    def measure_idle(self, seconds: float) -> None:
        """Wait, and take what the machine uses meanwhile as its idle baseline: before anything is loaded."""
        if self._sampler is not None and seconds > 0:
            with self._marks.mark(IDLE):
                time.sleep(seconds)

    def stage(self, name: str, arm: str | None = None) -> AbstractContextManager[None]:
        """Note what is inside as a stage, named `name`, or `name:arm` where it belongs to an arm.

        A stage may be noted again, and adds up. Mark phases, not batches: what is shorter than two samples
        has no energy.
        """
        return self._marks.mark(name if arm is None else f"{name}:{arm}")

    def stop(self, work: Work | None = None) -> TelemetryResult:
        """Take the last sample, end the thread, let go of the driver, and return what was found."""
        sampler, self._sampler = self._sampler, None
        facts = None
        if sampler is not None:
            sampler.stop()
            facts = SamplerFacts(
                asked_interval_seconds=self._options.interval_seconds,
                interval_seconds=sampler.interval_seconds,
                samples=len(self._columns),
                thinned=sampler.thinned,
                slowed=sampler.slowed,
                overhead_seconds=sampler.overhead_seconds,
                ended=sampler.ended,
            )
        span = Interval(self._began, time.monotonic())
        if self._session is not None:
            if sampler is None or not sampler.is_stuck:
                with contextlib.suppress(TimeoutError):
                    answer_in_time(self._session.close)
            self._session = None
        return TelemetryResult(
            columns=self._columns,
            stages=self._marks.intervals(),
            span=span,
            devices=self._devices,
            sampler=facts,
            is_overlap=self._options.is_overlap,
            work=work or Work(),
            price=self._options.price,
        )

    def _open_devices(self) -> tuple[Devices, Nvml | None, list[Device | Reading]]:
        if not self._options.uses_devices:
            return Devices(missing=none_for(Reason.NOT_USED)), None, []
        session = open_nvml()
        if isinstance(session, Reading):
            return Devices(missing=session), None, []
        try:
            selection = _selected(session, os.environ)
            sampled = [session.device(visible) for visible in selection.devices]
        except Exception:
            session.close()
            raise
        missing = None if selection.devices else none_for(Reason.NO_DEVICE)
        return Devices(selection.devices, missing, selection.is_certain), session, sampled

    def _read(self) -> Mapping[str, Reading]:
        """Take one sample; called from the sampler's thread alone."""
        resident, cpu = self._tree.read()
        readings = {RESIDENT: resident, CPU: cpu}
        if self._rapl is not None:
            readings[PACKAGES] = self._rapl.read()
        for place, device in enumerate(self._sampled):
            figures = self._figures(device)
            readings |= {device_column(place, name): reading for name, reading in figures.items()}
        return readings

    def _figures(self, device: Device | Reading) -> Mapping[str, Reading]:
        if isinstance(device, Reading) or self._session is None:
            return dict.fromkeys(
                FIGURES, device if isinstance(device, Reading) else none_for(Reason.NO_DRIVER)
            )
        return self._session.read(device, self._tree.pids)


def describe_devices(environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the devices that this process may use, and the driver's versions, as JSON.

    `devices` is empty, with a `reason`, where there are none. Numbers in `CUDA_VISIBLE_DEVICES` are CUDA's;
    where that order may differ from the driver's, `order_is_certain` is False.
    """
    environ = os.environ if environ is None else environ
    facts: dict[str, Any] = {
        "driver_version": None,
        "cuda_driver_version": None,
        "cuda_visible_devices": environ.get("CUDA_VISIBLE_DEVICES"),
        "cuda_device_order": environ.get("CUDA_DEVICE_ORDER"),
        "order_is_certain": True,
        "devices": [],
    }
    try:
        return facts | answer_in_time(lambda: _ask_for_devices(environ))
    except Exception as error:  # noqa: BLE001 - whatever a driver does, the run goes on
        return facts | why(Reason.READ_ERROR, type(error).__name__)


def _ask_for_devices(environ: Mapping[str, str]) -> dict[str, Any]:
    with nvml_session() as session:
        if isinstance(session, Reading):
            return dict(why(session.reason, session.detail))
        selection = _selected(session, environ)
        return {
            **session.versions(),
            "order_is_certain": selection.is_certain,
            "devices": [session.describe(visible) for visible in selection.devices],
            **({} if selection.devices else why(Reason.NO_DEVICE)),
        }


def _selected(session: Nvml, environ: Mapping[str, str]) -> Selection:
    return select(session.gpus(), environ.get("CUDA_VISIBLE_DEVICES"), environ.get("CUDA_DEVICE_ORDER"))
