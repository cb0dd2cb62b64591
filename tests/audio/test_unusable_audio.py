"""Recordings that cannot be used become typed failures, quickly and without a word lost silently."""

import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from misheard.audio.decode import check, decode, probe
from misheard.failures import FailureKind, ItemFailedError

NOISE = (0.1 * np.random.default_rng(0).standard_normal(16_000 * 20)).astype(np.float32)


def encode(path: Path, samples: np.ndarray = NOISE, rate: int = 16_000, **options: str) -> bytes:
    soundfile.write(path, samples, rate, **options)
    return path.read_bytes()


def wav_with_data_size(raw: bytes, size: int) -> bytes:
    at = raw.index(b"data")
    return raw[: at + 4] + struct.pack("<I", size) + raw[at + 8 :]


def failure_of(action: Callable[[Path], object], path: Path) -> FailureKind:
    with pytest.raises(ItemFailedError) as caught:
        action(path)
    assert caught.value.detail
    return caught.value.kind


def all_fail(path: Path, kind: FailureKind) -> None:
    for action in (check, decode):
        assert failure_of(action, path) is kind


@pytest.mark.parametrize("name", ["nothing.wav", "no folder/nothing.wav"])
def test_a_missing_file(tmp_path: Path, name: str) -> None:
    all_fail(tmp_path / name, FailureKind.AUDIO_MISSING)


def test_a_file_as_a_folder_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    all_fail(tmp_path / "file" / "a.wav", FailureKind.AUDIO_MISSING)


@pytest.mark.timeout(20)
def test_folders_fifos_and_devices_are_refused_without_hanging(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "link.wav").symlink_to("/dev/zero")
    for path in (tmp_path, tmp_path / "pipe.wav", tmp_path / "link.wav"):
        all_fail(path, FailureKind.AUDIO_UNDECODABLE)
        assert failure_of(probe, path) is FailureKind.AUDIO_UNDECODABLE


@pytest.mark.parametrize(
    "raw",
    [
        bytes(10_000),
        np.random.default_rng(1).bytes(10_000),
        b"RIFF",
        b"RIFF\x24\x00\x00\x00WAVE",
        b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00",
        b"fLaC",
        b"ID3\x04\x00\x00\x00\x00\x00\x00",
        b"\xff\xfb",
        b".snd\x00\x00\x00\x18\xff\xff\xff\xff",
        b"NIST_1A\n   1024\n",
        b"FORM\x00\x00\x00\x00AIFF",
        b"some text that somebody called a recording\n" * 40,
    ],
)
def test_garbage_and_containers_without_audio(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(raw)
    all_fail(path, FailureKind.AUDIO_UNDECODABLE)


def test_a_zero_length_file_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.wav").touch()
    all_fail(tmp_path / "a.wav", FailureKind.AUDIO_EMPTY)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.wav", {}),
        ("a.wav", {"subtype": "FLOAT"}),
        ("a.rf64", {"format": "RF64", "subtype": "PCM_16"}),
        ("a.aiff", {}),
        ("a.au", {}),
        ("a.flac", {}),
        ("a.ogg", {}),
    ],
)
def test_a_file_without_samples_is_empty(tmp_path: Path, name: str, options: dict[str, str]) -> None:
    path = tmp_path / name
    encode(path, np.empty(0, np.float32), **options)
    all_fail(path, FailureKind.AUDIO_EMPTY)


@pytest.mark.parametrize("declared", [0, 1_000, 0x7FFF_FFFF, 0xFFFF_FFFF])
def test_a_wav_of_only_a_header_is_empty(tmp_path: Path, declared: int) -> None:
    raw = encode(tmp_path / "a.wav")
    (tmp_path / "a.wav").write_bytes(wav_with_data_size(raw, declared)[:44])
    all_fail(tmp_path / "a.wav", FailureKind.AUDIO_EMPTY)


FORMATS = [
    ("a.wav", {}),
    ("a.wav", {"subtype": "PCM_24", "format": "WAVEX"}),
    ("a.rf64", {"format": "RF64", "subtype": "PCM_16"}),
    ("a.aiff", {}),
    ("a.au", {}),
    ("a.sph", {"format": "NIST", "subtype": "PCM_16"}),
    ("a.flac", {}),
    ("a.ogg", {"format": "OGG", "subtype": "VORBIS"}),
    ("a.opus", {"format": "OGG", "subtype": "OPUS"}),
    ("a.mp3", {}),
]


@pytest.mark.parametrize(("name", "options"), FORMATS)
@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_cut_file_is_truncated(tmp_path: Path, name: str, options: dict[str, str], share: float) -> None:
    path = tmp_path / name
    raw = encode(path, **options)
    path.write_bytes(raw[: int(len(raw) * share)])
    all_fail(path, FailureKind.AUDIO_TRUNCATED)


@pytest.mark.parametrize(("name", "options"), FORMATS)
def test_the_whole_file_is_not(tmp_path: Path, name: str, options: dict[str, str]) -> None:
    encode(tmp_path / name, **options)
    assert check(tmp_path / name).info.frames == len(NOISE)


