"""Whisper in torch, by transformers: batches across files, on a CPU or a CUDA device.

Decoding is greedy, at temperature 0, with no fallback and no conditioning on earlier text, under the rules of
the recognizer `ctranslate2`: in float32 the same weights give the same words. Batching is only scheduling:
every window is padded to 30 s, as Whisper was trained, whatever else is in its batch.
"""

import contextlib
import importlib.metadata
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

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
from misheard.recognizers.settings import TransformersSettings
from misheard.recognizers.transformers_decoders import GrowingDecoder, StaticDecoder
from misheard.recognizers.transformers_loading import (
    LoadedWhisper,
    check_folder,
    choose_device,
    load_whisper,
)
from misheard.recognizers.whisper_decoding import Decoder, GreedySearch, Hypothesis
from misheard.recognizers.whisper_tokens import MAX_LENGTH, choose_languages, longest_answer

_WARM_UP_TOKENS = 4


class TransformersRecognizer:
    """A Whisper checkpoint in Hugging Face form, multilingual or English only."""

    whole_clips = False

    def __init__(self, settings: TransformersSettings, *, cpu: bool) -> None:
        self._settings = settings
        self._cpu = cpu
        self._loaded: LoadedWhisper | None = None
        self._static: StaticDecoder | None = None
        self._static_size = settings.batch_size

    def load(self) -> None:
        folder = Path(self._settings.model)
        check_folder(folder)
        if "torch" not in sys.modules:
            # Threads that spin while they wait are several times slower where cores are shared.
            os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        try:
            import tokenizers  # noqa: F401
            import torch
            import transformers  # noqa: F401

            import misheard.audio.features
        except ImportError as error:
            raise BackendError(f"recognizer transformers: {error}; {INSTALL_ADVICE}") from error
        self._torch = torch
        self._log_mel = misheard.audio.features.log_mel
        self._device = choose_device(self._settings, cpu=self._cpu)
        self._dtype = self._settings.cpu_dtype if self._device == "cpu" else self._settings.dtype
        if self._settings.threads:
            torch.set_num_threads(self._settings.threads)
        self._loaded = load_whisper(folder, self._device, self._dtype)
        # Features of the next batch do not queue behind the decoding of this one.
        self._stream = torch.cuda.Stream() if self._device == "cuda" else None

    def warm_up(self) -> None:
        # A few tokens are enough, and silence must not be left to loop until the limit. A batch that does
        # not fit into memory is told when the first one is recognized.
        silence = AudioWindow(np.zeros(1600, np.float32), None)
        windows = [silence] * (self._static_size if self._settings.compile else 1)
        try:
            with contextlib.suppress(OutOfMemoryError):
                self._run(windows, None, _WARM_UP_TOKENS)
        except Exception as error:
            raise BackendError(
                f"recognizer.model: {self._settings.model} was loaded and cannot be used: "
                f"{type(error).__name__}: {str(error)[:500]}"
            ) from error

    def fingerprint(self) -> dict[str, Any]:
        loaded = self._ready()
        return {
            "backend": "transformers",
            "version": importlib.metadata.version("transformers"),
            "torch": self._torch.__version__,
            "features": {"n_mels": loaded.n_mels, "device": self._device},
            "content": loaded.content,
            "device": self._device,
            "dtype": self._dtype,
            "attention": "sdpa",
            "compile": self._settings.compile,
            "decoding": {"beam_size": 1, "temperature": 0, "max_length": MAX_LENGTH, "timestamps": False},
        }

    def supports(self, language: str | None) -> bool:
        return self._ready().tokens.supports(language)

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        """Compute log-mels on the device; None where it has no memory for them now."""
        try:
            return self._features(batch)
        except self._torch.OutOfMemoryError:
            return None

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        return self._run(batch, features, MAX_LENGTH)

    def close(self) -> None:
        if self._loaded is None:
            return
        self._loaded = self._static = None
        if self._device == "cuda":
            self._torch.cuda.empty_cache()

    def _run(self, batch: Sequence[AudioWindow], features: Features | None, limit: int) -> RecognizedBatch:
        if self._settings.compile and len(batch) > self._static_size:
            raise OutOfMemoryError(f"transformers: {len(batch)} windows, and room for {self._static_size}")
        try:
            ready = features or self._features(batch)
            started = time.perf_counter()
            windows = self._windows(batch, ready.value, limit)
            return RecognizedBatch(windows, ready.seconds, time.perf_counter() - started)
        except self._torch.OutOfMemoryError as error:
            detail = str(error).partition("\n")[0][:200]
        except RuntimeError as error:
            raise ItemFailedError(FailureKind.ASR_ERROR, f"transformers: {str(error)[:500]}") from error
        # Here, and not above: what failed holds on to the batch's memory until its exception is gone.
        self._static = None
        self._torch.cuda.empty_cache()
        if self._settings.compile and len(batch) < self._static_size:
            self._static_size = len(batch)
            return self._run(batch, features, limit)
        self._static_size = max(1, (len(batch) + 1) // 2)
        raise OutOfMemoryError(f"transformers: {detail}")

    def _features(self, batch: Sequence[AudioWindow]) -> Features:
        started = time.perf_counter()
        samples = [window.samples for window in batch]
        if self._stream is None:
            mel = self._mel(samples)
        else:
            with self._torch.cuda.stream(self._stream):
                mel = self._mel(samples)
            self._stream.synchronize()
        return Features(mel, time.perf_counter() - started)

    def _mel(self, samples: Sequence[Any]) -> Any:
        loaded = self._ready()
        return self._log_mel(samples, loaded.n_mels, self._device).to(loaded.model.dtype)

    def _windows(self, batch: Sequence[AudioWindow], mel: Any, limit: int) -> tuple[WindowTranscript, ...]:
        loaded = self._ready()
        tokens = loaded.tokens
        with self._torch.inference_mode():
            search = GreedySearch(self._decoder(loaded), tokens, loaded.suppressed)
            no_speech, guesses = search.begin(self._encode(loaded, mel))
            reported, decoded = choose_languages(batch, tokens, lambda: guesses)
            prompts = [tokens.prompt(language) for language in decoded]
            found = search.finish(prompts, min(limit, longest_answer(len(prompts[0]))))
        return tuple(map(self._transcript, found, reported, no_speech))

    def _decoder(self, loaded: LoadedWhisper) -> Decoder:
        if not self._settings.compile:
            return GrowingDecoder(loaded.model)
        if self._static is None:
            self._static = StaticDecoder(loaded.model, self._static_size)
        return self._static

    def _encode(self, loaded: LoadedWhisper, mel: Any) -> Any:
        if self._stream is None:
            return loaded.model.model.encoder(mel).last_hidden_state
        # made on another stream, and not to be reused there while it is read here
        mel.record_stream(self._torch.cuda.current_stream())
        # float32 is to mean that in the convolutions too, and no algorithm is chosen by trial
        with self._torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
            return loaded.model.model.encoder(mel).last_hidden_state

    def _transcript(
        self, hypothesis: Hypothesis, language: str | None, no_speech: float | None
    ) -> WindowTranscript:
        text = self._ready().tokenizer.decode(hypothesis.tokens, skip_special_tokens=True).strip()
        return WindowTranscript(
            text=text,
            language=language,
            tokens=len(hypothesis.tokens),
            token_limit=not hypothesis.ended,
            no_speech_prob=no_speech,
            avg_logprob=hypothesis.avg_logprob,
            compression_ratio=compression_ratio(text),
        )

    def _ready(self) -> LoadedWhisper:
        if self._loaded is None:
            raise RuntimeError("load() comes first, and nothing after close()")
        return self._loaded
