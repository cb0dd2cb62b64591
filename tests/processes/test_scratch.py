"""Folders that programs leave behind are removed, and nothing else is."""

import os
from pathlib import Path

import pytest

from misheard.processes import scratch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def test_folders_without_permissions_go(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name / "c").mkdir(parents=True)
        (folder / name / "c" / "file").touch()
        (folder / name / "c").chmod(0)
        (folder / name).chmod(0)
    folder.chmod(0o500)
    scratch.remove(folder)
    assert not folder.exists()


def test_folders_deeper_than_recursion_go(folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("x" * 10, dir_fd=here)
        deeper = os.open("x" * 10, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    scratch.remove(folder)
    assert not folder.exists()


def test_links_are_removed_and_not_followed(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    kept.chmod(0o500)
    (folder / "link").symlink_to(kept)
    (folder / "closed").mkdir(mode=0)
    scratch.remove(folder)
    assert not folder.exists()
    folder.symlink_to(kept)
    scratch.remove(folder)
    assert not folder.is_symlink()
    assert (kept / "file").exists() and kept.stat().st_mode & 0o777 == 0o500
    kept.chmod(0o700)


def test_what_stands_in_its_place_goes(folder: Path) -> None:
    folder.rmdir()
    scratch.remove(folder)
    folder.write_text("x")
    scratch.remove(folder)
    assert not folder.exists()
