"""A run clip by clip and its report count the same words under every profile."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import command_line

MakePath = Callable[..., Path]

SPOKEN = [
    ("en", "Seven of them.", "7 of them"),
    ("de", "Seven, das sind sieben!", "seven das sind 7"),
    ("en", "It’s the ﬁfth", "it's the 5th"),
]


def misheard(*arguments: object) -> None:
    done = command_line.misheard(*arguments)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def finished(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> Path:
    from misheard.audio.decode import decode
    from misheard.recognizers.fake import samples_sha256
    from misheard.recognizers.protocol import AudioWindow

    suite = make_suite(speech=len(SPOKEN), silent=0)
    header = yaml.safe_load((suite / "suite.yaml").read_text())
    header["conditions"] |= {"language": ["en", "de"]}
    header |= {"primary": {"en": "wer", "de": "wer"}}
    (suite / "suite.yaml").write_text(yaml.safe_dump(header))
    table, rows = {}, []
    for index, (language, reference, heard) in enumerate(SPOKEN):
        audio = f"audio/q{index:02d}.flac"
        rows.append({"id": f"q{index}", "audio": audio, "reference": reference, "language": language})
        table[samples_sha256(AudioWindow(decode(suite / audio).samples, language))] = heard
    (suite / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = make_config(recognizer={"kind": "fake", "batch_size": 2, "transcripts": table})
    misheard("run", config, "--cpu", "--suite", suite, "--out", tmp_path / "out")
    return tmp_path / "out"


def test_they_agree_under_every_profile(finished: Path, tmp_path: Path) -> None:
    names = ("exact", "nfc", "plain", "spoken")
    misheard("clips", finished, *(f"--profile={name}" for name in names), "--json", tmp_path / "clips.json")
    clips = json.loads((tmp_path / "clips.json").read_bytes())["aggregate"]["wer"]
    rates = {}
    for own in ("nfc", "plain"):
        misheard("score", finished, "--set", f"scoring.profile={own}")
        misheard("clips", finished, "--json", tmp_path / "own.json")
        by_default = json.loads((tmp_path / "own.json").read_bytes())
        assert set(by_default["profiles"]) == {own, "exact", "plain"} and by_default["run"]["profile"] == own
    for name in names:
        misheard("score", finished, "--set", f"scoring.profile={name}")
        found = json.loads((finished / "report.json").read_bytes())["arms"]["audio"]["wer"]
        rates[name] = found["value"]
        assert clips[name]["wer"] == found["value"], name
        for counted in ("substitutions", "deletions", "insertions", "hits"):
            assert clips[name][counted] == found["counts"][counted], (name, counted)
    assert rates["exact"] > rates["plain"] > rates["spoken"] == 0.0
