"""Telemetry against `nvidia-smi` during a load; without a GPU, that every figure says why it is missing."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_checks.bench import Bench
from gpu_checks.lines import Line, judged, skipped
from misheard.telemetry.facade import Telemetry, TelemetryOptions, describe_devices
from misheard.telemetry.nvml import FIGURES
from misheard.telemetry.result import TelemetryResult

_CHECK = "telemetry"
_FIELDS = ("memory.used", "power.draw", "utilization.gpu")
_MIB = 2**20

_IDLE_SECONDS, _RAMP_SECONDS, _LOAD_SECONDS = 3.0, 3.0, 8.0
"""The driver's power is a mean over a second: what is compared begins when the load has run for longer."""

_LOAD_BYTES = 8 * 2**30


@dataclass
class Asked:
    """What `nvidia-smi` said, by when it was asked, in seconds of `time.monotonic()`."""

    uuid: str
    times: list[float] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)

    def ask(self) -> None:
        started = time.monotonic()
        values = _query(self.uuid, ",".join(_FIELDS)).split(",")
        self.times.append((started + time.monotonic()) / 2)
        self.rows.append([_number(value) for value in values])

    def mean(self, place: int, start: float, end: float) -> float:
        inside = [row[place] for when, row in zip(self.times, self.rows, strict=True) if start <= when <= end]
        return float(np.mean(inside)) if inside else float("nan")


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:  # [N/A] and [Not Supported]
        return float("nan")


