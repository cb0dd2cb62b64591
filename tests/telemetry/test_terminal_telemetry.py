"""The block that the terminal shows of a run's telemetry."""

import dataclasses
import io
from typing import Any

import pytest
from fake_nvml import GIB, NO_PERMISSION, FakeGpu, FakeProcess, install
from made_runs import OWN, RECOGNIZE, RESPOND, busy, record
from rich.console import Console

from misheard.report.labels import ASCII, UNICODE, Marks
from misheard.report.terminal_telemetry import telemetry_block
from misheard.telemetry.price import Price
from misheard.telemetry.readings import Reading, Reason, none_for
from misheard.telemetry.result import Devices


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
        "this run: 0.0700 EUR device time · 3.0000 EUR tokens",
        "energy is what is left after the idle baseline",
        "no energy of the processor: the kernel shows no counter",
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


def on_the_cpu(monkeypatch: pytest.MonkeyPatch, price: Price, *, is_overlap: bool = False) -> str:
    """What a run with --cpu shows."""
    made = record(
        install(monkeypatch),
        stages={"recognize": (RECOGNIZE,), "audit:recognition": (RESPOND,)},
        is_overlap=is_overlap,
        packages=none_for(Reason.NO_RAPL),
    )
    used = dataclasses.replace(made, price=price, devices=Devices(missing=none_for(Reason.NOT_USED)))
    return shown(used.document())


@pytest.mark.parametrize("is_overlap", [False, True])
def test_devices_that_a_run_does_not_use_have_no_line(
    monkeypatch: pytest.MonkeyPatch, is_overlap: bool
) -> None:
    text = on_the_cpu(monkeypatch, Price(), is_overlap=is_overlap)
    assert "device" not in text and "audit recognition" in text
    assert "no energy of the processor" in text
    assert "EUR" not in text and "money" not in text


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        (Price("EUR", per_device_hour=0.5), ["no money for device time: the run uses no device"]),
        (Price("EUR", per_million_prompt_tokens=0.0001),
         ["per hour of audio: 0.000025 EUR tokens", "this run: 0.000050 EUR tokens"]),
        (Price("EUR", 0.5, 2.0, 8.0),
         ["per hour of audio: 1.5000 EUR tokens", "this run: 3.0000 EUR tokens",
          "no money for device time: the run uses no device"]),
        (Price("EUR", per_million_prompt_tokens=0.0),
         ["per hour of audio: 0.0000 EUR tokens", "this run: 0.0000 EUR tokens"]),
    ],
)  # fmt: skip
def test_named_prices_have_a_figure_or_a_reason(
    monkeypatch: pytest.MonkeyPatch, price: Price, expected: list[str]
) -> None:
    lines = on_the_cpu(monkeypatch, price).splitlines()
    assert [line for line in lines if "EUR" in line or "money" in line] == expected


@pytest.mark.parametrize("document", [None, {}, {"enabled": False, "reason": "disabled"}])
def test_nothing_measured_has_no_block(document: Any) -> None:
    assert telemetry_block(document, 80, UNICODE) is None
