"""Runs of 70 s on a stand-in driver, sampled at times that are exact."""

from collections.abc import Collection, Mapping
from typing import Any

from fake_nvml import FakeNvml

from misheard.telemetry.columns import Columns
from misheard.telemetry.devices import select
from misheard.telemetry.nvml import Device, Nvml, open_nvml
from misheard.telemetry.price import Price
from misheard.telemetry.readings import Reading, Reason, none_for
from misheard.telemetry.result import Devices, SamplerFacts, TelemetryResult, Work, device_column
from misheard.telemetry.stages import Interval

OWN = 4242
IDLE, RECOGNIZE, RESPOND = Interval(1.0, 4.0), Interval(10.0, 46.0), Interval(50.0, 60.0)
STAGES = {"idle": (IDLE,), "recognize": (RECOGNIZE,), "respond:audio": (RESPOND,)}
WORK = Work(
    audio_seconds=7200.0, answers={"respond:audio": 20}, prompt_tokens=500_000, completion_tokens=250_000
)
PRICE = Price("EUR", 3.6, 2.0, 8.0)


def record(
    fake: FakeNvml,
    stages: Mapping[str, tuple[Interval, ...]] = STAGES,
    own: Collection[int] = (OWN,),
    is_overlap: bool = False,
    packages: Reading | None = None,
    work: Work = WORK,
) -> TelemetryResult:
    """Return what a run of 70 s would, sampled every half second, at times that are exact."""
    session = open_nvml()
    assert isinstance(session, Nvml)
    selection = select(session.gpus(), None, None)
    devices = [session.device(visible) for visible in selection.devices]
    columns = Columns()
    for step in range(141):
        fake.now = step / 2
        readings = {
            "resident_bytes": Reading(1e9 + step),
            "cpu_seconds": Reading(fake.now * 1.5),
            "package_joules": packages or Reading(fake.now * 20.0),
        }
        for place, device in enumerate(devices):
            assert isinstance(device, Device)
            figures = session.read(device, own)
            readings |= {device_column(place, name): reading for name, reading in figures.items()}
        columns.add(fake.now, readings)
    return TelemetryResult(
        columns=columns,
        stages=stages,
        span=Interval(0.0, 70.0),
        devices=Devices(selection.devices, None if selection.devices else none_for(Reason.NO_DEVICE)),
        sampler=SamplerFacts(0.5, 0.5, 141, 0, 0, 0.1, None),
        is_overlap=is_overlap,
        work=work,
        price=PRICE,
    )


def busy(idle: float, working: float) -> Any:
    """Milliwatts of a device that works from 10 s on, and its counter in millijoules."""
    return (
        lambda now: 1000 * (working if now >= 10 else idle),
        lambda now: 1000 * (idle * min(now, 10.0) + working * max(0.0, now - 10.0)),
    )