def _query(uuid: str, fields: str) -> str:
    command = ["nvidia-smi", f"--id={uuid}", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()


def check(bench: Bench) -> Iterator[Line]:
    yield from _on_cpu() if bench.cpu else _on_gpu()


def _on_cpu() -> Iterator[Line]:
    """Measure a load on the processor: its figures are there, those of devices are null for a reason."""
    for uses_devices in (True, False):
        telemetry = Telemetry(TelemetryOptions(interval_seconds=0.05, uses_devices=uses_devices))
        telemetry.start()
        with telemetry.stage("load"):
            _busy(1.0)
        document = telemetry.stop().document()
        devices = document["devices"]
        energy = document["stages"]["load"]["energy"]["devices"]["gross_joules"]
        name = f"devices {'asked' if uses_devices else 'not asked'}"
        if devices["listed"]:
            yield skipped(_CHECK, name, "this machine has a GPU; run without --cpu")
            continue
        reason = devices.get("reason")
        is_right = bool(reason) and energy["value"] is None and bool(energy.get("reason"))
        if not uses_devices:
            is_right = is_right and reason == "not_used"
        figure = f"null: {reason}; energy null: {energy.get('reason')}"
        yield judged(_CHECK, name, is_right, figure, "null needs a reason", missing=reason)
    cores = document["stages"]["load"]["cpu_cores"]["mean"]
    resident = document["stages"]["load"]["resident_bytes"]["peak"]
    is_right = cores is not None and cores > 0.1 and resident is not None and resident > _MIB
    figure = (
        f"{cores} cores, {resident} bytes"
        if not is_right
        else f"{cores:.1f} cores, {resident / _MIB:.0f} MiB"
    )
    yield judged(_CHECK, "processor and memory of the process", is_right, figure, "a load must be seen")


def _busy(seconds: float) -> None:
    matrix = np.random.default_rng(7).standard_normal((200, 200))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        matrix = matrix @ matrix
        matrix /= np.abs(matrix).max()


def _on_gpu() -> Iterator[Line]:
    found = describe_devices()
    if not found["devices"]:
        yield Line(
            _CHECK, "devices", "WRONG", "none", f"torch sees a GPU, telemetry none: {found.get('reason')}"
        )
        return
    uuid = found["devices"][0]["uuid"]
    missing = None
    if shutil.which("nvidia-smi") is None:
        missing = "nvidia-smi is not installed"
    elif found["devices"][0]["mig"]:
        missing = "a MIG slice has memory figures alone"
    if missing is not None:
        yield _names(uuid)
        yield skipped(_CHECK, "figures", missing)
        return
    # torch wakes the device, so that it is asked for the UUID after the idle moment
    result, asked = _measure(uuid)
    yield _names(uuid)
    yield from _compared(result, asked)
    yield from _energies(result, asked)


def _names(uuid: str) -> Line:
    import torch

    names = {"telemetry": uuid, "torch": str(torch.cuda.get_device_properties(0).uuid)}
    if shutil.which("nvidia-smi"):
        names["nvidia-smi"] = _query(uuid, "uuid")
    same = len({name.lower().removeprefix("gpu-") for name in names.values()}) == 1
    reason = "they name different devices"
    return judged(_CHECK, "UUID of the device", same, f"the same in {', '.join(names)}", reason, **names)


def _measure(uuid: str) -> tuple[TelemetryResult, Asked]:
    """Measure an idle moment, and products of matrices with `nvidia-smi` asked meanwhile."""
    asked = Asked(uuid)
    over = threading.Event()

    def ask() -> None:
        while not over.wait(0.25):
            asked.ask()

    telemetry = Telemetry(TelemetryOptions(interval_seconds=0.1))
    telemetry.start()
    telemetry.measure_idle(_IDLE_SECONDS)
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    _load(telemetry)
    over.set()
    thread.join(30)
    return telemetry.stop(), asked


def _load(telemetry: Telemetry) -> None:
    import torch

    free, _ = torch.cuda.mem_get_info()
    held = torch.empty(min(_LOAD_BYTES, free // 2), dtype=torch.uint8, device="cuda")
    matrix = torch.randn(8192, 8192, dtype=torch.bfloat16, device="cuda")
    out = torch.empty_like(matrix)
    for name, seconds in (("ramp", _RAMP_SECONDS), ("load", _LOAD_SECONDS)):
        with telemetry.stage(name):
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                for _ in range(20):
                    torch.matmul(matrix, matrix, out=out)
                torch.cuda.synchronize()
    del held


def _compared(result: TelemetryResult, asked: Asked) -> Iterator[Line]:
    interval = result.stages["load"][0]
    figures = result.document()["stages"]["load"]["devices"][0]
    rows = (
        ("memory_used_bytes", 1 / _MIB, "MiB", lambda other: max(64.0, 0.02 * other)),
        ("power_watts", 1.0, "W", lambda other: 0.15 * other),
        ("utilization_percent", 1.0, "%", lambda _: 15.0),
    )
    for place, (name, scale, unit, tolerance) in enumerate(rows):
        ours, other = figures[name]["mean"], asked.mean(place, interval.start, interval.end)
        title = f"{name.rpartition('_')[0].replace('_', ' ')}, mean of {interval.seconds:.0f} s"
        if ours is None or np.isnan(other):
            said = f"telemetry: {figures[name].get('reason', 'a figure')}"
            yield skipped(_CHECK, title, f"{said}; nvidia-smi: {'none' if np.isnan(other) else 'a figure'}")
            continue
        ours *= scale
        is_right = abs(ours - other) <= tolerance(other)
        figure = f"{ours:.1f} {unit}, nvidia-smi {other:.1f} {unit}"
        yield judged(_CHECK, title, is_right, figure, "too far apart", ours=ours, nvidia_smi=other)
    missing = [name for name in FIGURES if name in figures and figures[name]["mean"] is None]
    reasons = ", ".join(f"{name}: {figures[name].get('reason')}" for name in missing)
    is_right = all(figures[name].get("reason") for name in missing)
    yield judged(_CHECK, "figures that are null", is_right, reasons or "none", "null needs a reason")


def _energies(result: TelemetryResult, asked: Asked) -> Iterator[Line]:
    document = result.document()
    interval = result.stages["load"][0]
    times = result.columns.times()
    inside = (times >= interval.start) & (times <= interval.end)
    counter = result.columns.values("device0.energy_joules")[inside]
    power = result.columns.values("device0.power_watts")[inside]
    if not np.isfinite(counter).all() or not np.isfinite(power).all():
        yield skipped(_CHECK, "energy counter against power", "the device has not both")
    else:
        joules = float(counter[-1] - counter[0])
        integrated = float(np.trapezoid(power, times[inside]))
        figure = f"{joules:.0f} J, power over time {integrated:.0f} J"
        is_right = abs(joules - integrated) <= 0.15 * integrated
        numbers = {"counter": joules, "integrated": integrated}
        yield judged(_CHECK, "energy counter against power", is_right, figure, "too far apart", **numbers)
    energy = document["stages"]["load"]["energy"]["devices"]
    gross, net = energy["gross_joules"]["value"], energy["net_joules"]["value"]
    other = asked.mean(1, interval.start, interval.end) * interval.seconds
    if gross is None or np.isnan(other):
        yield skipped(
            _CHECK, "energy of the stage", str(energy["gross_joules"].get("reason", "no nvidia-smi"))
        )
    else:
        is_right = abs(gross - other) <= 0.15 * other
        figure = f"{gross:.0f} J by {energy['method']}, nvidia-smi {other:.0f} J"
        numbers = {"gross": gross, "net": net, "nvidia_smi": other}
        yield judged(_CHECK, "energy of the stage", is_right, figure, "too far apart", **numbers)
    yield _idle(document, gross, net, interval.seconds)


def _idle(document: dict[str, Any], gross: float | None, net: float | None, seconds: float) -> Line:
    idle = document["idle_watts"]["devices"]
    if idle["value"] is None or gross is None or net is None:
        return skipped(_CHECK, "idle baseline", str(idle.get("reason", "no energy of the stage")))
    is_right = 0 < idle["value"] < gross / seconds and abs(gross - net - idle["value"] * seconds) < 1.0
    figure = f"{idle['value']:.0f} W idle, {gross / seconds:.0f} W under load"
    return judged(_CHECK, "idle baseline", is_right, figure, "not below the load", watts=idle["value"])
