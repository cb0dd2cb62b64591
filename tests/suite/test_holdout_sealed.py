"""Nothing that any command does shows, decodes, transcribes or scores a sealed item before an opening.

The recordings of sealed items are no recordings, so that whoever decodes one fails, and their references
carry a canary.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_suites import read_rows, sets_of, write_suite

from command_line import misheard

CANARY = "zirconium xylophone"


@pytest.fixture
def sealed_suite(make_suite: Callable[..., Path]) -> Path:
    """A split suite of 24 sessions of one item, whose two sealed items hold the canary and no sound."""
    root = make_suite(speech=24, silent=0, seconds=0.3)
    rows = [{**row, "session": row["id"]} for row in read_rows(root)]
    header = json.dumps(
        {
            "name": "sealed",
            "version": "1",
            "defaults": {"language": "en", "conditions": {"noise": "clean"}},
            "conditions": {"language": ["en"], "noise": ["clean", "15dB"]},
        }
    )
    write_suite(root, rows)
    (root / "suite.yaml").write_text(header)
    assert misheard("suite", "split", root, "--reserve", 0.2).returncode == 0
    found = sets_of(root)
    for row in rows:
        if found[row["id"]] == "holdout":
            row |= {"reference": f"{CANARY} {row['id']}", "reference_answer": CANARY, "fact": [CANARY]}
            (root / row["audio"]).write_bytes(f"{CANARY} is no sound".encode())
    (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root


def sealed_ids(root: Path) -> list[str]:
    return sorted(item for item, name in sets_of(root).items() if name == "holdout")


def outputs(root: Path) -> Iterator[bytes]:
    """Yield every file below a folder, but the suite's own manifest and recordings."""
    for path in root.rglob("*"):
        if path.is_file() and path.name != "items.jsonl" and path.parent.name != "audio":
            yield path.read_bytes()


@pytest.mark.slow
def test_no_command_shows_or_touches_a_sealed_item(
    sealed_suite: Path, make_config: Callable[..., Path], tmp_path: Path
) -> None:
    suite, config = sealed_suite, make_config()
    sealed = sealed_ids(suite)
    assert len(sealed) == 2
    lines = [
        {"id": row["id"], "transcript": "a", "answer": "b"}
        for row in read_rows(suite)
        if sets_of(suite)[row["id"]] in ("regression", "rolling")
    ]
    made = tmp_path / "outputs.jsonl"
    made.write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = ""
    for expected, arguments in (
        (0, ["suite", "validate", suite]),
        (0, ["suite", "show", suite]),
        (0, ["suite", "lock", suite]),
        (0, ["suite", "diff", suite]),
        (0, ["run", config, "--suite", suite, "--dry-run"]),
        (0, ["run", config, "--suite", suite, "--out", tmp_path / "run"]),
        (0, ["run", config, "--suite", suite, "--out", tmp_path / "run", "--resume"]),
        (0, ["run", config, "--suite", suite, "--out", tmp_path / "fixed", "--subset", "regression"]),
        (0, ["score", tmp_path / "run"]),
        (0, ["report", tmp_path / "run"]),
        (0, ["import", made, "--suite", suite, "--out", tmp_path / "imported"]),
        (2, ["run", config, "--suite", suite, "--out", tmp_path / "no", "--holdout"]),
        (2, ["run", config, "--suite", suite, "--holdout", "--dry-run"]),
        (2, ["import", made, "--suite", suite, "--out", tmp_path / "no", "--holdout"]),
        (2, ["suite", "open", suite]),
        (2, ["suite", "import", suite / "items.jsonl", tmp_path / "copy", "--format", "nemo"]),
        (0, ["suite", "rotate", suite]),
        (4, ["run", config, "--suite", suite, "--out", tmp_path / "no"]),
        (0, ["suite", "lock", suite]),
        (2, ["suite", "split", suite, "--extend"]),
        (2, ["suite", "split", suite]),
    ):
        done = misheard(*arguments)
        assert done.returncode == expected, (arguments, done.stderr)
        said += done.stdout + done.stderr
    assert CANARY not in said
    assert not (tmp_path / "no").exists()
    assert not (tmp_path / "copy").exists()
    for raw in outputs(tmp_path):
        assert CANARY.encode() not in raw
    for name in ("run", "fixed", "imported"):
        report = json.loads((tmp_path / name / "report.json").read_text())
        assert report["suite"]["holdout"] == {"sealed": 2, "opened": False, "openings": 0, "log": []}
        for raw in outputs(tmp_path / name):
            for item in sealed:
                assert f'"{item}"'.encode() not in raw
    for text in ("2 items sealed", "2 items sealed, not in this report"):
        assert text in said


