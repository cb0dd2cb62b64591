"""Folders that appear whole or not at all, and what a killed process leaves behind."""

import multiprocessing
import os
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from misheard.errors import InputError
from misheard.suite.writing import new_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def make_and_wait(destination: Path, started: Connection) -> None:
    with new_folder(destination) as folder:
        (folder / "file").write_text("half")
        started.send(folder.name)
        started.recv()


def start(destination: Path) -> tuple[multiprocessing.context.SpawnProcess, Connection, str]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=make_and_wait, args=(destination, theirs))
    process.start()
    return process, ours, ours.recv()


def test_what_a_killed_process_left_behind_vanishes(tmp_path: Path) -> None:
    process, _, left = start(tmp_path / "new")
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    # What has no such name, and what belongs to another folder, is nobody's remains.
    others = (".new.backup", ".new.0123456789", ".newer.01234567", ".new.0123456g", "new.01234567")
    for name in others:
        (tmp_path / name).mkdir()
    (tmp_path / ".new.01234567").symlink_to(tmp_path / "newer")
    assert names(tmp_path) == sorted([left, ".new.01234567", *others])
    with new_folder(tmp_path / "new") as folder:
        (folder / "file").write_text("whole")
    assert names(tmp_path) == sorted(["new", ".new.01234567", *others])


def test_two_processes_leave_each_other_alone(tmp_path: Path) -> None:
    process, connection, theirs = start(tmp_path / "new")
    folders = []
    with suppress(RuntimeError), new_folder(tmp_path / "new") as folder:
        folders += names(tmp_path)
        raise RuntimeError
    assert folders == sorted([theirs, folder.name])
    assert names(tmp_path) == [theirs]
    connection.send("go on")
    process.join()
    assert process.exitcode == 0
    assert (tmp_path / "new" / "file").read_text() == "half"
    assert names(tmp_path) == ["new"]


def test_of_two_that_end_one_is_kept_and_the_other_says_so(tmp_path: Path) -> None:
    process, connection, _ = start(tmp_path / "new")
    ours = new_folder(tmp_path / "new")
    (ours.__enter__() / "file").write_text("ours")
    connection.send("go on")
    process.join()
    with pytest.raises(InputError, match="made by another process"):
        ours.__exit__(None, None, None)
    assert names(tmp_path) == ["new"]
    assert (tmp_path / "new" / "file").read_text() == "half"


def test_without_locks_folders_are_made_and_none_is_taken_for_remains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(_descriptor: int, _operation: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", no_locks)
    (tmp_path / ".new.01234567").mkdir()
    with new_folder(tmp_path / "new"):
        pass
    assert names(tmp_path) == [".new.01234567", "new"]
