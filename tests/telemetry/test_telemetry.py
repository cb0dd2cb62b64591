"""Telemetry of whole runs, on stand-ins for a driver: what is published, and what is null and why."""

import json
import math
import os
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from fake_nvml import (
    GIB,
    NO_PERMISSION,
    NOT_SUPPORTED,
    FakeGpu,
    FakeProcess,
    FakeSlice,
    install,
    pynvml,
)
from made_runs import OWN, PRICE, STAGES, WORK, busy, record

from misheard.telemetry import sampler
from misheard.telemetry.facade import Telemetry, TelemetryOptions, describe_devices
from misheard.telemetry.parquet import METADATA_KEY
from misheard.telemetry.readings import Reading, Reason, none_for
from misheard.telemetry.result import TelemetryResult, Work
from misheard.telemetry.sampler import Sampler
from misheard.telemetry.stages import Interval


def values(document: Any) -> list[float]:
    """Return every number in a document."""
    if isinstance(document, dict):
        return [number for value in document.values() for number in values(value)]
    if isinstance(document, list):
        return [number for value in document for number in values(value)]
    return [document] if isinstance(document, float) else []


def test_server_card(monkeypatch: pytest.MonkeyPatch) -> None:
    power, energy = busy(100, 400)
    gpu = FakeGpu(
        power_mw=power,
        energy_mj=energy,
        processes=[FakeProcess(OWN, 3 * GIB)],
        memory_v2=lambda now: (4 + (now >= 20)) * GIB,
        events=lambda now: 0x4 if now >= 28 else 0x1,
    )
    document = record(install(monkeypatch, gpu)).document()
    assert document["devices"] == {
        "listed": [{"uuid": gpu.uuid, "name": gpu.name, "counted": True}],
        "counted_by": "processes",
        "order_is_certain": True,
    }
    assert document["idle_watts"] == {
        "devices": {"value": pytest.approx(100)},
        "cpu": {"value": pytest.approx(20)},
    }
    stage = document["stages"]["recognize"]
    (device,) = stage["devices"]
    assert (stage["seconds"], stage["times"]) == (36.0, 1)
    assert device["memory_used_bytes"] == {
        "mean": pytest.approx((4 * 20 + 5 * 52) / 72 * GIB),
        "peak": 5 * GIB,
    }
    assert device["memory_own_bytes"] == {"mean": 3 * GIB, "peak": 3 * GIB}
    assert device["utilization_percent"] == {"mean": 87.0, "peak": 87.0}
    assert device["power_watts"] == {"mean": 400.0, "peak": 400.0}
    assert device["clock_sm_mhz"]["peak"] == 1980.0
    assert device["throttle_shares"] == {"gpu_idle": 0.5, "sw_power_cap": 0.5}
    assert stage["cpu_cores"] == {"mean": pytest.approx(1.5), "peak": pytest.approx(1.5)}
    assert stage["resident_bytes"]["peak"] == 1e9 + 91
    assert stage["energy"]["devices"] == {
        "method": "counter",
        "gross_joules": {"value": pytest.approx(36 * 400)},
        "net_joules": {"value": pytest.approx(36 * 300)},
        "gross_joules_per_audio_hour": {"value": pytest.approx(36 * 400 / 2)},
        "net_joules_per_audio_hour": {"value": pytest.approx(36 * 300 / 2)},
    }
    assert stage["energy"]["cpu"]["gross_joules"]["value"] == pytest.approx(36 * 20)
    assert stage["energy"]["cpu"]["net_joules"]["value"] == pytest.approx(0, abs=1e-6)
    answering = document["stages"]["respond:audio"]["energy"]["devices"]
    assert answering["net_joules_per_answer"]["value"] == pytest.approx(10 * 300 / 20)
    assert "net_joules_per_audio_hour" not in answering
    assert document["total"]["devices"]["net_joules"]["value"] == pytest.approx(46 * 300)
    assert document["total"]["devices"]["net_joules_per_audio_hour"]["value"] == pytest.approx(23 * 300)
    assert document["price"] == {
        "currency": "EUR",
        "devices": 1,
        "recognize_per_audio_hour": {"value": pytest.approx(3.6 * 36 / 3600 / 2)},
        "run_per_audio_hour": {"value": pytest.approx(3.6 * 70 / 3600 / 2)},
        "tokens_per_audio_hour": {"value": pytest.approx(1.5)},
        "run": {"value": pytest.approx(3.6 * 70 / 3600)},
        "tokens": {"value": pytest.approx(3.0)},
    }
    assert all(math.isfinite(number) for number in values(document))
    assert json.loads(json.dumps(document, allow_nan=False)) == document


