"""The pages for new readers: every command on them is run here, or stands below with the reason why not."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from followed_pages import (
    DOCS,
    SCLITE,
    Block,
    arguments,
    bash,
    blocks,
    commands,
    environment,
    steps,
    workspace,
)

from misheard import console
from misheard.cli import main

MINUTES = "takes minutes, a package index and models"
MODELS = "needs models"
SHOWN = "the form of a command, whose files are the reader's"

NOT_RUN = {
    ("start", "pip install ."): MINUTES,
    ("start", "scripts/demo --out runs/demo"): MINUTES,
    ("start", "scripts/misheard report runs/demo --html --open"): MINUTES,
    ("start", "scripts/misheard report runs/demo --by speed --metric correct_rate"): MINUTES,
    ("own-recordings", "scripts/fetch_models whisper-tiny.en"): MINUTES,
    ("own-recordings", "pip install '.[run]'"): MINUTES,
    ("own-recordings", "scripts/fetch_models --python python"): MINUTES,
    ("own-recordings", "misheard doctor configs/cpu.yaml --cpu"): "starts every model library",
    ("own-recordings", "misheard run configs/cpu.yaml --cpu --suite my-suite --dry-run"): "begins every run",
    ("own-recordings", "misheard report runs/first --html"): "tests/report/html writes such files",
    (
        "own-recordings",
        "misheard run configs/cpu.yaml --cpu --suite my-suite --out runs/second"
        " --set recognizer.model=whisper-tiny.en",
    ): MODELS,
    ("own-recordings", "misheard compare runs/first runs/second --by speed --metric wer"): MODELS,
    (
        "compare-providers",
        "misheard score --ref questions.csv --hyp provider-a/ --hyp provider-b/ --profile plain",
    ): SHOWN,
    (
        "compare-providers",
        "python3 examples/python/provider_outputs.py provider-a > a.jsonl",
    ): "tests/examples/test_python_examples.py runs it",
    (
        "compare-providers",
        "python3 examples/python/provider_outputs.py provider-a seconds.csv > a.jsonl",
    ): "tests/examples/test_python_examples.py runs it",
    (
        "code-switching",
        "misheard compare runs/before runs/after --by language,code_switch --metric mer",
    ): SHOWN,
}

EXIT_CODES = {"gate": 3}
"""What the page says of a command that does not end with 0."""

CHAINS = (
    ("start",),
    ("from-jiwer",),
    ("code-switching",),
    ("statistics",),
    ("compare-providers", "api", "formats"),
    ("own-recordings", "privacy", "own-metric"),
)
"""Pages that are read one after the other, in one folder."""

PAGES = [page for chain in CHAINS for page in chain]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Path]:
    """Where each chain is followed."""
    return {chain: workspace(tmp_path_factory.mktemp(chain[0])) for chain in CHAINS}


@pytest.fixture
def folder(
    request: pytest.FixtureRequest,
    followed: dict[tuple[str, ...], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """The folder of a chain, as the working folder."""
    pytest.importorskip("soundfile", reason="needs the extra run")
    place = followed[request.param]
    monkeypatch.chdir(place)
    monkeypatch.setenv("PATH", environment(place)["PATH"])
    return place


def follow(block: Block, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a block; return what it printed."""
    if block.language == "python":
        exec(compile(block.text, "page", "exec"), {})  # noqa: S102
        return ""
    printed = ""
    for step in steps(block.text):
        words = arguments(step)
        if words is None:
            done = bash(folder, step)
            assert done.returncode == 0, (step, done.stderr)
            printed += done.stdout
        else:
            printed += misheard(words, capsys)
    assert block.printed in (None, printed), block.text
    return printed