def test_derived_suites_hold_nothing_sealed(sealed_suite: Path, tmp_path: Path) -> None:
    pytest.importorskip("torchaudio")
    done = misheard("suite", "mix", sealed_suite, tmp_path / "mixed", "--snr", "clean,15")
    assert done.returncode == 0, done.stderr
    assert "left out: 2 items sealed" in done.stdout
    text = (tmp_path / "mixed" / "items.jsonl").read_text()
    assert CANARY not in text and not any(item in text for item in sealed_ids(sealed_suite))


def test_a_lock_keeps_what_it_knows_as_sealed_out_of_derived_suites(
    sealed_suite: Path, tmp_path: Path
) -> None:
    assert misheard("suite", "lock", sealed_suite).returncode == 0
    (sealed_suite / "split.json").unlink()
    done = misheard("suite", "mix", sealed_suite, tmp_path / "new", "--snr", "clean,5")
    assert done.returncode == 4 and "split: removed" in done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert not (tmp_path / "new").exists()


def test_other_names_of_a_split_suite_do_not_unseal_it(sealed_suite: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "items.jsonl").symlink_to(sealed_suite / "items.jsonl")
    for source in (other / "items.jsonl", other):
        done = misheard("suite", "import", source, tmp_path / "new", "--audio-root", sealed_suite)
        assert done.returncode == 2 and "an import would unseal its holdout" in done.stderr
    assert not (tmp_path / "new").exists()


def test_a_link_to_a_single_file_has_its_split(sealed_suite: Path) -> None:
    rows = [
        {"id": row["id"], "wav": row["audio"], "reference": row["reference"]}
        for row in read_rows(sealed_suite)
    ]
    single = sealed_suite / "v2.json"
    single.write_text(json.dumps({"items": rows}))
    assert misheard("suite", "split", single).returncode == 0
    (sealed_suite / "latest.json").symlink_to("v2.json")
    done = misheard("suite", "lock", sealed_suite / "latest.json")
    assert done.returncode == 0 and (sealed_suite / "v2.lock").exists()
    assert not (sealed_suite / "latest.split.json").exists()
    done = misheard("suite", "split", sealed_suite / "latest.json")
    assert done.returncode == 2 and "split already" in done.stderr


def test_a_run_over_the_holdout_uses_its_opening_up(
    sealed_suite: Path, make_config: Callable[..., Path], tmp_path: Path
) -> None:
    suite, config, out = sealed_suite, make_config(), tmp_path / "opened"
    sealed = sealed_ids(suite)
    assert misheard("suite", "open", suite, "--reason", "release 3").returncode == 0
    assert misheard("run", config, "--suite", suite, "--holdout", "--dry-run").returncode == 0
    # The sealed recordings are no sound: that they fail now shows that they were decoded now, and only now.
    done = misheard("run", config, "--suite", suite, "--out", out, "--holdout")
    assert done.returncode == 1, done.stderr
    assert "Over the sealed holdout, 2 items" in done.stdout and "release 3" in done.stdout
    assert CANARY not in done.stdout + done.stderr
    run, report = (json.loads((out / name).read_text()) for name in ("run.json", "report.json"))
    assert report["suite"]["subset"] == "holdout"
    assert report["suite"]["holdout"]["opened"] is True
    assert report["suite"]["holdout"]["openings"] == 1
    assert report["suite"]["holdout"]["log"][0]["reason"] == "release 3"
    failed = [line.split(",")[0] for line in (out / "failures.csv").read_text().splitlines()[1:]]
    assert set(failed) == set(sealed)
    assert run["holdout_run"] in (suite / "openings.jsonl").read_text()
    assert misheard("run", config, "--suite", suite, "--out", out, "--holdout", "--resume").returncode == 1
    done = misheard("run", config, "--suite", suite, "--out", out, "--resume")
    assert done.returncode == 4 and "the run is over another part of the suite; say --holdout" in done.stderr
    assert misheard("score", out).returncode in (0, 1)
    done = misheard("run", config, "--suite", suite, "--out", tmp_path / "second", "--holdout")
    assert done.returncode == 2 and "opening 1 was used by a run" in done.stderr
    assert not (tmp_path / "second").exists()
    done = misheard("report", out)
    assert "release 3" in done.stdout