@pytest.mark.parametrize("counter", [NOT_SUPPORTED, 0.0], ids=["not supported", "stands still"])
def test_card_without_an_energy_counter_is_integrated(monkeypatch: pytest.MonkeyPatch, counter: Any) -> None:
    power, _ = busy(100, 400)
    document = record(install(monkeypatch, FakeGpu(power_mw=power, energy_mj=counter))).document()
    energy = document["stages"]["recognize"]["energy"]["devices"]
    assert energy["method"] == "power"
    assert energy["gross_joules"]["value"] == pytest.approx(36 * 400, rel=0.01)
    assert energy["net_joules"]["value"] == pytest.approx(36 * 300, rel=0.01)


def test_consumer_card_in_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = FakeGpu(
        name="NVIDIA GeForce RTX 4090",
        power_mw=NO_PERMISSION,
        energy_mj=NO_PERMISSION,
        processes=[],
        events=NOT_SUPPORTED,
    )
    document = record(install(monkeypatch, gpu)).document()
    stage = document["stages"]["recognize"]
    (device,) = stage["devices"]
    assert device["power_watts"] == {"mean": None, "peak": None, "reason": "no_permission"}
    assert device["memory_own_bytes"] == {"mean": None, "peak": None, "reason": "not_listed"}
    assert (device["throttle_shares"], device["throttle_reason"]) == (None, "not_supported")
    assert device["memory_used_bytes"]["peak"] == 9 * GIB
    energy = stage["energy"]["devices"]
    assert energy["method"] is None
    for name in ("gross_joules", "net_joules", "net_joules_per_audio_hour"):
        assert energy[name] == {"value": None, "reason": "no_permission"}
    assert document["devices"]["counted_by"] == "visible"
    assert document["idle_watts"]["devices"] == {"value": None, "reason": "no_permission"}
    assert document["total"]["devices"]["net_joules"] == {"value": None, "reason": "no_permission"}


def test_slice_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    part = FakeSlice("MIG-11", 3, 0, used=2 * GIB, processes=[FakeProcess(OWN, GIB)])
    document = record(install(monkeypatch, FakeGpu(mig=[part]))).document()
    (device,) = document["stages"]["recognize"]["devices"]
    assert device["uuid"] == "MIG-11"
    assert device["memory_used_bytes"]["peak"] == 2 * GIB
    assert device["memory_own_bytes"]["peak"] == GIB
    for figure in ("power_watts", "utilization_percent", "clock_sm_mhz", "temperature_celsius"):
        assert device[figure] == {"mean": None, "peak": None, "reason": "mig"}
    energy = document["stages"]["recognize"]["energy"]["devices"]
    assert energy["net_joules"] == {"value": None, "reason": "mig"}


def test_device_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    document = record(install(monkeypatch, FakeGpu(lost_at=48.0))).document()
    before, after = (document["stages"][name] for name in ("recognize", "respond:audio"))
    assert before["energy"]["devices"]["gross_joules"]["value"] == pytest.approx(36 * 300)
    assert after["energy"]["devices"]["gross_joules"] == {"value": None, "reason": "device_lost"}
    assert after["devices"][0]["power_watts"] == {"mean": None, "peak": None, "reason": "device_lost"}
    assert after["cpu_cores"]["mean"] == pytest.approx(1.5)
    assert document["total"]["devices"]["gross_joules"] == {"value": None, "reason": "device_lost"}


def test_devices_of_others_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    own = FakeGpu(processes=[FakeProcess(OWN, GIB)])
    other = FakeGpu(uuid="GPU-other", processes=[FakeProcess(1, GIB)])
    document = record(install(monkeypatch, other, own)).document()
    assert [listed["counted"] for listed in document["devices"]["listed"]] == [False, True]
    stage = document["stages"]["recognize"]
    assert stage["energy"]["devices"]["gross_joules"]["value"] == pytest.approx(36 * 300)
    assert stage["devices"][0]["energy"]["gross_joules"]["value"] == pytest.approx(36 * 300)
    assert document["price"]["devices"] == 1


def test_where_processes_are_not_told_all_visible_devices_count(monkeypatch: pytest.MonkeyPatch) -> None:
    document = record(install(monkeypatch, FakeGpu(), FakeGpu(uuid="GPU-other"))).document()
    stage = document["stages"]["recognize"]
    assert stage["energy"]["devices"]["gross_joules"]["value"] == pytest.approx(2 * 36 * 300)
    assert (document["devices"]["counted_by"], document["price"]["devices"]) == ("visible", 2)


