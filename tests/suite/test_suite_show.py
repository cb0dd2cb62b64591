"""`misheard suite show`: counts against the definition, warnings one by one, no reference in any output."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from command_line import misheard
from misheard.errors import InputError
from misheard.suite.overview import Overview, look_over
from misheard.suite.overview_audio import hear
from misheard.suite.overview_scripts import usual_scripts

RATE = 8_000
SECRET = "zirconium"  # noqa: S105  (stands for text that must not be printed)


class Silent:
    def begin(self, phase: str, total: int | None) -> None:
        pass

    def advance(self, steps: int = 1) -> None:
        pass


def tone(seconds: float, seed: int = 0, level: float = 0.2) -> "np.ndarray[Any, Any]":
    noise = np.random.default_rng(seed).uniform(-level, level, int(seconds * RATE))
    return noise.astype(np.float32)


def make(
    folder: Path, rows: list[dict[str, Any]], axes: str = "", audio: dict[str, Any] | None = None
) -> Path:
    folder.mkdir(exist_ok=True)
    lines = []
    for number, row in enumerate(rows):
        item = {"id": f"q{number}", "audio": f"q{number}.wav", "reference": f"words number {number}", **row}
        if item.get("kind") == "non_speech":
            item.pop("reference")
        lines.append(json.dumps(item) + "\n")
        if not (folder / item["audio"]).exists():
            default = tone(1.0 + number / 10, number)
            samples = default if audio is None else audio.get(item["id"], default)
            soundfile.write(folder / item["audio"], samples, RATE)
    (folder / "items.jsonl").write_text("".join(lines))
    (folder / "suite.yaml").write_text(f"name: s\nversion: 1\n{axes}")
    return folder


def overview(folder: Path, *by: str) -> Overview:
    return look_over(folder, by, Silent())


def warned(folder: Path) -> dict[str, tuple[str, ...]]:
    return {warning.kind: warning.names for warning in overview(folder).warnings}


AXES = "conditions:\n  noise: [clean, loud, never]\n  mic: [near, far]\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    rows = [
        {"conditions": {"noise": "clean", "mic": "near"}, "session": "a", "reference": "Grüß dich du"},
        {"conditions": {"noise": "clean", "mic": "far"}, "session": "a"},
        {"conditions": {"noise": "loud", "mic": "near"}, "session": "b"},
        {"conditions": {"mic": "near"}, "kind": "non_speech"},
    ]
    return make(tmp_path / "s", rows, AXES)


def test_counts_are_those_of_the_definition(suite: Path) -> None:
    found = overview(suite)
    whole = found.whole
    assert (whole.items, whole.speech, whole.sessions) == (4, 3, 2)
    assert whole.seconds == pytest.approx(1.0 + 1.1 + 1.2 + 1.3)
    assert whole.words == 3 + 3 + 3
    assert whole.characters == len("Grüßdichdu") + 2 * len("wordsnumber1")
    assert [table.axes for table in found.tables] == [("noise",), ("mic",), ("noise", "mic")]
    noise, mic, both = found.tables
    assert [(cell.values, cell.items, cell.speech) for cell in noise.cells] == [
        (("clean",), 2, 2), (("loud",), 1, 1), (("never",), 0, 0), ((None,), 1, 0),
    ]  # fmt: skip
    assert [cell.items for cell in mic.cells] == [3, 1]
    assert {cell.values: cell.items for cell in both.cells} == {
        ("clean", "near"): 1, ("clean", "far"): 1, ("loud", "near"): 1, ("loud", "far"): 0,
        ("never", "near"): 0, ("never", "far"): 0, (None, "near"): 1,
    }  # fmt: skip
    for table in found.tables:
        assert sum(cell.items for cell in table.cells) == 4
        assert sum(cell.seconds for cell in table.cells) == pytest.approx(whole.seconds)
    assert found.durations == (0, 4, 0, 0, 0, 0, 0, 0, 0)


def test_by_chooses_one_table(suite: Path) -> None:
    (table,) = overview(suite, "mic", "noise").tables
    assert table.axes == ("mic", "noise") and len(table.cells) == 7
    with pytest.raises(InputError, match=r"unknown axis 'nois' \(did you mean 'noise'"):
        overview(suite, "nois")
    with pytest.raises(InputError, match="an axis twice"):
        overview(suite, "mic", "mic")


def test_cells_that_are_small_or_empty(suite: Path) -> None:
    found = warned(suite)
    assert found["small_cell"] == ("noise=clean", "noise=loud", "mic=near", "mic=far")
    assert found["empty_cell"] == ("noise=never", "noise=loud, mic=far")


def test_declarations_without_end_are_not_multiplied(tmp_path: Path) -> None:
    values = ", ".join(f"v{n}" for n in range(5_000))
    axes = "conditions:\n" + "".join(f"  a{n}: [{values}]\n" for n in range(4))
    folder = make(tmp_path / "s", [{"conditions": {"a0": "v7", "a1": "v9"}}], axes)
    tables = {table.axes: table.cells for table in overview(folder).tables}
    assert len(tables) == 4 + 6
    assert [(cell.values, cell.items) for cell in tables["a0", "a1"]] == [(("v7", "v9"), 1)]
    assert len(overview(folder, "a0", "a1", "a2", "a3").tables[0].cells) == 1
    many = "conditions:\n" + "".join(f"  a{n}: [x, y]\n" for n in range(2_000))
    found = overview(make(tmp_path / "t", [{}], many))
    assert len(found.tables) == 2_000


def test_fifty_items_are_enough(tmp_path: Path) -> None:
    rows = [{"audio": "same.wav", "conditions": {"mic": "near" if n else "far"}} for n in range(51)]
    folder = make(tmp_path / "s", rows, "conditions: {mic: [near, far]}\n")
    assert warned(folder)["small_cell"] == ("mic=far",)


def test_a_suite_without_fault_has_no_warnings(tmp_path: Path) -> None:
    rows = [{"session": f"s{n % 6}", "language": "en"} for n in range(50)]
    assert warned(make(tmp_path / "s", rows, "primary: {en: wer}\n")) == {}


def test_items_without_a_language(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"language": "en"}, {}, {"kind": "non_speech"}]
    folder = make(tmp_path / "s", rows)
    assert warned(folder)["no_language"] == ("q1",)
    assert "name it per item or under defaults in suite.yaml (1): q1\n" in show(folder).stdout
    assert "no_language" not in warned(make(tmp_path / "t", rows, "defaults: {language: en}\n"))


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("", ("de", "en", "(none)")),
        ("primary: {en: wer}\n", ()),
        ("primary: {en: wer}\nconditions: {language: [de, en]}\n", ("de", "(none)")),
        ("primary: {en: wer, de: cer}\nconditions: {language: [de, en]}\n", ("(none)",)),
        ("primary: {en: wer, de: cer}\ndefaults: {language: en}\n", ()),
    ],
)
def test_languages_without_a_primary_metric(tmp_path: Path, header: str, missing: tuple[str, ...]) -> None:
    rows: list[dict[str, Any]] = [{"language": "en"}, {"language": "de"}, {}, {"kind": "non_speech"}]
    found = warned(make(tmp_path / "s", rows, header))
    assert found.get("no_primary", ()) == missing


def test_under_six_sessions_no_comparison_has_a_verdict(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"session": f"s{n % 5}"} for n in range(10)]
    assert warned(make(tmp_path / "s", rows))["few_sessions"] == ("s0", "s1", "s2", "s3", "s4")
    # An item without a session is resampled like one.
    assert "few_sessions" not in warned(make(tmp_path / "t", [*rows, {}]))
    assert warned(make(tmp_path / "u", [{}, {}]))["few_sessions"] == ("q0", "q1")


def test_values_of_few_sessions(tmp_path: Path) -> None:
    axes = "conditions: {mic: [near, far, never], noise: [loud]}\n"
    rows: list[dict[str, Any]] = [
        {"audio": "same.wav", "session": f"s{n % 7}", "conditions": {"mic": "far" if n % 7 < 5 else "near"}}
        for n in range(14)
    ]
    rows += [{"audio": "same.wav", "conditions": {"mic": "near"}} for _ in range(4)]
    assert warned(make(tmp_path / "s", rows, axes))["few_sessions_cell"] == ("mic=far",)
    assert "few_sessions_cell" not in warned(make(tmp_path / "t", rows[:5], axes))


def test_a_suite_of_under_fifty_items(tmp_path: Path) -> None:
    folder = make(tmp_path / "s", [{"audio": "same.wav"}] * 49)
    (found,) = [w for w in overview(folder).warnings if w.kind == "small_suite"]
    assert (found.count, found.names) == (49, ())
    assert "items in all: under 50 no comparison gets a verdict; record more (49)\n" in show(folder).stdout
    assert "small_suite" not in warned(make(tmp_path / "t", [{"audio": "same.wav"}] * 50))


def test_sessions(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"session": "a"}, {"session": "a"}, {"session": "lone"}, {}]
    rows.append({"session": "lone", "source": "q2"})
    found = warned(make(tmp_path / "s", rows))
    assert found["no_session"] == ("q3",)
    assert found["single_item_session"] == ("lone",)


def test_duplicates_but_not_of_tiers(tmp_path: Path) -> None:
    same = tone(1.0)
    rows: list[dict[str, Any]] = [
        {}, {}, {"reference": "Words  number 3"}, {}, {"source": "q3", "reference": "words number 3"},
        {"kind": "non_speech"}, {"kind": "non_speech"},
    ]  # fmt: skip
    audio = {"q0": same, "q1": same, "q4": tone(1.3, 3)}
    found = warned(make(tmp_path / "s", rows, audio=audio))
    assert found["duplicate_audio"] == ("q0", "q1")
    assert found["repeated_reference"] == ("q2", "q3", "q4")


def test_annotations(tmp_path: Path) -> None:
    rows = [{"reference": "<s> well </s>"}, {"reference": "a < b and (555)"}, {"reference": "ok [noise]"}]
    assert warned(make(tmp_path / "s", rows))["annotations"] == ("q0", "q2")


def test_silent_and_clipped_recordings(tmp_path: Path) -> None:
    t = np.arange(RATE) / RATE
    sine = np.sin(2 * np.pi * 100 * t)
    audio = {
        "q0": np.zeros(RATE, np.float32),
        "q1": np.full(RATE, 0.3, np.float32),
        "q2": np.clip(1.5 * sine, -1, 1).astype(np.float32),
        "q3": sine.astype(np.float32),
        "q4": np.zeros(RATE, np.float32),
        "q5": np.column_stack([np.zeros(RATE), 0.2 * sine]).astype(np.float32),
    }
    rows: list[dict[str, Any]] = [{}, {}, {}, {}, {"kind": "non_speech"}, {}]
    found = warned(make(tmp_path / "s", rows, audio=audio))
    assert found["silent"] == ("q0", "q1")
    assert found["clipped"] == ("q2",)


def test_recordings_that_cannot_be_decoded(tmp_path: Path) -> None:
    folder = make(tmp_path / "s", [{}, {}])
    (folder / "q1.wav").write_bytes(b"RIFF")
    found = overview(folder)
    assert {w.kind: w.names for w in found.warnings}["unreadable"] == ("q1",)
    assert sum(found.durations) == 1
    assert hear(folder / "none.wav").failure == "audio_missing"


@pytest.mark.parametrize(
    ("item", "is_other"),
    [
        ({"language": "hi", "reference": "yah kya hai"}, True),
        ({"language": "hi", "reference": "मेरा phone कहाँ है"}, False),
        ({"language": "en-IN", "reference": "यह क्या है"}, True),
        ({"language": "hi-Latn", "reference": "yah kya hai"}, False),
        ({"language": "en", "scripts": ["Deva"], "reference": "यह क्या है"}, False),
        ({"language": "ja", "reference": "カタカナと漢字"}, False),
        ({"language": "tlh", "reference": "यह"}, False),
        ({"language": "en-Abcd", "reference": "यह"}, False),
        ({"reference": "यह"}, False),
        ({"language": "en", "reference": "123 456"}, False),
    ],
)
def test_references_in_another_script(tmp_path: Path, item: dict[str, Any], is_other: bool) -> None:
    folder = make(tmp_path / "s", [item])
    assert ("other_script" in warned(folder)) is is_other


def test_scripts_of_languages_are_known_ones() -> None:
    from misheard.suite.overview_scripts import _SCRIPTS
    from misheard.text.scripts import expanded_scripts

    for scripts in _SCRIPTS.values():
        assert expanded_scripts(scripts)
    assert usual_scripts("zh-Hant-TW") == ("Hant",) and usual_scripts(None) == ()


def show(*arguments: object) -> subprocess.CompletedProcess[str]:
    return misheard("suite", "show", *arguments, env={**os.environ, "COLUMNS": "100"})


def test_the_command(suite: Path, tmp_path: Path) -> None:
    text = (suite / "items.jsonl").read_text().replace("words number", SECRET)
    (suite / "items.jsonl").write_text(text)
    done = show(suite, "--json", tmp_path / "show.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "s 1: 4 items"
    assert "3 speech, 1 non-speech, 2 sessions, 0 min 05 s" in done.stdout
    assert "warning: declared values, or pairs of them, without items (2): noise=never" in done.stdout
    document = json.loads((tmp_path / "show.json").read_text())
    assert document["all"]["items"] == 4
    assert document["tables"][2]["axes"] == ["noise", "mic"]
    assert document["tables"][0]["cells"][2] == {
        "values": ["never"], "items": 0, "speech": 0, "sessions": 0, "seconds": 0.0, "words": 0,
        "characters": 0, "under_50": True,
    }  # fmt: skip
    assert SECRET not in done.stdout + done.stderr + json.dumps(document)
    again = show(suite, "--json", tmp_path / "again.json")
    assert again.stdout == done.stdout
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "show.json").read_bytes()


def test_sealed_items_are_not_looked_at(tmp_path: Path) -> None:
    folder = make(tmp_path / "s", [{"session": f"s{n}"} for n in range(20)])
    done = misheard("suite", "split", folder, "--holdout", "0.1")
    assert done.returncode == 0, done.stderr
    units = json.loads((folder / "split.json").read_text())["units"]
    sealed = [item for unit in units.values() if unit["set"] == "holdout" for item in unit["items"]]
    assert sealed
    for identifier in sealed:
        (folder / f"{identifier}.wav").write_bytes(b"not decoded")
    done = show(folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"s 1: {20 - len(sealed)} items ({len(sealed)} items sealed)")
    assert "cannot be decoded" not in done.stdout
