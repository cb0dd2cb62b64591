"""`misheard report --html` and `--markdown`: files, refusals, no transcript, nothing heavy."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from misheard.cli import main
from misheard.commands.optional_values import USUAL, with_values

MakePath = Callable[..., Path]

ENDINGS = {"--html": (".html", ".htm"), "--markdown": (".md",)}


def misheard(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "misheard", *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without models whose references, answers and transcripts hold a word that must not get out."""
    soundfile = pytest.importorskip("soundfile", reason="needs the extra run")
    root = tmp_path_factory.mktemp("run")
    (root / "suite").mkdir()
    rows = []
    for number in range(6):
        soundfile.write(root / "suite" / f"{number}.wav", [0.1, -0.1 - number / 100] * 4000, 16_000)
        rows.append(
            {
                "id": f"q{number}", "audio": f"{number}.wav", "reference": f"canary {number}",
                "fact": ["canary"], "reference_answer": f"the canary is {number}",
                "session": f"s{number}", "language": "en",
            }
        )  # fmt: skip
    (root / "suite" / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (root / "suite" / "suite.yaml").write_text("{name: birds, version: '1', conditions: {language: [en]}}")
    (root / "config.yaml").write_text(
        "{recognizer: {kind: fake}, language_model: {kind: fake}, scoring: {resamples: 100}}"
    )
    out = root / "run"
    done = misheard("run", root / "config.yaml", "--cpu", "--suite", root / "suite", "--out", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("has_browser", [True, False])
@pytest.mark.parametrize("several", [False, True])
def test_without_a_browser_the_page_is_written_and_that_is_said(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    has_browser: bool,
    several: bool,
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: has_browser)
    page = tmp_path / "page.html"
    monkeypatch.setattr(
        sys, "argv", ["misheard", "report", *[str(run)] * (1 + several), f"--html={page}", "--open"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert not ended.value.code and page.is_file() and said.out.startswith("page: ")
    warning = f"warning: --open: no browser was found; the page is {page}\n"
    assert said.err == ("" if has_browser else warning)


def test_no_text_of_an_item_is_in_the_page_or_the_summary(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # charts need no backend that the environment names
    monkeypatch.setenv("MPLBACKEND", "nonsense")
    done = misheard("report", "--html", run, "--markdown")
    assert done.returncode == 0 and done.stderr == f"page: {run / 'report.html'}\n"
    assert any("canary" in path.read_text("ascii") for path in (run / "journal").glob("*.jsonl"))
    page = (run / "report.html").read_text("utf-8")
    assert "<svg" in page and "birds" in page and "birds" in done.stdout
    rows = [
        json.loads(line) for line in (run / "journal" / "recognize.jsonl").read_text("ascii").splitlines()
    ]
    heard = {row["transcript"]["text"] for row in rows if "transcript" in row}
    assert len(heard) == 6
    assert not [text for text in {"canary", *heard} if text in done.stdout or text in page]


def test_texts_are_in_the_page_where_they_are_asked_for_and_a_warning_says_so(
    run: Path, tmp_path: Path
) -> None:
    page = tmp_path / "texts.html"
    done = misheard("report", run, f"--html={page}", "--with-text")
    assert (done.returncode, done.stdout) == (0, f"page: {page}\n")
    assert done.stderr.startswith(f"warning: {page} now holds transcripts") and "canary" not in done.stderr
    text = page.read_text("utf-8")
    rows = [
        json.loads(line) for line in (run / "journal" / "recognize.jsonl").read_text("ascii").splitlines()
    ]
    heard = {row["transcript"]["text"] for row in rows if "transcript" in row}
    assert "canary 3" in text and "the canary is 3" in text and all(one in text for one in heard)
    folder = os.path.relpath(run.parent / "suite", tmp_path)
    assert re.findall(r'"audio":"([^"]*)"', text) == [f"{folder}/{number}.wav" for number in range(6)]


def test_texts_need_the_journal_of_the_very_run(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "run"
    shutil.copytree(run, alone)
    suite = alone / "journal" / "suite.jsonl"
    suite.write_text(suite.read_text("ascii").replace("canary 3", "canary 4"), "ascii")
    arguments = ["report", str(alone), "--html", "--with-text"]
    code, told = refused(arguments, capsys)
    assert code == 4 and "canary" not in told
    suite.unlink()
    code, told = refused(arguments, capsys)
    assert code == 4 and "only the journal has the texts" in told


def test_files_are_written_where_they_are_asked_for_and_again_the_same(run: Path, tmp_path: Path) -> None:
    files = tmp_path / "a.html", tmp_path / "a.md", tmp_path / "b.html"
    first = misheard("report", run, "--html", files[0], "--markdown", files[1])
    assert (first.returncode, first.stdout) == (0, f"page: {files[0]}\n")
    misheard("report", run, f"--html={files[2]}")
    assert files[0].read_bytes() == files[2].read_bytes() and files[1].read_text().startswith("## birds")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--html=RUN/run.json"], "is a file of a run"),
        (["--markdown=RUN/journal/x.md"], "is a file of a run"),
        (["--html=RUN/.lock"], "is a file of a run"),
        (["--html=SOAK/soak.json"], "is a file of a soak"),
        (["--html=SOAK/.lock"], "is a file of a soak"),
        (["--html=RUN/same", "--markdown=RUN/same"], "are one file"),
        (["--html=LOOP"], "leads in a circle"),
        (["--html", "--by", "language"], "leave --by"),
        (["--with-text"], "add --html"),
        (["--with-text", "--markdown"], "add --html"),
        (["--verdict", "RUN/run.json"], "add one of them"),
        (["--html", "--verdict", "RUN/run.json"], "is no verdict of this version"),
        (["--html", "--verdict", "RUN/none.json"], "none.json"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    run: Path, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "soak.json").write_text("{}")
    (tmp_path / "loop").symlink_to("loop")
    places = {"RUN": run, "SOAK": tmp_path, "LOOP": tmp_path / "loop"}
    for name, place in places.items():
        arguments = [one.replace(name, str(place)) for one in arguments]
    code, told = refused(["report", str(run), *arguments], capsys)
    assert code == 2 and said in told and told.count("\n") == 1
    assert (tmp_path / "soak.json").read_text() == "{}"


def test_a_comparison_takes_the_place_of_no_file_either(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "soak.json").write_text("{}")
    both = ["compare", str(run), str(run)]
    code, told = refused([*both, f"--html={tmp_path / 'soak.json'}"], capsys)
    assert code == 2 and "is a file of a soak" in told
    code, told = refused([*both, f"--html={tmp_path / 'a'}", f"--json={tmp_path / 'a'}"], capsys)
    assert code == 2 and "are one file" in told and not (tmp_path / "a").exists()


def test_what_is_no_file_and_a_name_that_is_no_text_are_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("report.json", "items.parquet"):
        copy = tmp_path / name
        shutil.copytree(run, copy)
        (copy / name).unlink()
        os.mkfifo(copy / name)
        code, told = refused(["report", str(copy), "--markdown"], capsys)
        assert code == 2 and f"{name}: is no file" in told
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(run, odd)
    code, told = refused(["report", str(odd), "--markdown"], capsys)
    assert code == 2 and "rename the folder" in told


def test_a_folder_that_is_named_twice_or_that_the_system_refuses_costs_the_list_nothing(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "index.html"
    again = f"{run.parent}/../{run.parent.name}/{run.name}"
    code, told = refused(["report", str(run), again, "x" * 300, f"--html={page}"], capsys)
    assert code == 0 and "File name too long" in told
    assert "<h1><bdi>1 run</bdi></h1>" in page.read_text("utf-8")


def test_files_beside_the_runs_are_passed_over_with_one_note(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, older = tmp_path / "index.html", [tmp_path / "older.html", tmp_path / "notes.txt"]
    for path in (page, *older):
        path.write_text("")
    code, told = refused(["report", str(run), *map(str, (page, *older)), f"--html={page}"], capsys)
    assert code == 0 and "note: 2 files passed over; runs and soaks are folders\n" in told
    assert "run.json" not in told and "not shown" not in page.read_text("utf-8")


def test_a_verdict_of_another_run_is_refused(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = tmp_path / "v.json"
    verdict.write_text(json.dumps({"format": "misheard-verdict", "format_version": 1, "candidate": "other"}))
    code, told = refused(["report", str(run), "--markdown", "--verdict", str(verdict)], capsys)
    assert code == 2 and "is of another run" in told


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("report RUN > /dev/full", "No space left on device"),
        ("score --ref TEXT --hyp TEXT --output csv > /dev/full", "No space left on device"),
        ("--version >&-", "Bad file descriptor"),
    ],
)
def test_what_could_not_be_printed_is_said_once_and_is_no_success(
    run: Path, tmp_path: Path, line: str, why: str
) -> None:
    (tmp_path / "text").write_text("a b c\n")
    line = line.replace("RUN", str(run)).replace("TEXT", str(tmp_path / "text"))
    command = ["bash", "-c", f"{sys.executable} -m misheard {line}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = f"misheard: standard output: {why}; not everything was printed\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_commands_name_a_folder_like_an_option_in_a_way_that_works(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run, tmp_path / "-rf it")
    monkeypatch.chdir(tmp_path)
    assert refused(["report", "./-rf it", "--html"], capsys)[0] == 0
    page = html.unescape((tmp_path / "-rf it" / "report.html").read_text("utf-8"))
    for command in ("score", "report", "compare"):
        assert f"misheard {command} './-rf it'" in page
    (tmp_path / "-rf it" / "report.json").unlink()
    code, told = refused(["report", "./-rf it"], capsys)
    assert code == 4 and told.endswith("misheard score './-rf it'\n")


def test_a_run_that_still_runs_has_no_page_yet(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "begun"
    shutil.copytree(run, copy)
    (copy / "report.html").unlink(missing_ok=True)
    state = json.loads((copy / "run.json").read_bytes())
    (copy / "run.json").write_text(json.dumps({**state, "status": "running"}))
    code, told = refused(["report", str(copy), "--html"], capsys)
    advice = f"wait where it is still running, else go on with --out {copy} --resume"
    assert (code, told) == (4, f"misheard: {copy}: the run is not complete; {advice}\n")
    assert not (copy / "report.html").exists()


def refused(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return exit code and stderr of a command in this process."""
    old, sys.argv = sys.argv, ["misheard", *arguments]
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = old
    return int(ended.value.code or 0), capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--html"], ["--html", USUAL]),
        (["--html", "runs/a"], ["--html", USUAL, "runs/a"]),
        (["--html", "A.HTML", "runs/a"], ["--html", "A.HTML", "runs/a"]),
        (["--html", "--markdown", "b.md"], ["--html", USUAL, "--markdown", "b.md"]),
        (["--html=x", "runs/a"], ["--html=x", "runs/a"]),
        (["--html", "-x.html"], ["--html", USUAL, "-x.html"]),
        (["--", "--html"], ["--", "--html"]),
        (["--markdown", "a.html"], ["--markdown", USUAL, "a.html"]),
    ],
)
def test_a_file_may_be_left_out(arguments: Sequence[str], expected: Sequence[str]) -> None:
    assert list(with_values(arguments, ENDINGS)) == expected


def test_the_report_of_a_terminal_loads_neither_templates_nor_charts(run: Path) -> None:
    code = (
        "import sys; from misheard.cli import main; sys.argv = ['misheard', 'report', sys.argv[1]]\n"
        "try: main()\nexcept SystemExit: pass\nprint(sorted({'matplotlib', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(run)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
