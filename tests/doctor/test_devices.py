"""The driver and its devices, told by a stand-in for nvidia-ml-py that the child imports."""

from pathlib import Path

import pytest
from children import gpu, write_nvml

from misheard.doctor.checks import State
from misheard.doctor.child import Outcome, run_children
from misheard.doctor.devices import Devices, read_devices
from misheard.doctor.gpu import check_ctranslate2_cuda, check_driver, check_numba_cuda, check_torch_cuda
from misheard.doctor.steps import probe


def ask(folder: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None = None) -> Devices:
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    ((_, outcome),) = run_children([probe("devices")])
    return read_devices(outcome)


@pytest.mark.parametrize(
    ("error", "state", "found", "advice"),
    [
        (12, State.MISSING, "no NVIDIA driver answers", "install the NVIDIA driver"),
        (4, State.BROKEN, "no permission", "/dev/nvidia*"),
        (18, State.BROKEN, "different versions", "reboot"),
        (999, State.BROKEN, "NVML error 999", "nvidia-smi"),
    ],
)
def test_a_driver_that_cannot_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int, state: State, found: str, advice: str
) -> None:
    write_nvml(tmp_path, init=error)
    (check,) = check_driver(ask(tmp_path, monkeypatch), needed=False)
    assert (check.name, check.state) == ("driver", state)
    assert found in check.found and advice in check.advice


@pytest.mark.parametrize(
    ("module", "state", "found"),
    [
        ("raise ImportError('pynvml')", State.MISSING, "nvidia-ml-py is not installed"),
        ("import os; os.abort()", State.BROKEN, "killed by SIGABRT"),
        (
            "raise OSError('libnvidia-ml.so.1: cannot open shared object file')",
            State.BROKEN,
            "libnvidia-ml.so.1",
        ),
    ],
)
def test_a_library_that_does_not_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, state: State, found: str
) -> None:
    (tmp_path / "pynvml.py").write_text(module)
    (check,) = check_driver(ask(tmp_path, monkeypatch), needed=False)
    assert check.state is state and found in check.found and check.advice


@pytest.mark.parametrize(
    ("visible", "shown"), [(None, [0, 1]), ("1", [1]), ("1,0", [1, 0]), ("GPU-1a", [1]), ("", [])]
)
def test_devices_are_named_with_their_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, shown: list[int]
) -> None:
    write_nvml(tmp_path, gpu(0, free=None), gpu(1, free=70))
    devices = ask(tmp_path, monkeypatch, visible)
    assert [device.index for device in devices.visible] == shown
    checks = check_driver(devices, needed=False)
    assert checks[0].found == "580.65.06, runs CUDA up to 13.0"
    lines = {check.name: check.found for check in checks[1:]}
    hidden = ", hidden by CUDA_VISIBLE_DEVICES"
    assert lines["device 0"] == "NVIDIA H100, GPU-0aaa, memory not told, compute capability 9.0" + (
        "" if 0 in shown else hidden
    )
    assert lines["device 1"] == (
        "NVIDIA H100, GPU-1aaa, 70.0 GiB of 80.0 GiB free, compute capability 9.0"
        + ("" if 1 in shown else hidden)
    )
    warned = [check for check in checks if check.state is State.WARNING]
    assert bool(warned) == (not shown)
    assert all("unset CUDA_VISIBLE_DEVICES" in check.advice for check in warned)


def test_slices_stand_in_the_place_of_a_divided_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [{"uuid": "MIG-a", "name": "", "free": 8}, {"uuid": "MIG-b", "name": "", "free": 9}]
    write_nvml(tmp_path, gpu(0, parts=parts))
    devices = ask(tmp_path, monkeypatch)
    assert [(one.uuid, one.free, one.visible) for one in devices.devices] == [
        ("MIG-a", 8 * 2**30, True),
        ("MIG-b", 9 * 2**30, False),
    ]
    found = [check.found for check in check_driver(devices, needed=False)]
    assert "MIG-b" in found[2] and "sees one slice alone" in found[2]


@pytest.mark.parametrize("needed", [True, False])
def test_a_config_that_must_have_cuda_makes_a_missing_driver_broken(needed: bool) -> None:
    expected = State.BROKEN if needed else State.MISSING
    assert check_driver(Devices(failed="no_driver"), needed)[0].state is expected
    assert check_driver(Devices("1", "12.4"), needed)[1].state is expected


