"""A language model on a vLLM server that the run starts, owns and takes down."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from misheard.errors import BackendError
from misheard.language_models.model_content import check_model
from misheard.language_models.openai_api import OpenAiModel
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.language_models.settings import ApiSettings, VllmSettings
from misheard.language_models.vllm_command import chat_options
from misheard.language_models.vllm_process import VllmProcess

LOG_NAME = "vllm.log"


class VllmModel:
    """A language model served by a vLLM process that lives exactly as long as this object is started.

    The server's output goes to `logs/vllm.log`; requests are not logged. `audit` asks for what makes it
    repeat itself.
    """

    batch_size: int | None = None

    def __init__(self, settings: VllmSettings, *, logs: Path, cpu: bool = False, audit: bool = False) -> None:
        self._settings = settings
        self._process = VllmProcess(
            settings,
            section="language_model",
            log=logs / LOG_NAME,
            options=chat_options(settings),
            cpu=cpu,
            audit=audit,
        )
        self._client: OpenAiModel | None = None

    @property
    def server_pid(self) -> int | None:
        """Process id of the server while it is started, for telemetry."""
        return self._process.server_pid

    @property
    def memory_note(self) -> str | None:
        """How much of the GPU's memory the server may take and why, after `start`; None on a CPU."""
        return self._process.memory_note

    def check(self) -> None:
        """Check that the model is pinned, or a folder of one that can chat, and that vLLM is installed."""
        has_own_template = any(name.startswith("--chat-template") for name in self._settings.options)
        check_model(self._settings.model, self._settings.revision, has_own_template)
        self._process.check()

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises BackendError, with the server's last log lines, where vLLM is missing, the server ends or
        hangs while starting, or the model cannot chat; nothing is left running then.
        """
        if self._client is not None:
            return
        try:
            self._process.start()
            self._connect()
        except BaseException:
            self.close()
            raise

    def warm_up(self, sampling: Sampling) -> None:
        self._started().warm_up(sampling)

    def fingerprint(self) -> dict[str, Any]:
        client = self._started()
        return {
            "kind": "vllm",
            **self._process.fingerprint(client.engine_version, client.max_context),
            "chat_template_sha256": self._process.chat_template_sha256,
        }

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        return self._started().complete(requests, sampling)

    def close(self) -> None:
        """Take the server down with all that it started; returns when nothing of it is left."""
        client, self._client = self._client, None
        try:
            if client is not None:
                client.close()
        finally:
            self._process.stop()

    def _connect(self) -> None:
        settings = self._settings
        self._client = OpenAiModel(
            ApiSettings(
                base_url="http://localhost/v1",
                model=settings.served_name,
                concurrency=settings.concurrency,
                timeout_seconds=settings.timeout_seconds,
                max_attempts=settings.max_attempts,
            ),
            socket=self._process.socket,
            check_alive=self._process.check_alive,
        )
        try:
            self._client.connect()
            self._client.verify(self._process.seconds_left)
        except BackendError as error:
            raise self._process.startup_error(str(error).removeprefix("language_model: ")) from None

    def _started(self) -> OpenAiModel:
        if self._client is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        return self._client
