"""The parts of an import: ids, guesses of the format, places of recordings, clips of every sample format."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from importing_helpers import run_import, write_clip

from misheard.audio.decode import check
from misheard.audio.reader import open_audio
from misheard.errors import InputError
from misheard.suite.importers.clips import Cut, cut
from misheard.suite.importers.formats import FORMATS, guess_format
from misheard.suite.importers.ids import distinct_names, suite_ids
from misheard.suite.importers.locate import Folders
from misheard.suite.importers.rows import Clip
from misheard.suite.item_reader import ID

SUBTYPES = [
    ("WAV", "PCM_U8", ".flac"), ("WAV", "PCM_16", ".flac"), ("WAV", "PCM_24", ".flac"),
    ("WAV", "PCM_32", ".wav"), ("WAV", "FLOAT", ".wav"), ("WAV", "DOUBLE", ".wav"), ("WAV", "ULAW", ".flac"),
    ("WAV", "IMA_ADPCM", ".wav"), ("FLAC", "PCM_16", ".flac"), ("FLAC", "PCM_S8", ".flac"),
    ("AIFF", "PCM_24", ".flac"), ("OGG", "VORBIS", ".wav"), ("MP3", "MPEG_LAYER_III", ".wav"),
]  # fmt: skip


def test_ids_keep_what_they_can() -> None:
    assert suite_ids(["a-1_B", "a b", "clip/é.wav", "", "नमस्ते"]) == [
        "a-1_B", "a_b", "clip_e_wav", *suite_ids(["", "नमस्ते"]),
    ]  # fmt: skip


def test_ids_that_become_the_same_stay_apart() -> None:
    first, second, third = suite_ids(["a b", "a_b", "a.b"])
    assert second == "a_b"
    assert first.startswith("a_b-") and third.startswith("a_b-") and first != third
    assert suite_ids(["a.b", "a b", "a_b"]) == [third, first, "a_b"]


def test_long_ids_are_cut_and_stay_apart() -> None:
    out = suite_ids(["x" * 300, "x" * 299 + "y"])
    assert [len(name) for name in out] == [80, 80] and out[0] != out[1]


@settings(max_examples=300, deadline=None)
@given(
    names=st.lists(
        st.text(max_size=12) | st.text("aA_-. é", max_size=4) | st.text("ab", min_size=79, max_size=82),
        unique=True,
        max_size=30,
    )
)
def test_ids_are_valid_unique_and_independent_of_order(names: list[str]) -> None:
    out = suite_ids(names)
    assert all(ID.fullmatch(name) for name in out)
    assert len(set(out)) == len(out)
    assert all(new == old for new, old in zip(out, names, strict=True) if ID.fullmatch(old))
    assert dict(zip(names[::-1], suite_ids(names[::-1]), strict=True)) == dict(zip(names, out, strict=True))


@given(names=st.lists(st.text("ab-23", max_size=4), max_size=12), data=st.data())
def test_names_that_are_no_ids_become_distinct(names: list[str], data: st.DataObject) -> None:
    seen: set[str] = set()
    named = [data.draw(st.booleans()) and name not in seen and not seen.add(name) for name in names]
    out = distinct_names(names, named)
    assert len(set(out)) == len(out)
    assert all(new == old for new, old, is_id in zip(out, names, named, strict=True) if is_id)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.csv", "x", "csv"),
        ("a.TSV", "x", "tsv"),
        ("a.trn", "x", "trn"),
        ("a.json", '{"items": []}', "json"),
        ("a.json", '{\n "items": [\n]}', "json"),
        ("a.json", '{"audio_filepath": "a"}\n{"audio_filepath": "b"}\n', "nemo"),
        ("a.jsonl", '\ufeff{"audio_filepath": "a"}', "nemo"),
        ("a.json", '{"audio_filepath": "a"}\n', "nemo"),
        ("a.jsonl", '{"path": "a"}\n', "jsonl"),
        ("manifest", '{"items": []}', "json"),
        ("manifest", '{"path": "a"}\n{"path": "b"}\n', "jsonl"),
        ("a.jsonl", '{"id": "c", "start": 0, "supervisions": []}\n', "lhotse"),
        ("a.parquet", "x", "dataset"),
    ],
)
def test_the_format_of_a_file(tmp_path: Path, name: str, content: str, format: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    guess = guess_format(tmp_path / name)
    assert guess.format == format and guess.path == tmp_path / name and guess.why


@pytest.mark.parametrize(
    ("names", "format"),
    [
        (["wav.scp", "text"], "kaldi"),
        (["metadata.csv", "a.wav"], "audiofolder"),
        (["state.json", "dataset_info.json", "data.arrow"], "dataset"),
        (["x_recordings_all.jsonl.gz", "x_supervisions_all.jsonl.gz"], "lhotse"),
        (["only.tsv", "a.wav"], "tsv"),
    ],
)
def test_the_format_of_a_folder(tmp_path: Path, names: list[str], format: str) -> None:
    for name in names:
        (tmp_path / name).write_text("x")
    assert guess_format(tmp_path).format == format


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "its format cannot be told; say --format"),
        (["notes.txt"], "its format cannot be told"),
        (["train.tsv", "test.tsv"], r"may be read in several ways; say which:\n  --format tsv .*test.tsv: "),
        (["wav.scp", "metadata.csv"], "may be read in several ways"),
        (["suite.yaml"], "is a suite already"),
    ],
)
def test_folders_without_one_format(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        (tmp_path / name).write_text("x")
    with pytest.raises(InputError, match=message):
        guess_format(tmp_path)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.TGZ"])
def test_archives_are_not_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(InputError, match="is an archive; unpack it"):
        guess_format(tmp_path / name)


def test_every_format_has_a_reader_that_refuses_what_is_not_its_own(tmp_path: Path) -> None:
    write_clip(tmp_path / "src" / "a.wav")
    (tmp_path / "src" / "empty").write_text("")
    for format in FORMATS:
        for place in ("src", "src/empty", "src/a.wav"):
            with pytest.raises(InputError):
                run_import(tmp_path / place, tmp_path / "out", format=format)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("in/a.wav", "in/deep/b.wav", "elsewhere/c.wav"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "in" / "out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "in" / "link.wav").symlink_to("deep/b.wav")
    (tmp_path / "in" / "loop.wav").symlink_to("loop.wav")
    (tmp_path / "in" / "round").symlink_to("round")
    os.mkfifo(tmp_path / "in" / "pipe.wav")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../elsewhere/c.wav", "lies outside"),
        ("out/c.wav", "lies outside"),
        ("/etc/passwd", "lies outside"),
        ("deep/../../elsewhere/c.wav", "lies outside"),
        ("loop.wav", "loop of links"),
        ("round/a.wav", ""),
        ("pipe.wav", "not a regular file"),
        ("deep", "not a regular file"),
        (".", "not a regular file"),
        ("none.wav", "is not in"),
        ("a.wav/x", "is not in"),
        ("x" * 5000, "longer than"),
        ("y" * 300, "too long"),
        ("a\0b", "is no path"),
        ("", "is no path"),
        ("file:///etc/passwd", "is a URL"),
        ("a.zip", "is an archive"),
    ],
)
def test_places_that_are_refused(tree: Path, path: str, why: str) -> None:
    found, wrong = Folders([tree / "in"], None).find(path)
    assert found is None and wrong is not None and why in wrong


def test_places_that_are_found(tree: Path) -> None:
    plain, rooted = Folders([tree / "in"], None), Folders([tree / "in"], tree / "elsewhere")
    real = tree.resolve()
    assert plain.find("./deep/../a.wav") == (real / "in/a.wav", None)
    assert plain.find(str(tree / "in" / "a.wav")) == (real / "in/a.wav", None)
    assert plain.find("link.wav") == (real / "in/deep/b.wav", None)
    assert rooted.find("c.wav") == (real / "elsewhere/c.wav", None)
    assert rooted.find("out/c.wav") == (real / "elsewhere/c.wav", None)
    assert rooted.find(str(tree / "elsewhere" / "c.wav")) == (real / "elsewhere/c.wav", None)
    assert rooted.find("a.wav") == (real / "in/a.wav", None)


def blocks(path: Path) -> "np.ndarray[Any, Any]":
    with open_audio(path) as reader:
        return np.concatenate(list(reader.blocks()))


@pytest.mark.parametrize(("format", "subtype", "suffix"), SUBTYPES)
@pytest.mark.parametrize("channels", [1, 2])
def test_clips_hold_the_samples_that_the_recording_decodes_to(
    tmp_path: Path, format: str, subtype: str, suffix: str, channels: int
) -> None:
    rng = np.random.default_rng(3)
    samples = rng.uniform(-1, 1, (24_000, channels))
    samples[:4] = [[1.0], [-1.0], [0.0], [0.5]]
    path = tmp_path / "whole"
    soundfile.write(path, samples, 16_000, subtype, format=format)
    whole = blocks(path)
    ends = [(0.0, 0.5), (0.25, 0.75), (0.7501, None), (0.0, None), (0.3, 0.3001)]
    cuts = [Cut(Clip(start, end), tmp_path / f"c{n}") for n, (start, end) in enumerate(ends)]
    made = cut(path, check(path).info, cuts)
    for (start, end), file in zip(ends, made, strict=True):
        assert isinstance(file, Path) and file.suffix == suffix
        stop = len(whole) if end is None else round(end * 16_000)
        wanted = whole[round(start * 16_000) : stop]
        assert np.array_equal(blocks(file), wanted)
        assert soundfile.info(file).samplerate == 16_000


def test_more_clips_than_may_be_open_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_clip(tmp_path / "a.wav", seconds=1.0)
    whole = blocks(path)
    monkeypatch.setattr("misheard.suite.importers.clips._OPEN_CLIPS", 3)
    monkeypatch.setattr("misheard.audio.reader._BLOCK_SAMPLES", 500)
    starts = [n / 40 for n in range(20)]
    cuts = [Cut(Clip(start, start + 0.4), tmp_path / f"c{n}") for n, start in enumerate(starts)]
    for start, file in zip(starts, cut(path, check(path).info, cuts), strict=True):
        assert isinstance(file, Path)
        begin = round(start * 8_000)
        assert np.array_equal(blocks(file), whole[begin : round((start + 0.4) * 8_000)])


def test_one_channel(tmp_path: Path) -> None:
    both = np.column_stack([np.arange(800), np.arange(800) + 5]).astype(np.int16)
    soundfile.write(tmp_path / "a.wav", both, 8_000)
    info = check(tmp_path / "a.wav").info
    (made, wrong) = cut(
        tmp_path / "a.wav", info,
        [Cut(Clip(0.01, 0.02, 1), tmp_path / "c"), Cut(Clip(0, None, 2), tmp_path / "d")],
    )  # fmt: skip
    assert isinstance(made, Path)
    assert soundfile.read(made, dtype="int16")[0].tolist() == (np.arange(80, 160) + 5).tolist()
    assert wrong == "takes channel 3 of a recording that has 2"
