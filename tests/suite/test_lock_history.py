"""`suite diff --against REF`: what git has and what is there, and the CI recipe of docs/holdout.md."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from made_suites import read_rows, rows_of, write_suite

from command_line import misheard
from misheard.errors import InputError
from misheard.suite.comparing import compare_with_commit
from misheard.suite.dividing import split_suite
from misheard.suite.history import commit_at
from misheard.suite.lock import make_lock, write_lock
from misheard.suite.openings import append_opening
from misheard.suite.sidecars import sidecars
from misheard.suite.splitting import Shares

Git = Callable[..., None]
CONFIG = "recognizer: {kind: fake}\n"


@pytest.fixture(autouse=True)
def _no_git_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a hook's variables nor a person's config reach the repositories of these tests."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return tmp_path / "repository"


@pytest.fixture
def git(repository: Path) -> Git:
    def run(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@t.example"]
        subprocess.run(["git", *identity, "-C", str(repository), *arguments], check=True, capture_output=True)

    return run


@pytest.fixture
def suite(repository: Path, git: Git) -> Path:
    """A locked suite and a config, committed as HEAD."""
    root = write_suite(repository / "suites" / "kitchen", rows_of(4))
    write_lock(sidecars(root).lock, make_lock(root))
    (repository / "configs").mkdir()
    (repository / "configs" / "gpu.yaml").write_text(CONFIG)
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "one")
    return root


def edit_suite(suite: Path) -> None:
    rows = read_rows(suite)
    write_suite(suite, [{**rows[0], "reference": "canary another"}, *rows[1:]])


def add_item(suite: Path) -> None:
    rows = read_rows(suite)
    write_suite(suite, [*rows, {**rows[0], "id": "new"}])


def edit_config(suite: Path) -> None:
    (suite.parents[1] / "configs" / "gpu.yaml").write_text(CONFIG + "# more\n")


def add_config(suite: Path) -> None:
    (suite.parents[1] / "configs" / "new.yaml").write_text(CONFIG)


def remove_config(suite: Path) -> None:
    (suite.parents[1] / "configs" / "gpu.yaml").unlink()


def diff(suite: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return misheard("suite", "diff", suite, "--against", "HEAD", *options, cwd=suite.parent)


RECIPE = ("--fail-on-edit", "--system", "configs/**/*.yaml")


@pytest.mark.parametrize(
    ("changes", "options", "code"),
    [
        ([], RECIPE, 0),
        ([edit_suite], (), 0),
        ([edit_suite], ("--fail-on-edit",), 1),
        ([edit_suite], RECIPE, 0),
        ([edit_config], RECIPE, 0),
        ([add_item], ("--fail-on-edit",), 0),
        ([add_item, edit_config], RECIPE, 0),
        ([edit_suite, edit_config], RECIPE, 1),
        ([edit_suite, add_item, add_config], RECIPE, 1),
        ([edit_suite, remove_config], RECIPE, 1),
        ([edit_suite, edit_config], ("--fail-on-edit", "--system", "configs/cpu*.yaml"), 2),
    ],
)
def test_a_change_of_system_and_suite_fails(
    suite: Path, changes: list[Callable[[Path], None]], options: tuple[str, ...], code: int
) -> None:
    for change in changes:
        change(suite)
    done = diff(suite, *options)
    assert done.returncode == code, done.stderr
    assert "canary" not in done.stdout + done.stderr
    if edit_suite in changes and code != 2:
        assert "item q00-0: reference changed" in done.stdout
        assert "suite.lock is not up to date" in done.stdout
    if code == 2:
        assert "--system configs/cpu*.yaml: matches no file" in done.stderr


def test_committing_or_locking_the_edit_hides_nothing(suite: Path, git: Git) -> None:
    git("tag", "base")
    edit_suite(suite)
    edit_config(suite)
    write_lock(sidecars(suite).lock, make_lock(suite))
    git("commit", "-qam", "two")
    found = compare_with_commit(suite, "base", ["configs/*.yaml"])
    assert [str(c) for c in found.changes.edits] == ["item q00-0: reference changed"]
    assert (found.system_files, found.notes) == (("configs/gpu.yaml",), ())
    assert not compare_with_commit(suite, "HEAD", []).changes.edits


def test_an_opening_leaves_the_lock_up_to_date(suite: Path) -> None:
    write_suite(suite, rows_of(20))
    split_suite(suite, Shares(), 1)
    write_lock(sidecars(suite).lock, make_lock(suite))
    append_opening(sidecars(suite).openings, "why", "f" * 64, lambda before: None)
    assert compare_with_commit(suite, "HEAD", []).notes == ()


def test_what_lies_in_the_suite_is_no_system_file(suite: Path) -> None:
    rows = read_rows(suite)
    write_suite(
        suite, rows, {"name": "kitchen", "version": "2"} | {"conditions": {"noise": ["clean", "5dB"]}}
    )
    assert commit_at(suite, "HEAD").changed(["**/*.yaml"], suite) == []


def test_a_lock_taken_away_is_compared_all_the_same(suite: Path) -> None:
    edit_suite(suite)
    sidecars(suite).lock.unlink()
    found = compare_with_commit(suite, "HEAD", [])
    assert [str(c) for c in found.changes.edits] == ["item q00-0: reference changed"]
    assert found.notes == (f"{suite} has no suite.lock any more",)


def test_a_commit_with_the_suite_and_no_lock_counts_as_an_edit(suite: Path, git: Git) -> None:
    git("rm", "-q", "--cached", "suites/kitchen/suite.lock")
    git("commit", "-qm", "no lock")
    edits = compare_with_commit(suite, "HEAD", []).changes.edits
    assert [str(c) for c in edits] == ["suite: HEAD has it without a suite.lock; edits cannot be told"]


def test_a_new_suite_is_all_additions(suite: Path) -> None:
    new = write_suite(suite.parent / "new", rows_of(2))
    changes = compare_with_commit(new, "HEAD", []).changes
    assert len(changes.added_items) == 4
    assert changes.edits == ()


def test_recordings_that_are_not_fetched_can_be_left_out(suite: Path) -> None:
    for path in (suite / "audio").iterdir():
        path.write_text("version https://git-lfs.example/spec/v1")
    assert len(compare_with_commit(suite, "HEAD", []).changes.edits) == 8
    (suite / "audio" / "q00-0.wav").unlink()
    assert diff(suite, "--fail-on-edit", "--without-audio").returncode == 0
    done = diff(suite, "--fail-on-edit")
    assert done.returncode == 2 and "item q00-0" in done.stderr


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("nowhere", "git knows no such commit here; in a shallow clone, fetch it first"),
        ("-h", "is not the name of a branch"),
        ("--output=x", "is not the name of a branch"),
        ("HEAD:suites", "is not the name of a branch"),
        ("HEAD\n", "is not the name of a branch"),
        ("", "is not the name of a branch"),
        (":/message", "is not the name of a branch"),
        ("a b", "is not the name of a branch"),
        ("a\x1b[2J", "is not the name of a branch"),
        ("v1\u202e", "is not the name of a branch"),
        ("HEAD..HEAD", "git knows no such commit here"),
        ("a" * 300, "is not the name of a branch"),
    ],
)
def test_references_that_git_must_not_see(suite: Path, reference: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare_with_commit(suite, reference, [])


@pytest.mark.parametrize("name", ["we'ird#1", "ветка/ä-x", "हिन्दी", "v1,2=3%", "a" * 150])
def test_names_that_git_allows(suite: Path, git: Git, name: str) -> None:
    git("tag", name)
    assert not compare_with_commit(suite, name, []).changes.edits


def test_outside_a_repository_and_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_suite(tmp_path / "alone", rows_of(2))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(InputError, match="is not inside a git repository; compare two lock files instead"):
        compare_with_commit(root, "HEAD", [])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="needs git, which is not installed"):
        compare_with_commit(root, "HEAD", [])


def test_the_repository_starts_no_program(suite: Path, git: Git, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    git("config", "core.fsmonitor", str(trap))
    git("config", "diff.external", str(trap))
    git("config", "diff.trap.textconv", str(trap))
    git("config", "core.pager", str(trap))
    (suite.parents[1] / ".gitattributes").write_text("*.lock diff=trap\n*.yaml diff=trap\n")
    edit_suite(suite)
    edit_config(suite)
    assert diff(suite, *RECIPE).returncode == 1
    assert not (tmp_path / "sprung").exists()


def test_file_names_control_no_terminal(suite: Path) -> None:
    (suite.parents[1] / "configs" / "a\x1b[2J.yaml").write_text(CONFIG)
    edit_suite(suite)
    done = diff(suite, *RECIPE)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout and "a\\x1b[2J.yaml" in done.stdout


def test_usage(suite: Path) -> None:
    done = diff(suite, "--system", "configs/*.yaml")
    assert (done.returncode, done.stderr) == (2, "misheard: --system: needs --against and --fail-on-edit\n")
    done = subprocess.run(
        [sys.executable, "-m", "misheard", "suite", "diff", str(suite), str(suite), "--against", "HEAD"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "leave B out" in done.stderr
    done = diff(sidecars(suite).lock)
    assert done.returncode == 2 and "name the suite, not its lock" in done.stderr
