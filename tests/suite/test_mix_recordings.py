"""What is mixed into recordings: levels, clipping, generators, telephones and rooms."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
import torchaudio
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.audio.decode import decode
from misheard.errors import InputError
from misheard.suite.mixing import microphones
from misheard.suite.mixing.levels import decibels
from misheard.suite.mixing.microphones import BlockFilter, room_response
from misheard.suite.mixing.noises import GENERATORS, Noise, hum, pink, white
from misheard.suite.mixing.rendering import write_far_field, write_noisy, write_telephone
from misheard.suite.mixing.seeds import generator

RATE = 16_000


def bursts(seconds: float = 6.0, level: float = 0.1, seed: int = 0) -> np.ndarray:
    """Two seconds of digital silence in every four: whole frames of 30 ms would be no oracle, seconds are."""
    random = np.random.default_rng(seed)
    samples = level * random.standard_normal(round(seconds * RATE))
    time = np.arange(len(samples)) / RATE
    return np.where(time % 4 < 2.1, samples, 0).astype(np.float32)


def made(name: str, samples: int, seed: int = 0) -> Noise:
    return Noise(name, GENERATORS[name](samples, generator(seed, name)))


def ratio_of(path: Path, clean: np.ndarray, gain_db: float = 0.0) -> float:
    """The ratio over the loud seconds, from the file alone."""
    written, rate = soundfile.read(path, dtype="float64")
    assert (rate, len(written)) == (RATE, len(clean))
    noise = written / 10 ** (gain_db / 20) - clean
    loud = clean != 0
    return float(
        10 * np.log10(np.square(clean[loud], dtype=np.float64).mean() / np.square(noise[loud]).mean())
    )


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("snr", [-5, 0, 15, 40])
def test_the_ratio_over_the_active_part_is_the_one_asked_for(tmp_path: Path, name: str, snr: int) -> None:
    clean = bursts()
    mixed = write_noisy(tmp_path / "a.flac", clean, made(name, len(clean)), snr, is_speech=True)
    assert ratio_of(tmp_path / "a.flac", clean, mixed.gain_db) == pytest.approx(snr, abs=0.5)
    assert mixed.snr_db == pytest.approx(snr, abs=0.1)
    assert mixed.active_seconds == pytest.approx(4.2, abs=0.1)


def test_a_recording_that_is_active_throughout_is_mixed_as_torchaudio_does(tmp_path: Path) -> None:
    clean = np.random.default_rng(3).uniform(-0.2, 0.2, 2 * RATE).astype(np.float32)
    noise = made("pink", len(clean))
    mixed = write_noisy(tmp_path / "a.flac", clean, noise, 10, is_speech=True)
    expected = torchaudio.functional.add_noise(
        torch.from_numpy(clean), torch.from_numpy(noise.loop), torch.tensor(10.0)
    )
    assert mixed.active_seconds is None
    assert mixed.gain_db == 0
    written, _ = soundfile.read(tmp_path / "a.flac", dtype="float32")
    np.testing.assert_allclose(written, expected.numpy(), atol=0.6 / 32_768)


def test_recordings_of_several_blocks_are_mixed_in_one_piece(tmp_path: Path) -> None:
    clean = bursts(95)
    noise = Noise("white", white(12_345, generator(1)), start=500)
    write_noisy(tmp_path / "a.flac", clean, noise, 20, is_speech=True)
    written, _ = soundfile.read(tmp_path / "a.flac", dtype="float32")
    tiled = np.resize(np.roll(noise.loop, -500), len(clean))
    added = written - clean
    factor = np.dot(added, tiled) / np.dot(tiled, tiled)
    np.testing.assert_allclose(added, factor * tiled, atol=0.6 / 32_768)
    assert ratio_of(tmp_path / "a.flac", clean) == pytest.approx(20, abs=0.1)


def test_what_would_clip_is_scaled_and_keeps_its_ratio(tmp_path: Path) -> None:
    clean = bursts(level=0.3)
    mixed = write_noisy(tmp_path / "a.flac", clean, made("white", len(clean)), 0, is_speech=True)
    written, _ = soundfile.read(tmp_path / "a.flac")
    assert mixed.gain_db < 0
    assert np.abs(written).max() == pytest.approx(10 ** (-0.1 / 20), abs=1e-4)
    assert ratio_of(tmp_path / "a.flac", clean, mixed.gain_db) == pytest.approx(0, abs=0.1)


def test_quiet_recordings_get_a_finer_sample_format(tmp_path: Path) -> None:
    clean = bursts(level=0.002)
    write_noisy(tmp_path / "a.flac", clean, made("white", len(clean)), 45, is_speech=True)
    assert soundfile.info(tmp_path / "a.flac").subtype == "PCM_24"
    assert ratio_of(tmp_path / "a.flac", clean) == pytest.approx(45, abs=0.5)


@pytest.mark.parametrize("level", [0.0, 0.3])
def test_a_clip_without_speech_gets_noise_by_the_nominal_level(tmp_path: Path, level: float) -> None:
    clean = bursts(level=level)
    mixed = write_noisy(tmp_path / "a.flac", clean, made("pink", len(clean)), 15, is_speech=False)
    written, _ = soundfile.read(tmp_path / "a.flac")
    noise = written / 10 ** (mixed.gain_db / 20) - clean
    assert decibels(np.square(noise).mean()) == pytest.approx(-26 - 15, abs=0.1)
    assert mixed.snr_db is None
    assert mixed.noise_dbfs == pytest.approx(-41, abs=0.1)


def test_silent_speech_and_silent_noise_are_refused(tmp_path: Path) -> None:
    silence = np.zeros(RATE, np.float32)
    with pytest.raises(InputError, match="the recording is silent"):
        write_noisy(tmp_path / "a.flac", silence, made("white", RATE), 5, is_speech=True)
    with pytest.raises(InputError, match="is silent where the recording is not"):
        write_noisy(tmp_path / "b.flac", bursts(), Noise("nothing", silence), 5, is_speech=True)


def test_noise_that_is_silent_at_first_is_entered_elsewhere(tmp_path: Path) -> None:
    clean = bursts(2)
    loop = np.concatenate([np.zeros(8 * RATE, np.float32), white(2 * RATE, generator(0))])
    write_noisy(tmp_path / "a.flac", clean, Noise("late", loop), 5, is_speech=True)
    assert ratio_of(tmp_path / "a.flac", clean) == pytest.approx(5, abs=0.1)


def octave_powers(samples: np.ndarray) -> np.ndarray:
    power = np.square(np.abs(np.fft.rfft(samples)))
    hertz = np.fft.rfftfreq(len(samples), 1 / RATE)
    return np.array(
        [power[(hertz >= low) & (hertz < 2 * low)].sum() for low in (125, 250, 500, 1000, 2000, 4000)]
    )


@pytest.mark.parametrize(("make", "per_octave"), [(white, 3.01), (pink, 0.0)])
def test_generators_have_their_spectrum(make, per_octave: float) -> None:
    levels = 10 * np.log10(octave_powers(make(1 << 20, generator(4))))
    np.testing.assert_allclose(np.diff(levels), per_octave, atol=0.5)


def test_hum_lies_on_the_mains_harmonics_and_loops_without_a_seam() -> None:
    loop = Noise("hum", hum(5, generator(0)))
    spectrum = np.abs(np.fft.rfft(loop.block(123, 4 * RATE))) / (2 * RATE)
    lines = spectrum[:: 4 * 50][1:17]
    np.testing.assert_allclose(lines, 1 / np.arange(1, 17), rtol=1e-3)
    assert np.square(lines).sum() == pytest.approx(np.square(spectrum).sum(), rel=1e-4)


@settings(max_examples=30, deadline=None)
@given(start=st.integers(0, 9), first=st.integers(0, 40), count=st.integers(1, 40))
def test_a_noise_is_an_endless_loop(start: int, first: int, count: int) -> None:
    noise = Noise("count", np.arange(10, dtype=np.float32), start)
    np.testing.assert_array_equal(noise.block(first, count), (start + first + np.arange(count)) % 10)


@settings(max_examples=30, deadline=None)
@given(cuts=st.lists(st.integers(0, 500), max_size=5), taps=st.integers(1, 60), data=st.data())
def test_filtering_in_blocks_is_convolution(cuts: list[int], taps: int, data: st.DataObject) -> None:
    lead = data.draw(st.integers(0, taps - 1))
    random = np.random.default_rng(taps)
    samples, kernel = random.standard_normal(500, np.float32), random.standard_normal(taps, np.float32)
    block_filter = BlockFilter(kernel, lead)
    out = [block_filter.feed(part) for part in np.split(samples, sorted(cuts))]
    expected = np.convolve(samples.astype(np.float64), kernel.astype(np.float64))[lead : lead + 500]
    np.testing.assert_allclose(np.concatenate([*out, block_filter.finish()]), expected, atol=1e-4)


def tone(hertz: float, seconds: float = 2.0) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


@pytest.mark.parametrize(
    ("hertz", "lowest", "highest"),
    [
        (100, -np.inf, -35),
        (200, -np.inf, -20),
        (400, -0.5, 0.5),
        (1_000, -0.3, 0.3),
        (3_200, -1.0, 0.5),
        (3_700, -np.inf, -30),
    ],
)
def test_a_telephone_passes_its_band_only(
    tmp_path: Path, hertz: float, lowest: float, highest: float
) -> None:
    write_telephone(tmp_path / "a.wav", tone(hertz))
    written, rate = soundfile.read(tmp_path / "a.wav")
    assert (rate, len(written)) == (8_000, 16_000)
    level = decibels(float(np.square(written[500:-500]).mean()) / 0.125)
    assert lowest <= level < highest


def test_a_telephone_recording_is_g711(tmp_path: Path) -> None:
    write_telephone(tmp_path / "a.wav", bursts())
    info = soundfile.info(tmp_path / "a.wav")
    assert (info.format, info.subtype, info.channels) == ("WAV", "ULAW", 1)
    written, _ = soundfile.read(tmp_path / "a.wav", dtype="int16")
    # G.711, table 2: the decoder's output values, on a scale of 14 bits
    values = {
        sign * ((2 * step + 33 << segment) - 33) * 4
        for sign in (1, -1)
        for segment in range(8)
        for step in range(16)
    }
    assert set(written.tolist()) <= values
    assert len(set(written.tolist())) > 100


def test_loud_recordings_do_not_clip_on_the_telephone(tmp_path: Path) -> None:
    square = np.sign(tone(400)) * np.float32(0.99)
    recorded = write_telephone(tmp_path / "a.wav", square)
    assert recorded["gain_db"] < 0


def test_the_room_decays_as_it_says() -> None:
    response = room_response(generator(0, "room")).astype(np.float64)
    assert response[0] == 1
    tail = response[1:]
    assert decibels(1 / float(np.square(tail).sum())) == pytest.approx(0.0, abs=0.01)
    assert not tail[: round(0.0025 * RATE) - 1].any()
    # Schroeder's backward integration: the time from -5 to -25 dB, times three
    curve = 10 * np.log10(np.cumsum(np.square(tail)[::-1])[::-1] / np.square(tail).sum())
    t20 = 3 * (np.argmax(curve < -25) - np.argmax(curve < -5)) / RATE
    assert t20 == pytest.approx(microphones.RT60_SECONDS, rel=0.1)


def test_far_speech_is_reverberant_at_its_old_level(tmp_path: Path) -> None:
    clean = bursts(95)
    response = room_response(generator(0, "room"))
    recorded = write_far_field(tmp_path / "a.flac", clean, response)
    heard = decode(tmp_path / "a.flac").samples
    expected = np.convolve(clean.astype(np.float64), response)[: len(clean)]
    scale = np.dot(heard, expected) / np.dot(expected, expected)
    np.testing.assert_allclose(heard, scale * expected, atol=1e-4)
    loud = clean != 0
    gain = 10 ** (recorded["gain_db"] / 20)
    assert np.square(heard[loud] / gain).mean() == pytest.approx(np.square(clean[loud]).mean(), rel=0.05)


def test_silence_stays_silent_through_both_microphones(tmp_path: Path) -> None:
    silence = np.zeros(RATE, np.float32)
    write_telephone(tmp_path / "a.wav", silence)
    write_far_field(tmp_path / "b.flac", silence, room_response(generator(0)))
    for name in ("a.wav", "b.flac"):
        assert not soundfile.read(tmp_path / name)[0].any()


def test_drawn_numbers_depend_on_every_name() -> None:
    drawn = {
        generator(seed, *names).integers(1 << 60)
        for seed, names in [(0, ("ab", "c")), (0, ("a", "bc")), (0, ("abc",)), (1, ("ab", "c")), (0, ())]
    }
    assert len(drawn) == 5
