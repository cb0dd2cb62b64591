"""How to reproduce a run, as its page says it: the commands run as they are copied, and give the same run."""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
import yaml
from hostile_run import hostile_documents

from command_line import misheard
from misheard.report.html.page import Code
from misheard.report.html.run_facts import reproduce_section

MakePath = Callable[..., Path]
NAME = 'it\'s "my" $run 1'


def blocks(page: str) -> list[str]:
    """Return what can be copied from the section of a page, block by block."""
    section = page[page.index('<section class="part" id="reproduce"') :]
    return [unescape(one) for one in re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", section, re.DOTALL)]


def test_the_commands_of_a_page_run_as_they_are_copied_and_give_the_same_run(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    config = make_config(scoring={"resamples": 200, "profile": "plain"}, respond={"max_tokens": 7})
    suite, out = make_suite(4, 1, "a suite of 'mine'"), tmp_path / NAME
    done = misheard("run", config, "--suite", suite, "--out", out, "--limit", 4, "--cpu")
    assert done.returncode == 0, done.stderr
    before = {name: (out / name).read_bytes() for name in ("report.json", "matrix.csv", "items.parquet")}
    assert misheard("report", out, "--html").returncode == 0
    html = (out / "report.html").read_text("utf-8")
    commands, again = blocks(html)
    (tmp_path / "again.yaml").write_text(again, "utf-8")
    lines = [shlex.split(line, comments=True) for line in commands.splitlines()]
    assert [line[:2] for line in lines if line] == [
        ["misheard", "score"], ["misheard", "report"], ["misheard", "run"], ["misheard", "compare"],
    ]  # fmt: skip
    for line in filter(None, lines):
        done = misheard(*line[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert all((out / name).read_bytes() == found for name, found in before.items())
    assert (out / "report.html").read_text("utf-8") == html
    first, second = (json.loads((path / "report.json").read_bytes()) for path in (out, tmp_path / "again"))
    for part in ("suite", "system", "scorer", "arms", "matrix", "determinism"):
        assert first[part] == second[part], part
    assert yaml.safe_load(again)["respond"]["max_tokens"] == 7
    (command,) = [unescape(one) for one in re.findall(r"<code>(.*?--with-text.*?)</code>", html, re.DOTALL)]
    assert misheard(*shlex.split(command)[1:], cwd=tmp_path).returncode == 0
    assert "canary question number 1" in (out / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("subset", "kind", "expected"),
    [
        ("rolling", "fake", ["misheard run again.yaml --suite s --out again --subset rolling"]),
        (
            "holdout",
            "fake",
            ["misheard suite open s --reason WHY", "misheard run again.yaml --suite s --out again --holdout"],
        ),
        ("open", "imported", ["misheard import"]),
    ],
)
def test_what_was_chosen_of_a_suite_is_chosen_again_and_what_was_imported_is_not_run(
    subset: str, kind: str, expected: list[str]
) -> None:
    documents = hostile_documents()
    run = {**documents.run, "cpu": False, "suite": {"path": "s", "subset": subset}}
    run["config"] = {"recognizer": {"kind": kind}}
    code = reproduce_section(replace(documents, run=run)).blocks[0]
    assert isinstance(code, Code) and all(one in code.text for one in expected)
    assert ("misheard run" in code.text) is (kind != "imported")
