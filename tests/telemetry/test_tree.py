import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from misheard.telemetry import tree
from misheard.telemetry.readings import Reason
from misheard.telemetry.tree import ProcessTree

psutil = pytest.importorskip("psutil", reason="needs the extra run")

BUSY = "import time\nheld = bytearray({size})\nend = time.process_time() + {cpu}\nwhile time.process_time() < end: pass\nprint('done', flush=True)\ninput()"  # noqa: E501


@contextmanager
def child(cpu: float = 0.0, size: int = 0) -> Iterator[subprocess.Popen[str]]:
    """A process that has held memory and used processor time when it is yielded, and waits."""
    code = BUSY.format(cpu=cpu, size=size)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        try:
            process.stdout.readline()
            yield process
        finally:
            process.kill()


def read(found: ProcessTree) -> tuple[float, float]:
    resident, cpu = found.read()
    assert resident.value is not None
    assert cpu.value is not None
    return resident.value, cpu.value


@pytest.fixture(autouse=True)
def searches_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "SEARCH_SECONDS", 0.0)
    monkeypatch.setattr(tree, "SEARCH_SHARE", 1e9)


def test_children_count_with_memory_and_time() -> None:
    found = ProcessTree(lambda: [os.getpid()])
    own, _ = read(found)
    with child(cpu=0.2, size=64 * 2**20) as process:
        both, cpu = read(found)
        assert {os.getpid(), process.pid} <= set(found.pids)
        assert both - own > 50 * 2**20
        assert cpu >= 0.15


def test_ended_process_takes_its_memory_along_and_leaves_its_time() -> None:
    found = ProcessTree(lambda: [os.getpid()])
    read(found)
    with child(cpu=0.2, size=64 * 2**20) as process:
        during, cpu = read(found)
    after, later = read(found)
    assert process.pid not in found.pids
    assert during - after > 50 * 2**20
    assert later >= cpu


def test_process_that_was_never_seen_counts_when_it_was_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "SEARCH_SECONDS", 3600.0)
    found = ProcessTree(lambda: [os.getpid()])
    read(found)
    with child(cpu=0.2):
        before = read(found)[1]
    assert read(found)[1] - before >= 0.15


ORPHAN = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
input()
"""


def test_seconds_of_processes_that_nobody_here_waited_for_stay_and_others_count_on() -> None:
    found = ProcessTree(lambda: [os.getpid()])
    before = read(found)[1]
    busy = BUSY.format(cpu=0.4, size=0)
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", ORPHAN, busy]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as parent:
        assert parent.stdout is not None
        orphan = psutil.Process(int(parent.stdout.readline()))
        during = read(found)[1]
        assert orphan.pid in found.pids and during - before >= 0.35
        parent.kill()
    orphan.kill()
    while orphan.is_running() and orphan.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    read(found)
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    read(found)
    assert read(found)[1] - during >= 0.25


def test_process_whose_parent_ended_goes_on_counting() -> None:
    found = ProcessTree(lambda: [os.getpid()])
    pipe = subprocess.PIPE
    endless = "print('on', flush=True)\nwhile True: pass"
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN, endless], stdin=pipe, stdout=pipe, text=True
    ) as parent:
        assert parent.stdout is not None
        orphan = psutil.Process(int(parent.stdout.readline()))
        read(found)
        parent.kill()
    try:
        before, used = read(found)[1], sum(orphan.cpu_times()[:2])
        while sum(orphan.cpu_times()[:2]) < used + 0.2:
            time.sleep(0.01)
        assert orphan.pid in found.pids
        assert read(found)[1] - before >= 0.15
    finally:
        orphan.kill()


def test_time_before_the_first_sample_does_not_count() -> None:
    with child(cpu=0.3) as process:
        time.sleep(0.05)
        assert read(ProcessTree(lambda: [process.pid]))[1] == 0.0


def test_processes_are_searched_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "SEARCH_SECONDS", 3600.0)
    found = ProcessTree(lambda: [os.getpid()])
    read(found)
    with child() as process:
        read(found)
        assert process.pid not in found.pids


def test_processes_that_are_gone_are_a_reason() -> None:
    with child() as process:
        gone = process.pid
    found = ProcessTree(lambda: [gone])
    assert {reading.reason for reading in found.read()} == {Reason.READ_ERROR}


def test_process_that_may_not_be_read_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: object) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "memory_info", refuse)
    readings = ProcessTree(lambda: [os.getpid()]).read()
    assert {(reading.value, reading.reason) for reading in readings} == {(None, Reason.NO_PERMISSION)}


def test_without_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    readings = ProcessTree(lambda: [os.getpid()]).read()
    assert {(reading.value, reading.reason) for reading in readings} == {(None, Reason.LIBRARY_MISSING)}
