"""Recognition on Ray workers: nothing but the time may tell how many there were, or that one was lost."""

import contextlib
import importlib.util
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import yaml

from misheard.config import load_config
from misheard.errors import BackendError, InputError
from misheard.execution import RaySettings
from misheard.failures import FailureKind, ItemFailedError
from misheard.recognizers.protocol import AudioWindow
from misheard.recognizers.settings import (
    CommandSettings,
    CTranslate2Settings,
    FakeRecognizerSettings,
    LocalRecognizerSettings,
    TranscriptionServerSettings,
)
from misheard.run.executors.protocol import PlannedBatch
from misheard.run.executors.ray import RayExecutor
from misheard.run.executors.ray_course import Course
from misheard.run.executors.ray_local import LocalRay, own_variables
from misheard.run.executors.ray_worker import Recognized
from misheard.run.plan import PlannedWindow
from misheard.stages.recognize import BatchOutcome, WindowOutcome

if importlib.util.find_spec("ray") is None:
    pytest.skip("needs the extra ray", allow_module_level=True)

pytestmark = pytest.mark.slow

DEMO = Path(__file__).parents[2] / "configs" / "demo"
WORKER = "ray::Recognit"
"""How the kernel shortens the names of the workers' processes."""


@dataclass(frozen=True)
class Cluster:
    """A Ray that all tests share: its address, its folder, and its logs."""

    address: str
    folder: Path

    def workers(self) -> list[psutil.Process]:
        """Return the processes of recognizing workers."""
        found = psutil.Process().children(recursive=True)
        return [process for process in found if name_of(process).startswith(WORKER)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Ray on this machine that lets itself be connected to again and again."""
    ray = LocalRay(tmp_path_factory.mktemp("logs"), cpus=8, gpus=0, store_bytes=256 * 2**20)
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        stack.callback(ray.stop)
        for name, value in own_variables().items():
            patch.setenv(name, value)
        yield Cluster(ray.wait(), ray.folder)


def name_of(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.Error:
        return ""


def planned(*sizes: int) -> list[PlannedBatch]:
    """Return batches of windows that are numbered through."""
    batches, first = [], 0
    for number, size in enumerate(sizes):
        windows = [
            PlannedWindow(f"q{n}", 0, 0, 16_000, f"{n:064x}", 1.0, number) for n in range(first, first + size)
        ]
        batches.append(PlannedBatch(number, tuple(windows)))
        first += size
    return batches


def read(window: PlannedWindow) -> AudioWindow:
    """Return noise that belongs to the window; the fifth recording is broken."""
    number = int(window.sha256, 16)
    if number == 5:
        raise ItemFailedError(FailureKind.AUDIO_UNDECODABLE, "broken")
    noise = np.random.default_rng(number).standard_normal(16_000)
    return AudioWindow((0.1 * noise).astype(np.float32), "en")


def executor(
    cluster: Cluster, logs: Path, settings: LocalRecognizerSettings | None = None, **ray: Any
) -> RayExecutor:
    return RayExecutor(
        settings or FakeRecognizerSettings(batch_size=2),
        RaySettings(address=cluster.address, **ray),
        cpu=True,
        logs=logs,
    )


class TestCourse:
    """The bookkeeping alone: what is begun where, what runs again, and what comes out when."""

    def test_batches_come_out_in_plan_order_whatever_lands_first(self) -> None:
        course: Course[str] = Course(planned(1, 1, 1), at_once=1, held=8)
        begun = [course.assign([0, 1, 2]) for _ in range(4)]
        assert [None if one is None else (one[0], one[1].number) for one in begun] == [
            (0, 0), (1, 1), (2, 2), None,
        ]  # fmt: skip
        course.landed(2, "c")
        assert list(course.due()) == []
        course.landed(0, "a")
        assert list(course.due()) == ["a"]
        course.landed(1, "b")
        assert list(course.due()) == ["b", "c"]
        assert course.finished

    def test_what_waits_for_a_slow_batch_is_bounded(self) -> None:
        course: Course[str] = Course(planned(*[1] * 9), at_once=2, held=4)
        slow = course.assign([0])
        assert slow is not None
        for _ in range(3):
            one = course.assign([1])
            assert one is not None
            course.landed(one[1].number, "done")
        assert course.assign([0, 1]) is None
        course.landed(slow[1].number, "done")
        assert len(list(course.due())) == 4
        assert course.assign([0, 1]) is not None

    def test_the_batches_of_a_lost_worker_run_again_first_and_alone(self) -> None:
        course: Course[str] = Course(planned(*[1] * 6), at_once=2, held=12)
        for _ in range(4):
            course.assign([0, 1])
        assert course.lost(0) == ([0, 2], [])
        assert course.assign([1]) is None, "worker 1 is not idle"
        first = course.assign([1, 2])
        assert first is not None
        assert (first[0], first[1].number) == (2, 0)
        assert course.assign([1, 2]) is None, "the second waits for an idle worker of its own"
        second = course.assign([1, 2, 3])
        assert second is not None
        assert (second[0], second[1].number) == (3, 2)
        third = course.assign([2, 3, 4])
        assert third is not None
        assert (third[0], third[1].number) == (4, 4), "nothing joins a batch that may end its worker"

    def test_a_batch_that_costs_three_workers_is_given_up_and_its_neighbour_is_not(self) -> None:
        course: Course[str] = Course(planned(1, 1), at_once=2, held=4)
        course.assign([0])
        course.assign([0])
        assert course.lost(0) == ([0, 1], [])
        course.assign([1])
        course.assign([2])
        course.landed(1, "fine")
        assert course.lost(1) == ([0], [])
        course.assign([2])
        assert course.lost(2) == ([], [0])
        course.landed(0, "given up")
        assert list(course.due()) == ["given up", "fine"]
        assert course.finished


def test_windows_that_cannot_be_read_fail_alone(cluster: Cluster, tmp_path: Path) -> None:
    batches = planned(2, 2, 1, 1, 2)  # the fifth recording is the whole of batch 3
    with contextlib.closing(executor(cluster, tmp_path)) as one:
        one.load()
        assert one.supports("en")
        done = list(one.recognize(batches, read))
        assert one.facts() | {"ray": ""} == {
            "executor": "ray", "workers": 1, "workers_lost": 0, "batches_rerun": 0, "ray": "",
            "memory_cap": None,
        }  # fmt: skip
    assert [batch.number for batch in done] == [0, 1, 2, 3, 4]
    texts = [w.transcript and w.transcript.text for batch in done for w in batch.outcome.windows]
    assert [bool(text) for text in texts] == [True] * 5 + [False] + [True] * 2
    broken = done[3].outcome.windows[0]
    assert (broken.failure_kind, broken.failure_detail) == (FailureKind.AUDIO_UNDECODABLE, "broken")


def test_a_run_does_not_wait_for_the_replacement_of_a_lost_worker(tmp_path: Path) -> None:
    """Ray may have no room for it: its machine may be what was lost."""

    class Workers:
        lost = 1
        ready = (7,)
        awaited = ("the replacement",)

        def put(self, windows: list[AudioWindow]) -> int:
            return len(windows)

        def recognize(self, worker: int, payload: int, cap: int | None) -> tuple[int, int]:
            return worker, payload

        def answer(self, worker: int, ref: tuple[int, int]) -> Recognized:
            outcome = WindowOutcome(None, FailureKind.TIMEOUT, "as told", 0.0)
            return Recognized(BatchOutcome((outcome,) * ref[1]), None)

        def dismiss(self) -> None:
            """Nobody is there."""

    class Ray:
        def wait(self, refs: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
            arrived = [ref for ref in refs if ref != "the replacement"]
            assert arrived, "only the replacement is waited for"
            return arrived[:1], refs

        def is_initialized(self) -> bool:
            return False

    one: Any = RayExecutor(FakeRecognizerSettings(), RaySettings(workers=2), cpu=True, logs=tmp_path)
    one._crew, one._ray = Workers(), Ray()
    done = list(one.recognize(planned(2, 1, 2), read))
    assert [(batch.number, len(batch.outcome.windows)) for batch in done] == [(0, 2), (1, 1), (2, 2)]


@contextlib.contextmanager
def killed_as_soon_as_they_recognize(cluster: Cluster) -> Iterator[None]:
    stopped = threading.Event()

    def kill() -> None:
        while not stopped.wait(0.05):
            for process in cluster.workers():
                with contextlib.suppress(psutil.Error):
                    if ".recog" in "".join(process.cmdline()):
                        process.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        stopped.set()
        killer.join()


def test_a_batch_that_ends_its_workers_fails_and_a_run_of_losses_stops(
    cluster: Cluster, tmp_path: Path
) -> None:
    settings = FakeRecognizerSettings(delay_seconds=60, batch_size=2)
    with contextlib.closing(executor(cluster, tmp_path, settings)) as one:
        one.load()
        with killed_as_soon_as_they_recognize(cluster):
            (given_up,) = one.recognize(planned(2), read)
            with pytest.raises(BackendError, match=r"4 workers were lost, and 3 are replaced.*--resume"):
                list(one.recognize(planned(1), read))
        assert one.facts()["workers_lost"] == 4
        assert one.facts()["batches_rerun"] == 2
    for window in given_up.outcome.windows:
        assert window.failure_kind == FailureKind.ASR_ERROR
        assert "3 Ray workers were lost with this batch (ActorDiedError" in window.failure_detail


@pytest.mark.parametrize(
    "settings",
    [
        CommandSettings(command=("cat", "{wav}")),
        TranscriptionServerSettings(base_url="http://127.0.0.1:1/v1", model="w"),
    ],
    ids=lambda settings: settings.kind,
)
def test_programs_and_servers_are_not_spread(settings: LocalRecognizerSettings, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"recognizer {settings.kind} .*executor: local"):
        RayExecutor(settings, RaySettings(), cpu=True, logs=tmp_path)


def test_what_to_install_is_said_where_ray_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BackendError, match=r"pip install 'misheard\[ray\]'"):
        RayExecutor(FakeRecognizerSettings(), RaySettings(), cpu=True, logs=tmp_path).load()


def test_an_address_where_nothing_answers_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"execution\.ray\.address: nothing answers at 127\.0\.0\.1:1 "):
        RayExecutor(
            FakeRecognizerSettings(), RaySettings(address="127.0.0.1:1"), cpu=True, logs=tmp_path
        ).load()


def test_too_few_cpus_are_told_before_workers_wait_for_them(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"9 workers with execution\.ray\.cpus_per_worker 1 need 9 CPUs"):
        executor(cluster, tmp_path, workers=9).load()


def test_a_model_that_workers_cannot_load_is_told_as_they_tell_it(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(BackendError) as caught:
        executor(cluster, tmp_path, CTranslate2Settings(model=str(tmp_path)), workers=2).load()
    message = str(caught.value)
    assert "has no model.bin" in message
    assert "Traceback" not in message
    assert "RayTaskError" not in message


def test_nothing_listens_where_other_machines_could_reach_it(cluster: Cluster, tmp_path: Path) -> None:
    with contextlib.closing(executor(cluster, tmp_path, workers=2)) as one:
        one.load()
        processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
        addresses = {
            connection.laddr.ip
            for process in processes
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
    assert addresses
    assert addresses <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}


def run(config: Path, suite: Path, out: Path) -> dict[str, Any]:
    """Run in this process; return `run.json`."""
    from misheard.run.clock import Clock
    from misheard.run.context import RunOptions
    from misheard.run.progress import NoProgress
    from misheard.run.resolve import resolve_config
    from misheard.run.runner import run as run_system

    loaded = resolve_config(load_config(config), config.parent)
    run_system(loaded, RunOptions(out, suite, cpu=True), NoProgress(), Clock())
    state: dict[str, Any] = json.loads((out / "run.json").read_bytes())
    return state


def report_without_timings(out: Path) -> bytes:
    report = json.loads((out / "report.json").read_bytes())
    del report["timings"]
    return json.dumps(report, sort_keys=True).encode()


def recognized(out: Path) -> list[dict[str, Any]]:
    """Return the journal of recognition in its order, without times and what is hashed over them."""
    journal = (out / "journal" / "recognize.jsonl").read_text("ascii")
    return [_without_times(json.loads(line)) for line in journal.splitlines()]


def _without_times(row: dict[str, Any]) -> dict[str, Any]:
    drop = "sha256" if "commit" in row else ""
    nested = {key: _without_times(value) if isinstance(value, dict) else value for key, value in row.items()}
    return {key: value for key, value in nested.items() if "seconds" not in key and key != drop}


def assert_same(one: Path, other: Path) -> None:
    assert report_without_timings(one) == report_without_timings(other)
    assert recognized(one) == recognized(other)
    for name in ("plan.jsonl", "matrix.csv", "failures.csv"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


def first_items(suite: Path, folder: Path, count: int) -> Path:
    """Lay the first items of a suite out as one of their own."""
    folder.mkdir()
    (folder / "suite.yaml").write_bytes((suite / "suite.yaml").read_bytes())
    rows = (suite / "items.jsonl").read_text("utf-8").splitlines()[:count]
    (folder / "items.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    for row in rows:
        audio = folder / json.loads(row)["audio"]
        audio.parent.mkdir(parents=True, exist_ok=True)
        audio.write_bytes((suite / json.loads(row)["audio"]).read_bytes())
    return folder


@dataclass(frozen=True)
class Reference:
    """What a recognizer without Ray makes of a small suite, and where configs of the same go."""

    folder: Path
    recognizer: dict[str, Any]

    @property
    def suite(self) -> Path:
        return self.folder / "suite"

    @property
    def local(self) -> Path:
        return self.folder / "local"

    def config(self, name: str, **ray: Any) -> Path:
        """Write a config: with options of Ray's workers, or for none."""
        content: dict[str, Any] = {
            "recognizer": self.recognizer,
            "scoring": {"resamples": 200},
            "telemetry": {"enabled": False},
        }
        if ray:
            content["execution"] = {"executor": "ray", "ray": ray}
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content))
        return path


