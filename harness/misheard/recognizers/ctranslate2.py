"""Whisper on CTranslate2: cross-file batches straight on `ctranslate2.models.Whisper`.

Decoding is greedy, or by beam search where the settings ask for it, at temperature 0 with no fallback and no
conditioning on earlier text. Batching is only scheduling: every window is padded to 30 s, as Whisper was
trained, whatever else is in its batch.
"""

import ctypes
import importlib.metadata
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from misheard.canonical import sha256_file
from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.recognizers.protocol import (
    AudioWindow,
    Features,
    OutOfMemoryError,
    RecognizedBatch,
    WindowTranscript,
)
from misheard.recognizers.repetition import compression_ratio
from misheard.recognizers.settings import CTranslate2Settings
from misheard.recognizers.whisper_folder import check_files
from misheard.recognizers.whisper_tokens import MAX_LENGTH, choose_languages, longest_answer, read_tokens

_BEAM_SEARCH = {"patience": 1, "length_penalty": 1}
_CUDA_LIBRARY = "libcublas.so.12"


class CTranslate2Recognizer:
    """A Whisper checkpoint in CTranslate2 form, multilingual or English only."""

    whole_clips = False

    def __init__(self, settings: CTranslate2Settings, *, cpu: bool) -> None:
        self._settings = settings
        self._cpu = cpu
        self._model: Any = None

    def load(self) -> None:
        folder = Path(self._settings.model)
        check_files("ctranslate2", folder)
        try:
            import ctranslate2
            import tokenizers

            import misheard.audio.features
        except ImportError as error:
            raise BackendError(f"recognizer ctranslate2: {error}; {INSTALL_ADVICE}") from error
        self._ctranslate2 = ctranslate2
        self._log_mel = misheard.audio.features.log_mel
        self._device = self._choose_device(ctranslate2)
        compute_type = (
            self._settings.cpu_compute_type if self._device == "cpu" else self._settings.compute_type
        )
        try:
            self._model = ctranslate2.models.Whisper(
                str(folder),
                device=self._device,
                compute_type=compute_type,
                inter_threads=1,
                intra_threads=self._settings.threads or len(os.sched_getaffinity(0)),
            )
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        except (RuntimeError, ValueError, Exception) as error:
            raise BackendError(f"recognizer.model: {folder} cannot be loaded: {error}") from error
        self._tokens = read_tokens(
            self._tokenizer.get_vocab(),
            f"{folder}/tokenizer.json",
            multilingual=self._model.is_multilingual,
        )
        self._content = {p.name: sha256_file(p) for p in sorted(folder.iterdir()) if p.suffix in _MODEL_FILES}

    def _choose_device(self, ctranslate2: Any) -> str:
        if self._cpu or self._settings.device == "cpu":
            return "cpu"
        if self._settings.device == "auto" and ctranslate2.get_cuda_device_count() == 0:
            return "cpu"
        check_cuda()
        return "cuda"

    def warm_up(self) -> None:
        # A few tokens are enough, and silence must not be left to loop until the limit.
        features = self._features([np.zeros(1600, np.float32)])
        prompt = [self._tokens.start, self._tokens.no_timestamps]
        self._model.generate(features, [prompt], beam_size=1, max_length=8)

    def fingerprint(self) -> dict[str, Any]:
        return {
            "backend": "ctranslate2",
            "version": importlib.metadata.version("ctranslate2"),
            "features": {"torch": importlib.metadata.version("torch"), "n_mels": self._model.n_mels},
            "content": self._content,
            "device": self._device,
            "compute_type": self._model.compute_type,
            "decoding": self._decoding(),
        }

    def _decoding(self) -> dict[str, Any]:
        """Return how text is found; what only a beam search has is left out of a greedy one."""
        beam, n_best = self._settings.beam_size, self._settings.n_best
        search = {"n_best": n_best, **_BEAM_SEARCH} if beam > 1 else {}
        return {
            "beam_size": beam,
            "temperature": 0,
            "max_length": MAX_LENGTH,
            "timestamps": False,
            **search,
        }

    def supports(self, language: str | None) -> bool:
        return self._tokens.supports(language)

    def features(self, batch: Sequence[AudioWindow]) -> Features:
        started = time.perf_counter()
        value = self._features([window.samples for window in batch])
        return Features(value, time.perf_counter() - started)

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        ready = features or self.features(batch)
        started = time.perf_counter()
        try:
            encoded = self._model.encode(ready.value)
            languages, prompts = self._prompts(batch, encoded)
            results = self._model.generate(
                encoded,
                prompts,
                beam_size=self._settings.beam_size,
                num_hypotheses=self._settings.n_best,
                **_BEAM_SEARCH,
                sampling_temperature=0.0,
                max_length=MAX_LENGTH,
                return_scores=True,
                return_no_speech_prob=True,
            )
        except RuntimeError as error:
            if "out of memory" in str(error):
                raise OutOfMemoryError(f"ctranslate2: {error}") from error
            raise ItemFailedError(FailureKind.ASR_ERROR, f"ctranslate2: {error}") from error
        windows = tuple(
            self._transcript(result, len(prompt), language)
            for result, prompt, language in zip(results, prompts, languages, strict=True)
        )
        return RecognizedBatch(windows, ready.seconds, time.perf_counter() - started)

    def _features(self, windows: Sequence[npt.NDArray[np.float32]]) -> Any:
        mel = self._log_mel(windows, self._model.n_mels)
        return self._ctranslate2.StorageView.from_array(np.ascontiguousarray(mel.numpy()))

    def _prompts(
        self, batch: Sequence[AudioWindow], encoded: Any
    ) -> tuple[list[str | None], list[list[int]]]:
        """Return the language to report and the prompt tokens, per window."""

        def detect() -> list[str]:
            return [guesses[0][0].strip("<|>") for guesses in self._model.detect_language(encoded)]

        reported, decoded = choose_languages(batch, self._tokens, detect)
        return reported, [self._tokens.prompt(language) for language in decoded]

    def _transcript(self, result: Any, prompt_length: int, language: str | None) -> WindowTranscript:
        hypotheses = [[token for token in ids if token != self._tokens.end] for ids in result.sequences_ids]
        texts = [self._tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in hypotheses]
        tokens, text = hypotheses[0], texts[0]
        # CTranslate2 normalises a score by the length without the end token; Whisper's average counts it.
        average = result.scores[0] * len(tokens) / (len(tokens) + 1)
        return WindowTranscript(
            text=text,
            language=language,
            tokens=len(tokens),
            token_limit=len(tokens) >= longest_answer(prompt_length),
            no_speech_prob=float(result.no_speech_prob),
            avg_logprob=float(average),
            compression_ratio=compression_ratio(text),
            # hypotheses may differ in their tokens alone, and the same text twice is no alternative
            n_best=tuple(dict.fromkeys(texts)) if self._settings.n_best > 1 else (),
        )

    def close(self) -> None:
        self._model = None


_MODEL_FILES = frozenset({".bin", ".json", ".txt"})


def check_cuda() -> None:
    """Check in a child process that CTranslate2 can use a CUDA device.

    A missing CUDA library aborts the process that first needs it, so this process must not be the one.
    Raises BackendError that names the library and the package to install.
    """
    child = subprocess.run(
        [sys.executable, "-m", "misheard.recognizers.ctranslate2"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if child.returncode:
        lines = child.stderr.strip().splitlines() or [f"exit status {child.returncode}"]
        raise BackendError(
            f"recognizer.device: CUDA cannot be used: {lines[-1]}; "
            "install nvidia-cublas-cu12 and a driver, or use --cpu"
        )


def _check_cuda_here() -> None:
    import ctranslate2

    if ctranslate2.get_cuda_device_count() == 0:
        raise SystemExit("no CUDA device is visible")
    ctypes.CDLL(_CUDA_LIBRARY)


if __name__ == "__main__":
    _check_cuda_here()
