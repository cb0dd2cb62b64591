"""A speech model on a vLLM server that the run starts, owns and takes down."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from misheard.errors import BackendError
from misheard.language_models.model_content import is_folder
from misheard.language_models.vllm_process import VllmProcess
from misheard.recognizers.openai_api import TranscriptionServer
from misheard.recognizers.protocol import AudioWindow, Features, RecognizedBatch
from misheard.recognizers.settings import TranscriptionServerSettings, VllmRecognizerSettings
from misheard.recognizers.whisper_folder import check_files

LOG_NAME = "vllm-recognizer.log"

_ENGLISH_ONLY_VOCABULARY = 51_864
"""Whisper's English-only checkpoints have one token less than the smallest multilingual ones."""


class VllmRecognizer:
    """A recognizer served by a vLLM process that lives exactly as long as this object is loaded.

    The server's output goes to `logs/vllm-recognizer.log`; requests are not logged. `audit` asks for what
    makes it repeat itself; `memory_part` is the part of the GPU's free memory for it where a language model's
    server is to follow.
    """

    whole_clips = False

    def __init__(
        self,
        settings: VllmRecognizerSettings,
        *,
        logs: Path,
        cpu: bool = False,
        audit: bool = False,
        memory_part: float = 1.0,
    ) -> None:
        self._settings = settings
        self._process = VllmProcess(
            settings,
            section="recognizer",
            log=logs / LOG_NAME,
            cpu=cpu,
            audit=audit,
            memory_part=memory_part,
        )
        self._client: TranscriptionServer | None = None

    @property
    def server_pid(self) -> int | None:
        """Process id of the server while it is loaded, for telemetry."""
        return self._process.server_pid

    @property
    def memory_note(self) -> str | None:
        """How much of the GPU's memory the server may take and why, after `load`; None on a CPU."""
        return self._process.memory_note

    def load(self) -> None:
        """Start the server and wait until it serves the model.

        Raises BackendError, with the server's last log lines, where vLLM is missing, the server ends or
        hangs while starting, or the model hears English only; nothing is left running then.
        """
        if self._client is not None:
            return
        self._refuse_english_only()
        if is_folder(self._settings.model):
            check_files("vllm", Path(self._settings.model))
        try:
            self._process.start()
            self._connect()
        except BaseException:
            self.close()
            raise

    def warm_up(self) -> None:
        """Send a second of silence; a model that does not transcribe is found here. Raises BackendError."""
        try:
            self._loaded().warm_up()
        except BackendError as error:
            self._process.check_alive()
            raise self._process.startup_error(str(error).removeprefix("recognizer: ")) from None

    def fingerprint(self) -> dict[str, Any]:
        client = self._loaded()
        facts = client.facts
        return {
            "backend": "vllm",
            **self._process.fingerprint(facts.engine_version, facts.max_context),
            "device": "cpu" if self._process.on_cpu else "cuda",
            **client.request_fingerprint(),
        }

    def supports(self, language: str | None) -> bool:
        return True

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        return None

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        return self._loaded().recognize(batch)

    def close(self) -> None:
        """Take the server down with all that it started; returns when nothing of it is left."""
        client, self._client = self._client, None
        try:
            if client is not None:
                client.close()
        finally:
            self._process.stop()

    def _refuse_english_only(self) -> None:
        """Raise BackendError for a Whisper that was never trained with a language: vLLM gives it one.

        It would hear nothing, and no error would say so.
        """
        try:
            config = json.loads((Path(self._settings.model) / "config.json").read_bytes())
            english_only = (
                config["model_type"] == "whisper" and config["vocab_size"] == _ENGLISH_ONLY_VOCABULARY
            )
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return
        if english_only:
            raise BackendError(
                f"recognizer.model: {self._settings.model} is an English-only Whisper, which hears nothing "
                "on vLLM: it starts every transcript with a language. Choose a multilingual one, or kind: "
                "ctranslate2 or transformers"
            )

    def _connect(self) -> None:
        settings = self._settings
        self._client = TranscriptionServer(
            TranscriptionServerSettings(
                base_url="http://localhost/v1",
                model=settings.served_name,
                concurrency=settings.concurrency,
                timeout_seconds=settings.timeout_seconds,
                max_attempts=settings.max_attempts,
                retries_per_run=settings.retries_per_run,
                max_words=settings.max_words,
                batch_size=settings.batch_size,
            ),
            socket=self._process.socket,
            check_alive=self._process.check_alive,
        )
        try:
            self._client.load()
        except BackendError as error:
            raise self._process.startup_error(str(error).removeprefix("recognizer: ")) from None

    def _loaded(self) -> TranscriptionServer:
        if self._client is None:
            raise RuntimeError("load() comes first, and nothing after close()")
        return self._client