def make_reference(folder: Path, recognizer: dict[str, Any], count: int) -> Reference:
    reference = Reference(folder, recognizer)
    first_items(DEMO, reference.suite, count)
    run(reference.config("local"), reference.suite, reference.local)
    return reference


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """Ten batches of two windows, a fifth of a second each."""
    recognizer = {"kind": "fake", "batch_size": 2, "delay_seconds": 0.2}
    return make_reference(tmp_path_factory.mktemp("fake"), recognizer, 20)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_run_on_workers_differs_in_nothing_but_time(
    cluster: Cluster, fake: Reference, tmp_path: Path, workers: int
) -> None:
    """Whatever their number, and with one of two workers killed in the middle of the run."""
    out = tmp_path / "out"
    killer = threading.Thread(target=lambda: kill_one_after(out, b"batch:1", cluster))
    if workers == 2:
        killer.start()
    config = fake.config("ray", address=cluster.address, workers=workers)
    facts = run(config, fake.suite, out)["execution"]["recognition"]
    assert (facts["executor"], facts["workers"]) == ("ray", workers)
    assert facts["workers_lost"] == (1 if workers == 2 else 0)
    timings = json.loads((out / "report.json").read_bytes())["timings"]
    assert timings["recognizer_load_seconds"] > 0 and timings["recognizer_warm_up_seconds"] is None
    assert_same(out, fake.local)
    assert_no_log_holds(texts(fake.local), cluster.folder, tmp_path)