def misheard(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Call a command in this process, where everything is imported already; return what it printed."""
    old, sys.argv = sys.argv, words
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = old
        console.stdout.file.flush()
    captured = capsys.readouterr()
    assert (ended.value.code or 0) == EXIT_CODES.get(words[1], 0), (words, captured.err)
    return captured.out


@pytest.mark.parametrize(
    ("folder", "chain"), [(chain, chain) for chain in CHAINS], ids=["+".join(chain) for chain in CHAINS],
    indirect=["folder"],
)  # fmt: skip
def test_the_pages_can_be_followed(
    chain: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for page in chain:
        for block in blocks(page):
            if block.language not in ("sh", "python"):
                continue
            if "sclite" in block.text.split() and not find_sclite():
                continue
            printed = follow(block, folder, capsys)
            check = CHECKS.get((page, block.text.split("\n")[0]))
            if check is not None:
                check(folder, printed)


def find_sclite() -> str | None:
    return shutil.which("sclite") or shutil.which("sclite", path=str(SCLITE))


def test_every_command_is_run_or_excused() -> None:
    shown = {(page, command) for page in PAGES for command in commands(page, run=False)}
    assert shown - NOT_RUN.keys() == set()
    assert NOT_RUN.keys() - shown == set()
    assert sum(1 for page in PAGES for _ in commands(page, run=True)) > 20


def report(folder: Path, run: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / run / "report.json").read_bytes())
    return document


def check_sclite(_: Path, printed: str) -> None:
    """Both tools count the same: sentences, words, correct, S, D, I, errors."""
    (theirs,) = re.findall(r"\| Sum +\| +(\d+) +(\d+) \| +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) ", printed)
    (ours,) = re.findall(r"^hyp\.trn +trn +id +\S+% +(\d+) +(\d+) +(\d+) +(\d+) ", printed, re.MULTILINE)
    sentences, words, correct, subs, dels, ins, errors = map(int, theirs)
    assert tuple(map(int, ours)) == (subs, dels, ins, words) == (2, 3, 1, 18)
    assert (sentences, correct, errors) == (4, 13, 6)


def check_code_switching(folder: Path, _: str) -> None:
    """The table of the page is what the report has."""
    audio = report(folder, "runs/heard")["arms"]["audio"]
    page = page_text("code-switching")
    table = dict(re.findall(r"^\| `(\w+)` \|.*\| (\d+ of \d+) \|$", page, re.MULTILINE))
    assert {"mer", "wer_latn", "pier_latn", "entity_preservation", "script_mismatch_rate"} <= table.keys()
    for metric, cell in table.items():
        part, whole = map(int, cell.split(" of "))
        assert audio[metric]["value"] == pytest.approx(part / whole)


def check_comparison(folder: Path, _: str) -> None:
    """The table of the page is what the comparison has."""
    assert '"inconclusive"' in (folder / "comparison.json").read_text("utf-8")
    page = page_text("compare-providers")
    rows = dict(re.findall(r"^\| (fast|normal|slow)[ ▲]*\|([^|]*\|[^|]*)\|", page, re.MULTILINE))
    for name, run in (("a", 0), ("b", 1)):
        for cell in report(folder, f"runs/{name}")["matrix"]:
            if cell["axis"] == "speed":
                (wer,) = [one for one in cell["estimates"] if one["metric"] == "wer"]
                assert f"{100 * wer['value']:.1f} %" == rows[cell["value"]].split("|")[run].strip()


def check_gate(_: Path, printed: str) -> None:
    assert "INCONCLUSIVE: of 3 checks 1 inconclusive" in printed


def check_power(_: Path, printed: str) -> None:
    assert re.search(r"word error rate .* 218 +1,090\s*$", printed, re.MULTILINE)


def check_privacy(_: Path, printed: str) -> None:
    found = printed.split()
    assert found and all(name.startswith("runs/first/journal/") for name in found)


def page_text(page: str) -> str:
    return (DOCS / f"{page}.md").read_text("utf-8")


CHECKS = {
    ("from-jiwer", "sclite -s -r ref.trn trn -h hyp.trn trn -i rm -o rsum stdout"): check_sclite,
    ("code-switching", "cat > heard.jsonl <<'END'"): check_code_switching,
    (
        "compare-providers",
        "misheard suite import examples/data/questions.csv providers --audio-root configs/demo/audio \\",
    ): check_comparison,
    ("compare-providers", "cat > gate.yaml <<'END'"): check_gate,
    (
        "compare-providers",
        "misheard power runs/a --against runs/b --metric wer --effect 0.02",
    ): check_power,
    (
        "privacy",
        'grep --recursive --files-with-matches --ignore-case "capital of France" runs/first | sort',
    ): check_privacy,
}


def test_every_check_has_its_block() -> None:
    first_lines = {(page, block.text.split("\n")[0]) for page in PAGES for block in blocks(page)}
    assert CHECKS.keys() <= first_lines
