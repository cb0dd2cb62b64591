"""Processes that are looked into: what may abort or hang does that there, and takes nothing else with it."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from misheard.doctor.checks import one_line

AT_ONCE = 2
"""Children that run at a time: each may import libraries of gigabytes."""

_KEPT_BYTES = 65_536
_POLL_SECONDS = 0.05
_DRAIN_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Child:
    """A program, and the most seconds that it gets; `stdin` is what it reads."""

    command: tuple[str, ...]
    seconds: float
    env: Mapping[str, str] | None = None
    stdin: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a child ended.

    Attributes:
        how: by itself, at its deadline, or never begun.
        status: exit status, negative for a signal; None unless it ended by itself.
        seconds: from its start to its end.
        stdout, stderr: the last 64 KiB of each.
    """

    how: Literal["exited", "timeout", "not_started"]
    status: int | None
    seconds: float
    stdout: str = ""
    stderr: str = ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The lines of the output that are JSON objects; libraries may print others."""
        found = []
        for line in self.stdout.splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict):
                    found.append(row)
        return found

    @property
    def problem(self) -> str:
        """What went wrong, in words; empty where the child ended with status 0."""
        lines = self.stderr.strip().splitlines()
        last = one_line(lines[-1]) if lines else ""
        if self.how == "timeout":
            return f"no answer after {self.seconds:.0f} s; it was ended" + _said(last)
        if self.how == "not_started":
            return last or "cannot be started"
        if self.status is not None and self.status < 0:
            return f"the process was killed by {_signal(-self.status)}" + _said(last)
        if self.status:
            return last or f"exit status {self.status}"
        return ""


def _said(last: str) -> str:
    return f"; its last words: {last}" if last else ""


def _signal(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


@dataclass(slots=True)
class _Running:
    number: int
    child: Child
    process: subprocess.Popen[bytes]
    started: float
    kept: dict[int, deque[bytes]] = field(default_factory=dict)
    ended: float | None = None

    @property
    def deadline(self) -> float:
        return self.started + self.child.seconds


def run_children(children: Sequence[Child], at_once: int = AT_ONCE) -> Iterator[tuple[int, Outcome]]:
    """Run children, in order and `at_once` at a time, and yield (index, outcome) of each as it ends.

    Whatever a child leaves in its process group is ended with it, and so is every child when the iterator is
    closed.
    """
    waiting = deque(enumerate(children))
    running: list[_Running] = []
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    number, child = waiting.popleft()
                    try:
                        running.append(_start(number, child, selector))
                    except (OSError, ValueError) as error:
                        reason = getattr(error, "strerror", None) or type(error).__name__
                        yield (
                            number,
                            Outcome("not_started", None, 0.0, stderr=f"{child.command[0]}: {reason}"),
                        )
                _read(selector, running)
                for one in [one for one in running if _is_over(one, selector)]:
                    running.remove(one)
                    yield one.number, _finish(one, selector)
        finally:
            for one in running:
                _finish(one, selector)


def _start(number: int, child: Child, selector: selectors.BaseSelector) -> _Running:
    with tempfile.TemporaryFile() as stdin:
        stdin.write(child.stdin.encode())
        stdin.seek(0)
        process = subprocess.Popen(
            child.command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child.env,
            start_new_session=True,
        )
    one = _Running(number, child, process, time.monotonic())
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            os.set_blocking(stream.fileno(), False)
            one.kept[stream.fileno()] = deque()
            selector.register(stream, selectors.EVENT_READ, one)
    return one


def _read(selector: selectors.BaseSelector, running: Sequence[_Running]) -> None:
    """Read what there is; a child that writes without end is heard at the end alone."""
    if not selector.get_map():
        if running:
            time.sleep(_POLL_SECONDS)
        return
    for key, _ in selector.select(_POLL_SECONDS):
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(key.fd, _KEPT_BYTES)
            if not chunk:
                selector.unregister(key.fileobj)
                continue
            kept = key.data.kept[key.fd]
            kept.append(chunk)
            while sum(map(len, kept)) - len(kept[0]) >= _KEPT_BYTES:
                kept.popleft()


def _is_over(one: _Running, selector: selectors.BaseSelector) -> bool:
    now = time.monotonic()
    if now >= one.deadline:
        return True
    if one.process.poll() is None:
        return False
    if one.ended is None:
        one.ended = now
    # A process that it left behind may hold its pipes open for ever.
    silent = all(key.data is not one for key in selector.get_map().values())
    return silent or now >= one.ended + _DRAIN_SECONDS


def _finish(one: _Running, selector: selectors.BaseSelector) -> Outcome:
    """End what is left of a child and return how it ended."""
    process = one.process
    by_itself = process.poll() is not None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    seconds = (one.ended or time.monotonic()) - one.started
    texts = []
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            texts.append(b"".join(one.kept[stream.fileno()])[-_KEPT_BYTES:].decode("utf-8", "replace"))
            if stream.fileno() in selector.get_map():
                selector.unregister(stream)
            stream.close()
    status = process.returncode if by_itself else None
    return Outcome("exited" if by_itself else "timeout", status, seconds, *texts)