def test_no_energy_where_stages_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, FakeGpu())
    overlap = {**STAGES, "respond:audio": (Interval(40.0, 60.0),)}
    for result in (record(fake, stages=overlap), record(fake, is_overlap=True)):
        document = result.document()
        for name in ("recognize", "respond:audio"):
            energy = document["stages"][name]["energy"]
            for part in ("devices", "cpu"):
                assert energy[part]["gross_joules"] == {"value": None, "reason": "schedule_overlap"}
        assert document["price"]["recognize_per_audio_hour"]["reason"] == "schedule_overlap"
        assert document["price"]["run"]["value"] == pytest.approx(3.6 * 70 / 3600)
        assert document["stages"]["recognize"]["devices"][0]["power_watts"]["mean"] == 300.0


def test_without_a_baseline_there_is_no_net(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = {name: intervals for name, intervals in STAGES.items() if name != "idle"}
    document = record(install(monkeypatch, FakeGpu()), stages=stages).document()
    energy = document["stages"]["recognize"]["energy"]["devices"]
    assert energy["gross_joules"]["value"] == pytest.approx(36 * 300)
    assert energy["net_joules"] == {"value": None, "reason": "no_baseline"}
    assert document["idle_watts"]["devices"] == {"value": None, "reason": "no_baseline"}


def test_stage_under_the_idle_baseline_is_negative_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    power, energy = busy(200, 150)
    document = record(install(monkeypatch, FakeGpu(power_mw=power, energy_mj=energy))).document()
    net = document["stages"]["recognize"]["energy"]["devices"]["net_joules"]
    assert net == {"value": pytest.approx(-50 * 36), "reason": "below_baseline"}


def test_stage_that_is_too_short_is_in_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = {**STAGES, "audit": (Interval(46.1, 46.2),)}
    document = record(install(monkeypatch, FakeGpu()), stages=stages).document()
    energy = document["stages"]["audit"]["energy"]["devices"]
    assert energy["gross_joules"] == {"value": None, "reason": "too_short"}
    assert document["total"]["devices"]["gross_joules"]["value"] == pytest.approx(46.1 * 300)


def test_run_without_stages_has_no_total(monkeypatch: pytest.MonkeyPatch) -> None:
    document = record(install(monkeypatch, FakeGpu()), stages={}).document()
    assert document["total"]["devices"]["net_joules"] == {"value": None, "reason": "no_work"}


def test_nothing_recognized_makes_no_figure_per_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    document = record(install(monkeypatch, FakeGpu()), work=Work(answers={"respond:audio": 0})).document()
    stages = document["stages"]
    no_work = {"value": None, "reason": "no_work"}
    assert stages["recognize"]["energy"]["devices"]["net_joules_per_audio_hour"] == no_work
    assert stages["respond:audio"]["energy"]["devices"]["net_joules_per_answer"] == no_work
    assert document["price"]["run_per_audio_hour"] == no_work
    assert document["price"]["tokens"] == {"value": None, "reason": "no_tokens"}


@pytest.mark.parametrize("packages", [none_for(Reason.NO_PERMISSION), none_for(Reason.NO_RAPL)])
def test_processor_energy_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch, packages: Reading) -> None:
    document = record(install(monkeypatch), packages=packages).document()
    energy = document["stages"]["recognize"]["energy"]
    assert energy["cpu"]["gross_joules"] == packages.document()
    assert energy["devices"]["gross_joules"] == {"value": None, "reason": "no_device"}
    assert document["devices"]["reason"] == "no_device"


def measured(samples: int = 4, **options: Any) -> TelemetryResult:
    """Return a short real measurement of this process, with that many samples in each stage."""
    with pytest.MonkeyPatch.context() as patch:
        taken = []
        sample = Sampler.sample
        patch.setattr(Sampler, "sample", lambda sampler: taken.append(sample(sampler)))

        def work() -> None:
            enough, deadline = len(taken) + samples, time.monotonic() + 30
            while len(taken) < enough and time.monotonic() < deadline:
                time.sleep(0.005)

        telemetry = Telemetry(TelemetryOptions(interval_seconds=0.01, **options))
        telemetry.start()
        telemetry.measure_idle(0.05)
        with telemetry.stage("recognize"):
            work()
        with telemetry.stage("respond", "audio"):
            work()
        return telemetry.stop(WORK)


