"""The committed whiteboard suite keeps its promises, and its script makes it again."""

import filecmp
import shutil
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from misheard.config import load_config
from misheard.gate.gate_file import load_gate
from misheard.suite.items import Item
from misheard.suite.manifest import load_suite
from misheard.text.scripts import foreign_characters

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "configs" / "whiteboard"
SUITE = load_suite(FOLDER)
SPEECH = [item for item in SUITE.items if item.is_speech]


def test_it_has_the_languages_and_sessions_that_its_page_names() -> None:
    assert Counter(item.language for item in SPEECH) == {"en": 12, "hi": 5, "ta": 5, "ml": 5, "ar": 5}
    assert len({item.session for item in SPEECH}) == 12
    assert len(SUITE.items) - len(SPEECH) == 3
    assert SUITE.primary_metrics == {"en": "wer", "hi": "wer", "ta": "cer", "ml": "cer", "ar": "wer"}
    assert set(SUITE.glossary) == set(SUITE.axes["language"])


def test_a_session_is_of_one_language_and_has_several_utterances() -> None:
    pairs = Counter((item.session, item.language) for item in SPEECH)
    assert len(pairs) == len({session for session, _ in pairs})
    assert min(pairs.values()) >= 2


def test_everything_is_said_once() -> None:
    assert len({item.reference for item in SPEECH}) == len(SPEECH)


def test_every_text_is_in_composed_form() -> None:
    for name in ("items.jsonl", "suite.yaml"):
        assert unicodedata.is_normalized("NFC", (FOLDER / name).read_text("utf-8"))


@pytest.mark.parametrize("item", SPEECH, ids=lambda item: item.id)
def test_an_utterance_names_a_small_scene_in_its_own_script(item: Item) -> None:
    assert item.plan is not None
    assert 2 <= len(item.plan.shapes) <= 4
    assert 1 <= len(item.plan.connections) <= 3
    assert item.entities == tuple(shape.label for shape in item.plan.shapes)
    assert foreign_characters(item.reference, item.scripts) == []
    assert all(connection.label in item.reference for connection in item.plan.connections)


def test_recordings_are_short_mono_16_khz_flac() -> None:
    soundfile = pytest.importorskip("soundfile", reason="soundfile comes with misheard[run]")
    for item in SUITE.items:
        info = soundfile.info(SUITE.audio_path(item))
        assert (info.format, info.subtype, info.samplerate, info.channels) == ("FLAC", "PCM_16", 16_000, 1)
        assert 2 <= info.duration <= 16, item.id


def test_recordings_take_a_few_mebibytes_and_none_is_left_over() -> None:
    paths = set((FOLDER / "audio").iterdir())
    assert paths == {SUITE.audio_path(item) for item in SUITE.items}
    assert sum(path.stat().st_size for path in paths) < 3.5 * 2**20


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("whiteboard*.yaml")), ids=lambda p: p.name)
def test_every_config_of_the_whiteboard_plans_its_suite(path: Path) -> None:
    config = load_config(path)
    assert (config.suite, config.on_failure) == ("whiteboard", "worst")
    assert config.chosen_arms == config.possible_arms
    assert path.name in (FOLDER / "README.md").read_text("utf-8")


def test_the_gate_of_the_whiteboard_is_valid() -> None:
    assert load_gate(FOLDER / "gate-board.yaml").gate.waived_axes.keys() == {"language"}


def make(folder: Path) -> Path:
    script = ROOT / "scripts" / "make_whiteboard_suite"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite that scripts/make_whiteboard_suite made just now."""
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed (Debian: apt-get install espeak-ng)")
    pytest.importorskip("scipy", reason="scipy comes with misheard[dev]")
    return make(tmp_path_factory.mktemp("made"))


def test_making_it_twice_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    again = make(tmp_path)
    names = sorted(str(path.relative_to(made)) for path in made.rglob("*") if path.is_file())
    assert len(names) == len(SUITE.items) + 2
    assert filecmp.cmpfiles(made, again, names, shallow=False) == (names, [], [])


def test_the_committed_truth_is_what_the_script_writes(made: Path) -> None:
    for name in ("items.jsonl", "suite.yaml"):
        assert (made / name).read_text("utf-8") == (FOLDER / name).read_text("utf-8")
