"""What a run measures beside its work: telemetry per stage, and how much was worked on in this process."""

import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from misheard.config import RunConfig
from misheard.language_models.protocol import Completion
from misheard.telemetry.facade import Telemetry, TelemetryOptions
from misheard.telemetry.price import Price
from misheard.telemetry.result import TelemetryResult, Work


class Measured:
    """Telemetry of one process of a run; threads may use it at the same time.

    Nothing is sampled before `start`.
    """

    def __init__(self, config: RunConfig, *, cpu: bool) -> None:
        self._settings = config.telemetry
        self._serial = config.execution.schedule == "serial"
        self._telemetry = Telemetry(
            TelemetryOptions(
                enabled=self._settings.enabled,
                interval_seconds=self._settings.interval_seconds,
                uses_devices=not cpu,
                is_overlap=not self._serial,
                price=Price(**config.price.model_dump()),
            )
        )
        self._lock = threading.Lock()
        self._audio_seconds = 0.0
        self._answers: dict[str, int] = {}
        self._tokens: dict[str, int] = {}

    def start(self) -> None:
        """Begin to sample, and measure the idle machine where its power can be told at all."""
        self._telemetry.start()
        if self._serial and self._telemetry.measures_power:
            self._telemetry.measure_idle(self._settings.idle_seconds)

    def stage(self, name: str, arm: str | None = None) -> AbstractContextManager[None]:
        """Note what is inside as a stage, in an arm where it belongs to one."""
        return self._telemetry.stage(name, arm)

    def heard(self, seconds: float) -> None:
        """Count recognized audio."""
        with self._lock:
            self._audio_seconds += seconds

    def asked(self, stage: str, arm: str, completions: Iterable[Completion]) -> None:
        """Count what a stage's model was asked in an arm, and its tokens."""
        with self._lock:
            for one in completions:
                name = f"{stage}:{arm}"
                self._answers[name] = self._answers.get(name, 0) + 1
                for kind, count in (("prompt", one.prompt_tokens), ("completion", one.completion_tokens)):
                    if count is not None:
                        self._tokens[kind] = self._tokens.get(kind, 0) + count

    def close(self) -> None:
        """End sampling, where the run ended before its time; what was sampled is lost."""
        self._telemetry.stop()

    def stop(self) -> TelemetryResult:
        """End sampling and return what was found."""
        work: dict[str, Any] = {f"{kind}_tokens": count for kind, count in self._tokens.items()}
        return self._telemetry.stop(Work(self._audio_seconds, dict(self._answers), **work))
