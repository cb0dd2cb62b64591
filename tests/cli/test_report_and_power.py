"""`misheard report` with choices and `misheard power`, from the command line."""

import csv
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from command_line import misheard as in_a_process
from misheard.cli import main

MakePath = Callable[..., Path]


@pytest.fixture
def run(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> Path:
    out = tmp_path / "run"
    command = ["run", make_config(), "--cpu", "--suite", make_suite(speech=12), "--out", out]
    done = in_a_process(*command)
    assert done.returncode == 0, done.stderr
    return out


def misheard(arguments: Sequence[object], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a command in this process."""
    from misheard import console

    old, sys.argv = sys.argv, ["misheard", *map(str, arguments)]
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = old
        console.stdout.file.flush()
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_chosen_matrix_is_printed_and_written_and_the_run_stays_as_it_is(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(run)
    files = [tmp_path / "m.json", tmp_path / "m.csv"]
    choice = ["--by", "language,noise", "--where", "noise=clean", "--where", "kind=speech", "--metric", "wer"]
    code, out, err = misheard(["report", run, *choice, "--json", files[0], "--csv", files[1]], capsys)
    assert (code, err) == (0, "")
    assert "By language, noise" in out and "word error rate" in out and "kind=speech" in out
    matrix = json.loads(files[0].read_bytes())
    assert (matrix["by"], matrix["where"]) == ([["language", "noise"]], ["noise=clean", "kind=speech"])
    assert (matrix["items"]["total"], matrix["items"]["non_speech"]) == (12, 0)
    (row,) = csv.DictReader(files[1].read_text().splitlines())
    assert (row["condition.language"], row["condition.noise"], row["metric"]) == ("en", "clean", "wer")
    assert content(run) == before
    again = tmp_path / "again.json"
    assert misheard(["report", run, *choice, "--json", again], capsys)[0] == 0
    assert again.read_bytes() == files[0].read_bytes()


def test_report_and_plan_hold_no_text_of_items(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ""
    for command in (["report", run, "--by", "noise"], ["power", run]):
        _, printed, err = misheard([*command, "--json", tmp_path / "f.json"], capsys)
        out += printed + err + (tmp_path / "f.json").read_text()
    assert "canary" not in out


def test_pilot_of_three_sessions_plans_nothing(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = misheard(["power", run, "--effect", "0.1"], capsys)
    assert code == 3
    assert "nothing can be planned: 3 " in err and str(run) in err
    assert "under 6" in out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["report", "{run}", "--by", "nois"], "unknown axis 'nois' (did you mean 'noise'?)"),
        (["report", "{run}", "--by", ""], "--by"),
        (["report", "{run}", "--by", "noise,noise"], "--by"),
        (["report", "{run}", "--where", "noise"], "--where"),
        (["report", "{run}", "--where", "noise=5dB"], "no value '5dB' on the axis noise"),
        (["report", "{run}", "--where", "session=s0,kind=non_speech"], "no item has these conditions"),
        (["report", "{run}", "--metric", "\x1b[2Jwer"], "the run has no such metric"),
        (["report", "{run}", "--by", "noise", "--json", "{run}/no/folder.json"], "No such file or directory"),
        (["power", "{run}", "--metric", "we"], "the audio arm has no such metric (did you mean 'wer'?)"),
        (["power", "{run}", "--by", "nois"], "unknown axis 'nois'"),
        (["power", "{run}", "--effect", "5"], "--effect 5.0: must be over 0 and at most 1; 0.05 are 5"),
        (["power", "{run}", "--effect", "nan"], "--effect nan"),
        (["power", "{run}", "--effect", "0"], "--effect 0.0"),
        (["power", "{run}", "--power", "1"], "--power 1.0: must be from 0.5 to 0.99"),
        (["power", "{run}", "--power", "nan"], "--power nan"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_clear_error(
    arguments: list[str], expected: str, shared_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = misheard([one.replace("{run}", str(shared_run)) for one in arguments], capsys)
    assert (code, out) == (2, "")
    assert expected in err and "Traceback" not in err and "\x1b" not in err


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A place for one run that several tests read."""
    return {"root": tmp_path_factory.mktemp("kept")}


@pytest.fixture
def shared_run(kept: dict[str, Path], request: pytest.FixtureRequest) -> Path:
    if "run" not in kept:
        made = request.getfixturevalue("run")
        kept["run"] = Path(shutil.copytree(made, kept["root"] / "run"))
    return kept["run"]


def without(name: str) -> Callable[[Path], object]:
    return lambda run: (run / name).unlink()


def cut(name: str) -> Callable[[Path], object]:
    return lambda run: (run / name).write_bytes((run / name).read_bytes()[:200])


def edited(*path: str, value: object) -> Callable[[Path], object]:
    def edit(run: Path) -> None:
        report = json.loads((run / "report.json").read_bytes())
        place = report
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        (run / "report.json").write_text(json.dumps(report))

    return edit


@pytest.mark.parametrize(
    ("damage", "expected_code", "expected"),
    [
        (without("items.parquet"), 2, "items.parquet"),
        (cut("items.parquet"), 2, "items.parquet"),
        (without("report.json"), 4, "misheard score"),
        (cut("report.json"), 2, "misheard score"),
        (edited("scorer", "sha256", value="0" * 64), 4, "of two scorings"),
        (edited("scorer", "version", value=0), 4, "another version of misheard"),
        (edited("scorer", "content", value=[]), 4, "not as it was written"),
        (edited("axes", value=None), 4, "not as it was written"),
        (edited("system", value={}), 4, "report.json is not of this run"),
        (edited("suite", "sha256", value="0" * 64), 4, "report.json is not of this run"),
        (edited("arms", "audio", "wer", "counts", "hits", value=1), 4, "not of the same run"),
        (edited("failures", "samples_failed", value=7), 4, "not of the same run"),
        (edited("items", "total", value=7), 4, "not of the same run"),
        (edited("metrics", value={"wer": 1}), 4, "not as it was written"),
    ],
)
def test_damaged_runs_are_named_with_what_to_do(
    damage: Callable[[Path], object],
    expected_code: int,
    expected: str,
    shared_run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hurt = Path(shutil.copytree(shared_run, tmp_path / "hurt"))
    damage(hurt)
    for command in (["report", hurt, "--by", "noise"], ["power", hurt, "--by", "noise"]):
        code, out, err = misheard(command, capsys)
        assert (code, out) == (expected_code, ""), err
        assert expected in err and "Traceback" not in err


OUTPUTS = [
    ("report", "--json", "report.json"),
    ("report", "--csv", "matrix.csv"),
    ("report", "--csv", "telemetry.parquet"),
    ("power", "--json", "run.json"),
    ("power", "--json", "journal/recognize.jsonl"),
    ("compare", "--json", "items.parquet"),
    ("clips", "--json", "plan.jsonl"),
]


@pytest.mark.parametrize(("command", "option", "name"), OUTPUTS)
def test_an_output_takes_the_place_of_no_file_of_a_run(
    command: str, option: str, name: str, shared_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(shared_run)
    runs = [shared_run] * (2 if command == "compare" else 1)
    code, out, err = misheard([command, *runs, option, shared_run / "logs" / ".." / name], capsys)
    assert (code, out) == (2, "")
    assert "is a file of a run" in err
    assert content(shared_run) == before


def test_runs_over_other_items_are_no_pair(
    run: Path, tmp_path: Path, make_suite: MakePath, make_config: MakePath, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "other-run"
    command = ["run", make_config(), "--cpu", "--suite", make_suite(speech=5, name="other"), "--out", out]
    assert in_a_process(*command).returncode == 0
    code, printed, err = misheard(["power", run, "--against", out], capsys)
    assert (code, printed) == (4, "")
    assert "the two runs are not over the same items" in err and "q11" in err


@pytest.mark.parametrize(("command", "page"), [("power", "power.md"), ("report", "run-directory.md")])
def test_documented_options_exist(command: str, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / page).read_text("utf-8")
    shown = [line for line in text.splitlines() if line.strip().startswith(f"misheard {command} ")]
    options = {option for line in shown for option in re.findall(r"--[a-z-]+", line)}
    assert len(options) > 2
    _, help_text, _ = misheard([command, "--help"], capsys)
    assert options <= set(re.findall(r"--[a-z-]+", help_text))
