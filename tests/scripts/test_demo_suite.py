"""The committed demo suite keeps its promises, and its script makes it again."""

import filecmp
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from misheard.suite.manifest import load_suite

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "configs" / "demo"
RECORDS: list[dict[str, Any]] = [json.loads(line) for line in (DEMO / "items.jsonl").read_text().splitlines()]
SPEECH = [record for record in RECORDS if record["kind"] == "speech"]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def contains(answer: str, fact: str) -> bool:
    """Whether the words of `fact` stand in `answer` in one piece."""
    return f" {' '.join(words(fact))} " in f" {' '.join(words(answer))} "


def test_it_loads_by_the_rules_of_suites() -> None:
    suite = load_suite(DEMO)
    assert (suite.name, len(suite.items)) == ("demo", 66)
    assert suite.primary_metrics == {"en": "wer"}
    assert suite.axes["speed"] == ("slow", "normal", "fast")
    assert suite.abstentions["en"]


def test_it_has_enough_questions_and_clips_without_speech() -> None:
    assert len(SPEECH) == 60
    assert sum(record["kind"] == "non_speech" for record in RECORDS) == 6


def test_sessions_and_speeds_have_the_same_number_of_questions() -> None:
    sessions = Counter(record["session"] for record in SPEECH)
    assert len(sessions) == 12
    assert set(sessions.values()) == {5}
    assert Counter(record["conditions"]["speed"] for record in SPEECH) == {
        "slow": 20,
        "normal": 20,
        "fast": 20,
    }


def test_a_session_has_one_speed() -> None:
    pairs = {(record["session"], record["conditions"]["speed"]) for record in SPEECH}
    assert len(pairs) == len({session for session, _ in pairs})


def test_every_question_is_asked_once_and_written_like_one() -> None:
    references = [record["reference"] for record in SPEECH]
    assert len(set(references)) == len(references)
    assert [text for text in references if not re.fullmatch(r"[A-Z][^?]*\?", text)] == []


@pytest.mark.parametrize("record", SPEECH, ids=lambda record: record["id"])
def test_the_reference_answer_is_a_sentence_that_states_the_fact(record: dict[str, Any]) -> None:
    assert re.fullmatch(r"[A-Z].*\.", record["reference_answer"])
    assert any(contains(record["reference_answer"], form) for form in record["fact"])


@pytest.mark.parametrize("record", SPEECH, ids=lambda record: record["id"])
def test_the_question_does_not_give_the_fact_away(record: dict[str, Any]) -> None:
    assert not any(contains(record["reference"], form) for form in record["fact"])


def test_recordings_are_short_mono_16_khz_flac() -> None:
    soundfile = pytest.importorskip("soundfile", reason="soundfile comes with misheard[run]")
    for record in RECORDS:
        info = soundfile.info(DEMO / record["audio"])
        assert (info.format, info.subtype, info.samplerate, info.channels) == ("FLAC", "PCM_16", 16_000, 1)
        assert 1 <= info.duration <= 5, record["id"]


def test_recordings_take_a_few_mebibytes_and_none_is_left_over() -> None:
    paths = set((DEMO / "audio").iterdir())
    assert paths == {DEMO / record["audio"] for record in RECORDS}
    assert sum(path.stat().st_size for path in paths) < 4 * 2**20


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite that scripts/make_demo_suite made just now."""
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed (Debian: apt-get install espeak-ng)")
    pytest.importorskip("scipy", reason="scipy comes with misheard[dev]")
    return make(tmp_path_factory.mktemp("made"))


def make(folder: Path) -> Path:
    subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_demo_suite"), str(folder)],
        check=True,
        capture_output=True,
    )
    return folder


def test_making_it_twice_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    again = make(tmp_path)
    names = sorted(str(path.relative_to(made)) for path in made.rglob("*") if path.is_file())
    assert len(names) == 66 + 2
    assert filecmp.cmpfiles(made, again, names, shallow=False) == (names, [], [])


def test_the_committed_truth_is_what_the_script_writes(made: Path) -> None:
    for name in ("items.jsonl", "suite.yaml"):
        assert (made / name).read_text() == (DEMO / name).read_text()
