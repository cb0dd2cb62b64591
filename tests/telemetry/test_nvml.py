import inspect
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_nvml import (
    GIB,
    LOST,
    NO_PERMISSION,
    NOT_SUPPORTED,
    FakeGpu,
    FakeNvml,
    FakeProcess,
    FakeSlice,
    install,
    pynvml,
)

from misheard.telemetry.devices import Visible
from misheard.telemetry.nvml import FIGURES, THROTTLE_BITS, Device, Memory, Nvml, open_nvml, throttle_name
from misheard.telemetry.readings import SENTENCES, Reading, Reason

OWN = 4242
UTILIZATION = {"utilization_percent", "memory_utilization_percent"}


def opened() -> Nvml:
    session = open_nvml()
    assert isinstance(session, Nvml)
    return session


def device(session: Nvml, place: int = 0, slice_of: int | None = None) -> Device:
    gpu = session.gpus()[place]
    found = session.device(Visible(gpu, None if slice_of is None or gpu.mig is None else gpu.mig[slice_of]))
    assert isinstance(found, Device)
    return found


def test_server_card_tells_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    others = FakeProcess(1, 2 * GIB)
    mine = [FakeProcess(OWN, 3 * GIB), FakeProcess(OWN + 1, GIB)]
    install(monkeypatch, FakeGpu(processes=[*mine, others], events=0x24))
    session = opened()
    readings = session.read(device(session), {OWN, OWN + 1})
    assert {name: reading.value for name, reading in readings.items()} == {
        "memory_used_bytes": 9 * GIB,
        "memory_own_bytes": 4 * GIB,
        "utilization_percent": 87.0,
        "memory_utilization_percent": 43.5,
        "power_watts": 300.0,
        "energy_joules": 0.0,
        "clock_sm_mhz": 1980.0,
        "clock_memory_mhz": 2619.0,
        "throttle_bits": 0x24,
        "temperature_celsius": 41.0,
    }
    assert tuple(readings) == FIGURES
    assert all(reading.reason is None for reading in readings.values())


@pytest.mark.parametrize(
    ("gpu", "figures", "reason"),
    [
        (FakeGpu(energy_mj=NOT_SUPPORTED), {"energy_joules"}, Reason.NOT_SUPPORTED),
        (FakeGpu(power_mw=NOT_SUPPORTED), {"power_watts"}, Reason.NOT_SUPPORTED),
        (FakeGpu(utilization=NOT_SUPPORTED), UTILIZATION, Reason.NOT_SUPPORTED),
        (FakeGpu(power_mw=NO_PERMISSION), {"power_watts"}, Reason.NO_PERMISSION),
        (FakeGpu(memory=NO_PERMISSION, memory_v2=NO_PERMISSION), {"memory_used_bytes"}, Reason.NO_PERMISSION),
        (FakeGpu(processes=NO_PERMISSION), {"memory_own_bytes"}, Reason.NO_PERMISSION),
        (FakeGpu(processes=pynvml.NVMLLibraryMismatchError), {"memory_own_bytes"}, Reason.NOT_SUPPORTED),
        (FakeGpu(processes=[FakeProcess(OWN, None)]), {"memory_own_bytes"}, Reason.NOT_SUPPORTED),
        (FakeGpu(processes=[FakeProcess(1, GIB)]), {"memory_own_bytes"}, Reason.NOT_LISTED),
        (FakeGpu(temperature=pynvml.NVMLError(999)), {"temperature_celsius"}, Reason.NVML_ERROR),
        (FakeGpu(clock_sm=pynvml.NVMLError(4711)), {"clock_sm_mhz"}, Reason.NVML_ERROR),
        (FakeGpu(temperature=pynvml.NVMLError_Timeout), {"temperature_celsius"}, Reason.NVML_ERROR),
        (FakeGpu(events=NOT_SUPPORTED), {"throttle_bits"}, Reason.NOT_SUPPORTED),
    ],
)  # fmt: skip
def test_sensor_that_does_not_answer_is_null_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, gpu: FakeGpu, figures: set[str], reason: Reason
) -> None:
    if gpu.processes == []:
        gpu.processes = [FakeProcess(OWN, GIB)]
    install(monkeypatch, gpu)
    session = opened()
    readings = session.read(device(session), {OWN})
    assert {name for name, reading in readings.items() if reading.value is None} == figures
    assert {readings[name].reason for name in figures} == {reason}


def test_unknown_code_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, FakeGpu(power_mw=pynvml.NVMLError(4711)))
    session = opened()
    assert session.read(device(session), ())["power_watts"].document() == {
        "value": None, "reason": "nvml_error", "detail": "NVML error 4711",
    }  # fmt: skip


def test_sensor_that_never_answers_is_asked_once_and_one_that_hesitates_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers: list[Any] = [pynvml.NVMLError_Timeout(), 55]

    def hesitant(now: float) -> float:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return float(answer)

    fake = install(monkeypatch, FakeGpu(power_mw=NOT_SUPPORTED, temperature=hesitant))
    session = opened()
    card = device(session)
    first, second = session.read(card, ()), session.read(card, ())
    assert fake.calls["power"] == 1
    assert first["power_watts"] == second["power_watts"] == Reading(None, Reason.NOT_SUPPORTED)
    assert first["temperature_celsius"].reason is Reason.NVML_ERROR
    assert second["temperature_celsius"].value == 55


