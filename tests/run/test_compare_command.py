"""`misheard compare` over real run directories: selections, several runs, rescoring, refusals."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from test_runs import misheard, perfect_transcripts, report, run
from typer.testing import CliRunner

from misheard.commands import app
from misheard.errors import InputError

MakePath = Callable[..., Path]


@pytest.fixture
def runs(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> tuple[Path, Path]:
    """A run that mishears and one that does not, over 9 questions of 3 sessions and a clip."""
    suite = make_suite(9)
    run(make_config(), suite, tmp_path / "a")
    heard = perfect_transcripts(suite)
    perfect = make_config(recognizer={"kind": "fake", "batch_size": 2, "transcripts": heard})
    run(perfect, suite, tmp_path / "b")
    return tmp_path / "a", tmp_path / "b"


def compare(*arguments: object, to: Path) -> dict[str, Any]:
    done = misheard("compare", *arguments, "--json", to, "--resamples", 200)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(to.read_bytes())
    schema = json.loads((files("misheard.report") / "comparison.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def test_only_what_is_asked_for_is_compared(runs: tuple[Path, Path], tmp_path: Path) -> None:
    document = compare(
        *runs, "--metric", "wer", "--metric", "correct_rate", "--arm", "audio", "--by", "noise,language",
        "--by", "kind", "--where", "session=s0|s1,kind=speech", "--margin", "wer=0.5",
        to=tmp_path / "c.json",
    )  # fmt: skip
    (comparison,) = document["comparisons"]
    assert comparison["items"] == 6 and comparison["units"] == 2
    assert {(d["metric"], d["arm"]) for d in comparison["differences"]} == {
        ("wer", "audio"), ("correct_rate", "audio"),
    }  # fmt: skip
    assert [(cell["axis"], cell["value"], cell["items"]) for cell in comparison["cells"]] == [
        ("noise,language", "clean,en", 6), ("kind", "speech", 6), ("kind", "non_speech", 0),
    ]  # fmt: skip
    assert comparison["cells"][0]["conditions"] == {"noise": "clean", "language": "en"}
    assert document["selection"] == {
        "metrics": ["wer", "correct_rate"], "arms": ["audio"], "by": [["noise", "language"], ["kind"]],
        "where": ["session=s0|s1", "kind=speech"], "margins": {"wer": 0.5},
    }  # fmt: skip


def test_each_further_run_is_compared_with_the_first(runs: tuple[Path, Path], tmp_path: Path) -> None:
    a, b = runs
    document = compare(a, b, a, to=tmp_path / "c.json")
    alone = compare(a, b, to=tmp_path / "alone.json")
    first, second = document["comparisons"]
    assert first == alone["comparisons"][0]
    assert (first["a"]["run"], first["b"]["run"], second["b"]["run"]) == ("a", "b", "a")
    assert {d["difference"] for d in second["differences"]} <= {0, None}
    shown = misheard("compare", a, b, a, "--resamples", 200).stdout
    assert shown.count("Every item that both have") == 2


def test_runs_scored_differently_are_refused_or_counted_again(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    a, b = runs
    before = compare(a, b, to=tmp_path / "before.json")
    scored = misheard("score", b, "--set", "scoring.profile=exact", "--set", "on_failure=worst")
    assert f"note: the report of {b} now counts with profile 'exact', on failure 'worst', no" in scored.stderr
    refused = misheard("compare", a, b)
    assert refused.returncode == 4
    assert "profile 'nfc' and 'exact', on failure 'exclude' and 'worst'; score the second" in refused.stderr
    assert f"misheard score {b} --set scoring.profile=nfc --set on_failure=exclude" in refused.stderr
    untouched = (b / "report.json").read_bytes()
    again = compare(a, b, "--rescore", to=tmp_path / "again.json")
    assert again["rescored"] and again["comparisons"] == before["comparisons"]
    assert again["scorer"] == before["scorer"]
    assert (b / "report.json").read_bytes() == untouched


def test_reports_of_another_version_are_counted_again(runs: tuple[Path, Path], tmp_path: Path) -> None:
    a, b = runs
    before = compare(a, b, to=tmp_path / "before.json")
    for path in runs:
        edited = report(path)
        edited["scorer"]["version"] = 1
        (path / "report.json").write_text(json.dumps(edited))
    assert misheard("compare", a, b).returncode == 4
    again = compare(a, b, "--rescore", to=tmp_path / "again.json")
    assert again["comparisons"] == before["comparisons"]


def test_a_journal_that_is_not_complete_is_not_counted_again(runs: tuple[Path, Path]) -> None:
    a, b = runs
    journal = b / "journal" / "recognize.jsonl"
    journal.write_text("")
    done = misheard("compare", a, b, "--rescore")
    assert done.returncode == 4 and "not recognized yet" in done.stderr


WRONG = [
    (["--metric", "weer"], "--metric names the unknown metric 'weer' (did you mean 'wer'?)"),
    (["--metric", "wer", "--arm", "transcript"], "--metric names the unknown metric 'wer'"),
    (["--arm", "clean"], "--arm 'clean': choose one of audio, uncorrected, transcript, plan, control"),
    (["--arm", "plan"], "was not run in it; it has audio, transcript, control"),
    (["--margin", "weer=0.1"], "--margin names the unknown metric 'weer'"),
    (["--margin", "wer"], "--margin 'wer': write METRIC=SIZE"),
    (["--margin", "wer=nan"], "at most 1"),
    (["--margin", "wer=-0.1"], "at most 1"),
    (["--margin", "wer=0"], "at most 1"),
    (["--margin", "wer=inf"], "at most 1"),
    (["--margin", "wer=2"], "at most 1"),
    (["--by", "nois"], "--by names the unknown axis 'nois' (did you mean 'noise'?)"),
    (["--by", "noise,"], "--by 'noise,'"),
    (["--where", "noise"], "--where 'noise': write axis=value"),
    (["--where", "noise=loud"], "no value 'loud' on the axis noise (known: 'clean')"),
    (["--where", "noise!=clean"], "none of the 10 items"),
    (["--where", "session=s0", "--where", "session=s1"], "none of the 10 items"),
]


def test_what_cannot_be_asked_for_is_one_clear_error(runs: tuple[Path, Path]) -> None:
    for arguments, message in WRONG:
        done = CliRunner().invoke(app, ["compare", *map(str, runs), *arguments])
        assert isinstance(done.exception, InputError), (arguments, done.exception)
        assert message in str(done.exception) and not done.stdout


def test_files_of_another_run_are_not_compared_under_this_ones_name(runs: tuple[Path, Path]) -> None:
    a, b = runs
    (b / "items.parquet").write_bytes((a / "items.parquet").read_bytes())
    done = misheard("compare", a, b, "--metric", "wer")
    assert (done.returncode, done.stdout) == (4, "")
    assert f"{b}: report.json and items.parquet are not of the same run" in done.stderr


def test_one_run_is_not_compared(runs: tuple[Path, Path]) -> None:
    assert misheard("compare", runs[0]).returncode == 2


def test_failures_of_both_sides_stand_beside_the_differences(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite = make_suite()
    run(make_config(), suite, tmp_path / "a")
    heard = perfect_transcripts(suite)
    heard[next(iter(heard))] = ""
    run(make_config(recognizer={"kind": "fake", "transcripts": heard}), suite, tmp_path / "b")
    document = compare(tmp_path / "a", tmp_path / "b", to=tmp_path / "c.json")
    (wer,) = [
        d for d in document["comparisons"][0]["differences"] if (d["metric"], d["arm"]) == ("wer", "audio")
    ]
    assert (wer["n"], wer["failed_a"], wer["failed_b"]) == (5, 0, 1)
    assert wer["unpaired"] == {"a_failed": 0, "b_failed": 1, "both_failed": 0, "not_counted": 0}


def test_a_comparison_has_a_page_without_text_that_links_to_the_runs_beside_it(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    (runs[0] / "report.html").write_text("")
    page = tmp_path / "compared.html"
    arguments = ["compare", *map(str, runs), "--resamples", "200", "--by", "noise,language", "--html"]
    done = CliRunner().invoke(app, [*arguments, str(page)])
    assert done.exit_code == 0 and done.stdout.endswith(f"\npage: {page}\n")
    html = page.read_text("utf-8")
    assert 'href="a/report.html"' in html and "b/report.html" not in html
    assert 'id="differs-config"' in html and 'id="slices"' in html
    texts = {row["reference"] for row in suite_rows(runs[0]) if len(row.get("reference") or "") > 8}
    assert texts and not [text for text in texts if text in html]
    for refused in (runs[0] / "run.json", runs[1] / "journal" / "page.html"):
        assert CliRunner().invoke(app, [*arguments, str(refused)]).exit_code != 0


def suite_rows(path: Path) -> list[dict[str, Any]]:
    """What a run kept of its suite, text and all."""
    lines = (path / "journal" / "suite.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]
