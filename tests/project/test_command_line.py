"""The tests' way to call `misheard` is as good as a new process: the same status and the same output."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import command_line
from command_line import COMMAND, misheard_bytes

SCORE = ("score", "--ref", "r.txt", "--hyp", "-")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "r.txt").write_text("one two\r\nthree\n")
    return tmp_path


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """No command has to start anew to show that it can."""

    class Everything(set[Any]):
        def __contains__(self, value: object) -> bool:
            return True

    monkeypatch.setattr(command_line, "_shown_to_start", Everything())


@pytest.fixture
def no_new_process(warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    misheard_bytes("--version")  # both warm processes are there

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a new process")

    monkeypatch.setattr(command_line, "_in_a_new_process", refuse)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--version",), 0),
        (("nonsense",), 2),
        (("score", "--ref", "none.txt", "--hyp", "r.txt"), 2),
        (SCORE, 0),
        (("report", "."), 4),
        (("suite", "validate", "--help"), 0),
    ],
)
@pytest.mark.usefixtures("no_new_process")
def test_it_is_as_in_a_new_process(folder: Path, arguments: tuple[str, ...], code: int) -> None:
    env = {**os.environ, "COLUMNS": "61"}
    given = b"one\nthree\n" if arguments == SCORE else b""
    new = subprocess.run(
        [*COMMAND, *arguments], input=given, capture_output=True, check=False, cwd=folder, env=env
    )
    for _ in range(2):
        done = misheard_bytes(*arguments, cwd=folder, env=env, stdin=given)
        assert (done.returncode, done.stdout, done.stderr) == (new.returncode, new.stdout, new.stderr)
    assert new.returncode == code


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    ("variable", "is_new"), [("PYTHONWARNINGS", True), ("LC_ALL", True), ("MISHEARD_MODELS", False)]
)
def test_what_is_read_at_the_start_needs_a_new_process(
    variable: str, is_new: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []

    def new_process(*_: object) -> subprocess.CompletedProcess[bytes]:
        started.append(True)
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(command_line, "_in_a_new_process", new_process)
    monkeypatch.setattr(command_line, "_in_a_fork", lambda *_: None)
    misheard_bytes("--version", env={**os.environ, variable: "C"})
    assert bool(started) is is_new


def test_a_command_is_a_new_process_until_it_has_succeeded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "_shown_to_start", set())
    forked: list[list[str]] = []
    fork = command_line._in_a_fork
    monkeypatch.setattr(
        command_line, "_in_a_fork", lambda warm, args, *rest: forked.append(args) or fork(warm, args, *rest)
    )
    bad, good = (
        ("score", "--ref", "none.txt", "--hyp", "none.txt"),
        ("score", "--ref", "r.txt", "--hyp", "r.txt"),
    )
    for arguments in (bad, good, bad, good):
        misheard_bytes(*arguments, cwd=folder)
    assert forked == [list(bad), list(good)]


@pytest.mark.usefixtures("no_new_process")
def test_a_command_that_is_killed_says_so_and_a_test_that_stops_ends_it(folder: Path) -> None:
    os.mkfifo(folder / "never.txt")

    def stop(*_: object) -> None:
        raise TimeoutError

    was = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    pids = [warm._process.pid for warm in command_line._warm]
    try:
        with pytest.raises(TimeoutError):
            misheard_bytes("score", "--ref", "never.txt", "--hyp", "r.txt", cwd=folder)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, was)
    assert command_line._warm == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
