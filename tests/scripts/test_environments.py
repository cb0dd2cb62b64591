"""The scripts' shared environments: what names them, and what a machine that lacks something is told."""

import fcntl
import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def envs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "lib"))
    monkeypatch.setenv("MISHEARD_CACHE", str(tmp_path / "cache"))
    return importlib.import_module("envs")


def finished(envs: ModuleType, name: str) -> Path:
    """Lay out an environment as a finished build leaves it, and return its folder."""
    env = envs.environment(name)
    folder: Path = envs.cache_dir() / "envs" / f"{env.name}-{env.key()}"
    folder.mkdir(parents=True)
    envs.stamp(folder).write_text("{}")
    return folder


def test_a_finished_environment_is_used_as_it_is(envs: ModuleType) -> None:
    folder = finished(envs, "dev")
    assert envs.ensure("dev") == folder / "bin" / "python"


def test_the_demo_has_what_runs_a_pipeline_and_nothing_that_checks_the_project(envs: ModuleType) -> None:
    names = {re.split("[<>=;]", wanted)[0] for wanted in envs.environment("demo").requirements}
    assert {"torch", "transformers", "ctranslate2", "soundfile", "jinja2"} <= names
    assert not {"meeteval", "ruff", "mypy", "sphinx", "pytest"} & names
    folder = finished(envs, "demo")
    assert envs.ensure("demo") == folder / "bin" / "python"


def test_the_demo_is_not_made_where_the_environment_of_the_tests_is(envs: ModuleType) -> None:
    finished(envs, "demo")
    folder = finished(envs, "dev")
    assert envs.ensure("demo") == folder / "bin" / "python"


@pytest.mark.parametrize("script", ["demo", "misheard"])
def test_who_runs_a_pipeline_gets_the_environment_of_the_demo(
    envs: ModuleType, tmp_path: Path, script: str
) -> None:
    program = finished(envs, "demo") / "bin" / "python"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        [str(ROOT / "scripts" / script), "--out", str(tmp_path / "out")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "-P -m misheard" in done.stdout


def test_the_key_follows_requirements_and_constraints(
    envs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(envs, "ROOT", tmp_path)
    (tmp_path / "pins.txt").write_text("a==1\n")
    make = envs.Environment
    base = make("x", ("a",), "pins.txt", (), 1.0).key()
    assert make("x", ("a",), "pins.txt", (), 1.0).key() == base
    assert make("x", ("a", "b"), "pins.txt", (), 1.0).key() != base
    (tmp_path / "pins.txt").write_text("a==2\n")
    assert make("x", ("a",), "pins.txt", (), 1.0).key() != base


def test_an_unfinished_build_is_removed_and_built_again(envs: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("")
    env = envs.Environment("empty", (), str(tmp_path / "none.txt"), (), 0.0)
    folder = tmp_path / "empty"
    (folder / "bin").mkdir(parents=True)
    (folder / "leftover").touch()
    with (
        envs.locked(tmp_path / "lock", "a test") as lock,
        pytest.raises(envs.SetUpError, match="installing empty failed"),
    ):
        envs.build(env, folder, lock)  # pip refuses to install nothing, after the venv is made
    assert not (folder / "leftover").exists()
    assert (folder / "bin" / "python").exists()
    assert not envs.stamp(folder).exists()


def test_a_command_that_outlives_its_killed_script_keeps_the_lock(envs: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with envs.locked(path, "a test") as lock:
        orphan = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock,))
    try:
        with path.open("w") as handle:
            with pytest.raises(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            orphan.communicate(b"\n")
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        orphan.kill()
        orphan.wait()


def test_a_full_disk_is_named_before_anything_is_installed(
    envs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(envs.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 3_000_000_000})())
    with pytest.raises(envs.SetUpError, match=r"needs about 10 GB of disk and 3\.0 GB are free"):
        envs.ensure("dev")


def test_a_cache_that_cannot_be_written_is_named(envs: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(envs.SetUpError, match="set MISHEARD_CACHE"):
        envs.ensure("dev")


def test_progress_names_the_last_step_in_one_short_line(envs: ModuleType, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("Collecting torch\n   ━━━━ 554 MB\n")
    assert envs.last_step(log) == "Collecting torch"
    log.write_text("Collecting torch\nInstalling collected packages: a, b, c\n  a warning\n")
    assert envs.last_step(log) == "Installing 3 packages, the last and longest step"


def test_environments_of_no_more_use_are_named(envs: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    demo, dev = finished(envs, "demo"), finished(envs, "dev")
    (dev.parent / f"dev-{'0' * 12}").mkdir()
    (dev.parent / f"dev-{'0' * 12}.log").touch()
    envs.mention_older(envs.environment("demo"), demo)
    assert capsys.readouterr().err == ""
    envs.mention_older(envs.environment("dev"), dev)
    said = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in said] == [str(demo), str(dev.parent / f"dev-{'0' * 12}")]


def test_an_unknown_environment_is_refused(envs: ModuleType) -> None:
    with pytest.raises(envs.SetUpError, match="there are demo, dev and vllm"):
        envs.ensure("prod")


def test_every_requirement_is_pinned_and_no_place_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        line
        for line in (ROOT / "requirements" / "lock.txt").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    names = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["run"], *extras["dev"]]
    assert [line for line in wanted if line.split(">")[0].split("<")[0].lower() not in names] == []
    assert [line for line in lines if "==" not in line or "/" in line or "@" in line] == []


def fake_python(folder: Path, version_check_passes: bool) -> None:
    folder.mkdir()
    program = folder / "python3"
    program.write_text(f"#!/bin/sh\necho 'Python 3.9.2'\nexit {0 if version_check_passes else 1}\n")
    program.chmod(0o755)


def test_an_old_python_is_named(tmp_path: Path) -> None:
    fake_python(tmp_path / "bin", version_check_passes=False)
    result = subprocess.run(
        ["/bin/bash", "-c", f'source "{ROOT}/scripts/lib/env.sh"; host_python'],
        env={"PATH": str(tmp_path / "bin"), "HOME": os.environ.get("HOME", "/")},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    assert "no Python 3.11 or later: python3 is Python 3.9.2" in result.stderr


def test_python_can_be_chosen(tmp_path: Path) -> None:
    result = subprocess.run(
        ["/bin/bash", "-c", f'source "{ROOT}/scripts/lib/env.sh"; host_python'],
        env={"PATH": os.environ["PATH"], "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert (result.returncode, result.stdout.strip()) == (0, sys.executable)
