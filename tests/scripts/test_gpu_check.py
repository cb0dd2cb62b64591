"""scripts/gpu_check: what it runs without a GPU, what it says of wrong figures, and its bookkeeping."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from misheard.recognizers.protocol import (
    AudioWindow,
    Features,
    OutOfMemoryError,
    RecognizedBatch,
    WindowTranscript,
)

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "gpu_check"
sys.path.insert(0, str(ROOT / "scripts" / "lib"))
try:
    from envs import SetUpError
    from gpu_checks import (
        children,
        kernels,
        material,
        memory,
        pack,
        parity,
        reading,
        registry,
        throughput,
        weights,
    )
    from gpu_checks.bench import Bench, Recording, compare
    from gpu_checks.lines import OK, SKIPPED, WRONG, Line, judged, table
finally:
    sys.path.remove(str(ROOT / "scripts" / "lib"))


def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


class TestTheWholeScript:
    @pytest.mark.models
    def test_checks_without_a_gpu(self, models_dir: Path, real_speech: Path, tmp_path: Path) -> None:
        done = run("--cpu", "--only", "oom,telemetry", "--out", str(tmp_path / "found.json"))
        assert done.returncode == 0, done.stdout + done.stderr
        rows = [[cell.strip() for cell in row.split("|")] for row in done.stdout.splitlines() if "|" in row]
        assert rows[0][1:5] == ["check", "what", "figure", "result"]
        found = json.loads((tmp_path / "found.json").read_text())
        assert found["wrong"] == 0 and found["cpu"] is True and found["machine"]["packages"]["torch"]
        assert [row[1] for row in rows[2:]] == [line["check"] for line in found["lines"]]
        by_name = {line["name"]: line for line in found["lines"]}
        halved = by_name["3 windows, room for 2 (injected)"]
        assert halved["result"] == "ok" and halved["numbers"]["cap"] == 2
        assert by_name["devices not asked"]["numbers"]["missing"] == "not_used"
        said = done.stdout + done.stderr + (tmp_path / "found.json").read_text()
        assert "Dashwood" not in said and "clubs" not in said.lower()

    def test_needs_a_gpu_or_an_excuse(self, tmp_path: Path) -> None:
        for package in ("pydantic", "soundfile", "transformers"):
            pytest.importorskip(package, reason="needs the extra run")
        (tmp_path / "torch.py").write_text("class cuda:\n    is_available = staticmethod(lambda: False)\n")
        done = run("--only", "kernels", PYTHONPATH=str(tmp_path))
        assert done.returncode == 2
        assert "no CUDA device; --cpu checks what can be checked without one" in done.stderr

    def test_knows_its_checks(self) -> None:
        done = run("--cpu", "--only", "parity,speed")
        assert done.returncode == 2
        assert "no check is called 'speed'; there are parity, oom, kernels" in done.stderr

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--only", ""], "no check is called ''"),
            (["--minutes", "0"], "--minutes: must be above 0"),
            (["--minutes", "nan"], "--minutes: must be above 0"),
            (["--out", "/dev/full"], "--out: /dev/full cannot be written (No space left on device)"),
        ],
    )
    def test_options_that_cannot_be_are_refused_before_anything_is_checked(
        self, options: list[str], words: str
    ) -> None:
        done = run("--cpu", *options)
        assert done.returncode == 2 and not done.stdout
        assert words in done.stderr and "Traceback" not in done.stderr

    def test_a_folder_that_was_not_packed_is_refused(self, tmp_path: Path) -> None:
        done = run("--cpu", "--from", str(tmp_path))
        assert done.returncode == 2
        assert "is no folder that scripts/gpu_check --pack wrote" in done.stderr


WRITE = """
import json, os, signal, sys, time
from pathlib import Path
def say(name):
    with open(sys.argv[1], "a") as out:
        out.write(json.dumps({"check": "c", "name": name, "result": "ok"}) + chr(10))
"""


@pytest.fixture
def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs programs as checks and gives their lines."""

    def run_programs(programs: Mapping[str, str], limit: float = 30.0, seconds: float = 60.0) -> list[Line]:
        checks = {name: registry.Check("", "", 1.0, limit) for name in programs}
        monkeypatch.setattr(children, "CHECKS", checks)
        return list(
            children.run_checks(
                list(programs),
                lambda name, path: [sys.executable, "-c", WRITE + programs[name], str(path)],
                tmp_path,
                children.Budget(seconds),
            )
        )

    return run_programs


