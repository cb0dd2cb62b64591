"""Formats that FFmpeg decodes, and what is wrong with files in them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from made_audio import FFMPEG_FORMS, FORMS, Form, encode, wave

from misheard.audio import ffmpeg
from misheard.audio.decode import check, decode, decoder_fingerprint, probe
from misheard.errors import BackendError
from misheard.failures import FailureKind, ItemFailedError

pytest.importorskip("av", reason="needs the extra run")


def made(folder: Path, name: str, seconds: float = 3.0, channels: int = 1) -> tuple[Path, np.ndarray]:
    form = FORMS[name]
    samples = wave(seconds, form.rate)
    data = samples if channels == 1 else np.column_stack([samples, -samples])
    return form.write(folder / f"a.{form.suffix}", data), samples


def is_truncated(path: Path) -> None:
    for action in (check, decode):
        with pytest.raises(ItemFailedError) as caught:
            action(path)
        assert caught.value.kind is FailureKind.AUDIO_TRUNCATED


@pytest.mark.parametrize("name", FFMPEG_FORMS)
def test_the_recording_is_heard_in_full(tmp_path: Path, name: str) -> None:
    path, samples = made(tmp_path, name)
    form = FFMPEG_FORMS[name]
    decoded = decode(path)
    assert decoded.info.sample_rate == form.rate
    assert decoded.info.seconds == pytest.approx(3.0, abs=0.15)
    assert decoded.mixdown == "mono"
    if form.lossless:
        np.testing.assert_array_equal(decoded.samples, samples)
    elif form.rate == 16_000:
        shift = min(
            range(-3_000, 3_000, 1),
            key=lambda n: -np.dot(decoded.samples[4_000:12_000], samples[4_000 - n : 12_000 - n]),
        )
        assert (
            np.corrcoef(decoded.samples[8_000:16_000], samples[8_000 - shift : 16_000 - shift])[0, 1] > 0.95
        )


@pytest.mark.parametrize("name", FFMPEG_FORMS)
def test_metadata_says_the_length_without_decoding(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = made(tmp_path, name)
    assert check(path).info.seconds == pytest.approx(probe(path).seconds, abs=ffmpeg._SLACK_SECONDS)
    monkeypatch.setattr(ffmpeg.FFmpegSound, "read", lambda *_: pytest.fail("decoded"))
    if FFMPEG_FORMS[name].container in ("adts", "amr") or name == "fragments":
        return
    assert probe(path).seconds == pytest.approx(3.0, abs=0.15)


@pytest.mark.parametrize(
    "file_name", ["with space.m4a", "http://a\\b", "$(touch owned) `id`", "കേൾക്കൂ.m4a", "-i;&|", "a:b"]
)
def test_any_file_name_works(tmp_path: Path, file_name: str) -> None:
    path, _ = made(tmp_path, "m4a")
    renamed = path.rename(tmp_path / file_name.replace("/", "_"))
    assert len(decode(renamed).samples) > 47_000


@pytest.mark.parametrize("name", ["m4a", "alac", "webm", "mkv", "adts"])
def test_opposite_phase_is_noticed(tmp_path: Path, name: str) -> None:
    path, _ = made(tmp_path, name, channels=2)
    decoded = decode(path)
    assert decoded.info.channels == 2
    assert decoded.mixdown in ("channel 1", "channel 2")
    assert np.abs(decoded.samples).max() > 0.3


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 48_000, 96_000])
def test_odd_rates_keep_frequency_and_level(tmp_path: Path, rate: int) -> None:
    tone = (0.5 * np.sin(2 * np.pi * 1_000 * np.arange(2 * rate) / rate)).astype(np.float32)
    encode(tmp_path / "a.m4a", Form("m4a", codec="alac", container="ipod", rate=rate), tone)
    samples = decode(tmp_path / "a.m4a").samples
    assert len(samples) == 32_000
    expected = 0.5 * np.sin(2 * np.pi * 1_000 * np.arange(32_000) / 16_000)
    np.testing.assert_allclose(samples[200:-200], expected[200:-200], atol=2e-3)


@pytest.mark.parametrize(
    ("codec", "scale"),
    [("pcm_u8", 7), ("pcm_s16le", 15), ("pcm_s24le", 23), ("pcm_s32le", 31), ("pcm_f32le", 31)],
)
def test_sample_formats_are_honoured(tmp_path: Path, codec: str, scale: int) -> None:
    samples = wave(1, 16_000)
    encode(tmp_path / "a.mkv", Form("mkv", codec=codec, container="matroska"), samples)
    np.testing.assert_allclose(decode(tmp_path / "a.mkv").samples, samples, atol=2.0**-scale)


@pytest.mark.parametrize("name", FFMPEG_FORMS)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99])
def test_a_cut_file_is_truncated(tmp_path: Path, name: str, share: float) -> None:
    path, _ = made(tmp_path, name, seconds=15.0)
    raw = path.read_bytes()
    # AMR states no length: a cut between two frames leaves a whole file.
    at = int(len(raw) * share) // 13 * 13 if name == "amr" else int(len(raw) * share)
    path.write_bytes(raw[:at])
    is_truncated(path)


@pytest.mark.parametrize("name", sorted({*FFMPEG_FORMS} - {"mov"}))
def test_damage_in_the_middle_is_noticed(tmp_path: Path, name: str) -> None:
    path, _ = made(tmp_path, name, seconds=12.0)
    raw = bytearray(path.read_bytes())
    middle = len(raw) // 2
    raw[middle : middle + len(raw) // 8] = np.random.default_rng(1).bytes(len(raw) // 8)
    path.write_bytes(raw)
    is_truncated(path)


@pytest.mark.parametrize("name", ["tta", "wavpack", "oga", "mkv"])
def test_one_wrong_bit_is_noticed_where_there_are_checksums(tmp_path: Path, name: str) -> None:
    path, _ = made(tmp_path, name, seconds=12.0)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    is_truncated(path)


@pytest.mark.parametrize(
    "name", ["fragments", "faststart", "webm", "mkv", "adts", "amr", "wma", "wavpack", "tta", "oga"]
)
def test_a_second_half_of_zeros_is_noticed(tmp_path: Path, name: str) -> None:
    path, _ = made(tmp_path, name, seconds=12.0)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2] + bytes(len(raw) - len(raw) // 2))
    is_truncated(path)


@pytest.mark.parametrize(
    "raw",
    [magic.rjust(offset + len(magic), b"\0") + bytes(200) for offset, magic, *_ in ffmpeg.DEMUXERS]
    + [b"\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00M4A mp42isom", b"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\x80"],
)
def test_containers_without_audio_are_unusable(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "a.m4a").write_bytes(raw)
    for action in (check, decode, probe):
        with pytest.raises(ItemFailedError) as caught:
            action(tmp_path / "a.m4a")
        assert caught.value.kind in (FailureKind.AUDIO_UNDECODABLE, FailureKind.AUDIO_TRUNCATED)


def test_a_film_without_sound_is_unusable(tmp_path: Path) -> None:
    import av

    with av.open(str(tmp_path / "a.mp4"), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height = 32, 32
        frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8))
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with pytest.raises(ItemFailedError, match="no audio track"):
        decode(tmp_path / "a.mp4")


@pytest.mark.parametrize("container", ["matroska", "mp4"])
def test_a_film_that_goes_on_after_its_sound_is_heard_to_the_end(tmp_path: Path, container: str) -> None:
    import av

    path = tmp_path / "a.film"
    with av.open(str(path), "w", format=container) as film:
        picture, sound = film.add_stream("mpeg4", rate=10), film.add_stream("aac", rate=16_000, layout="mono")
        picture.width, picture.height = 32, 32
        frame = av.AudioFrame.from_ndarray(wave(2, 16_000)[None], format="fltp", layout="mono")
        frame.sample_rate, frame.pts = 16_000, 0
        film.mux(sound.encode(frame))
        film.mux(sound.encode(None))
        for number in range(60):
            image = av.VideoFrame.from_ndarray(np.full((32, 32, 3), number, np.uint8))
            image.pts = number
            film.mux(picture.encode(image))
        film.mux(picture.encode(None))
    assert decode(path).info.seconds == pytest.approx(2.0, abs=0.15)
    assert probe(path).seconds == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize(
    "raw",
    [
        b"ffconcat version 1.0\nfile 'secret.wav'\n",
        b"#EXTM3U\n#EXTINF:1,\nsecret.wav\n#EXT-X-ENDLIST\n",
        b"v=0\no=- 0 0 IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n",
        b"<?xml version='1.0'?><MPD><BaseURL>secret.wav</BaseURL></MPD>",
    ],
)
def test_playlists_are_no_recordings(tmp_path: Path, raw: bytes) -> None:
    FORMS["wav"].write(tmp_path / "secret.wav", wave(1, 16_000))
    (tmp_path / "a.m4a").write_bytes(raw * 20)
    with pytest.raises(ItemFailedError) as caught:
        decode(tmp_path / "a.m4a")
    assert caught.value.kind is FailureKind.AUDIO_UNDECODABLE


@pytest.mark.parametrize("rate", [16_000, 22_050, 44_100])
def test_mpeg_layer_ii_is_read_to_its_end(tmp_path: Path, rate: int) -> None:
    encode(tmp_path / "a.mp2", Form("mp2", codec="mp2", container="mp2", rate=rate), wave(3, rate))
    decoded = decode(tmp_path / "a.mp2")
    assert decoded.info.subtype == "MPEG_LAYER_II"
    assert decoded.info.seconds == pytest.approx(3.0, abs=0.1)
    assert probe(tmp_path / "a.mp2").frames == decoded.info.frames


def test_only_what_ffmpeg_decodes_needs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flac, _ = made(tmp_path, "flac")
    m4a, _ = made(tmp_path, "m4a")
    monkeypatch.setitem(sys.modules, "av", None)
    assert len(decode(flac).samples) == 48_000
    with pytest.raises(BackendError, match=r"the format MP4 are decoded with av .*misheard\[run\]"):
        decode(m4a)


def test_damaged_files_print_nothing(tmp_path: Path) -> None:
    path, _ = made(tmp_path, "adts")
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 :: 50] = bytes(len(raw[len(raw) // 2 :: 50]))
    path.write_bytes(raw)
    code = f"from pathlib import Path; from misheard.audio.decode import decode; decode(Path({str(path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "audio_truncated" in done.stderr
    assert "[aac" not in done.stderr


def test_the_decoder_names_the_version_that_decodes() -> None:
    import av

    assert decoder_fingerprint()["av"] == av.__version__
