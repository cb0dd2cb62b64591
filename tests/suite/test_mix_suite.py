"""`misheard suite mix`: the derived suite, its truth, its seeds and its refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from typer.testing import CliRunner

from misheard.commands import app
from misheard.errors import InputError, SuiteError
from misheard.suite.items import Suite
from misheard.suite.manifest import load_suite, validate_suite
from misheard.suite.mixing.derive import MixSummary, mix_suite
from misheard.suite.mixing.tiers import read_tiers

RATE = 16_000


def speech(path: Path, seed: int, seconds: float = 2.0, level: float = 0.1) -> None:
    """Bursts of noise with pauses, which the energy rule takes for speech."""
    random = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    soundfile.write(path, np.where(time % 1 < 0.6, level * random.standard_normal(len(time)), 0), RATE)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Six spoken items in three sessions, and one of silence."""
    return written(tmp_path / "source", 6)


def written(root: Path, count: int, **header: str) -> Path:
    root.mkdir()
    rows: list[dict[str, Any]] = []
    for index in range(count):
        speech(root / f"q{index}.wav", index)
        row = {
            "id": f"q{index}",
            "audio": f"q{index}.wav",
            "reference": f"said {index}",
            "fact": [str(index)],
        }
        rows.append(row | {"session": f"s{index % 3}", "language": "en"})
    soundfile.write(root / "n.flac", np.zeros(RATE), RATE)
    rows.append({"id": "n", "audio": "n.flac", "kind": "non_speech", "reference": ""})
    fields = {"name": "house", "version": "7", "primary": "{en: wer}", **header}
    (root / "suite.yaml").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))
    (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root


def mix(
    source: Path,
    destination: Path,
    snr: str = "clean,15,5",
    mic: str | None = None,
    *noises: str,
    seed: int = 0,
    name: str | None = None,
) -> MixSummary:
    return mix_suite(source, destination, read_tiers(snr, mic), noises or ("white",), seed, name=name)


def record(folder: Path) -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in json.loads((folder / "mix.json").read_text())["items"]}


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_every_tier_keeps_the_truth_and_names_its_source(source: Path, tmp_path: Path) -> None:
    summary = mix(source, tmp_path / "out", "clean,15,5", "telephone,far-field")
    suite = validate_suite(tmp_path / "out")
    assert (suite.name, suite.version, suite.primary_metrics) == ("out", "7", {"en": "wer"})
    assert suite.axes == {"noise": ("clean", "15dB", "5dB"), "mic": ("original", "telephone", "far-field")}
    assert summary.per_tier == {"clean": 7, "15dB": 7, "5dB": 7, "telephone": 7, "far-field": 7}
    assert summary.items == len(suite.items) == 35
    items = {item.id: item for item in suite.items}
    for original in load_suite(source).items:
        own = items[original.id]
        assert own.conditions == {"noise": "clean", "mic": "original"}
        assert own.source is None
        for tier, changed in [
            ("15dB", "noise"),
            ("5dB", "noise"),
            ("telephone", "mic"),
            ("far-field", "mic"),
        ]:
            item = items[f"{original.id}-{tier}"]
            assert item.conditions == {**own.conditions, changed: tier}
            assert item.source == original.id
            assert (item.reference, item.fact, item.kind) == (
                original.reference,
                original.fact,
                original.kind,
            )
            assert item.session == own.session == (original.session or original.id)


def test_the_suites_own_recordings_are_copied(source: Path, tmp_path: Path) -> None:
    mix(source, tmp_path / "out")
    for name in ("q0.wav", "n.flac"):
        assert (tmp_path / "out" / "audio" / name).read_bytes() == (source / name).read_bytes()