def test_outputs_of_the_holdout_are_scored_after_an_opening(sealed_suite: Path, tmp_path: Path) -> None:
    made = tmp_path / "outputs.jsonl"
    made.write_text(
        "".join(json.dumps({"id": i, "transcript": "a"}) + "\n" for i in sealed_ids(sealed_suite))
    )
    done = misheard("import", made, "--suite", sealed_suite, "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "is in the holdout set, and the run is not over it" in done.stderr
    assert misheard("suite", "open", sealed_suite, "--reason", "why").returncode == 0
    done = misheard("import", made, "--suite", sealed_suite, "--out", tmp_path / "run", "--holdout")
    assert done.returncode == 0, done.stderr
    assert "Over the sealed holdout, 2 items" in done.stdout
    done = misheard("import", made, "--suite", sealed_suite, "--out", tmp_path / "again", "--holdout")
    assert done.returncode == 2


def test_a_run_that_was_killed_before_its_opening_was_used_goes_on(
    sealed_suite: Path, make_config: Callable[..., Path], tmp_path: Path
) -> None:
    suite, config, out = sealed_suite, make_config(), tmp_path / "run"
    assert misheard("suite", "open", suite, "--reason", "why").returncode == 0
    assert misheard("run", config, "--suite", suite, "--out", out, "--holdout").returncode == 1
    log = suite / "openings.jsonl"
    log.write_text(log.read_text().splitlines()[0] + "\n")
    assert misheard("run", config, "--suite", suite, "--out", out, "--holdout", "--resume").returncode == 1
    run = json.loads((out / "run.json").read_text())
    assert json.loads(log.read_text().splitlines()[1])["run"] == run["holdout_run"]


def test_runs_record_the_lock_and_refuse_an_edited_suite(
    sealed_suite: Path, make_config: Callable[..., Path], tmp_path: Path
) -> None:
    suite, config = sealed_suite, make_config()
    assert misheard("suite", "lock", suite).returncode == 0
    lock = json.loads((suite / "suite.lock").read_text())
    assert misheard("run", config, "--suite", suite, "--out", tmp_path / "run").returncode == 0
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["suite"]["lock"] == {"sha256": lock["sha256"], "matches": True, "added_items": 0}
    rows = read_rows(suite)
    new = {**rows[0], "id": "new", "session": sets_member(suite, "rolling")}
    write_lines(suite, [*rows, new])
    done = misheard("run", config, "--suite", suite, "--out", tmp_path / "more")
    assert done.returncode == 0, done.stderr
    assert "1 item not in the lock" in done.stdout
    write_lines(suite, [{**rows[0], "reference": "another"}, *rows[1:], new])
    for arguments in (["--out", tmp_path / "edited"], ["--dry-run"]):
        done = misheard("run", config, "--suite", suite, *arguments)
        assert done.returncode == 4
        assert f"item {rows[0]['id']}: reference changed" in done.stderr
        assert "misheard suite lock" in done.stderr
    assert not (tmp_path / "edited").exists()


def sets_member(root: Path, name: str) -> str:
    """Return the session of some item of a set."""
    found = sets_of(root)
    return str(next(row["session"] for row in read_rows(root) if found[row["id"]] == name))


def write_lines(root: Path, rows: list[dict[str, object]]) -> None:
    (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_an_unknown_or_unsplit_subset_is_refused(
    make_suite: Callable[..., Path], make_config: Callable[..., Path], tmp_path: Path
) -> None:
    suite, config = make_suite(), make_config()
    done = misheard("run", config, "--suite", suite, "--out", tmp_path / "run", "--subset", "rolling")
    assert done.returncode == 2 and "has no rolling set: it is not split" in done.stderr
    done = misheard(
        "run", config, "--suite", suite, "--out", tmp_path / "run", "--subset", "rolling", "--holdout"
    )
    assert done.returncode == 2 and "leave --subset out" in done.stderr
    assert not (tmp_path / "run").exists()