class TestAChecksProcess:
    @pytest.mark.parametrize(
        ("end", "reason"),
        [
            ("os.abort()", "ended by SIGABRT"),
            ("os.kill(os.getpid(), signal.SIGKILL)", "ended by SIGKILL"),
            ("sys.exit(3)", "ended with 3"),
        ],
    )
    def test_that_dies_is_wrong_and_the_others_go_on(self, outcome: Any, end: str, reason: str) -> None:
        lines = outcome({"first": f"say('half'); {end}", "second": "say('whole')"})
        assert [(line.name, line.result, line.reason) for line in lines] == [
            ("half", OK, ""), ("the rest", WRONG, reason), ("whole", OK, ""),
        ]  # fmt: skip

    def test_that_hangs_is_wrong(self, outcome: Any) -> None:
        lines = outcome({"first": "say('half'); time.sleep(60)"}, limit=1.0)
        assert [(line.name, line.result) for line in lines] == [("half", OK), ("the rest", WRONG)]
        assert lines[1].reason == "not done after 1 s"

    def test_that_says_nothing_is_wrong(self, outcome: Any) -> None:
        assert [line.reason for line in outcome({"first": "pass"})] == ["it gave no result"]

    def test_that_no_longer_fits_is_skipped(self, outcome: Any) -> None:
        lines = outcome({"first": "say('half'); time.sleep(60)", "second": "say('whole')"}, seconds=1.5)
        assert [(line.check, line.name, line.result) for line in lines] == [
            ("c", "half", OK), ("first", "the rest", SKIPPED), ("second", "all", SKIPPED),
        ]  # fmt: skip
        assert "are left" in lines[2].reason

    def test_a_line_that_was_cut_off_is_left_out(self, outcome: Any) -> None:
        cut = "say('half'); open(sys.argv[1], 'a').write('{\"check\": \"c'); os.abort()"
        assert [line.name for line in outcome({"first": cut})] == ["half", "the rest"]

    def test_an_exception_is_a_wrong_line_with_its_type(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def broken(bench: Bench) -> Iterator[Line]:
            yield judged("c", "first", True, "1")
            raise ZeroDivisionError("of something")

        check = registry.Check("", "", 1.0, 1.0)
        monkeypatch.setattr(registry.Check, "load", lambda self: broken)
        monkeypatch.setattr(children, "CHECKS", {"broken": check})
        assert children.be_child("broken", tmp_path, tmp_path / "broken.jsonl", cpu=True) == 0
        rows = [json.loads(row) for row in (tmp_path / "broken.jsonl").read_text().splitlines()]
        assert [(row["result"], row["reason"]) for row in rows] == [
            (OK, ""), (WRONG, "ZeroDivisionError: of something"),
        ]  # fmt: skip
        assert "ZeroDivisionError" in capsys.readouterr().err


def test_the_table_is_aligned_and_keeps_to_its_columns() -> None:
    lines = [judged("parity", "a | b", True, "1\n2"), Line("oom", "long name", WRONG, "", "must be equal")]
    assert table(lines).splitlines() == [
        "| check  | what      | figure | result |",
        "| ------ | --------- | ------ | ------ |",
        "| parity | a / b     | 1 2    | ok |",
        "| oom    | long name |        | WRONG: must be equal |",
    ]


def test_every_check_can_be_loaded() -> None:
    sys.path.insert(0, str(ROOT / "scripts" / "lib"))
    try:
        assert all(callable(check.load()) for check in registry.CHECKS.values())
    finally:
        sys.path.remove(str(ROOT / "scripts" / "lib"))


def test_words_are_compared_in_writing_and_errors_without_it() -> None:
    found = compare(["Ten of clubs.", "Five five.", "One"], ["Ten  of clubs.", "five fine", ""])
    assert (found.total, found.texts, found.words, found.edits) == (3, 2, 6, 2)
    assert found.rate == pytest.approx(2 / 6)


class TestWeightsThatTravel:
    def test_come_back_within_half_a_step_of_their_row(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(7)
        tensors = {
            "a.weight": (rng.standard_normal((5, 16)) * [[0.01], [1], [3], [0], [9]]).astype(np.float16),
            "conv.weight": rng.standard_normal((4, 3, 2)).astype(np.float16),
            "a.bias": rng.standard_normal(5).astype(np.float16),
        }
        weights.pack_weights(tensors, tmp_path / "weights.npz")
        found = weights.unpack_weights(tmp_path / "weights.npz")
        assert {name: tensor.shape for name, tensor in found.items()} == {
            name: tensor.shape for name, tensor in tensors.items()
        }
        assert np.array_equal(found["a.bias"], tensors["a.bias"])
        for name in ("a.weight", "conv.weight"):
            rows = tensors[name].reshape(len(tensors[name]), -1).astype(np.float64)
            step = np.abs(rows).max(axis=1, keepdims=True) / 127
            far = np.abs(found[name].reshape(rows.shape) - rows)
            assert (far <= 0.5 * step + 1e-3 * np.abs(rows)).all()
            assert far.max() > 0

    def test_a_damaged_or_missing_file_of_the_pack_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "audio").mkdir()
        (tmp_path / "audio" / "a.flac").write_bytes(b"sound")
        digest = "e9fda7f11e4ca69c28ed5ccbdc5a8ec71a4a7e9b3ecd4aa0d7ae5c1e1b2d7a55"
        (tmp_path / "PACK.json").write_text(json.dumps({"files": {"audio/a.flac": digest}}))
        with pytest.raises(SetUpError, match=r"a\.flac is missing, damaged or was not packed"):
            material.check_pack(tmp_path)


@pytest.fixture
def small_bench(tmp_path: Path) -> Bench:
    (tmp_path / "scratch").mkdir()
    return Bench(tmp_path, tmp_path / "scratch", cpu=True)


class TestKernels:
    def test_pairs_are_counted_in_the_simulator(self, small_bench: Bench) -> None:
        pytest.importorskip("numba_cuda", reason="needs the extra cuda")
        counted, speed = kernels.check(small_bench)
        assert counted.result == OK and counted.numbers["pairs"] > 10 and counted.numbers["unlike"] == 0
        assert (speed.result, speed.reason) == (SKIPPED, "needs a CUDA device")

    def test_one_count_that_differs_is_wrong(self) -> None:
        sides = kernels.flattened([([1, 2], [1]), ([1], [2])])
        right = np.array([[0, 1, 0, 1], [1, 0, 0, 0]])
        assert kernels._counts("pairs", sides, right, [1, 1]).result == OK
        wrong = kernels._counts("pairs", sides, right + np.array([[0], [1]]), [1, 1])
        assert (wrong.result, wrong.figure) == (WRONG, "1 of 2 pairs differ")
        assert kernels._counts("pairs", sides, right, [1, 0]).result == WRONG


@pytest.fixture
def telemetry(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Run the check of sensors with the stand-in for NVIDIA's library that the tests of telemetry use."""
    pytest.importorskip("pynvml", reason="needs the extra run")
    for folder in (ROOT / "tests" / "telemetry", ROOT / "scripts" / "lib"):
        monkeypatch.syspath_prepend(str(folder))
    fake = importlib.import_module("fake_nvml")
    monkeypatch.setitem(sys.modules, "pynvml", fake.FakeNvml(fake.FakeGpu()))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return importlib.import_module("gpu_checks.sensors")


def measured(**sensors: Any) -> Any:
    """Return a run of 70 s on a device of constant 300 W and 9 GiB, with the stages of this check."""
    made_runs, fake = importlib.import_module("made_runs"), importlib.import_module("fake_nvml")
    device = fake.FakeGpu(**sensors)
    module = fake.FakeNvml(device)
    sys.modules["pynvml"] = module
    stages = {"idle": (made_runs.IDLE,), "load": (made_runs.RECOGNIZE,)}
    return made_runs.record(module, stages=stages)


def asked(sensors: ModuleType, memory: float, power: float, utilization: float) -> Any:
    found = sensors.Asked("GPU-1")
    found.times = list(np.arange(12.0, 44.0))
    found.rows = [[memory, power, utilization]] * len(found.times)
    return found


class TestSensors:
    @pytest.mark.parametrize(
        ("memory", "power", "utilization", "expected"),
        [
            (9_220.0, 310.0, 90.0, [OK, OK, OK]),
            (10_000.0, 300.0, 87.0, [WRONG, OK, OK]),
            (9_216.0, 400.0, 60.0, [OK, WRONG, WRONG]),
            (9_216.0, float("nan"), 87.0, [OK, SKIPPED, OK]),
        ],
    )
    def test_figures_are_set_beside_nvidia_smi(
        self, telemetry: ModuleType, memory: float, power: float, utilization: float, expected: list[str]
    ) -> None:
        lines = list(telemetry._compared(measured(), asked(telemetry, memory, power, utilization)))
        assert [line.result for line in lines[:3]] == expected
        assert "not_listed" in lines[3].figure and lines[3].result == OK

    def test_a_load_is_measured_while_nvidia_smi_is_asked(
        self, telemetry: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """The whole check, on a stand-in driver and tool; the load is on the processor."""
        torch = pytest.importorskip("torch", reason="needs the extra run")
        fake = importlib.import_module("fake_nvml")
        loaded: list[float] = []

        def power(now: float) -> float:
            return 300_000 if loaded else 100_000

        def energy(now: float) -> float:
            seconds = time.monotonic()
            return 100_000 * seconds + (200_000 * (seconds - loaded[0]) if loaded else 0)

        def randn(*sizes: int, dtype: Any, device: str) -> Any:
            loaded.append(time.monotonic())
            return made(16, 16)

        gpu = fake.FakeGpu(power_mw=power, energy_mj=energy)
        monkeypatch.setitem(sys.modules, "pynvml", fake.FakeNvml(gpu))
        tool = tmp_path / "nvidia-smi"
        tool.write_text(
            f'#!/bin/sh\ncase "$*" in *query-gpu=uuid*) echo {gpu.uuid};; *) echo 9216, 300.00, 87;; esac\n'
        )
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        for name, seconds in (("_IDLE_SECONDS", 0.5), ("_RAMP_SECONDS", 0.3), ("_LOAD_SECONDS", 2.0)):
            monkeypatch.setattr(telemetry, name, seconds)
        monkeypatch.setattr(telemetry, "_LOAD_BYTES", 8)
        made, empty = torch.randn, torch.empty
        monkeypatch.setattr(torch, "randn", randn)
        monkeypatch.setattr(torch, "empty", lambda size, dtype, device: empty(8))
        monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (10, 10))
        properties = SimpleNamespace(uuid=gpu.uuid.removeprefix("GPU-"))
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
        bench = Bench(tmp_path, tmp_path, cpu=False)
        lines = {line.name: line for line in telemetry.check(bench)}
        assert len(lines) == 8 and {line.result for line in lines.values()} == {OK}, lines
        properties.uuid = "11111111-d72c-4106-c12f-20bd9faed9f6"
        assert telemetry._names(gpu.uuid).result == WRONG

    def test_energy_is_set_beside_power(self, telemetry: ModuleType) -> None:
        def jump(now: float) -> float:
            return 100_000 * now + (200_000 * (now - 10) if now > 10 else 0)

        load = {"power_mw": lambda now: 300_000 if now > 9 else 100_000, "energy_mj": jump}
        counter, stage, idle = telemetry._energies(measured(**load), asked(telemetry, 9_216, 300, 87))
        assert [counter.result, stage.result, idle.result] == [OK, OK, OK]
        assert counter.numbers["integrated"] == pytest.approx(300 * 36, rel=0.02)
        assert idle.numbers["watts"] == pytest.approx(100, rel=0.01)

    def test_a_counter_of_other_units_is_wrong(self, telemetry: ModuleType) -> None:
        result = measured(energy_mj=lambda now: 150_000 * now)
        counter, stage, _ = telemetry._energies(result, asked(telemetry, 9_216, 300, 87))
        assert [counter.result, stage.result] == [WRONG, WRONG]

    def test_a_device_without_power_is_skipped(self, telemetry: ModuleType) -> None:
        fake = importlib.import_module("fake_nvml")
        result = measured(power_mw=fake.NOT_SUPPORTED, energy_mj=fake.NOT_SUPPORTED)
        lines = list(telemetry._energies(result, asked(telemetry, 9_216, 300, 87)))
        assert [line.result for line in lines] == [SKIPPED] * 3
        assert "not_supported" in lines[1].reason


def test_what_is_packed_comes_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheels aside, which need an index."""
    soundfile = pytest.importorskip("soundfile", reason="needs the extra run")
    safetensors = pytest.importorskip("safetensors.numpy", reason="needs the extra run")
    tensors = {"a.weight": np.linspace(-1, 1, 24, dtype=np.float16).reshape(4, 6)}
    samples = np.random.default_rng(7).integers(-(2**15), 2**15, 4_000, dtype=np.int16)

    def from_cache(folder: Path, *, link: bool) -> None:
        (folder / "model").mkdir()
        (folder / "audio").mkdir()
        safetensors.save_file(tensors, folder / "model" / "model.safetensors")
        for name in (*material._MODEL_FILES, "LICENSE"):
            (folder / "model" / name).write_text(name)
        soundfile.write(folder / "audio" / "a.wav", samples, 16_000)
        (folder / "items.jsonl").write_text(json.dumps({"audio": "audio/a.wav", "reference": "Ten."}) + "\n")
        (folder / "copyright").write_text("public domain")

    monkeypatch.setattr(pack, "from_cache", from_cache)
    monkeypatch.setattr(pack, "_download_wheels", lambda folder, version: folder.mkdir())
    pack.pack(tmp_path / "pack", "3.12")
    material.check_pack(tmp_path / "pack")
    damage = {
        "items.jsonl": b"{}",
        "wheels/added-1-py3-none-any.whl": b"",
        "PACK.json": b'{"files": null}',
    }
    for name, content in damage.items():
        damaged = tmp_path / "damaged"
        shutil.copytree(tmp_path / "pack", damaged)
        (damaged / name).write_bytes(content)
        with pytest.raises(SetUpError, match=r"was not packed|is no folder that"):
            material.check_pack(damaged)
        shutil.rmtree(damaged)
    (tmp_path / "out").mkdir()
    material.from_pack(tmp_path / "pack", tmp_path / "out")
    found = safetensors.load_file(tmp_path / "out" / "model" / "model.safetensors")
    assert np.allclose(found["a.weight"], tensors["a.weight"], atol=0.01)
    (recording,) = Bench(tmp_path / "out", tmp_path, cpu=True).recordings
    assert recording.reference == "Ten."
    assert np.array_equal(soundfile.read(recording.file, dtype="int16")[0], samples)
    assert (tmp_path / "pack" / "model" / "LICENSE").is_file()
    with pytest.raises(SetUpError, match="is not empty"):
        pack.pack(tmp_path / "pack", "3.12")


class Hearing:
    """A recognizer that hears what its audio says, or something else in lower precision."""

    whole_clips = False

    def __init__(self, lowered: str | None = None, room: list[int] | None = None) -> None:
        self._lowered = lowered
        self._room = room

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        if self._room and len(batch) > self._room[0]:
            raise OutOfMemoryError("no room")
        texts = (self._lowered or f"this is number {len(window.samples)}" for window in batch)
        return RecognizedBatch(tuple(WindowTranscript(text) for text in texts), 0.25, 0.5)

    def features(self, batch: Sequence[AudioWindow]) -> Features:
        return Features(None, 0.25)

    def fingerprint(self) -> dict[str, Any]:
        return {"device": "cuda"}

    def close(self) -> None:
        """Nothing to close."""


class GpuBench(Bench):
    """Four recordings, and stand-ins for what would be on a GPU: `unlike` has what is heard by dtype."""

    unlike: Mapping[str, str] = {}
    room: list[int] | None = None

    @property
    def recordings(self) -> tuple[Recording, ...]:  # type: ignore[override]
        return tuple(Recording(self.folder / "a.wav", f"This is number {n}.") for n in (10, 20, 30, 40))

    @property
    def clips(self) -> tuple[AudioWindow, ...]:  # type: ignore[override]
        return tuple(AudioWindow(np.zeros(n, np.float32), "en") for n in (10, 20, 30, 40))

    def recognizer(self, folder: Path | None = None, *, cpu: bool | None = None, **options: Any) -> Any:
        if cpu:
            return Hearing()
        lowered = self.unlike.get(options.get("dtype", "float32"))
        return Hearing(lowered, self.room)


@pytest.fixture
def gpu_bench(tmp_path: Path) -> GpuBench:
    return GpuBench(tmp_path, tmp_path, cpu=False)


class TestParity:
    def results(self, bench: Bench) -> dict[str, str]:
        return {line.name: line.result for line in parity.check(bench)}

    def test_equal_words_are_right(self, gpu_bench: GpuBench) -> None:
        found = self.results(gpu_bench)
        assert found.pop("GPU float32, ctranslate2") == SKIPPED
        assert list(found) == [
            "CPU float32 against what was said", "GPU float32, one batch", "GPU float32, batches of 3",
            "GPU float32, compile", "GPU float16", "GPU bfloat16",
        ]  # fmt: skip
        assert set(found.values()) == {OK}

    @pytest.mark.parametrize(
        ("dtype", "words", "wrong"),
        [
            ("float32", "this is numbers", ["one batch", "batches of 3", "compile"]),
            ("float16", "this is", ["float16"]),
            ("bfloat16", "this is number 10", []),
        ],
    )
    def test_other_words_are_wrong_in_float32_and_counted_below(
        self, gpu_bench: GpuBench, dtype: str, words: str, wrong: list[str]
    ) -> None:
        gpu_bench.__class__ = type("Unlike", (GpuBench,), {"unlike": {dtype: words}})
        found = [name for name, result in self.results(gpu_bench).items() if result == WRONG]
        assert [name.removeprefix("GPU float32, ").removeprefix("GPU ") for name in found] == wrong


class TestMemory:
    """The GPU's part, on a memory of 100 GiB in which a window takes a tenth of one."""

    @pytest.fixture
    def filled(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        torch = pytest.importorskip("torch", reason="needs the extra run")
        gib = 2**30
        peaks = iter([27 * gib, 4 * gib])
        room: list[int] = []

        def empty(size: int, **options: Any) -> None:
            room.append(int((100 * gib - size) / (0.1 * gib)))

        monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: next(peaks))
        monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: gib)
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (100 * gib, 141 * gib))
        for name in ("empty_cache", "reset_peak_memory_stats"):
            monkeypatch.setattr(torch.cuda, name, lambda: None)
        monkeypatch.setattr(torch, "empty", empty)
        return room

    def test_a_batch_is_halved_in_what_is_left(self, gpu_bench: GpuBench, filled: list[int]) -> None:
        gpu_bench.__class__ = type("Cramped", (GpuBench,), {"room": filled})
        (line,) = memory.check(gpu_bench)
        assert (line.result, line.numbers["cap"]) == (OK, 32), line
        assert line.name == "256 windows, 4.8 of 141 GiB left"

    def test_a_batch_that_is_not_halved_is_wrong(self, gpu_bench: GpuBench, filled: list[int]) -> None:
        (line,) = memory.check(gpu_bench)
        assert (line.result, line.reason) == (WRONG, "the batch was not halved")