def test_ratios_are_recorded_and_right(source: Path, tmp_path: Path) -> None:
    mix(source, tmp_path / "out", "clean,15,5,-3", None, "white", "pink", "hum", "babble")
    suite = load_suite(tmp_path / "out")
    recorded = record(tmp_path / "out")
    for item in suite.items:
        if item.source is None or not item.is_speech:
            continue
        entry = recorded[item.id]
        clean, _ = soundfile.read(source / f"{item.source}.wav")
        mixed, _ = soundfile.read(suite.audio_path(item))
        noise = mixed / 10 ** (entry["gain_db"] / 20) - clean
        loud = clean != 0
        ratio = 10 * np.log10(np.square(clean[loud]).mean() / np.square(noise[loud]).mean())
        assert ratio == pytest.approx(entry["asked_snr_db"], abs=0.5)
        assert entry["snr_db"] == pytest.approx(ratio, abs=0.5)
        assert item.conditions["noise"] == f"{entry['asked_snr_db']}dB"


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(source: Path, tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    options = ("clean,5", "telephone,far-field", "white", "pink", "babble")
    try:
        for count in (1, 4):
            torch.set_num_threads(count)
            mix(source, tmp_path / str(count), *options, name="house")
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(threads)
    assert files(tmp_path / "1") == files(tmp_path / "4")
    mix(source, tmp_path / "other", *options, seed=1, name="house")
    assert (tmp_path / "other/audio/q0-5dB.flac").read_bytes() != files(tmp_path / "1")["audio/q0-5dB.flac"]


def test_adding_items_changes_no_other(tmp_path: Path) -> None:
    noises = tmp_path / "noises"
    noises.mkdir()
    for seed in (100, 101, 102):
        speech(noises / f"{seed}.wav", seed)
    small, large = written(tmp_path / "small", 4), written(tmp_path / "large", 6)
    for folder in (small, large):
        mix(folder, tmp_path / f"{folder.name}-out", "15,5", "far-field", "white", "pink", str(noises))
    before, after = (files(tmp_path / f"{name}-out") for name in ("small", "large"))
    audio = {name: raw for name, raw in before.items() if name.startswith("audio/")}
    assert audio.items() <= after.items()


def test_tiers_of_an_item_have_noise_of_their_own(source: Path, tmp_path: Path) -> None:
    mix(source, tmp_path / "out", "15,14")
    noise = []
    for tier in ("15dB", "14dB"):
        clean, _ = soundfile.read(source / "q0.wav")
        noise.append(soundfile.read(tmp_path / f"out/audio/q0-{tier}.flac")[0] - clean)
    assert abs(np.corrcoef(noise)[0, 1]) < 0.1


def test_babble_comes_from_other_sessions(source: Path, tmp_path: Path) -> None:
    mix(source, tmp_path / "out", "15,5", None, "babble")
    sessions = {item.id: item.session for item in load_suite(source).items}
    for entry in record(tmp_path / "out").values():
        voices = entry["noise"].removeprefix("babble of ").split(", ")
        assert len(voices) == len(set(voices)) == (6 if entry["source"] == "n" else 4)
        assert sessions[entry["source"]] not in [sessions[voice] for voice in voices]
        assert entry["source"] not in voices


def test_babble_without_enough_voices_is_refused(tmp_path: Path) -> None:
    small = written(tmp_path / "small", 3)
    with pytest.raises(InputError, match="item q0: babble takes at least 3 speech items of other sessions"):
        mix(small, tmp_path / "out", "5", None, "babble")


def test_noise_comes_from_a_file_or_a_folder(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "noises" / "deep"
    folder.mkdir(parents=True)
    for name in ("a b.wav", "$(c).flac"):
        speech(folder / name, 9)
    (folder / "notes.txt").write_text("no recording")
    mix(source, tmp_path / "one", "5", None, str(folder / "a b.wav"))
    assert {entry["noise"] for entry in record(tmp_path / "one").values()} == {"file a b.wav"}
    mix(source, tmp_path / "many", "15,10,5", None, str(tmp_path / "noises"))
    found = {entry["noise"] for entry in record(tmp_path / "many").values()}
    assert found == {"file deep/a b.wav", "file deep/$(c).flac"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pinkk", "did you mean 'pink'"),
        ("empty", "the folder holds no recordings"),
        ("broken.wav", "audio_undecodable"),
        ("silent.wav", "is silent where the recording is not"),
    ],
)
def test_noise_that_cannot_be_used_is_named(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.wav").write_bytes(b"RIFF nothing of the kind")
    soundfile.write(tmp_path / "silent.wav", np.zeros(RATE), RATE)
    with pytest.raises(InputError, match=message):
        mix(source, tmp_path / "out", "5", None, name)
    assert not (tmp_path / "out").exists()


def test_items_that_cannot_be_mixed_are_all_named_and_nothing_is_left(source: Path, tmp_path: Path) -> None:
    soundfile.write(source / "q1.wav", np.zeros(RATE), RATE)
    (source / "q4.wav").write_bytes((source / "q4.wav").read_bytes()[:1_000])
    with pytest.raises(SuiteError) as caught:
        mix(source, tmp_path / "out")
    text = str(caught.value)
    assert "item q1-15dB: the recording is silent" in text
    assert "item q4-15dB: audio_truncated" in text
    assert "said" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_mixed_suite_is_mixed_again_for_the_microphone_only(source: Path, tmp_path: Path) -> None:
    mix(source, tmp_path / "noisy", "clean,5")
    summary = mix(tmp_path / "noisy", tmp_path / "both", "clean,15", "telephone")
    suite = validate_suite(tmp_path / "both")
    items = {item.id: item for item in suite.items}
    assert suite.name == "both"
    assert summary.already_noisy == 7
    assert items["q0-5dB-telephone"].conditions == {"noise": "5dB", "mic": "telephone"}
    assert items["q0-5dB-telephone"].source == "q0-5dB"
    assert items["q0-15dB"].source == "q0"
    assert "q0-5dB-15dB" not in items
    assert suite.axes["noise"] == ("clean", "5dB", "15dB")


def test_suites_of_one_source_have_names_of_their_own(source: Path, tmp_path: Path) -> None:
    mix(source, tmp_path / "street", "5")
    mix(source, tmp_path / "phone", "clean", "telephone")
    mix(source, tmp_path / "again", "5", name="house at 5 dB")
    names = [load_suite(tmp_path / folder).name for folder in ("street", "phone", "again")]
    assert names == ["street", "phone", "house at 5 dB"]
    assert json.loads((tmp_path / "again" / "mix.json").read_text())["source"]["name"] == "house"


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 81, "\x1b[2J"])
def test_names_that_no_suite_can_have_are_refused(source: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="--name must be one line of 1 to 80 characters"):
        mix(source, tmp_path / "out", "5", name=name)
    assert not (tmp_path / "out").exists()