H100 = Devices("580", "12.4", read_devices(
    Outcome("exited", 0, 0.1, '{"driver_version": "580", "cuda_driver_version": "12.4"}\n'
            '{"index": 0, "name": "H", "uuid": "GPU-0", "is_slice": false, "free": 1, "total": 2, '
            '"capability": "9.0", "visible": true}')
).devices)  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "needed", "asked", "state", "found", "advice"),
    [
        ('{"cuda": null, "available": false}', False, True, State.WARNING, "knows no CUDA", "CUDA builds"),
        ('{"cuda": null, "available": false}', True, False, State.BROKEN, "knows no CUDA", "CUDA builds"),
        ('{"cuda": "13.0", "available": false}', False, True, State.BROKEN, "up to 12.4", "update"),
        ('{"cuda": "13.0", "available": false}', False, False, State.WARNING, "up to 12.4", "update"),
        ('{"cuda": "12.1", "available": false}', True, False, State.BROKEN, "finds no device", "nvidia-smi"),
        ('{"cuda": "13.0", "available": true}\n{"kernel": "no kernel image"}', False, False, State.BROKEN,
         "no kernel image", "install a torch"),
        ('{"cuda": "13.0", "available": true}\n{"right": false}', False, False, State.BROKEN,
         "wrong sums", "install a torch"),
        ('{"cuda": "13.0", "available": true}\n{"right": true}', True, True, State.OK, "13.0", ""),
    ],
)  # fmt: skip
def test_torch_on_a_device(
    rows: str, needed: bool, asked: bool, state: State, found: str, advice: str
) -> None:
    (check,) = check_torch_cuda(Outcome("exited", 0, 1.0, rows), H100, needed, asked)
    assert check.state is state and found in check.found and advice in check.advice


def test_torch_is_not_asked_for_devices_that_nobody_sees() -> None:
    said = Outcome("exited", 0, 1.0, '{"cuda": "13.0", "available": false}')
    assert check_torch_cuda(said, Devices(failed="no_driver"), needed=False, asked=True) == []


@pytest.mark.parametrize(
    ("stderr", "status", "needed", "state", "advice"),
    [
        ("", 0, False, State.OK, ""),
        ("no CUDA device is visible", 1, True, State.BROKEN, "--cpu"),
        ("no CUDA device is visible", 1, False, State.WARNING, "driver"),
        (
            "OSError: libcublas.so.12: cannot open shared object file",
            1,
            False,
            State.BROKEN,
            "nvidia-cublas-cu12",
        ),
        ("", -6, False, State.BROKEN, "nvidia-cublas-cu12"),
    ],
)
def test_ctranslate2_on_a_device(stderr: str, status: int, needed: bool, state: State, advice: str) -> None:
    (check,) = check_ctranslate2_cuda(Outcome("exited", status, 1.0, "", stderr), needed)
    assert check.state is state and advice in check.advice


def test_a_cublas_that_is_installed_has_only_to_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nvidia" / "cublas" / "lib"
    folder.mkdir(parents=True)
    (folder / "libcublas.so.12").touch()
    monkeypatch.syspath_prepend(tmp_path)
    said = Outcome("exited", 1, 1.0, "", "OSError: libcublas.so.12: cannot open shared object file")
    assert f"LD_LIBRARY_PATH={folder}" in check_ctranslate2_cuda(said, True)[0].advice


@pytest.mark.parametrize(
    ("rows", "devices", "state", "advice"),
    [
        ('{"available": true, "right": true}', H100, State.OK, ""),
        ('{"available": false}', Devices(failed="no_driver"), State.OK, ""),
        ('{"available": false}', H100, State.WARNING, "numba-cuda[cu12]"),
        ('{"available": true, "right": false}', H100, State.WARNING, "numba-cuda[cu12]"),
    ],
)
def test_numba_on_a_device(rows: str, devices: Devices, state: State, advice: str) -> None:
    (check,) = check_numba_cuda(Outcome("exited", 0, 1.0, rows), devices)
    assert check.state is state and advice in check.advice
