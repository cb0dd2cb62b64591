"""The block that the terminal shows of a run's telemetry."""

import io
from typing import Any

import pytest
from fake_nvml import GIB, NO_PERMISSION, FakeGpu, FakeProcess, install
from made_runs import OWN, busy, record
from rich.console import Console

from misheard.report.labels import ASCII, UNICODE, Marks
from misheard.report.terminal_telemetry import telemetry_block
from misheard.telemetry.readings import Reading, Reason, none_for


def shown(document: Any, width: int = 100, marks: Marks = UNICODE) -> str:
    block = telemetry_block(document, width, marks)
    assert block is not None
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(block)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(len(line) for line in lines) <= width
    return "\n".join(line.rstrip() for line in lines)


def test_server_card(monkeypatch: pytest.MonkeyPatch) -> None:
    power, energy = busy(100, 400)
    gpu = FakeGpu(power_mw=power, energy_mj=energy, processes=[FakeProcess(OWN, 3 * GIB)])
    text = shown(record(install(monkeypatch, gpu), packages=Reading(None, Reason.NO_RAPL)).document())
    assert text.splitlines() == [
        "Machine  1 device: NVIDIA H100 80GB HBM3",
        "stage             time  cores    memory  busy  device memory  power    energy",
        "idle            3.00 s    1.5  0.93 GiB   87%       9.00 GiB  100 W     0.0 J",
        "recognize      36.00 s    1.5  0.93 GiB   87%       9.00 GiB  400 W   10.8 kJ",
        "respond audio  10.00 s    1.5  0.93 GiB   87%       9.00 GiB  400 W  3000.0 J",
        "per hour of audio: 6900.0 J devices · 0.0350 EUR device time · 1.5000 EUR tokens",
        "energy is what is left after the idle baseline",
        "no energy of the processor: the kernel shows no energy counter of the processor",
    ]


def test_narrow_terminal_has_less(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(record(install(monkeypatch, FakeGpu())).document(), width=64, marks=ASCII)
    assert "device memory" in text
    assert "busy" not in text
    text.encode("ascii")


def test_what_is_missing_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = FakeGpu(power_mw=NO_PERMISSION, energy_mj=NO_PERMISSION, utilization=NO_PERMISSION)
    text = shown(record(install(monkeypatch, gpu), packages=none_for(Reason.NO_PERMISSION)).document())
    assert "no energy of the devices: this user may not read it" in text
    assert "–" in text
    assert "0%" not in text
    assert "energy is what" not in text


def test_stage_without_work_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    document = record(install(monkeypatch, FakeGpu())).document()
    document["stages"]["audit"] = {**document["stages"]["recognize"], "seconds": 0.0002}
    assert "audit" not in shown(document)
    assert "recognize" in shown(document)


def test_stage_below_the_baseline_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    power, energy = busy(200, 150)
    text = shown(record(install(monkeypatch, FakeGpu(power_mw=power, energy_mj=energy))).document())
    assert "−1800.0 J" in text
    assert "energy of the devices: less than the idle baseline, so that the figure is negative" in text


@pytest.mark.parametrize("document", [None, {}, {"enabled": False, "reason": "disabled"}])
def test_nothing_measured_has_no_block(document: Any) -> None:
    assert telemetry_block(document, 80, UNICODE) is None
