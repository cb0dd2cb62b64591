"""The commands of docs/holdout.md run as they stand."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from made_suites import read_rows, sets_of, write_suite

PAGE = Path(__file__).parents[2] / "docs" / "holdout.md"


@pytest.fixture
def workspace(tmp_path: Path, make_suite: Callable[..., Path], make_config: Callable[..., Path]) -> Path:
    """A folder with the suite and the config that the page names, and a `misheard` to call."""
    root = make_suite(speech=40, silent=0, name="my-suite", seconds=0.1)
    write_suite(root, [{**row, "session": row["id"]} for row in read_rows(root)], HEADER)
    make_config()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "misheard"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m misheard "$@"\n')
    program.chmod(0o755)
    return tmp_path


HEADER = {
    "name": "my-suite",
    "version": "1",
    "defaults": {"language": "en", "conditions": {"noise": "clean"}},
    "conditions": {"language": ["en"], "noise": ["clean"]},
}


def bash(workspace: Path, script: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    identity = {
        f"GIT_{who}_{what}": "t@t.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    environment = {**own, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
                   "PATH": f"{workspace / 'bin'}{os.pathsep}{os.environ['PATH']}"}  # fmt: skip
    return subprocess.run(
        ["bash", "-euc", script], cwd=workspace, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_commands(workspace: Path) -> None:
    script = re.findall(r"```bash\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    done = bash(workspace, script)
    assert done.returncode == 0, done.stderr
    assert "Over the sealed holdout, 3 items" in done.stdout and "release 1.4" in done.stdout
    assert done.stdout.endswith("nothing changed\n")


@pytest.mark.slow
def test_tiers_are_mixed_then_split(workspace: Path) -> None:
    pytest.importorskip("torchaudio")
    script = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    done = bash(workspace, script)
    assert done.returncode == 0, done.stderr
    sets = sets_of(workspace / "my-tiers")
    assert set(sets.values()) == {"holdout", "regression", "rolling", "reserve"}
    rows = [row for row in read_rows(workspace / "my-tiers") if "source" in row]
    assert rows and all(sets[row["id"]] == sets[row["source"]] for row in rows)


PREPARE = """
mkdir configs prompts
echo 'recognizer: {kind: fake}' > configs/a.yaml
echo hello > prompts/a.txt
misheard suite lock my-suite
git init -qb main
git add my-suite configs prompts
git commit -qm one
git update-ref refs/remotes/origin/main HEAD
git checkout -qb change
"""
EDIT_SUITE = "sed -i 's/question number 7/question number seven/' my-suite/items.jsonl"
EDIT_SYSTEM = "echo '# faster' >> configs/a.yaml"
ADD_ITEM = """
head -n 1 my-suite/items.jsonl | sed 's/q00"/new"/' >> my-suite/items.jsonl
misheard suite lock my-suite
"""
MAIN_MOVES_ON = f"""
git checkout -q main
{ADD_ITEM}
git commit -qam three
git update-ref refs/remotes/origin/main HEAD
git checkout -q change
"""


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([], 0),
        ([EDIT_SYSTEM], 0),
        ([EDIT_SUITE], 0),
        ([EDIT_SUITE, EDIT_SYSTEM], 1),
        ([EDIT_SUITE, "echo bye > prompts/b.txt"], 1),
        ([EDIT_SUITE, "misheard suite lock my-suite", EDIT_SYSTEM, "git commit -qam two"], 1),
        ([ADD_ITEM, EDIT_SYSTEM], 0),
        ([MAIN_MOVES_ON, EDIT_SYSTEM], 0),
    ],
)
def test_the_recipe(workspace: Path, changes: list[str], code: int) -> None:
    recipe = re.findall(r"- run: \|\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    for script in (PREPARE, *changes):
        made = bash(workspace, script)
        assert made.returncode == 0, made.stderr
    done = bash(workspace, recipe)
    assert done.returncode == code, (done.stdout, done.stderr)
