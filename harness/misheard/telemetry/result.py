"""What telemetry found: figures, energy and money per stage, as JSON and as a table of samples."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from misheard.telemetry.columns import Columns
from misheard.telemetry.devices import Visible
from misheard.telemetry.energy import (
    Energy,
    Series,
    mean_watts,
    no_energy,
    per_amount,
    stage_energy,
    sum_energies,
)
from misheard.telemetry.figures import rate_statistic, shares_of_bits, statistic
from misheard.telemetry.nvml import FIGURES, throttle_name
from misheard.telemetry.parquet import write_samples
from misheard.telemetry.price import Price, device_money, token_money
from misheard.telemetry.readings import Reading, Reason, none_for, why
from misheard.telemetry.stages import IDLE, Interval, overlapping

RECOGNIZE = "recognize"
"""The stage whose work is audio."""

RESIDENT, CPU, PACKAGES = "resident_bytes", "cpu_seconds", "package_joules"
"""Columns of the host: memory and processor seconds of the run's processes, energy of the whole machine."""

_NO_STATISTIC = ("energy_joules", "throttle_bits")


@dataclass(frozen=True, slots=True)
class Work:
    """What this process worked on; what it took from a journal counts nowhere.

    Attributes:
        audio_seconds: recognized.
        answers: questions that a stage asked, by the name of the stage.
        prompt_tokens: that a language model read, None where nobody counted.
        completion_tokens: that it wrote, likewise.
    """

    audio_seconds: float = 0.0
    answers: Mapping[str, int] = field(default_factory=dict)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class SamplerFacts:
    """How sampling went; see `Sampler`."""

    asked_interval_seconds: float
    interval_seconds: float
    samples: int
    thinned: int
    slowed: int
    overhead_seconds: float
    ended: str | None

    def document(self, seconds: float) -> dict[str, Any]:
        """Return it as JSON. `seconds` is how long the run was sampled."""
        return {
            "asked_interval_seconds": self.asked_interval_seconds,
            "interval_seconds": self.interval_seconds,
            "samples": self.samples,
            "thinned": self.thinned,
            "slowed": self.slowed,
            "seconds": seconds,
            "overhead_seconds": self.overhead_seconds,
            "overhead_share": self.overhead_seconds / seconds if seconds > 0 else None,
            "ended": self.ended,
        }


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices that were sampled, in CUDA's order as far as it is known, or why there are none."""

    visible: tuple[Visible, ...] = ()
    missing: Reading | None = None
    order_is_certain: bool = True


