"""The voice activity detector against the package's own model, and against speech and noise."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from misheard.audio.decode import decode
from misheard.errors import BackendError
from misheard.soak.replay.vad import SileroVad
from misheard.soak.replay.values import CHUNK_SAMPLES, Chunk

torch = pytest.importorskip("torch", reason="needs the extra run")
pytest.importorskip("soundfile", reason="needs the extra run")


@pytest.fixture(scope="module")
def vad() -> SileroVad:
    return SileroVad()


@pytest.fixture(scope="module")
def speech(real_speech: Path) -> npt.NDArray[np.float32]:
    """Two sentences and half a second of noise after each, in chunks."""
    noise = (0.001 * np.random.default_rng(3).standard_normal(8_000)).astype(np.float32)
    names = ("librivox-0880", "cards-005")
    parts = [decode(real_speech / "audio" / f"{name}.wav").samples for name in names]
    samples = np.concatenate([parts[0], noise, parts[1], noise])
    return samples[: len(samples) // CHUNK_SAMPLES * CHUNK_SAMPLES].reshape(-1, CHUNK_SAMPLES)


def probabilities(vad: SileroVad, chunks: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    vad.reset()
    return np.array([vad.probability(Chunk(0, chunk)) for chunk in chunks])


def test_the_package_s_own_model_gives_the_same(vad: SileroVad, speech: npt.NDArray[np.float32]) -> None:
    spec = importlib.util.find_spec("silero_vad")
    assert spec is not None and spec.submodule_search_locations is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = torch.jit.load(Path(spec.submodule_search_locations[0]) / "data" / "silero_vad.jit")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.no_grad(), torch.jit.optimized_execution(False):
        expected = [model(torch.from_numpy(chunk.copy()), 16_000).item() for chunk in speech[:120]]
    torch.set_num_threads(threads)
    assert max(expected) > 0.9 and min(expected) < 0.1
    np.testing.assert_allclose(probabilities(vad, speech[:120]), expected, atol=1e-4)


def test_what_was_heard_before_counts_until_it_is_forgotten(
    vad: SileroVad, speech: npt.NDArray[np.float32]
) -> None:
    first = probabilities(vad, speech[:40])
    goes_on = [vad.probability(Chunk(0, chunk)) for chunk in speech[:40]]
    assert not np.allclose(goes_on, first, atol=0.01)
    assert probabilities(vad, speech[:40]).tolist() == first.tolist()


@pytest.mark.parametrize("amplitude", [0.0, 2.0**-15, 0.01])
def test_silence_and_noise_are_no_speech(vad: SileroVad, amplitude: float) -> None:
    noise = amplitude * np.random.default_rng(5).standard_normal((60, CHUNK_SAMPLES))
    # the first chunks begin without any memory
    assert probabilities(vad, noise.astype(np.float32))[5:].max() < 0.3


def test_the_fingerprint_names_the_model(vad: SileroVad) -> None:
    fingerprint = vad.fingerprint()
    assert fingerprint["name"] == "silero-vad" and fingerprint["version"].startswith("6.")
    assert len(fingerprint["sha256"]) == 64


def test_a_chunk_has_512_samples(vad: SileroVad) -> None:
    with pytest.raises(ValueError, match="512 samples"):
        vad.probability(Chunk(0, np.zeros(256, np.float32)))


def test_threads_of_torch_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", calls.append)
    SileroVad()
    assert calls == []


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BackendError, match=r"pip install 'misheard\[run\]'"):
        SileroVad()


def test_another_network_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("silero_vad", tmp_path / "__init__.py")
    assert spec is not None
    spec.submodule_search_locations = [str(tmp_path)]
    (tmp_path / "data").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(torch.nn.Linear(2, 2)).save(tmp_path / "data" / "silero_vad.jit")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(BackendError, match="another network"):
        SileroVad()
