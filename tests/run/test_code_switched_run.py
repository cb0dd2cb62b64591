"""A run over code-switched speech: what the suite declares is in the report, and in a comparison."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from command_line import misheard

MakePath = Callable[..., Path]

SPOKEN = [
    ("我想喝latte", "我想喝辣椒", ["latte"]),
    ("我 想 買 iphone case", "我 想 買 phone case", ["iphone case", "我"]),
    ("我想喝", "привет", []),
]


@pytest.fixture
def finished(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> Path:
    from misheard.audio.decode import decode
    from misheard.recognizers.fake import samples_sha256
    from misheard.recognizers.protocol import AudioWindow

    suite = make_suite(speech=3, silent=0)
    header = yaml.safe_load((suite / "suite.yaml").read_text())
    header["defaults"] |= {"language": "zh", "scripts": ["Hans", "Latn"]}
    header |= {"conditions": {"language": ["zh"], "noise": ["clean"]}, "primary": {"zh": "mer"}}
    (suite / "suite.yaml").write_text(yaml.safe_dump(header))
    table, rows = {}, []
    for index, (reference, heard, entities) in enumerate(SPOKEN):
        audio = f"audio/q{index:02d}.flac"
        rows.append({"id": f"q{index}", "audio": audio, "reference": reference, "entities": entities})
        table[samples_sha256(AudioWindow(decode(suite / audio).samples, "zh"))] = heard
    (suite / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = make_config(recognizer={"kind": "fake", "batch_size": 2, "transcripts": table})
    done = misheard("run", config, "--cpu", "--suite", suite, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


def test_the_report_has_what_the_suite_asks_for(finished: Path) -> None:
    report = json.loads((finished / "report.json").read_bytes())
    audio: dict[str, dict[str, Any]] = report["arms"]["audio"]
    expected = {
        "mer": (2 + 1 + 3) / (4 + 5 + 3),
        "mer_bounded": (2 + 1 + 3) / max(4 + 5 + 3, 5 + 5 + 1),
        "cer_hani": (2 + 0 + 3) / (3 + 3 + 3),
        "wer_latn": (1 + 1 + 0) / (1 + 2),
        "pier_latn": 2 / 3,
        "latn_precision": 1 / 2,
        "latn_recall": 1 / 3,
        "entity_preservation": 1 / 3,
        "script_mismatch_rate": 1 / 3,
    }
    assert {name: audio[name]["value"] for name in expected} == pytest.approx(expected)
    assert audio["pier_numbers"]["value"] is None
    assert audio["pier_numbers"]["reason"] == "no_scored_items"
    (cell,) = [cell for cell in report["matrix"] if cell["axis"] == "language"]
    (primary,) = [entry for entry in cell["estimates"] if "primary" in entry["flags"]]
    assert primary["metric"] == "mer"


def test_the_terminal_names_them_and_leaves_out_what_has_no_value(finished: Path) -> None:
    shown = misheard("report", finished).stdout
    for name in (
        "mixed error rate",
        "CER of Hani alone",
        "Latn words wrong",
        "entities kept",
        "wrong script",
    ):
        assert name in shown
    assert "numbers wrong" not in shown


def test_a_comparison_knows_the_families_of_its_suite(finished: Path) -> None:
    compared = misheard("compare", finished, finished, "--json", finished / "comparison.json")
    assert compared.returncode in (0, 3), compared.stderr
    comparison = json.loads((finished / "comparison.json").read_bytes())["comparisons"][0]
    assert {"mer", "pier_latn", "entities", "script_mismatch"} <= {
        difference["family"] for difference in comparison["differences"]
    }
    assert comparison["not_compared"] == []


def test_a_run_scored_by_another_version_is_scored_again_before_it_is_compared(finished: Path) -> None:
    report = json.loads((finished / "report.json").read_bytes())
    report["scorer"]["version"] = 1
    del report["scorer"]["content"]
    (finished / "report.json").write_text(json.dumps(report))
    refused = misheard("compare", finished, finished)
    assert refused.returncode == 4
    assert "another version" in refused.stderr
    assert misheard("score", finished).returncode == 0
    assert misheard("compare", finished, finished).returncode in (0, 3)
