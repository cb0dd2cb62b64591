"""How much of a GPU a server may take: the sums, the weights behind them, and what the server is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from misheard.errors import BackendError
from misheard.language_models import gpus
from misheard.language_models.gpu_memory import GIB, Gpu, memory_share, read_weights_bytes
from misheard.language_models.gpus import read_gpus
from misheard.language_models.settings import VllmSettings
from misheard.language_models.vllm_command import VllmBuild
from misheard.language_models.vllm_process import VllmProcess
from misheard.telemetry.devices import Gpu as DriverGpu
from misheard.telemetry.nvml import Memory, Nvml
from misheard.telemetry.readings import Reason, none_for


def gpu(free: float, total: float = 80.0, index: int = 0) -> Gpu:
    return Gpu(f"GPU {index} (NVIDIA X)", int(free * GIB), int(total * GIB))


@pytest.mark.parametrize(
    ("devices", "weights", "options", "fraction"),
    [
        ([gpu(79)], 15, {}, 0.9),
        ([gpu(41)], 15, {}, 0.5),
        ([gpu(41)], None, {}, 0.5),
        ([gpu(17.0)], 15, {}, 0.2),
        ([gpu(41)], 2, {"part": 0.5}, 0.25),
        ([gpu(79), gpu(41)], 60, {"split": 2}, 0.5),
        ([gpu(11, 24), gpu(11, 12)], 2, {}, 0.416),
        ([gpu(12, 24), gpu(6.5, 12)], 2, {}, 0.458),
        ([gpu(12, 24), gpu(6.125, 12)], 2, {}, 0.427),
        ([gpu(24, 24)], 2, {}, 0.9),
    ],
)
def test_the_fraction_is_of_the_whole_memory_and_what_is_free(
    devices: list[Gpu], weights: float | None, options: dict[str, Any], fraction: float
) -> None:
    size = None if weights is None else int(weights * GIB)
    share = memory_share(devices, size, section="language_model", **options)
    assert share.fraction == fraction
    for device in devices:
        assert share.fraction * device.total_bytes <= device.free_bytes - GIB
    assert f"vLLM may take {fraction:g} of" in share.note and "free when it was started" in share.note


@pytest.mark.parametrize(
    ("devices", "weights", "options", "says"),
    [
        ([gpu(16)], 15, {}, ["GPU 0 (NVIDIA X) has 16.0 GiB of 80.0 GiB free", "15.0 GiB for its weights"]),
        ([gpu(0.5)], None, {}, ["has 0.5 GiB", "needs at least 1.0 GiB to work with"]),
        ([gpu(0)], 1, {}, ["has 0.0 GiB"]),
        ([gpu(79), gpu(9, index=1)], 60, {"split": 2}, ["0.0 GiB"]),
        ([gpu(41)], 30, {"part": 0.5}, ["of which this server gets 0.5"]),
    ],
)
def test_too_little_memory_says_who_needs_what_and_what_to_do(
    devices: list[Gpu], weights: float | None, options: dict[str, Any], says: list[str]
) -> None:
    size = None if weights is None else int(weights * GIB)
    with pytest.raises(BackendError) as caught:
        memory_share(devices, size, section="recognizer", **options)
    message = str(caught.value)
    assert message.startswith("recognizer: ")
    for words in [*says, "execution.schedule: serial", "smaller model", "nvidia-smi"]:
        assert words in message


def write_safetensors(path: Path, **tensors: tuple[str, int]) -> None:
    """Write a file of tensors, each a type and a number of elements."""
    sizes = {"F32": 4, "F16": 2, "BF16": 2, "I8": 1}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, elements) in tensors.items():
        start, end = end, end + elements * sizes[dtype]
        header[name] = {"dtype": dtype, "shape": [elements], "data_offsets": [start, end]}
    encoded = json.dumps(header).encode()
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + bytes(end))


def test_weights_are_counted_as_they_are_loaded(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "model.safetensors", a=("F32", 100), b=("BF16", 10), q=("I8", 7))
    sizes = {
        dtype: read_weights_bytes(tmp_path, dtype) for dtype in ("auto", "float16", "bfloat16", "float32")
    }
    assert sizes == {"auto": 227, "float16": 227, "bfloat16": 227, "float32": 447}


def test_only_the_files_that_are_loaded_are_counted(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "model-1.safetensors", a=("F16", 100))
    write_safetensors(tmp_path / "model-2.safetensors", b=("F16", 50))
    write_safetensors(tmp_path / "consolidated.safetensors", a=("F16", 150))
    assert read_weights_bytes(tmp_path, "auto") == 300
    index = {"weight_map": {"a": "model-1.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert read_weights_bytes(tmp_path, "auto") == 200


@pytest.mark.parametrize(
    "content", [b"", b"weights", b"\xff" * 64, b"\x02\0\0\0\0\0\0\0[]", b"\x04" + bytes(11)]
)
def test_weights_that_cannot_be_read_are_unknown(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    assert read_weights_bytes(tmp_path, "auto") in (None, 0)


@pytest.mark.models
def test_the_weights_of_a_real_model_are_those_of_its_file(models_dir: Path) -> None:
    folder = models_dir / "smollm2-135m-instruct"
    stored = (folder / "model.safetensors").stat().st_size
    half = read_weights_bytes(folder, "bfloat16")
    assert half is not None and 0 <= stored - half < 100_000
    assert read_weights_bytes(folder, "float32") == 2 * half


class FakeSession(Nvml):
    """A driver with these devices, and this much free on each."""

    def __init__(self, names: list[str], free: list[Any]) -> None:
        self._devices = tuple(DriverGpu(n, f"GPU-{n}", name) for n, name in enumerate(names))
        self._free = free

    def gpus(self) -> tuple[DriverGpu, ...]:
        return self._devices

    def memory(self, visible: Any) -> Any:
        free = self._free[visible.gpu.index]
        return Memory(free * GIB, 80 * GIB) if isinstance(free, int) else free

    def capability(self, visible: Any) -> Any:
        return (9, 0) if visible.gpu.index else none_for(Reason.NOT_SUPPORTED)

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("names", "free", "env", "count", "found"),
    [
        (["A", "A"], [10, 20], {}, 1, [10]),
        (["A", "A"], [10, 20], {}, 2, [10, 20]),
        (["A", "A"], [10, 20], {"CUDA_VISIBLE_DEVICES": "1"}, 1, [20]),
        (["A", "A"], [10, 20], {"CUDA_VISIBLE_DEVICES": "GPU-1"}, 1, [20]),
        (["A", "B"], [10, 20], {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, 1, [20]),
        (["A", "B"], [10, 20], {"CUDA_VISIBLE_DEVICES": "1"}, 1, "set CUDA_DEVICE_ORDER=PCI_BUS_ID"),
        (["A", "B"], [10, 20], {}, 1, "set CUDA_DEVICE_ORDER=PCI_BUS_ID"),
        (["A", "B"], [10, 20], {}, 2, [10, 20]),
        (["A"], [10], {"CUDA_VISIBLE_DEVICES": ""}, 1, "shows 0 of 1 devices"),
        (["A"], [10], {}, 2, "shows 1 of 2 devices"),
        (["A"], [none_for(Reason.NO_PERMISSION)], {}, 1, "this user may not read it"),
    ],
)
def test_the_devices_are_those_that_the_server_sees(
    names: list[str],
    free: list[Any],
    env: dict[str, str],
    count: int,
    found: list[int] | str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from contextlib import nullcontext

    monkeypatch.setattr(gpus, "nvml_session", lambda: nullcontext(FakeSession(names, free)))
    read = read_gpus(env, count)
    if isinstance(found, str):
        assert isinstance(read, str) and found in read
    else:
        assert not isinstance(read, str)
        assert [device.free_bytes // GIB for device in read] == found
        assert [device.capability for device in read][-1] in ((9, 0), None)


def test_without_a_driver_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    monkeypatch.setattr(gpus, "nvml_session", lambda: nullcontext(none_for(Reason.NO_DRIVER)))
    assert "no NVIDIA driver" in str(read_gpus({}, 1))


@pytest.mark.parametrize(
    ("extra_args", "free", "told", "note", "count"),
    [
        ((), 41, ("--gpu-memory-utilization", "0.5"), "may take 0.5 of GPU 0", 1),
        (("--gpu-memory-utilization=0.7",), 41, (), "0.7, as extra_args say", 1),
        (("--gpu_memory_utilization", "0.7"), 41, (), "0.7, as extra_args say", 1),
        ((), "no driver", (), "unknown (no driver), so vLLM decides", 1),
        (
            ("-tp", "2", "--data-parallel-size=3"),
            41,
            ("--gpu-memory-utilization", "0.5"),
            "each of 6 GPUs",
            6,
        ),
    ],
)
def test_the_server_is_told_its_share_when_it_is_started(
    extra_args: tuple[str, ...],
    free: Any,
    told: tuple[str, ...],
    note: str,
    count: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = "misheard.language_models.vllm_process"
    commands: list[list[str]] = []

    class Server:
        def __init__(self, command: list[str], **_: Any) -> None:
            commands.append(command)

        def exit_status(self) -> None:
            return None

        def stop(self) -> None:
            pass

    def read(env: Any, wanted: int) -> Any:
        assert wanted == count
        return free if isinstance(free, str) else tuple(gpu(free) for _ in range(wanted))

    monkeypatch.setattr(f"{module}.find_vllm", lambda *_: VllmBuild(Path("/p"), cpu_only=False))
    monkeypatch.setattr(f"{module}.read_gpus", read)
    monkeypatch.setattr(f"{module}.SupervisedServer", Server)
    monkeypatch.setattr(f"{module}._is_healthy", lambda _: True)
    monkeypatch.setattr(f"{module}._socket_folder", lambda: tmp_path)
    (tmp_path / "config.json").write_text("{}")
    write_safetensors(tmp_path / "model.safetensors", a=("F16", 10))
    settings = VllmSettings(model=str(tmp_path), extra_args=extra_args)
    process = VllmProcess(settings, section="language_model", log=tmp_path / "log")
    process.start()
    process.stop()
    [command] = commands
    assert process.memory_note is not None and note in process.memory_note
    share = tuple(command[command.index("--gpu-memory-utilization") :][:2]) if told else ()
    assert share == told
    assert command.count("--gpu-memory-utilization") <= 1
    assert command[len(command) - len(extra_args) :] == list(extra_args)