@dataclass(frozen=True, slots=True)
class TelemetryResult:
    """A finished measurement of one process. `document` and `write` publish it."""

    columns: Columns
    stages: Mapping[str, tuple[Interval, ...]]
    span: Interval
    devices: Devices
    sampler: SamplerFacts | None
    is_overlap: bool
    work: Work
    price: Price

    def write(self, path: Path) -> None:
        """Write the samples as Parquet, behind those of the run's earlier processes. Raises OSError."""
        if self.sampler is not None:
            uuids = [found.uuid for found in self.devices.visible]
            write_samples(path, self.columns, self.stages, self.span.start, uuids)

    def document(self) -> dict[str, Any]:
        """Return everything as JSON: `sampler`, `devices`, `stages`, `total` and `price`."""
        if self.sampler is None:
            return {"enabled": False, **why(Reason.DISABLED)}
        counted = self._counted()
        energies = {name: self._energies([name], counted) for name in self.stages}
        return {
            "enabled": True,
            "sampler": self.sampler.document(self.span.seconds),
            "devices": self._devices_document(counted),
            "cpus_available": len(os.sched_getaffinity(0)),
            "idle_watts": self._idle_watts(energies.get(IDLE)),
            "stages": {name: self._stage_document(name, energies[name], counted) for name in self.stages},
            "total": self._total_document(counted),
            "price": self._price_document(len(counted)),
        }

    def _series(self, column: str) -> Series:
        return Series(self.columns.times(), self.columns.values(column), self.columns.reason(column))

    def _of_device(self, place: int, figure: str) -> Series:
        return self._series(device_column(place, figure))

    def _counted(self) -> list[int]:
        """Return the places of the devices that the run used: those with its processes on them, or all."""
        places = range(len(self.devices.visible))
        used = [place for place in places if len(self._of_device(place, "memory_own_bytes").known[0])]
        return used or list(places)

    def _devices_document(self, counted: Sequence[int]) -> dict[str, Any]:
        own = any(len(self._of_device(place, "memory_own_bytes").known[0]) for place in counted)
        missing = self.devices.missing
        return {
            "listed": [
                {"uuid": found.uuid, "name": found.gpu.name, "counted": place in counted}
                for place, found in enumerate(self.devices.visible)
            ],
            "counted_by": "processes" if own else "visible",
            "order_is_certain": self.devices.order_is_certain,
            **({} if missing is None else why(missing.reason, missing.detail)),
        }

    def _energies(self, names: Sequence[str], counted: Sequence[int]) -> dict[str, Energy]:
        """Return the energy of stages per device, of the devices that count, and of the processor."""
        empty = self.devices.missing or none_for(Reason.NO_DEVICE)
        if self.is_overlap or overlapping(self.stages).intersection(names):
            nothing = no_energy(none_for(Reason.SCHEDULE_OVERLAP))
            return {
                **{str(place): nothing for place in range(len(self.devices.visible))},
                "devices": nothing if self.devices.visible else no_energy(empty),
                "cpu": nothing,
            }
        stages = [interval for name in names for interval in self.stages[name]]
        each = {
            place: self._energy(
                stages, self._of_device(place, "energy_joules"), self._of_device(place, "power_watts")
            )
            for place in range(len(self.devices.visible))
        }
        return {
            **{str(place): energy for place, energy in each.items()},
            "devices": sum_energies([each[place] for place in counted], empty),
            "cpu": self._energy(stages, self._series(PACKAGES), None),
        }

    def _energy(self, stages: Sequence[Interval], counter: Series, power: Series | None) -> Energy:
        baseline = none_for(Reason.NO_BASELINE)
        idle = self.stages.get(IDLE)
        if idle is not None and IDLE not in overlapping(self.stages):
            baseline = mean_watts(stage_energy(counter, power, idle, baseline), idle)
        return stage_energy(counter, power, stages, baseline)

    def _idle_watts(self, idle: Mapping[str, Energy] | None) -> dict[str, Any]:
        if idle is None:
            missing = none_for(Reason.NO_BASELINE).document()
            return {"devices": missing, "cpu": missing}
        intervals = self.stages[IDLE]
        return {part: mean_watts(idle[part], intervals).document() for part in ("devices", "cpu")}

    def _stage_document(
        self, name: str, energies: Mapping[str, Energy], counted: Sequence[int]
    ) -> dict[str, Any]:
        intervals = self.stages[name]
        return {
            "seconds": sum(interval.seconds for interval in intervals),
            "times": len(intervals),
            "devices": [
                {"uuid": found.uuid, "counted": place in counted}
                | self._device_figures(place, intervals)
                | {"energy": energies[str(place)].document()}
                for place, found in enumerate(self.devices.visible)
            ],
            "resident_bytes": statistic(self._series(RESIDENT), intervals).document(),
            "cpu_cores": rate_statistic(self._series(CPU), intervals).document(),
            "energy": {part: self._energy_document(name, energies[part]) for part in ("devices", "cpu")},
        }

    def _device_figures(self, place: int, intervals: Sequence[Interval]) -> dict[str, Any]:
        figures: dict[str, Any] = {
            figure: statistic(self._of_device(place, figure), intervals).document()
            for figure in FIGURES
            if figure not in _NO_STATISTIC
        }
        shares = shares_of_bits(self._of_device(place, "throttle_bits"), intervals)
        if isinstance(shares, Reading):
            return figures | {"throttle_shares": None, **_prefixed("throttle", shares)}
        return figures | {"throttle_shares": {throttle_name(bit): share for bit, share in shares.items()}}

    def _energy_document(self, name: str, energy: Energy) -> dict[str, Any]:
        units = {}
        if name == RECOGNIZE:
            units["audio_hour"] = self.work.audio_seconds / 3600
        if name in self.work.answers:
            units["answer"] = float(self.work.answers[name])
        return self._with_units(energy, units)

    def _with_units(self, energy: Energy, units: Mapping[str, float]) -> dict[str, Any]:
        document = energy.document()
        for unit, amount in units.items():
            document[f"gross_joules_per_{unit}"] = per_amount(energy.gross, amount).document()
            document[f"net_joules_per_{unit}"] = per_amount(energy.net, amount).document()
        return document

    def _total_document(self, counted: Sequence[int]) -> dict[str, Any]:
        """Return the energy of all stages but the idle one together, also per hour of audio."""
        names = [name for name in self.stages if name != IDLE]
        if not names:
            nothing = no_energy(none_for(Reason.NO_WORK))
            return {part: self._with_units(nothing, {"audio_hour": 0.0}) for part in ("devices", "cpu")}
        energies = self._energies(names, counted)
        hours = {"audio_hour": self.work.audio_seconds / 3600}
        return {part: self._with_units(energies[part], hours) for part in ("devices", "cpu")}

    def _price_document(self, devices: int) -> dict[str, Any]:
        hours = self.work.audio_seconds / 3600
        recognize = self._device_money(devices, self._seconds(RECOGNIZE))
        if recognize.value is not None and (self.is_overlap or RECOGNIZE in overlapping(self.stages)):
            recognize = none_for(Reason.SCHEDULE_OVERLAP)
        run = self._device_money(devices, self.span.seconds)
        tokens = token_money(self.price, self.work.prompt_tokens, self.work.completion_tokens)
        return {
            "currency": self.price.currency,
            "devices": devices,
            "recognize_per_audio_hour": per_amount(recognize, hours).document(),
            "run_per_audio_hour": per_amount(run, hours).document(),
            "tokens_per_audio_hour": per_amount(tokens, hours).document(),
            "run": run.document(),
            "tokens": tokens.document(),
        }

    def _device_money(self, devices: int, seconds: float) -> Reading:
        money = device_money(self.price, devices, seconds)
        missing = self.devices.missing
        return missing if money.reason is Reason.NO_DEVICE and missing is not None else money

    def _seconds(self, name: str) -> float:
        return sum(interval.seconds for interval in self.stages.get(name, ()))


def device_column(place: int, figure: str) -> str:
    """Return the name of the column of a device's figure."""
    return f"device{place}.{figure}"


def _prefixed(prefix: str, reading: Reading) -> dict[str, str]:
    return {f"{prefix}_{key}": value for key, value in why(reading.reason, reading.detail).items()}
