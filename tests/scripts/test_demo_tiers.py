"""The committed demo tiers keep their promises, and their script makes them again."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misheard.audio.activity import FRAME_SAMPLES, active_frames
from misheard.config import load_config
from misheard.suite.manifest import load_suite

ROOT = Path(__file__).parents[2]
TIERS = ROOT / "configs" / "demo-tiers"
SUITE = load_suite(TIERS)
ITEMS = {item.id: item for item in SUITE.items}
RECORDED: dict[str, dict[str, Any]] = {
    entry["id"]: entry for entry in json.loads((TIERS / "mix.json").read_text())["items"]
}


def test_every_recording_has_every_tier() -> None:
    tiers = Counter((item.conditions["noise"], item.conditions["mic"]) for item in SUITE.items)
    assert tiers == {
        ("clean", "close"): 40, ("15dB", "close"): 40, ("5dB", "close"): 40, ("clean", "telephone"): 40,
    }  # fmt: skip
    for item in SUITE.items:
        if item.source is not None:
            source = ITEMS[item.source]
            assert source.source is None
            assert (item.reference, item.session) == (source.reference, source.session)


def test_it_speaks_six_languages_and_switches_between_two() -> None:
    clean = [item for item in SUITE.items if item.source is None]
    languages = Counter(item.language for item in clean)
    assert languages == {"en": 12, "zh": 6, "hi": 5, "ta": 5, "ml": 5, "te": 5, None: 2}
    switched = [item for item in clean if item.conditions.get("code_switch") == "mandarin-english"]
    assert [item.language for item in switched] == ["zh"] * 6
    for item in switched:
        assert any("a" <= letter <= "z" for letter in item.reference)
        assert any("\u4e00" <= letter <= "\u9fff" for letter in item.reference)


def test_every_language_names_its_deciding_metric() -> None:
    assert SUITE.primary_metrics == {
        "en": "wer",
        "hi": "wer",
        "ta": "cer",
        "ml": "cer",
        "te": "cer",
        "zh": "mer",
    }


def test_ratios_in_the_recordings_are_those_of_their_tier() -> None:
    soundfile = pytest.importorskip("soundfile", reason="soundfile comes with misheard[run]")
    noisy = [item for item in SUITE.items if item.conditions["noise"] != "clean" and item.is_speech]
    assert len(noisy) == 76
    for item in noisy:
        entry = RECORDED[item.id]
        clean, _ = soundfile.read(SUITE.audio_path(ITEMS[item.source or ""]))
        mixed, _ = soundfile.read(SUITE.audio_path(item))
        noise = mixed / 10 ** (entry["gain_db"] / 20) - clean
        active = np.repeat(active_frames(clean.astype(np.float32)), FRAME_SAMPLES)[: len(clean)]
        ratio = 10 * np.log10(np.square(clean[active]).mean() / np.square(noise[active]).mean())
        assert f"{entry['asked_snr_db']}dB" == item.conditions["noise"]
        assert ratio == pytest.approx(entry["asked_snr_db"], abs=0.5), item.id
        assert entry["snr_db"] == pytest.approx(entry["asked_snr_db"], abs=0.5)


def test_recordings_take_less_than_ten_mebibytes_and_none_is_left_over() -> None:
    paths = set((TIERS / "audio").iterdir())
    assert paths == {SUITE.audio_path(item) for item in SUITE.items}
    assert sum(path.stat().st_size for path in paths) < 10 * 2**20


def test_its_config_loads() -> None:
    assert load_config(ROOT / "configs" / "demo-tiers.yaml").suite == "demo-tiers"


def test_the_script_writes_the_committed_truth(tmp_path: Path) -> None:
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed (Debian: apt-get install espeak-ng)")
    pytest.importorskip("scipy", reason="scipy comes with misheard[dev]")
    script = ROOT / "scripts" / "make_demo_tiers"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True)
    for name in ("items.jsonl", "suite.yaml"):
        assert (tmp_path / name).read_text("utf-8") == (TIERS / name).read_text("utf-8")
    assert {path.name for path in (tmp_path / "audio").iterdir()} == {
        path.name for path in (TIERS / "audio").iterdir()
    }


@pytest.mark.models
@pytest.mark.slow
def test_the_full_suite_runs_within_its_config(tmp_path: Path, models_dir: Path) -> None:
    pytest.importorskip("ctranslate2", reason="needs the extra run")
    done = subprocess.run(
        [sys.executable, "-m", "misheard", "run", str(ROOT / "configs" / "demo-tiers.yaml"), "--cpu",
         "--out", str(tmp_path / "out")],
        capture_output=True, text=True, check=False, env={**os.environ, "MISHEARD_MODELS": str(models_dir)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert report["items"]["total"] == 160
