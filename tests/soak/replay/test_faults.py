"""Faults of a session: how they are named, when each happens, and that none stays behind."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from misheard.errors import InputError
from misheard.failures import Failure, FailureKind
from misheard.processes.tree import descendants
from misheard.soak.events import FaultKind
from misheard.soak.replay.faults import Fault, FaultPlan, check_faults, parse_fault
from misheard.soak.replay.full_disk import FullDisk
from misheard.soak.replay.server_process import StoppedServer, is_running, kill
from misheard.soak.replay.trace_writer import TraceWriter
from misheard.stages.plan import read_plan_reply
from process_states import state, wait_until

HERE = Path(__file__).parent
NEVER = threading.Event()


class StandingClock:
    """A clock that stands until somebody sleeps or it jumps."""

    def __init__(self) -> None:
        self.time = self.passed = 0.0

    def begin(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def steady(self) -> float:
        return self.passed

    def jump(self, seconds: float) -> None:
        self.time += max(seconds, 0.0)

    def sleep_until(self, t: float, stop: threading.Event) -> bool:
        if not stop.is_set():
            self.passed += max(t - self.time, 0.0)
            self.time = max(t, self.time)
        return not stop.is_set()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("server_crash@120", Fault(FaultKind.SERVER_CRASH, 120.0)),
        ("stalled_audio@60+5", Fault(FaultKind.STALLED_AUDIO, 60.0, 5.0)),
        ("slow_server@0.5+2.25", Fault(FaultKind.SLOW_SERVER, 0.5, 2.25)),
        ("clock_jump@60+3600", Fault(FaultKind.CLOCK_JUMP, 60.0, 3600.0)),
        ("clock_jump@60-3600", Fault(FaultKind.CLOCK_JUMP, 60.0, -3600.0)),
        ("disk_full@123456.5+1", Fault(FaultKind.DISK_FULL, 123456.5, 1.0)),
        ("recognizer_timeout@0", Fault(FaultKind.RECOGNIZER_TIMEOUT, 0.0)),
        ("disk_full@0.00001+0.000001", Fault(FaultKind.DISK_FULL, 0.00001, 0.000001)),
    ],
)
def test_a_fault_is_named_in_a_word(text: str, fault: Fault) -> None:
    assert parse_fault(text) == fault
    assert str(fault) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("server_crash", "must be KIND@SECONDS or KIND@SECONDS"),
        ("server_crash@", "must be KIND@SECONDS"),
        ("server_crash@-5", "must be KIND@SECONDS"),
        ("server_crash@1e3", "must be KIND@SECONDS"),
        ("server_crash@nan", "must be KIND@SECONDS"),
        ("server_crash@١", "must be KIND@SECONDS"),
        ("stalled_audio@5+5\n", "must be KIND@SECONDS"),
        ("x" * 5_000, "must be KIND@SECONDS"),
        ("power_cut@5", "there is no power_cut; kinds are recognizer_error, recognizer_timeout"),
        ("server_crash@5+3", "it has no duration; write server_crash@5$"),
        ("stalled_audio@5", r"say how long it lasts, such as stalled_audio@5\+5"),
        ("clock_jump@5", r"say how far the clock jumps, such as clock_jump@5\+5"),
        ("slow_server@5-3", r"only clock_jump goes back; write slow_server@5\+3"),
        ("disk_full@5+0", "over 0 and at most 86400 seconds"),
        ("clock_jump@5-86401", "over 0 and at most 86400 seconds"),
    ],
)
def test_what_is_no_fault_is_refused_with_the_option_named(text: str, says: str) -> None:
    with pytest.raises(InputError, match=f"^--fault .*{says}") as caught:
        parse_fault(text)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("names", "restarts", "has_plan_replies", "says"),
    [
        (["server_crash@299", "malformed_plan@0", "slow_server@1+1"], 1, True, None),
        (["recognizer_error@1", "clock_jump@1-5", "stalled_audio@1+500", "disk_full@1+1"], None, False, None),
        (["recognizer_error@1", "recognizer_error@300"], 1, True, "the session is over by then; it has 300"),
        (["server_crash@5"], None, True, "no server; that takes a model or recognizer of kind: vllm"),
        (["slow_server@5+5"], None, True, "the session starts no server"),
        (["malformed_plan@5"], 1, False, "no language model makes plans here"),
        (["server_crash@5", "server_crash@9"], 1, True, "soak.restarts allows 1 crashes"),
        (["server_crash@5"], 0, True, "soak.restarts allows 0 crashes"),
    ],
)  # fmt: skip
def test_what_cannot_happen_or_be_survived_is_refused_before_the_session(
    names: list[str], restarts: int | None, has_plan_replies: bool, says: str | None
) -> None:
    faults = [parse_fault(name) for name in names]

    def check() -> None:
        check_faults(faults, session_seconds=300.0, restarts=restarts, has_plan_replies=has_plan_replies)

    if says is None:
        check()
        return
    with pytest.raises(InputError, match=f"^--fault {names[-1].replace('+', '.')}: .*{says}"):
        check()


Make = Callable[..., tuple[FaultPlan, StandingClock, list[FaultKind]]]


@pytest.fixture
def plan_of() -> Iterator[Make]:
    """A function that makes a plan of the faults that are named; all are closed in the end."""
    plans = []

    def make(
        *names: str, serving_pid: Callable[[], int | None] = lambda: None
    ) -> tuple[FaultPlan, StandingClock, list[FaultKind]]:
        clock, told = StandingClock(), []
        plan = FaultPlan(
            [parse_fault(name) for name in names],
            clock=clock, disk=FullDisk(clock), emit=told.append, serving_pid=serving_pid,
        )  # fmt: skip
        plans.append(plan)
        return plan, clock, told

    yield make
    for plan in plans:
        plan.close()


def test_a_fault_of_a_turn_befalls_the_first_that_ends_then_once(plan_of: Make) -> None:
    plan, _, told = plan_of("recognizer_timeout@20", "recognizer_error@10", "recognizer_error@11")
    ends = {"t1": 9.9, "t2": 10.0, "t3": 12.0, "t4": 13.0, "t5": 33.0, "t6": 34.0}
    failed = {turn: plan.recognizing(turn, end) for turn, end in ends.items()}
    assert failed == {
        "t1": None, "t2": FailureKind.ASR_ERROR, "t3": FailureKind.ASR_ERROR,
        "t4": None, "t5": FailureKind.TIMEOUT, "t6": None,
    }  # fmt: skip
    assert told == ["recognizer_error", "recognizer_error", "recognizer_timeout"] and plan.pending == ()


@pytest.mark.parametrize(
    "reply", ['{"shapes": [], "connections": []}  \n', "{}         ", "```json\n{}\n```", ""]
)
def test_a_malformed_plan_is_no_json(plan_of: Make, reply: str) -> None:
    plan, _, told = plan_of("malformed_plan@10")
    assert plan.plan_reply("t1", 9.0, reply) == reply and not told
    read = read_plan_reply(plan.plan_reply("t2", 10.0, reply), None, "")
    assert isinstance(read, Failure) and read.kind is FailureKind.INVALID_OUTPUT
    assert plan.plan_reply("t3", 11.0, reply) == reply and told == ["malformed_plan"]


def test_faults_from_without_begin_in_their_order_each_once(plan_of: Make) -> None:
    plan, clock, told = plan_of("stalled_audio@5+3", "clock_jump@5+60", "clock_jump@7-60", "disk_full@9+1")
    began = []
    for second in (4.9, 5.0, 6.0, 9.5):
        plan.before_chunk(second, NEVER)
        began.append([str(kind) for kind in told])
        told.clear()
    assert began == [[], ["clock_jump", "stalled_audio"], [], ["clock_jump", "disk_full"]]
    assert (clock.time, clock.passed) == (63.0, 3.0)


def test_a_stall_ends_with_the_session(plan_of: Make) -> None:
    plan, clock, _ = plan_of("stalled_audio@5+3")
    stop = threading.Event()
    stop.set()
    plan.before_chunk(6.0, stop)
    assert clock.time == 0.0


def events(path: Path) -> list[str]:
    return [json.loads(line).get("turn") for line in path.read_text().splitlines()[1:]]


def test_a_full_disk_loses_and_doubles_no_event(tmp_path: Path) -> None:
    clock, path = StandingClock(), tmp_path / "trace.jsonl"
    disk = FullDisk(clock)
    written: list[int] = []

    def write(descriptor: int, data: bytes | memoryview) -> int:
        written.append(disk.write(descriptor, data))
        return written[-1]

    writer = TraceWriter(path, clock, write)
    plan = FaultPlan(
        [parse_fault("disk_full@5+30")],
        clock=clock, disk=disk, emit=lambda kind: writer.emit("fault_injected", fault=kind),
    )  # fmt: skip
    with plan:
        writer.emit("turn_opened", turn="t1")
        plan.before_chunk(5.0, NEVER)
        before = path.read_bytes()
        for number in range(1, 1_200):
            writer.emit("transcript_empty", turn=f"t{number}")
        assert before and path.read_bytes().startswith(before[:-1])
        assert path.read_bytes().endswith(b"\n") and written and len(events(path)) < 1_200
        clock.sleep_until(40.0, NEVER)
    writer.close(patience=0.0)
    assert events(path) == ["t1", None, *(f"t{number}" for number in range(1, 1_200))]


def test_a_disk_that_fills_takes_half_of_a_write_and_then_nothing(tmp_path: Path) -> None:
    clock = StandingClock()
    disk = FullDisk(clock)
    with (tmp_path / "file").open("wb", buffering=0) as file:
        assert disk.write(file.fileno(), b"12345678") == 8
        disk.fill(10.0)
        disk.fill(5.0)
        assert disk.write(file.fileno(), b"abcdefgh") == 4
        clock.passed = 9.9
        for _ in range(2):
            with pytest.raises(OSError, match="No space left") as caught:
                disk.write(file.fileno(), b"efgh")
            assert caught.value.errno == 28
        clock.passed = 10.0
        assert disk.write(file.fileno(), b"efgh") == 4
        disk.fill(10.0)
        disk.free()
        assert disk.write(file.fileno(), b"90") == 2
    assert (tmp_path / "file").read_bytes() == b"12345678abcdefgh90"


PARENT = "import subprocess; subprocess.run(['sleep', '600'])"


@pytest.fixture
def server() -> Iterator[list[int]]:
    """A process and one below it; both are gone in the end."""
    with subprocess.Popen([sys.executable, "-c", PARENT], start_new_session=True) as process:
        assert wait_until(lambda: len(descendants(process.pid)) == 1)
        pids = [process.pid, *descendants(process.pid)]
        assert wait_until(lambda: states(pids) == "SS")
        yield pids
        os.killpg(process.pid, signal.SIGKILL)


def states(pids: Iterable[int]) -> str:
    return "".join(map(state, pids))


def test_a_server_crashes_once_it_serves(
    plan_of: Make, server: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    serving: list[int | None] = [None]
    plan, _, told = plan_of("server_crash@5", "server_crash@5", serving_pid=lambda: serving[0])
    plan.before_chunk(6.0, NEVER)
    assert not told and states(server) == "SS"
    serving[0] = server[0]
    plan.before_chunk(7.0, NEVER)
    assert wait_until(lambda: state(server[0]) == "Z")
    with monkeypatch.context() as dying:
        dying.setattr("misheard.soak.replay.faults.is_running", lambda pid: True)
        plan.before_chunk(8.0, NEVER)
    serving[0] = None
    plan.before_chunk(9.0, NEVER)
    assert told == ["server_crash"] and [str(fault) for fault in plan.pending] == ["server_crash@5"]


def test_a_slow_server_is_stopped_with_all_below_it_and_goes_on(plan_of: Make, server: list[int]) -> None:
    plan, _, told = plan_of("slow_server@5+1", serving_pid=lambda: server[0])
    plan.before_chunk(4.9, NEVER)
    assert states(server) == "SS"
    plan.before_chunk(5.0, NEVER)
    assert wait_until(lambda: states(server) == "TT")
    assert wait_until(lambda: states(server) == "SS") and told == ["slow_server"]
    plan.before_chunk(6.0, NEVER)
    assert states(server) == "SS"


def test_a_session_that_ends_leaves_no_server_stopped(plan_of: Make, server: list[int]) -> None:
    plan, _, _ = plan_of("slow_server@5+600", serving_pid=lambda: server[0])

    def play() -> None:
        with plan:
            plan.before_chunk(5.0, NEVER)
            assert wait_until(lambda: states(server) == "TT")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play()
    assert wait_until(lambda: states(server) == "SS")


def test_a_second_stop_makes_the_first_longer(server: list[int]) -> None:
    stopped = StoppedServer()
    stopped.stop(server[0], 0.05)
    stopped.stop(server[0], 600.0)
    assert not wait_until(lambda: states(server) != "TT", 0.3)
    stopped.stop(server[0], 0.01)
    assert not wait_until(lambda: states(server) != "TT", 0.1)
    stopped.resume()
    assert wait_until(lambda: states(server) == "SS")


def test_a_stopped_server_can_crash(plan_of: Make, server: list[int]) -> None:
    plan, _, told = plan_of("slow_server@5+600", "server_crash@6", serving_pid=lambda: server[0])
    plan.before_chunk(5.0, NEVER)
    assert wait_until(lambda: states(server) == "TT")
    plan.before_chunk(6.0, NEVER)
    assert wait_until(lambda: state(server[0]) == "Z") and told == ["slow_server", "server_crash"]


def test_no_signal_goes_to_a_process_that_is_not_below_this_one() -> None:
    done = subprocess.run(
        ["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!"], capture_output=True, check=True
    )
    stranger = int(done.stdout)
    try:
        assert wait_until(lambda: state(stranger) == "S")
        kill(stranger)
        StoppedServer().stop(stranger, 600.0)
        assert not is_running(stranger) and not is_running(None)
        assert not wait_until(lambda: state(stranger) != "S", 0.1)
    finally:
        os.kill(stranger, signal.SIGKILL)


@pytest.mark.parametrize("end", ["end", "kill"])
def test_a_stopped_server_ends_with_its_session(tmp_path: Path, end: str) -> None:
    command = [sys.executable, str(HERE / "stopped_run.py"), str(tmp_path / "log")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdin is not None and run.stdout is not None
        pids = json.loads(run.stdout.readline())
        assert len(pids) == 3 and states(pids[1:]) == "TT"
        if end == "end":
            run.stdin.write(b"end\n")
            run.stdin.flush()
        else:
            run.kill()
        run.wait(30)
    assert wait_until(lambda: not set(states(pids)) - set("ZX"))