def test_real_thread_on_a_stand_in_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = install(monkeypatch, FakeGpu(processes=[FakeProcess(os.getpid(), GIB)]))
    result = measured()
    assert fake.sessions == 0
    document = result.document()
    assert list(document["stages"]) == ["idle", "recognize", "respond:audio"]
    assert document["sampler"]["ended"] is None
    assert 0 < document["sampler"]["overhead_seconds"] < document["sampler"]["seconds"]
    (device,) = document["stages"]["recognize"]["devices"]
    assert device["memory_own_bytes"] == {"mean": GIB, "peak": GIB}
    assert device["power_watts"] == {"mean": 300.0, "peak": 300.0}
    assert document["stages"]["recognize"]["resident_bytes"]["peak"] > 10 * 2**20


@pytest.mark.parametrize(
    ("init", "reason"),
    [(pynvml.NVMLError_LibraryNotFound, "no_driver"), (pynvml.NVMLError_DriverNotLoaded, "no_driver")],
)
def test_no_driver(monkeypatch: pytest.MonkeyPatch, init: type[Exception], reason: str) -> None:
    install(monkeypatch, init=init)
    document = measured().document()
    assert document["devices"] == {
        "listed": [], "counted_by": "visible", "order_is_certain": True, "reason": reason,
    }  # fmt: skip
    energy = document["stages"]["recognize"]["energy"]["devices"]
    assert energy["gross_joules"] == energy["net_joules"] == {"value": None, "reason": reason}
    assert document["stages"]["recognize"]["cpu_cores"]["mean"] is not None


def test_run_on_the_cpu_asks_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, FakeGpu())
    document = measured(uses_devices=False, price=PRICE).document()
    assert not fake.calls
    assert document["devices"]["reason"] == "not_used"
    assert document["total"]["devices"]["gross_joules"] == {"value": None, "reason": "not_used"}
    assert document["price"]["run"] == {"value": None, "reason": "not_used"}


def test_driver_that_breaks_does_not_break_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch, FakeGpu())

    def broken() -> int:
        raise RuntimeError

    monkeypatch.setattr(fake, "nvmlDeviceGetCount", broken)
    assert describe_devices({})["reason"] == "read_error"
    document = measured().document()
    assert document["devices"]["reason"] == "read_error"
    assert document["sampler"]["ended"] is None
    assert fake.sessions == 0


def test_sensor_that_breaks_ends_the_sampling(monkeypatch: pytest.MonkeyPatch) -> None:
    started = time.monotonic()

    def breaking(now: float) -> float:
        if time.monotonic() > started + 0.03:
            raise RuntimeError
        return 40.0

    install(monkeypatch, FakeGpu(temperature=breaking))
    document = measured(samples=0).document()
    assert document["sampler"]["ended"] == "RuntimeError"
    energy = document["stages"]["respond:audio"]["energy"]["devices"]["gross_joules"]
    assert energy == {"value": None, "reason": "not_sampled"}


@pytest.mark.parametrize(
    ("gpu", "options", "measures"),
    [
        (FakeGpu(), {}, True),
        (FakeGpu(energy_mj=NOT_SUPPORTED), {}, True),
        (FakeGpu(power_mw=NOT_SUPPORTED), {}, True),
        (FakeGpu(power_mw=NO_PERMISSION, energy_mj=NO_PERMISSION), {}, False),
        (FakeGpu(), {"uses_devices": False}, False),
        (FakeGpu(), {"enabled": False}, False),
    ],
)
def test_whether_power_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gpu: FakeGpu, options: dict[str, Any], measures: bool
) -> None:
    install(monkeypatch, gpu)
    telemetry = Telemetry(TelemetryOptions(powercap=tmp_path, **options))
    assert not telemetry.measures_power
    telemetry.start()
    assert telemetry.measures_power is measures
    telemetry.stop()


def test_disabled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = install(monkeypatch, FakeGpu())
    result = measured(samples=0, enabled=False)
    assert result.document() == {"enabled": False, "reason": "disabled"}
    result.write(tmp_path / "telemetry.parquet")
    assert not list(tmp_path.iterdir())
    assert not fake.calls