def test_declared_axes_and_values_stay(tmp_path: Path) -> None:
    root = written(
        tmp_path / "s", 3, conditions="{noise: [clean, loud], mic: [near], room: [a]}",
        defaults="{conditions: {noise: clean, mic: near}}", gate_axes="[noise]",
    )  # fmt: skip
    mix(root, tmp_path / "out", "clean,5", "far-field")
    suite = load_suite(tmp_path / "out")
    assert suite.axes == {"noise": ("clean", "loud", "5dB"), "mic": ("near", "far-field"), "room": ("a",)}
    assert suite.gate_axes == ("noise",)
    assert {item.conditions["mic"] for item in suite.items} == {"near", "far-field"}


def test_values_are_given_only_on_the_axes_of_tiers(tmp_path: Path) -> None:
    root = written(tmp_path / "s", 1, conditions="{noise: [fan, street], mic: [near]}")
    mix(root, tmp_path / "out", "clean", "telephone")
    suite = load_suite(tmp_path / "out")
    assert suite.axes == {"noise": ("fan", "street"), "mic": ("near", "original", "telephone")}
    assert [dict(item.conditions) for item in suite.items[:2]] == [{"mic": "original"}, {"mic": "telephone"}]


def test_an_axis_without_tiers_is_not_declared(source: Path, tmp_path: Path) -> None:
    mix(source, tmp_path / "noise", "clean,5")
    mix(source, tmp_path / "mic", "clean", "telephone")
    assert load_suite(tmp_path / "noise").axes == {"noise": ("clean", "5dB")}
    assert load_suite(tmp_path / "mic").axes == {"mic": ("original", "telephone")}