def kill_one_after(out: Path, batch: bytes, cluster: Cluster) -> None:
    journal = out / "journal" / "recognize.jsonl"
    while not (journal.exists() and batch in journal.read_bytes()):
        time.sleep(0.01)
    cluster.workers()[0].kill()


def texts(out: Path) -> list[bytes]:
    found = [row["transcript"]["text"].encode() for row in recognized(out) if row.get("transcript")]
    assert found
    return [text for text in found if len(text) > 8]


def assert_no_log_holds(canaries: list[bytes], *folders: Path) -> None:
    logs = [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and "logs" in path.parts and path.suffix != ".jsonl"
    ]
    assert any("worker" in path.name for path in logs)
    for path in logs:
        content = path.read_bytes()
        assert not any(canary in content for canary in canaries), path


def test_a_killed_run_leaves_no_ray_behind_and_goes_on_with_other_workers(
    cluster: Cluster, fake: Reference, tmp_path: Path
) -> None:
    """The first process has a Ray of its own and is killed; the second asks the shared one."""
    out = tmp_path / "out"
    process = start(fake.config("own", workers=1), fake.suite, out)
    wait_for_batch(process, out)
    below = psutil.Process(process.pid).children(recursive=True)
    assert any(name_of(one).startswith(WORKER) for one in below)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(below, timeout=30)
    assert alive == []
    process.communicate()
    committed = len(recognized(out))
    process = start(fake.config("other", address=cluster.address, workers=2), fake.suite, out, "--resume")
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert committed < len(recognized(out))
    assert report_without_timings(out) == report_without_timings(fake.local)


def start(config: Path, suite: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable, "-m", "misheard", "run", str(config), "--cpu",
            "--suite", str(suite), "--out", str(out), *more,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for_batch(process: subprocess.Popen[bytes], out: Path) -> None:
    journal = out / "journal" / "recognize.jsonl"
    while not (journal.exists() and b"batch:0" in journal.read_bytes()):
        assert process.poll() is None
        time.sleep(0.02)


@pytest.mark.models
def test_whisper_on_two_workers_hears_what_it_hears_here(
    cluster: Cluster, tmp_path: Path, models_dir: Path
) -> None:
    model = str(models_dir / "whisper-tiny.en")
    whisper = {"kind": "ctranslate2", "model": model, "batch_size": 2, "threads": 1}
    reference = make_reference(tmp_path, whisper, 4)
    out = tmp_path / "ray"
    run(reference.config("ray", address=cluster.address, workers=2), reference.suite, out)
    assert_same(out, reference.local)
    assert_no_log_holds(texts(reference.local), cluster.folder)
