"""The trace of a session while it is written: whole lines alone, on whatever disk."""

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from misheard.soak.events import EventError, EventName
from misheard.soak.reading import read_trace
from misheard.soak.replay import trace_writer
from misheard.soak.replay.clock import SessionClock
from misheard.soak.replay.queues import StoppedError
from misheard.soak.replay.trace_writer import TraceWriter


class Disk:
    """Takes the next `room` bytes, a part of a line at last, and then none, until it is given more."""

    def __init__(self, room: int, number: int = errno.ENOSPC) -> None:
        self.room = room
        self._number = number

    def write(self, file: int, data: memoryview) -> int:
        if not self.room:
            raise OSError(self._number, os.strerror(self._number))
        written = os.write(file, data[: self.room])
        self.room -= written
        return written


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every event is written when it comes."""
    monkeypatch.setattr(trace_writer, "_FLUSH_SECONDS", 0.0)


def events_of(path: Path) -> list[dict[str, Any]]:
    """The events of a trace that may still be written; fails where a line is not whole."""
    text = path.read_text()
    assert not text or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()[1:]]


def test_many_threads_write_one_trace_in_the_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    writer = TraceWriter(path, SessionClock())

    def work(thread: int) -> None:
        for number in range(400):
            writer.emit(EventName.TURN_OPENED, turn=f"t{thread}-{number}", audio_from=0.1 + 0.2)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert writer.counts == {"turn_opened": 2_400}
    writer.close()
    writer.close()
    assert len(read_trace(path).trace.times) == 2_400
    assert len({row["turn"] for row in events_of(path)}) == 2_400
    with pytest.raises(StoppedError):
        writer.emit(EventName.DRAINED)


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("transcript_final", {"turn": "t1", "words": 2, "text": "canary words"}),
        ("transcript_final", {"turn": "canary words", "words": 2}),
        ("transcript_final", {"turn": "t1"}),
        ("canary", {}),
        ("audio_received", {"audio_from": 0.0, "audio_to": float("nan")}),
    ],
)
def test_what_no_trace_may_hold_is_refused(tmp_path: Path, event: str, fields: dict[str, Any]) -> None:
    path = tmp_path / "trace.jsonl"
    writer = TraceWriter(path, SessionClock())
    with pytest.raises(EventError) as refused:
        writer.emit(event, **fields)
    assert "canary words" not in str(refused.value)
    writer.emit(EventName.DRAINED)
    writer.close()
    assert [row["event"] for row in events_of(path)] == ["drained"]


def test_an_earlier_trace_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("mine\n")
    with pytest.raises(FileExistsError):
        TraceWriter(path, SessionClock())
    assert path.read_text() == "mine\n"


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_events_wait_for_a_full_disk_and_no_part_of_a_line_is_left_on_it(tmp_path: Path, number: int) -> None:
    path, disk = tmp_path / "trace.jsonl", Disk(500, number)
    writer = TraceWriter(path, SessionClock(), disk.write)
    for turn in range(30):
        writer.emit(EventName.TURN_OPENED, turn=f"t{turn}")
        assert [row["turn"] for row in events_of(path)] == [f"t{n}" for n in range(len(events_of(path)))]
        if turn == 20:
            assert 0 < len(events_of(path)) < 20
            disk.room = 10_000
    writer.close()
    assert [row["turn"] for row in events_of(path)] == [f"t{turn}" for turn in range(30)]


@pytest.mark.usefixtures("eager")
def test_a_disk_that_stays_full_ends_the_writing_with_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_writer, "MOST_WAITING", 20)
    path = tmp_path / "trace.jsonl"
    writer = TraceWriter(path, SessionClock(), Disk(400).write)

    def emit_for_ever() -> None:
        while True:
            writer.emit(EventName.TURN_OPENED, turn="t1")

    with pytest.raises(OSError, match="No space left") as full:
        emit_for_ever()
    assert (full.value.errno, full.value.filename) == (errno.ENOSPC, str(path))
    with pytest.raises(OSError, match="No space left"):
        writer.close(patience=0.0)
    assert events_of(path)
    read_trace(path)


def test_closing_waits_for_room(tmp_path: Path) -> None:
    path, disk = tmp_path / "trace.jsonl", Disk(10)
    writer = TraceWriter(path, SessionClock(), disk.write)
    writer.emit(EventName.DRAINED)
    timer = threading.Timer(0.1, lambda: setattr(disk, "room", 1_000))
    timer.start()
    writer.close(patience=60)
    timer.join()
    assert [row["event"] for row in events_of(path)] == ["drained"]


def test_a_broken_disk_is_no_full_one(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    writer = TraceWriter(path, SessionClock(), Disk(20, errno.EIO).write)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)) as broken:
        writer.emit(EventName.DRAINED)
    assert broken.value.filename == str(path)
    assert path.read_bytes() == b""


LIMITED = """
import resource, signal, sys
from pathlib import Path
from misheard.soak.replay import trace_writer
from misheard.soak.replay.clock import SessionClock

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
trace_writer._FLUSH_SECONDS = 0.0
path = Path(sys.argv[1])
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
writer = trace_writer.TraceWriter(path, SessionClock())
for turn in range(100):
    writer.emit("turn_opened", turn=f"t{turn}")
text = path.read_text()
assert text.endswith("\\n") and 500 < len(text) <= 1_000, len(text)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
writer.close()
"""


def test_a_limit_of_the_system_that_cuts_a_line_leaves_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    subprocess.run([sys.executable, "-c", LIMITED, str(path)], check=True, timeout=60)
    assert [row["turn"] for row in events_of(path)] == [f"t{turn}" for turn in range(100)]
