"""Folders, disk, memory, open files and shared memory."""

import resource
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from test_models import need, write_ctranslate2, write_safetensors

from misheard.doctor import machine
from misheard.doctor.checks import Check, Group, State
from misheard.doctor.devices import Device
from misheard.doctor.machine import (
    available_memory,
    check_files,
    check_folders,
    check_memory,
    check_shared_memory,
)
from misheard.doctor.memory import Estimate

GIB = 2**30
Usage = namedtuple("Usage", "total used free")


def folders(runs: Path) -> dict[str, Check]:
    return {check.name: check for check in check_folders(runs, uses_hub=True)}


def test_folders_that_can_be_written_or_made_are_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MISHEARD_CACHE", "a"), ("NUMBA_CACHE_DIR", "b"), ("HF_HOME", "c/d")):
        monkeypatch.setenv(name, str(tmp_path / value))
    found = folders(tmp_path / "runs")
    assert {name: check.state for name, check in found.items()} == dict.fromkeys(
        ("cache", "numba cache", "hub cache", "runs"), State.OK
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("variable", "name", "state"),
    [
        ("MISHEARD_CACHE", "cache", State.BROKEN),
        ("NUMBA_CACHE_DIR", "numba cache", State.WARNING),
        ("HF_HOME", "hub cache", State.WARNING),
    ],
)
def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, name: str, state: State
) -> None:
    (tmp_path / "file").touch()  # refuses root too
    monkeypatch.setenv(variable, str(tmp_path / "file" / "cache"))
    check = folders(tmp_path)[name]
    assert check.state is state
    assert "cannot be written" in check.found and variable in check.advice


def test_a_disk_that_is_nearly_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(GIB, GIB, GIB // 2))
    assert {check.state for check in folders(tmp_path).values()} == {State.WARNING}
    assert "0.5 GiB of disk are left" in folders(tmp_path)["runs"].found


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    2048 kB\n"}, 2 * 2**20),
        ({"proc/meminfo": "MemAvailable: 2048 kB\n", "sys/fs/cgroup/memory.max": "max\n"}, 2 * 2**20),
        (
            {
                "proc/meminfo": "MemAvailable: 2048 kB\n",
                "sys/fs/cgroup/memory.max": "3000\n",
                "sys/fs/cgroup/memory.current": "1000\n",
            },
            2000,
        ),
        (
            {
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "3000",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "4000",
            },
            0,
        ),
        ({"proc/meminfo": "garbage"}, None),
        ({}, None),
    ],
)
def test_memory_is_that_of_the_container_where_it_has_less(
    tmp_path: Path, files: dict[str, str], free: int | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert available_memory(tmp_path) == free


FITS = [(70 * GIB, State.OK), (GIB // 2, State.WARNING), (10, State.BROKEN)]


def device(free: int | None) -> Device:
    return Device(0, "H100", "GPU-0", False, free, 80 * GIB, "9.0", visible=True)


def parts(folder: Path, **execution: Any) -> dict[str, Any]:
    write_ctranslate2(folder / "ears")
    write_safetensors(folder / "mind")
    return {
        "recognizer": {"kind": "ctranslate2", "model": "./ears", "batch_size": 4},
        "language_model": {"kind": "embedded", "model": "./mind"},
        "execution": execution,
    }


@pytest.mark.parametrize(("free", "state"), FITS)
def test_ram_against_what_the_parts_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: State
) -> None:
    monkeypatch.setattr(machine, "available_memory", lambda: free)
    (check,) = check_memory(need(tmp_path, **parts(tmp_path)), ())
    assert (check.group, check.state) == (Group.MACHINE, state)
    assert "libraries 0.8 GiB; recognizer" in check.found and "language_model" in check.found
    assert bool(check.advice) == (state is not State.OK)


@pytest.mark.parametrize(("free", "state"), FITS)
def test_a_devices_memory_against_what_the_parts_take(tmp_path: Path, free: int, state: State) -> None:
    ram, gpu = check_memory(need(tmp_path, cpu=False, **parts(tmp_path)), (device(free),))
    assert (gpu.group, gpu.state) == (Group.GPU, state)
    assert "recognizer" in gpu.found and "recognizer" not in ram.found


@pytest.mark.parametrize(("schedule", "total"), [("serial", "0.2"), ("overlap", "0.3")])
def test_parts_that_run_at_once_are_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schedule: str, total: str
) -> None:
    monkeypatch.setattr(machine, "available_memory", lambda: GIB)
    monkeypatch.setattr(machine, "LIBRARIES_BYTES", 0)
    estimates = {"recognizer": 0.1, "language_model": 0.2}
    monkeypatch.setattr(
        machine,
        "estimate",
        lambda part, cuda: Estimate(part.section, 0, int(estimates[part.section] * GIB)),
    )
    (check,) = check_memory(need(tmp_path, **parts(tmp_path, schedule=schedule)), ())
    assert check.found.startswith(f"about {total} GiB of 1.0 GiB")


def test_every_worker_loads_the_recognizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available_memory", lambda: 100 * GIB)
    monkeypatch.setattr(machine, "estimate", lambda part, cuda: Estimate(part.section, GIB, GIB))
    spread = {"executor": "ray", "ray": {"workers": 4}}
    (check,) = check_memory(need(tmp_path, **parts(tmp_path, **spread)), ())
    assert check.found.startswith("about 11.0 GiB")
    assert "libraries 3.0 GiB; recognizer 4.0 GiB of weights and 4.0 GiB to work in" in check.found


def test_what_is_still_on_the_hub_is_said_not_to_be_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    model = {"kind": "vllm", "model": "some/mind", "revision": "0" * 40}
    (check,) = check_memory(need(tmp_path, language_model=model), ())
    assert "language_model not counted" in check.found


@pytest.mark.parametrize(
    ("soft", "hard", "state", "advice"),
    [
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, State.OK, ""),
        (4096, 4096, State.OK, ""),
        (1000, resource.RLIM_INFINITY, State.BROKEN, "ulimit -n 1152, or lower concurrency"),
        (1000, 1000, State.BROKEN, "raise the hard limit (1000) to 1152, then ulimit -n 1152"),
    ],
)
def test_open_files_against_requests_in_flight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, state: State, advice: str
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    server = {"kind": "openai_api", "base_url": "http://127.0.0.1:1/v1", "model": "m", "concurrency": 1024}
    (check,) = check_files(need(tmp_path, language_model=server))
    assert check.state is state and check.advice.startswith(advice)


@pytest.mark.parametrize(
    ("arguments", "size", "states"),
    [
        ((), 0, []),
        (("--tensor-parallel-size", "1"), 0, []),
        (("--tensor-parallel-size", "2"), 64 * 2**20, [State.BROKEN]),
        (("--tensor_parallel_size=2",), 512 * 2**20, [State.WARNING]),
        (("-tp", "2"), 8 * GIB, [State.OK]),
    ],
)
def test_shared_memory_of_a_server_on_several_devices(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    size: int,
    states: list[State],
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(size, 0, size))
    write_safetensors(tmp_path / "mind")
    model = {"kind": "vllm", "model": "./mind", "extra_args": list(arguments)}
    checks = check_shared_memory(need(tmp_path, language_model=model))
    assert [check.state for check in checks] == states
    assert all("--ipc=host" in check.advice for check in checks if check.state is not State.OK)


def test_shared_memory_that_is_not_there(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "mind")
    model = {"kind": "vllm", "model": "./mind", "extra_args": ["-tp", "2"]}
    (check,) = check_shared_memory(need(tmp_path, language_model=model), tmp_path / "none")
    assert check.state is State.BROKEN