def test_reading_ahead_is_measured_on_both_ways(
    gpu_bench: GpuBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    soundfile = pytest.importorskip("soundfile", reason="needs the extra run")
    soundfile.write(tmp_path / "a.wav", np.full(10, 0.1), 16_000)
    lines = list(reading.check(gpu_bench))
    assert [(line.name, line.result) for line in lines] == [
        ("read_ahead 0, 16 batches of 32", OK), ("read_ahead 2, 16 batches of 32", OK),
    ]  # fmt: skip
    assert all(line.numbers["share"] > 0 for line in lines)


class TestThroughput:
    def lines(self, bench: Bench, monkeypatch: pytest.MonkeyPatch, check: str, ours: str) -> list[Line]:
        def contestant(text: str) -> Any:
            return lambda windows: [text] * len(windows)

        monkeypatch.setattr(throughput, "_stock", lambda bench, race: contestant("one two three four"))
        monkeypatch.setattr(throughput, "_misheard", lambda bench, race, compile_steps: contestant(ours))
        race = throughput.Race(check, bench.model, "m", "float16", bench.repeated(6), 4, 2)
        return list(throughput._run(bench, race))

    def test_contestants_are_named_with_their_ratio(
        self, gpu_bench: GpuBench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lines = self.lines(gpu_bench, monkeypatch, "throughput", "one two three four")
        assert [line.name for line in lines] == [
            "m float16, stock pipeline", "m float16, misheard", "m float16, misheard, compile",
        ]  # fmt: skip
        assert {line.result for line in lines} == {OK}
        stock, ours, _ = (line.numbers for line in lines)
        assert ours["ratio"] == pytest.approx(stock["seconds"] / ours["seconds"]) and stock["ratio"] == 1
        assert ours["audio_seconds"] == pytest.approx((10 + 20 + 30 + 40 + 10 + 20) / 16_000)

    @pytest.mark.parametrize(("check", "result"), [("throughput", WRONG), ("large", OK)])
    def test_other_words_are_wrong_where_there_are_any(
        self, gpu_bench: GpuBench, monkeypatch: pytest.MonkeyPatch, check: str, result: str
    ) -> None:
        lines = self.lines(gpu_bench, monkeypatch, check, "one two three five")
        assert [line.result for line in lines] == [OK, result, result]

    def test_random_weights_must_be_decoded_to_the_limit(self, gpu_bench: GpuBench) -> None:
        race = throughput.Race("large", gpu_bench.model, "m", "float16", [], 4, 1)
        throughput._check_lengths(race, [WindowTranscript("", tokens=224)] * 2)
        for found in ([WindowTranscript("", tokens=224), WindowTranscript("", tokens=7)], [None]):
            with pytest.raises(RuntimeError):
                throughput._check_lengths(race, found)