def test_a_flac_damaged_in_the_middle_is_truncated(tmp_path: Path) -> None:
    raw = bytearray(encode(tmp_path / "a.flac"))
    middle = len(raw) // 2
    raw[middle : middle + 3_000] = np.random.default_rng(2).bytes(3_000)
    (tmp_path / "a.flac").write_bytes(raw)
    all_fail(tmp_path / "a.flac", FailureKind.AUDIO_TRUNCATED)


@pytest.mark.parametrize("size", [0, 0x7FFF_F000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF])
def test_a_streamed_wav_without_a_length_is_read_to_its_end(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.wav"
    whole = decode_bytes(path, encode(path))
    streamed = decode_bytes(path, wav_with_data_size(path.read_bytes(), size))
    np.testing.assert_array_equal(streamed, whole)
    assert probe(path).frames == len(NOISE)


def decode_bytes(path: Path, raw: bytes) -> np.ndarray:
    path.write_bytes(raw)
    return decode(path).samples


def test_an_empty_data_chunk_before_other_chunks_stays_empty(tmp_path: Path) -> None:
    raw = (
        wav_with_data_size(encode(tmp_path / "a.wav"), 0)[:44] + b"LIST" + struct.pack("<I", 100) + bytes(100)
    )
    (tmp_path / "a.wav").write_bytes(raw)
    all_fail(tmp_path / "a.wav", FailureKind.AUDIO_EMPTY)


def test_bytes_after_the_audio_are_no_audio(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    raw = encode(path)
    assert len(decode_bytes(path, raw + b"LIST\x08\x00\x00\x00" + bytes(8))) == len(NOISE)


def flac_with_length(raw: bytes, frames: int) -> bytes:
    """STREAMINFO keeps the number of frames in the lower 36 bits of bytes 18 to 25."""
    field = int.from_bytes(raw[18:26], "big") >> 36 << 36 | frames
    return raw[:18] + field.to_bytes(8, "big") + raw[26:]


def test_a_flac_without_a_length_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    raw = encode(path)
    whole = decode_bytes(path, raw)
    np.testing.assert_array_equal(decode_bytes(path, flac_with_length(raw, 0)), whole)
    assert probe(path).frames == len(NOISE)
    path.write_bytes(flac_with_length(raw, 0)[: len(raw) // 2])
    all_fail(path, FailureKind.AUDIO_TRUNCATED)


def test_an_absurd_declared_length_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    path.write_bytes(flac_with_length(encode(path), 2**36 - 1))
    all_fail(path, FailureKind.AUDIO_UNDECODABLE)
    assert failure_of(probe, path) is FailureKind.AUDIO_UNDECODABLE


def without_xing(raw: bytes) -> bytes:
    """The file without its first frame, which states the length; frames of one encoder share two bytes."""
    return raw[raw.index(raw[:2], 4) :]


@pytest.mark.parametrize("tag", [b"", b"ID3\x04\x00\x00\x00\x00\x02\x00" + bytes(256)])
def test_the_end_of_an_mp3_without_a_length_is_not_lost(tmp_path: Path, tag: bytes) -> None:
    path = tmp_path / "a.mp3"
    raw = encode(path)
    whole = decode_bytes(path, raw)
    bare = decode_bytes(path, tag + without_xing(raw))
    # Without the tag nothing says how much of the first frames is padding.
    assert len(whole) <= len(bare) < len(whole) + 4 * 576
    lags = range(2 * 1_152)
    middle, end = whole[150_000:151_000], whole[-5_000:-4_000]
    assert min(np.abs(bare[150_000 + lag :][:1_000] - middle).max() for lag in lags) < 1e-3
    assert min(np.abs(bare[len(whole) - 5_000 + lag :][:1_000] - end).max() for lag in lags) < 1e-3


def test_a_cut_mp3_without_a_length_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    path.write_bytes(without_xing(encode(path))[:-5])
    all_fail(path, FailureKind.AUDIO_TRUNCATED)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 30_000.0])
def test_samples_that_are_no_samples(tmp_path: Path, value: float) -> None:
    wave = NOISE.copy()
    wave[12_345] = value
    encode(tmp_path / "a.wav", wave, subtype="FLOAT")
    all_fail(tmp_path / "a.wav", FailureKind.AUDIO_UNDECODABLE)


@pytest.mark.parametrize("rate", [1, 999, 768_001, 2**31 - 1])
def test_absurd_sampling_rates(tmp_path: Path, rate: int) -> None:
    raw = encode(tmp_path / "a.wav")
    (tmp_path / "a.wav").write_bytes(raw[:24] + struct.pack("<I", rate) + raw[28:])
    all_fail(tmp_path / "a.wav", FailureKind.AUDIO_UNDECODABLE)


def test_too_many_channels(tmp_path: Path) -> None:
    encode(tmp_path / "a.wav", np.zeros((10, 65), np.float32))
    all_fail(tmp_path / "a.wav", FailureKind.AUDIO_UNDECODABLE)


def test_formats_that_are_not_for_speech(tmp_path: Path) -> None:
    encode(tmp_path / "a.mat", format="MAT5", subtype="PCM_16")
    all_fail(tmp_path / "a.mat", FailureKind.AUDIO_UNDECODABLE)


def test_unreadable_files(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    encode(path)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    all_fail(path, FailureKind.AUDIO_UNDECODABLE)
