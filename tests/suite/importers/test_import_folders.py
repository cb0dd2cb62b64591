"""Kaldi folders, trn beside recordings, audiofolders and lhotse cuts that are incomplete or hostile."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from importing_helpers import refusals, run_import, samples_of, write_clip

from misheard.errors import InputError
from misheard.suite.manifest import validate_suite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for index in range(3):
        write_clip(tmp_path / "src" / f"r{index}.wav", seconds=0.4, seed=index)
    return tmp_path / "src"


def kaldi(folder: Path, **files: str) -> Path:
    base = {"wav_scp": "u0 r0.wav\nu1 r1.wav\n", "text": "u0 a b\nu1 c\n", "utt2spk": "u0 s\nu1 t\n"}
    for name, content in {**base, **files}.items():
        (folder / name.replace("_", ".")).write_text(content)
    return folder


def test_kaldi_without_segments(folder: Path, tmp_path: Path) -> None:
    suite = run_import(kaldi(folder), tmp_path / "out").suite
    assert [(i.id, i.reference, i.session) for i in suite.items] == [("u0", "a b", "s"), ("u1", "c", "t")]


@pytest.mark.parametrize(
    ("files", "where", "why"),
    [
        ({"wav_scp": "u0 r0.wav\nu1 sox r1.wav -t wav - |\n"}, "u1", "is a command in wav.scp"),
        ({"wav_scp": "u0 r0.wav\nu1 touch pwned |\n"}, "u1", "is a command in wav.scp"),
        ({"wav_scp": "u0 r0.wav\nu1 a.ark:17\n"}, "u1", "the recording 'a.ark:17' is not in"),
        ({"wav_scp": "u0 r0.wav\n"}, "u1", "there is no recording"),
        ({"text": "u0 a b\n"}, "u1", "there is no reference"),
        ({"text": "u0 a\nu1\n"}, "u1", "the reference is empty"),
        ({"segments": "u0 u0 0 0.2\n"}, "u1", "is in text and not in segments"),
        ({"segments": "u0 u0 0 0.2\nu1 r9 0 0.1\n"}, "u1", "its recording 'r9' is not in wav.scp"),
        ({"segments": "u0 u0 0 0.2\nu1 u1 x 0.1\n"}, "u1", "its line in segments is not"),
        ({"segments": "u0 u0 0 0.2\nu1 u1 0.2 0.1\n"}, "u1", "is empty"),
        ({"segments": "u0 u0 0 0.2\nu1 u1 0.2 1.2\n"}, "u1", "ends at 1.200 s, and its recording has 0.400"),
    ],
)
def test_kaldi_utterances_that_make_no_item(
    folder: Path, tmp_path: Path, files: dict[str, str], where: str, why: str
) -> None:
    _, problem = refusals(kaldi(folder, **files), tmp_path / "out")
    assert problem.startswith(f"utterance '{where}': ") and why in problem
    assert not (folder / "pwned").exists() and not Path("pwned").exists()
    assert [i.id for i in run_import(folder, tmp_path / "out", skip_broken=True).suite.items] == ["u0"]


def test_kaldi_segments_to_the_end_and_a_little_beyond(folder: Path, tmp_path: Path) -> None:
    segments = "u0 r 0.1 -1\nu1 r 0.1 0.7\nu2 r 0 0.1\n"
    kaldi(folder, wav_scp="r r0.wav\n", segments=segments, text="u0 a\nu1 b\nu2 c\n", utt2spk="u0 s\n")
    run_import(folder, tmp_path / "out")
    suite = validate_suite(tmp_path / "out")
    assert len(samples_of(suite, "u0")) == 2_400
    assert samples_of(suite, "u1") == samples_of(suite, "u0")
    assert len(samples_of(suite, "u2")) == 800


def test_kaldi_duplicate_ids(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"wav\.scp: the same id more than once: u0"):
        run_import(kaldi(folder, wav_scp="u0 r0.wav\nu0 r1.wav\n"), tmp_path / "out")


def test_trn_with_recordings_in_folders_below(folder: Path, tmp_path: Path) -> None:
    write_clip(folder / "deep" / "er" / "r9.flac", seed=9)
    (folder / "ref.trn").write_text(";; a comment\nhello there (r0)\n (silence)\n")
    _, problem = refusals(folder, tmp_path / "out")
    assert problem == "utterance 'silence': the reference is empty; there is no recording"
    (folder / "ref.trn").write_text("hello {a / b} (r0)\nagain (r9)\n")
    imported = run_import(folder, tmp_path / "out")
    assert imported.guess.format == "trn"
    assert [(i.id, i.reference) for i in imported.suite.items] == [("r0", "hello {a / b}"), ("r9", "again")]
    assert "2 recordings lie below" in imported.notes[1] and "braces" in imported.notes[2]


def test_annotations_stay_unless_they_are_to_go(folder: Path, tmp_path: Path) -> None:
    (folder / "ref.trn").write_text("<s> well [noise] yes </s> (r0)\n(laughs) (r1)\n")
    kept = run_import(folder, tmp_path / "kept")
    assert kept.suite.items[0].reference == "<s> well [noise] yes </s>"
    assert any(note.startswith("2 references hold annotations") for note in kept.notes)
    assert refusals(folder, tmp_path / "out", annotations="remove")[1:] == [
        "utterance 'r1': the reference is empty"
    ]
    gone = run_import(folder, tmp_path / "gone", annotations="remove", empty_is_non_speech=True)
    assert [item.reference for item in gone.suite.items] == ["well yes", ""]
    assert not any("hold annotations" in note for note in gone.notes)


def test_trn_with_an_ambiguous_recording(folder: Path, tmp_path: Path) -> None:
    write_clip(folder / "other" / "r0.wav", seed=9)
    (folder / "ref.trn").write_text("a (r0)\nb (r1)\n")
    assert refusals(folder, tmp_path / "out")[1] == "utterance 'r0': several recordings are called 'r0'"


def test_trn_with_an_audio_root(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "ref.trn").write_text("a (r0)\n")
    suite = run_import(tmp_path / "texts" / "ref.trn", tmp_path / "out", audio_root=folder).suite
    assert [item.id for item in suite.items] == ["r0"]


def test_audiofolder_with_csv_and_splits(folder: Path, tmp_path: Path) -> None:
    (folder / "train").mkdir()
    for split in ("train", "test"):
        write_clip(folder / split / "a.wav")
        (folder / split / "metadata.csv").write_text("file_name,transcription\na.wav,one\n")
    with pytest.raises(InputError, match="may be read in several ways") as caught:
        run_import(folder, tmp_path / "out")
    assert f"--format audiofolder {folder / 'test'}" in str(caught.value)
    assert run_import(folder / "test", tmp_path / "out").suite.items[0].reference == "one"
    with pytest.raises(InputError, match="name the folder of one split: test, train"):
        run_import(folder, tmp_path / "out2", format="audiofolder")


def cut(**changes: Any) -> dict[str, Any]:
    recording = {"id": "r", "sources": [{"type": "file", "channels": [0], "source": "r0.wav"}]}
    supervision = {"id": "s", "start": 0.0, "duration": 0.2, "channel": 0, "text": "words here"}
    base = {"id": "c", "start": 0.1, "duration": 0.2, "channel": 0, "type": "MonoCut"}
    return {**base, "recording": recording, "supervisions": [supervision], **changes}


def source(**changes: Any) -> dict[str, Any]:
    return {"id": "r", "sources": [{"type": "file", "channels": [0], "source": "r0.wav", **changes}]}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"type": "MixedCut"}, "is of the type 'MixedCut'"),
        ({"recording": None, "features": {}}, "has no recording"),
        ({"recording": source(type="command", source="touch pwned")}, "commands and URLs are not followed"),
        ({"recording": source(type="url", source="http://x/a.wav")}, "commands and URLs are not followed"),
        ({"recording": {**source(), "transforms": [{"name": "Speed"}]}}, "has transforms"),
        ({"recording": {"sources": "x"}}, "its sources are no list"),
        ({"recording": source(source="/etc/passwd")}, "lies outside the source's folder"),
        ({"start": "x"}, "its start is no number of seconds"),
        ({"duration": 1e400}, "its duration is no number of seconds"),
        ({"duration": 9}, "ends at 9.100 s"),
        ({"supervisions": []}, "there is no reference"),
        ({"supervisions": [1, 2]}, "holds a supervision without an id"),
        ({"id": 3}, "is no cut with an id"),
    ],
)
def test_cuts_that_make_no_item(folder: Path, tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    path = folder / "cuts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (cut(id="good"), cut(**changes))))
    found = refusals(path, tmp_path / "out", format="lhotse")
    assert all(problem.startswith("cuts.jsonl:2: ") for problem in found[1:]) and why in found[1]
    assert "words here" not in "".join(found)
    assert not Path("pwned").exists()


def test_a_channel_of_a_stereo_recording(folder: Path, tmp_path: Path) -> None:
    import numpy as np
    import soundfile

    both = np.column_stack([np.arange(1600), -np.arange(1600)]).astype(np.int16)
    soundfile.write(folder / "st.wav", both, 8_000)
    row = cut(channel=1, recording=source(source="st.wav", channels=[0, 1]))
    (folder / "cuts.jsonl").write_text(json.dumps(row) + "\n")
    run_import(folder / "cuts.jsonl", tmp_path / "out")
    wanted = (-np.arange(800, 1600)).tolist()
    assert samples_of(validate_suite(tmp_path / "out"), "c")[: len(wanted)] == wanted


def test_gzip_that_is_damaged_or_a_bomb(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "cuts.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(cut()).encode() + b"\n")[:-9])
    with pytest.raises(InputError, match="is damaged, or not compressed by gzip"):
        run_import(path, tmp_path / "out", format="lhotse")
    monkeypatch.setattr("misheard.suite.importers.files.MAX_SOURCE_BYTES", 1 << 20)
    path.write_bytes(gzip.compress(b"\n" * (2 << 20)))
    with pytest.raises(InputError, match="has more than 1 MiB of text"):
        run_import(path, tmp_path / "out", format="lhotse")