def test_lost_device_is_asked_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, FakeGpu(lost_at=10.0))
    session = opened()
    card = device(session)
    assert session.read(card, ())["power_watts"].value == 300.0
    fake.now = 11.0
    fake.calls.clear()
    for _ in range(2):
        assert {reading.reason for reading in session.read(card, ()).values()} == {Reason.DEVICE_LOST}
    assert sum(fake.calls.values()) == 1


def test_slice_has_its_memory_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    part = FakeSlice("MIG-11", 3, 0, used=2 * GIB, processes=[FakeProcess(OWN, GIB)])
    fake = install(monkeypatch, FakeGpu(mig=[part]))
    session = opened()
    readings = session.read(device(session, slice_of=0), {OWN})
    assert readings.pop("memory_used_bytes").value == 2 * GIB
    assert readings.pop("memory_own_bytes").value == GIB
    assert {(reading.value, reading.reason) for reading in readings.values()} == {(None, Reason.MIG)}
    assert "power" not in fake.calls


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (pynvml.NVMLError_LibraryNotFound, Reason.NO_DRIVER),
        (pynvml.NVMLError_DriverNotLoaded, Reason.NO_DRIVER),
        (pynvml.NVMLError_LibRmVersionMismatch, Reason.DRIVER_MISMATCH),
        (pynvml.NVMLError_NoPermission, Reason.NO_PERMISSION),
        (pynvml.NVMLError_Unknown, Reason.NVML_ERROR),
        (OSError, Reason.NO_DRIVER),
    ],
)
def test_no_session_has_a_reason(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], reason: Reason
) -> None:
    install(monkeypatch, init=error)
    session = open_nvml()
    assert isinstance(session, Reading)
    assert (session.value, session.reason) == (None, reason)


def test_missing_library_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert open_nvml() == Reading(None, Reason.LIBRARY_MISSING)


def test_older_drivers_names_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = pynvml.NVMLError_FunctionNotFound
    install(monkeypatch, FakeGpu(events=missing, events_old_name=0x8, memory_v2=missing))
    session = opened()
    readings = session.read(device(session), ())
    assert readings["throttle_bits"].value == 0x8
    assert readings["memory_used_bytes"].value == 10 * GIB


def test_real_module_without_a_driver() -> None:
    """The real library on this machine: a session, or a reason; never an exception."""
    session = open_nvml()
    if isinstance(session, Nvml):
        session.close()
        pytest.skip("this machine has an NVIDIA driver")
    assert session.reason in {Reason.NO_DRIVER, Reason.DRIVER_MISMATCH, Reason.NO_PERMISSION}


def test_stand_in_has_the_library_s_functions() -> None:
    functions = {
        name: inspect.signature(function)
        for name, function in vars(FakeNvml).items()
        if name.startswith("nvml") and callable(function)
    }
    assert len(functions) > 20
    for name, signature in functions.items():
        real = list(inspect.signature(getattr(pynvml, name)).parameters)
        assert list(signature.parameters)[1:] == real, name


def test_names_of_throttling_are_the_library_s() -> None:
    for bit, name in enumerate(THROTTLE_BITS):
        camel = "".join(part.capitalize() for part in name.split("_"))
        assert getattr(pynvml, f"nvmlClocksThrottleReason{camel}") == 1 << bit
    assert throttle_name(2) == "sw_power_cap"
    assert throttle_name(40) == "bit_40"


def test_every_reason_has_a_sentence_and_no_reading_lacks_one() -> None:
    assert set(SENTENCES) == set(Reason)
    page = (Path(__file__).parents[2] / "docs" / "telemetry.md").read_text()
    assert not [reason for reason in Reason if f"`{reason}`" not in page]
    with pytest.raises(ValueError, match="needs a reason"):
        Reading(None)


def test_lost_error_of_the_stand_in_is_the_library_s() -> None:
    assert LOST().value == pynvml.NVML_ERROR_GPU_IS_LOST


def test_free_memory_and_compute_capability(monkeypatch: pytest.MonkeyPatch) -> None:
    part = FakeSlice("MIG-a", 1, 0, total=20 * GIB, used=5 * GIB)
    silent = FakeGpu(uuid="GPU-2", memory=NO_PERMISSION, memory_v2=NO_PERMISSION, capability=NOT_SUPPORTED)
    install(monkeypatch, FakeGpu(), FakeGpu(uuid="GPU-1", mig=[part], capability=(8, 0)), silent)
    session = opened()
    whole, divided, third = session.gpus()
    assert divided.mig is not None
    assert session.memory(Visible(whole)) == Memory(70 * GIB, 80 * GIB)
    assert session.memory(Visible(divided, divided.mig[0])) == Memory(15 * GIB, 20 * GIB)
    assert session.memory(Visible(third)) == Reading(None, Reason.NO_PERMISSION)
    assert session.capability(Visible(whole)) == (9, 0)
    assert session.capability(Visible(divided, divided.mig[0])) == (8, 0)
    assert session.capability(Visible(third)) == Reading(None, Reason.NOT_SUPPORTED)
