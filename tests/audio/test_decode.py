"""Decoding: sample formats, channels, rates, bounded memory, fingerprints."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

import misheard.audio.decode as decode_module
from misheard.audio.decode import check, decode, decoder_fingerprint, probe, stream

Samples = npt.NDArray[np.float32]


def speechlike(seconds: float, rate: int = 16_000, seed: int = 0) -> Samples:
    """A tone that comes and goes, with a little noise, at multiples of 1/128 so that 8 bits hold it."""
    time = np.arange(round(seconds * rate)) / rate
    wave = 0.5 * np.sin(2 * np.pi * 220 * time) * np.sin(2 * np.pi * 1.5 * time)
    wave += 0.02 * np.random.default_rng(seed).standard_normal(len(time))
    return (np.round(wave * 128) / 128).astype(np.float32)


def integers(wave: Samples) -> npt.NDArray[np.int32]:
    """The same samples as 32-bit integers: soundfile scales floats by 2^n - 1, which is not exact."""
    return np.round(wave * 128).astype(np.int32) << 24


def write(
    path: Path, samples: npt.NDArray[Any], rate: int = 16_000, subtype: str | None = None, **options: str
) -> Path:
    soundfile.write(path, samples, rate, subtype=subtype, **options)
    return path


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.wav", {"subtype": "PCM_U8"}),
        ("a.wav", {"subtype": "PCM_16"}),
        ("a.wav", {"subtype": "PCM_24"}),
        ("a.wav", {"subtype": "PCM_32"}),
        ("a.wav", {"subtype": "FLOAT"}),
        ("a.wav", {"subtype": "DOUBLE"}),
        ("a.wav", {"subtype": "PCM_24", "format": "WAVEX"}),
        ("a.rf64", {"subtype": "PCM_16", "format": "RF64"}),
        ("a.flac", {"subtype": "PCM_S8"}),
        ("a.flac", {"subtype": "PCM_16"}),
        ("a.flac", {"subtype": "PCM_24"}),
        ("a.aiff", {"subtype": "PCM_16"}),
        ("a.au", {"subtype": "PCM_16"}),
        ("a.sph", {"subtype": "PCM_16", "format": "NIST"}),
    ],
)
def test_every_lossless_sample_format_gives_the_same_samples_and_fingerprint(
    tmp_path: Path, name: str, options: dict[str, str]
) -> None:
    wave = speechlike(1.3)
    reference = decode(write(tmp_path / "reference.wav", wave, subtype="FLOAT"))
    data = wave if options["subtype"] in ("FLOAT", "DOUBLE") else integers(wave)
    decoded = decode(write(tmp_path / name, data, **options))
    np.testing.assert_array_equal(decoded.samples, wave)
    assert decoded.samples.dtype == np.float32
    assert decoded.mixdown == "mono"
    assert decoded.info.seconds == pytest.approx(1.3)
    assert decoded.info.subtype == options["subtype"]
    assert decoded.sha256 == reference.sha256


@pytest.mark.parametrize("name", ["a.ogg", "a.opus", "a.mp3"])
def test_lossy_formats_keep_length_and_most_of_the_signal(tmp_path: Path, name: str) -> None:
    wave = speechlike(3.0)
    options = {"format": "OGG", "subtype": "OPUS"} if name.endswith("opus") else {}
    decoded = decode(write(tmp_path / name, wave, **options))
    assert len(decoded.samples) == len(wave)
    assert np.corrcoef(decoded.samples, wave)[0, 1] > 0.95


def test_the_fingerprint_covers_samples_rate_and_channels(tmp_path: Path) -> None:
    wave = speechlike(0.5)
    changed = wave.copy()
    changed[100] += 1 / 128
    files = [
        write(tmp_path / "a.wav", wave),
        write(tmp_path / "b.wav", changed),
        write(tmp_path / "c.wav", wave[:-1]),
        write(tmp_path / "d.wav", wave, rate=8_000),
        write(tmp_path / "e.wav", np.column_stack([wave, wave])),
    ]
    assert len({decode(path).sha256 for path in files}) == len(files)


def test_the_fingerprint_of_a_lossy_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    first = write(tmp_path / "a.mp3", speechlike(1))
    second = tmp_path / "b.mp3"
    second.write_bytes(first.read_bytes())
    third = write(tmp_path / "c.mp3", speechlike(1, seed=1))
    assert decode(first).sha256 == decode(second).sha256 != decode(third).sha256


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.ogg", "a.mp3"])
def test_check_and_probe_agree_with_decode(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, speechlike(1.7, 22_050), rate=22_050)
    decoded = decode(path)
    assert check(path).sha256 == decoded.sha256
    assert check(path).info == decoded.info == probe(path)
    assert decoded.info.sample_rate == 22_050


def test_channels_are_averaged(tmp_path: Path) -> None:
    left, right = speechlike(1), np.roll(speechlike(1, seed=2), 4_000)
    decoded = decode(write(tmp_path / "a.wav", np.column_stack([left, right]), subtype="FLOAT"))
    assert decoded.mixdown == "mean"
    np.testing.assert_allclose(decoded.samples, (left + right) / 2, atol=1e-7)


@pytest.mark.parametrize(("gain", "channel"), [(1.1, 1), (0.9, 2), (0.6, 2)])
@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_channels_in_opposite_phase_give_the_loudest(
    tmp_path: Path, gain: float, channel: int, offset: float
) -> None:
    wave = speechlike(1)
    stereo = np.column_stack([offset - gain * wave, wave]).astype(np.float32)
    decoded = decode(write(tmp_path / "a.wav", stereo, subtype="FLOAT"))
    assert decoded.mixdown == f"channel {channel}"
    np.testing.assert_array_equal(decoded.samples, stereo[:, channel - 1])


@pytest.mark.parametrize("other", ["silent", "same", "constant"])
def test_channels_that_do_not_cancel_are_averaged(tmp_path: Path, other: str) -> None:
    wave = speechlike(1)
    second = {"silent": np.zeros_like(wave), "same": wave, "constant": np.full_like(wave, -0.5)}[other]
    decoded = decode(write(tmp_path / "a.wav", np.column_stack([wave, second]), subtype="FLOAT"))
    assert decoded.mixdown == "mean"


def test_silent_channels_are_averaged(tmp_path: Path) -> None:
    assert decode(write(tmp_path / "a.wav", np.zeros((1600, 2), np.float32))).mixdown == "mean"


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 48_000, 96_000])
def test_a_tone_keeps_its_frequency_and_level_at_16_khz(tmp_path: Path, rate: int) -> None:
    tone = (0.5 * np.sin(2 * np.pi * 1_000 * np.arange(2 * rate) / rate)).astype(np.float32)
    samples = decode(write(tmp_path / "a.wav", tone, rate=rate, subtype="FLOAT")).samples
    assert len(samples) == 32_000
    expected = 0.5 * np.sin(2 * np.pi * 1_000 * np.arange(32_000) / 16_000)
    np.testing.assert_allclose(samples[200:-200], expected[200:-200], atol=2e-3)


@pytest.fixture
def small_spool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode_module, "SPOOL_SAMPLES", 3 * 16_000)


@pytest.mark.usefixtures("small_spool")
@pytest.mark.parametrize("channels", [1, 2])
def test_long_recordings_are_mapped_from_a_file_and_equal_short_ones(tmp_path: Path, channels: int) -> None:
    wave = speechlike(40, 22_050)
    block = wave if channels == 1 else np.column_stack([wave, -wave])
    path = write(tmp_path / "a.wav", block, rate=22_050)
    mapped = decode(path)
    assert isinstance(mapped.samples, np.memmap)
    decode_module.SPOOL_SAMPLES = 10**9
    held = decode(path)
    assert not isinstance(held.samples, np.memmap)
    np.testing.assert_array_equal(mapped.samples, held.samples)
    assert mapped.mixdown == ("mono" if channels == 1 else "channel 1")


@pytest.mark.parametrize(("rate", "second"), [(16_000, None), (16_000, -0.9), (22_050, 0.5)])
def test_a_stream_is_the_recording_in_pieces(tmp_path: Path, rate: int, second: float | None) -> None:
    wave = speechlike(20, rate)
    samples = wave if second is None else np.column_stack([wave, second * wave]).astype(np.float32)
    path = write(tmp_path / "a.wav", samples, rate=rate, subtype="FLOAT")
    pieces = list(stream(path))
    assert len(pieces) > 1
    np.testing.assert_array_equal(np.concatenate(pieces), decode(path).samples)


@pytest.mark.parametrize("spool", [10**9, 1_000])
def test_samples_are_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spool: int) -> None:
    monkeypatch.setattr(decode_module, "SPOOL_SAMPLES", spool)
    samples = decode(write(tmp_path / "a.wav", speechlike(1))).samples
    with pytest.raises(ValueError, match="read-only"):
        samples[0] = 0


@pytest.mark.parametrize(
    "name",
    [
        "with space.wav",
        'it\'s "quoted".wav',
        "$(touch owned) `id`.wav",
        "கேள்வி ഒന്ന്.wav",
        "-dash;&|.wav",
        "new\nline.wav",
    ],
)
def test_any_file_name_works(tmp_path: Path, name: str) -> None:
    decoded = decode(write(tmp_path / name, speechlike(0.2), format="WAV", subtype="PCM_16"))
    assert len(decoded.samples) == 3_200


def test_the_decoder_is_named_by_its_parts() -> None:
    found = decoder_fingerprint()
    assert found["decoder"] == 1
    assert found["libsndfile"] == soundfile.__libsndfile_version__
    assert found["torchaudio"]


def test_reading_block_by_block_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(
        tmp_path / "a.flac", np.column_stack([speechlike(2, 44_100), speechlike(2, 44_100, 5)]), rate=44_100
    )
    once: Callable[[], Samples] = lambda: decode(path).samples  # noqa: E731
    whole = once()
    monkeypatch.setattr("misheard.audio.reader._BLOCK_SAMPLES", 1_000)
    np.testing.assert_array_equal(once(), whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flac", "mkv"])
def test_hours_are_decoded_in_bounded_memory(tmp_path: Path, name: str) -> None:
    """Three hours are 690 MB of samples; the process may have 400 MB of its own."""
    path = tmp_path / f"a.{name}"
    long_recording(path, hours=3)
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))\n"
        "from pathlib import Path; from misheard.audio.decode import decode\n"
        f"audio = decode(Path({str(path)!r}))\n"
        "print(len(audio.samples), audio.samples[-1])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == f"{3 * 3600 * 16_000} 0.5\n", done.stderr


def long_recording(path: Path, hours: int) -> None:
    """Silence with one sample at its end, as FLAC, alone or in Matroska."""
    samples = np.zeros(3600 * 16_000, np.int16)
    if path.suffix == ".flac":
        with soundfile.SoundFile(path, "w", 16_000, 1, "PCM_16") as file:
            for hour in range(hours):
                samples[-1] = 1 << 14 if hour == hours - 1 else 0
                file.write(samples)
        return
    import av

    with av.open(str(path), "w", format="matroska") as container:
        stream = container.add_stream("flac", rate=16_000, layout="mono")
        for hour in range(hours):
            samples[-1] = 1 << 14 if hour == hours - 1 else 0
            frame = av.AudioFrame.from_ndarray(samples[None], format="s16", layout="mono")
            frame.sample_rate, frame.pts = 16_000, hour * len(samples)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