def test_samples_of_a_resumed_run_follow_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "telemetry.parquet"
    fake = install(monkeypatch, FakeGpu(energy_mj=NOT_SUPPORTED))
    record(fake).write(path)
    record(fake, stages={}).write(path)
    table = pq.read_table(path)
    assert table.num_rows == 2 * 2 * 141
    metadata = json.loads(table.schema.metadata[METADATA_KEY])
    assert [invocation["devices"] for invocation in metadata["invocations"]] == [[FakeGpu().uuid]] * 2
    assert metadata["invocations"][0]["stages"][1] == {
        "stage": "recognize", "start_seconds": 10.0, "end_seconds": 46.0,
    }  # fmt: skip
    rows = table.to_pylist()
    assert {row["invocation"] for row in rows} == {0, 1}
    host, device = (next(row for row in rows if row["device"] == place) for place in (None, 0))
    assert (host["resident_bytes"], host["power_watts"]) == (1e9, None)
    assert (device["power_watts"], device["energy_joules"], device["resident_bytes"]) == (300.0, None, None)
    assert not [field.name for field in table.schema if str(field.type) == "string"]


@pytest.mark.parametrize("content", [b"", b"PAR1 damaged PAR1"])
def test_damaged_samples_are_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "telemetry.parquet"
    path.write_bytes(content)
    record(install(monkeypatch)).write(path)
    assert pq.read_table(path).num_rows == 141


@pytest.mark.parametrize("function", ["nvmlInit", "nvmlDeviceGetUUID", "nvmlShutdown"])
def test_a_driver_that_does_not_answer_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    monkeypatch.setattr(sampler, "STOP_SECONDS", 0.05)
    release = threading.Event()
    fake = install(monkeypatch, FakeGpu())
    monkeypatch.setattr(fake, function, lambda *_: release.wait())
    telemetry = Telemetry(TelemetryOptions())
    telemetry.start()
    document = telemetry.stop().document()
    described = describe_devices({})
    release.set()
    assert document["enabled"] and described["devices"] == []
    assert (described["reason"], described["detail"]) == ("read_error", "TimeoutError")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_finite_number_is_no_figure(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    gpu = FakeGpu(power_mw=value, limit_mw=value)
    stage = record(install(monkeypatch, gpu)).document()["stages"]["recognize"]
    missing = {"reason": "nvml_error", "detail": "not a finite number"}
    assert stage["devices"][0]["power_watts"] == {"mean": None, "peak": None, **missing}
    assert describe_devices({})["devices"][0]["power_limit_watts"] == {"value": None, **missing}


def test_a_driver_that_cannot_be_let_go_of_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise OSError("gone")

    fake = install(monkeypatch, FakeGpu())
    monkeypatch.setattr(fake, "nvmlShutdown", gone)
    assert measured().document()["devices"]["listed"]
    assert describe_devices({})["devices"]


def test_samples_with_other_columns_are_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "telemetry.parquet"
    record(install(monkeypatch)).write(path)
    pq.write_table(pq.read_table(path).drop_columns(["power_watts"]), path)
    record(install(monkeypatch)).write(path)
    table = pq.read_table(path)
    assert (table.num_rows, "power_watts" in table.column_names) == (141, True)
    assert len(json.loads(table.schema.metadata[METADATA_KEY])["invocations"]) == 1


def test_devices_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    part = FakeSlice("MIG-11", 3, 0)
    fake = install(
        monkeypatch,
        FakeGpu(),
        FakeGpu(uuid="GPU-b", limit_mw=NO_PERMISSION),
        FakeGpu(uuid="GPU-c", mig=[part]),
    )
    found = describe_devices({"CUDA_VISIBLE_DEVICES": "1,0"})
    assert fake.sessions == 0
    assert found["driver_version"] == "580.65.06"
    assert found["cuda_driver_version"] == "13.0"
    assert (found["cuda_visible_devices"], found["order_is_certain"]) == ("1,0", True)
    assert found["devices"][0] == {
        "index": 1,
        "uuid": "GPU-b",
        "name": "NVIDIA H100 80GB HBM3",
        "mig": False,
        "parent_uuid": "GPU-b",
        "memory_bytes": {"value": 80 * GIB},
        "power_limit_watts": {"value": None, "reason": "no_permission"},
    }
    assert found["devices"][1]["power_limit_watts"] == {"value": 700.0}
    (slice_of,) = describe_devices({"CUDA_VISIBLE_DEVICES": "MIG-1"})["devices"]
    assert (slice_of["uuid"], slice_of["parent_uuid"], slice_of["mig"]) == ("MIG-11", "GPU-c", True)
    assert slice_of["memory_bytes"] == {"value": 10 * GIB}
    assert slice_of["power_limit_watts"] == {"value": None, "reason": "mig"}
    assert describe_devices({"CUDA_VISIBLE_DEVICES": ""})["reason"] == "no_device"
    monkeypatch.setattr(fake, "init", pynvml.NVMLError_DriverNotLoaded)
    assert describe_devices({})["reason"] == "no_driver"