def test_ids_that_cannot_be_are_all_listed(tmp_path: Path) -> None:
    root = written(tmp_path / "s", 2)
    lines = [json.loads(line) for line in (root / "items.jsonl").read_text().splitlines()]
    lines[1]["id"] = "q0-5dB"
    lines[2]["id"] = "n" * 78
    (root / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(SuiteError) as caught:
        mix(root, tmp_path / "out", "clean,5")
    assert "item q0: the suite has an item q0-5dB already" in str(caught.value)
    assert "has more than 80 characters" in str(caught.value)


def test_nothing_left_is_an_error(source: Path, tmp_path: Path) -> None:
    mix(source, tmp_path / "noisy", "5")
    with pytest.raises(SuiteError, match="nothing is left"):
        mix(tmp_path / "noisy", tmp_path / "out", "10")


@pytest.mark.parametrize("form", ["file", "filled", "link"])
def test_destinations_that_exist_are_refused_and_left_alone(source: Path, tmp_path: Path, form: str) -> None:
    destination = tmp_path / "out"
    if form == "file":
        destination.write_text("mine")
    elif form == "filled":
        destination.mkdir()
        (destination / "mine").write_text("mine")
    else:
        destination.symlink_to(source)
    before = files(tmp_path)
    with pytest.raises(InputError, match="name a new"):
        mix(source, destination)
    assert files(tmp_path) == before


def test_an_empty_folder_is_filled(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    mix(source, tmp_path / "out")
    assert (tmp_path / "out" / "suite.yaml").is_file()


def test_long_noise_loops_and_lossy_recordings_mix(source: Path, tmp_path: Path) -> None:
    wave, _ = soundfile.read(source / "q0.wav")
    soundfile.write(source / "q0.ogg", np.column_stack([wave, wave]), 44_100)
    text = (source / "items.jsonl").read_text().replace("q0.wav", "q0.ogg")
    (source / "items.jsonl").write_text(text)
    mix(source, tmp_path / "out", "clean,5", "telephone")
    suite: Suite = validate_suite(tmp_path / "out")
    assert [item.audio for item in suite.items[:3]] == [
        "audio/q0.ogg", "audio/q0-5dB.flac", "audio/q0-telephone.wav",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("snr", "mic", "message"),
    [
        ("clean", None, "nothing to derive"),
        ("", None, "whole dB"),
        ("clean,loud", None, "--snr 'loud'"),
        ("7.5", None, "--snr '7.5'"),
        ("61", None, "-20 to 60"),
        ("٥", None, "whole dB"),
        ("5,5", None, "twice"),
        ("5,+5", None, "twice"),
        ("clean", "telefone", "did you mean 'telephone'"),
        ("clean", "", "--mic ''"),
    ],
)
def test_tiers_that_cannot_be_are_refused(snr: str, mic: str | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_tiers(snr, mic)
    assert message in str(caught.value)


@pytest.fixture
def run() -> Callable[..., Any]:
    return lambda *arguments: CliRunner().invoke(app, ["suite", "mix", *map(str, arguments)])


def test_the_command_says_what_it_made(source: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
    done = run(source, tmp_path / "out", "--snr", "clean,15,5", "--noise", "white", "--noise", "hum")
    assert done.exit_code == 0, done.output
    assert "21 items (7 clean, 7 15dB, 7 5dB)" in done.output
    assert "ratios are within 0.0" in done.output
    assert f"split and lock {tmp_path / 'out'}, not {source}" in done.output
    assert "both suites are called" not in done.output
    done = run(source, tmp_path / "house", "--snr", "5", "--noise", "white")
    assert "note: both suites are called house, and baselines go by the name; --name gives" in done.output
    done = run(source, tmp_path / "named", "--snr", "5", "--noise", "white", "--name", "house at 5 dB")
    assert done.exit_code == 0 and "both suites are called" not in done.output


def test_sealed_items_are_not_touched(tmp_path: Path, run: Callable[..., Any]) -> None:
    root = written(tmp_path / "s", 24, conditions="{}")
    text = (root / "items.jsonl").read_text()
    for index in range(24):
        text = text.replace(f'"said {index}", "fact": ["{index}"], "session": "s{index % 3}"',
                            f'"said {index}", "fact": ["{index}"], "session": "own{index}"')  # fmt: skip
    (root / "items.jsonl").write_text(text)
    split = CliRunner().invoke(app, ["suite", "split", str(root), "--holdout", "0.1"])
    assert split.exit_code == 0, split.output
    open_ids = {item.id for item in load_suite(root).items}
    sealed = {f"q{index}" for index in range(24)} - open_ids
    assert sealed
    for identifier in sealed:
        (root / f"{identifier}.wav").write_bytes(b"not to be read")
    done = run(root, tmp_path / "out", "--snr", "clean,5", "--noise", "babble")
    assert done.exit_code == 0, done.output
    assert "sealed" in done.output
    assert "split, and" in done.output and "mix the suite before it is split" in done.output
    assert "split and lock" not in done.output
    assert {item.id for item in load_suite(tmp_path / "out").items if item.source is None} == open_ids
    named = (tmp_path / "out" / "mix.json").read_text()
    assert not [
        identifier for identifier in sealed if f'"{identifier}"' in named or f" {identifier}," in named
    ]


def test_a_suite_that_is_not_there_is_refused(tmp_path: Path, run: Callable[..., Any]) -> None:
    done = run(tmp_path / "none", tmp_path / "out", "--snr", "5")
    assert isinstance(done.exception, SuiteError)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_leaves_the_suite_alone(source: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    before = files(source)
    with pytest.raises(OSError, match="file"):
        mix(source, blocked / "out")
    assert files(source) == before
