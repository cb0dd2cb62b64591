"""Any program as a recognizer: a fresh process per clip, no shell, bounded in time and output."""

import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from misheard.canonical import sha256_file, sha256_json
from misheard.errors import BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.processes.commands import (
    VERSION_SECONDS,
    describe_command,
    status_in_words,
    version_sha256,
)
from misheard.processes.programs import Ended, ProgramRunner, RunnerLostError
from misheard.processes.variables import environment
from misheard.recognizers.command_output import MAX_OUTPUT_BYTES, ClipOutput, parse_row, parse_text
from misheard.recognizers.command_template import fill
from misheard.recognizers.protocol import (
    WINDOW_SECONDS,
    AudioWindow,
    Features,
    RecognizedBatch,
    WindowFailed,
    WindowTranscript,
)
from misheard.recognizers.repetition import compression_ratio
from misheard.recognizers.settings import CommandSettings
from misheard.recognizers.wav import write_wav

_MOST_MODEL_FILES = 10_000


class CommandRecognizer:
    """A program that gets one recording and prints its transcript.

    `spent_seconds` of the budget were used before, by the process that this run resumes.
    """

    whole_clips = True

    def __init__(self, settings: CommandSettings, *, cpu: bool, spent_seconds: float = 0.0) -> None:
        self._settings = settings
        self._cpu = cpu or settings.device == "cpu"
        self._spent = spent_seconds
        self._runner: ProgramRunner | None = None
        self._fingerprint: dict[str, Any] | None = None

    def load(self) -> None:
        program = Path(self._settings.command[0])
        if not program.is_file() or not os.access(program, os.X_OK):
            raise BackendError(
                f"recognizer.command: {program} is no file that can be run; check its name, or chmod +x it"
            )
        self._env = environment(self._settings.inherit_env, self._settings.env, os.environ)
        self._runner = ProgramRunner()
        self._fingerprint = self._describe()

    def warm_up(self) -> None:
        """Nothing to warm up: every clip is a fresh process."""

    def fingerprint(self) -> dict[str, Any]:
        if self._fingerprint is None:
            raise RuntimeError("load() comes before fingerprint()")
        return self._fingerprint

    def supports(self, language: str | None) -> bool:
        return True

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        return None

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        before = self._spent
        windows = tuple(map(self._clip, batch))
        inference = [w.inference_seconds for w in windows if isinstance(w, WindowTranscript)]
        known = [seconds for seconds in inference if seconds is not None]
        return RecognizedBatch(
            windows, 0.0, sum(known) if len(known) == len(windows) else None, self._spent - before
        )

    def close(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()

    def _clip(self, window: AudioWindow) -> WindowTranscript | WindowFailed:
        left = self._settings.budget_seconds - self._spent
        if left <= 0:
            return self._exhausted(0.0)
        limit = min(self._settings.timeout_seconds, left)
        arguments = [fill(argument, self._values(window)) for argument in self._arguments()]
        ended = self._run(arguments, limit)
        self._spent += ended.seconds
        try:
            output = self._output(ended)
        except ItemFailedError as error:
            if error.kind is FailureKind.TIMEOUT and limit < self._settings.timeout_seconds:
                return self._exhausted(ended.seconds)
            return WindowFailed(error.kind, error.detail, ended.seconds, _last_words(ended))
        return self._transcript(output, window, ended.seconds)

    def _exhausted(self, seconds: float) -> WindowFailed:
        detail = f"the run's budget of {self._settings.budget_seconds:g} s for programs is used up"
        return WindowFailed(FailureKind.BUDGET_EXHAUSTED, detail, seconds)

    def _run(self, arguments: Sequence[str], seconds: float) -> Ended:
        if self._runner is None:
            raise RuntimeError("load() comes first, and nothing after close()")
        # The scratch folder goes away with everything in it, so what programs leave in TMPDIR does too.
        env = {**self._env, "TMPDIR": str(self._runner.folder)}
        try:
            return self._runner.run(arguments, env, timeout=seconds, stdout_limit=MAX_OUTPUT_BYTES)
        except RunnerLostError as error:
            raise BackendError(f"recognizer.command: {error}; go on with --resume") from error

    def _output(self, ended: Ended) -> ClipOutput:
        """Return what a program printed. Raises ItemFailedError, whose detail holds no text of it."""
        if ended.how == "not_started":
            raise ItemFailedError(FailureKind.ASR_ERROR, f"the program cannot be started: {ended.reason}")
        if ended.how == "timeout":
            raise ItemFailedError(FailureKind.TIMEOUT, f"the program was ended after {ended.seconds:.0f} s")
        if ended.how == "too_much_output":
            detail = f"the program printed more than {MAX_OUTPUT_BYTES} bytes"
            raise ItemFailedError(FailureKind.INVALID_OUTPUT, detail)
        if ended.status:
            raise ItemFailedError(
                FailureKind.ASR_ERROR, f"the program ended with {status_in_words(ended.status)}"
            )
        parse = parse_row if self._settings.output == "json" else parse_text
        return parse(ended.stdout, self._settings.max_words)

    def _transcript(self, output: ClipOutput, window: AudioWindow, seconds: float) -> WindowTranscript:
        # Longer texts compress well without a loop.
        short = window.seconds <= WINDOW_SECONDS
        return WindowTranscript(
            text=output.text,
            language=window.language,
            compression_ratio=compression_ratio(output.text) if short else None,
            audio_seconds=_seconds(output.audio_ms),
            load_seconds=_seconds(output.load_ms),
            inference_seconds=_seconds(output.transcribe_ms),
            wall_seconds=seconds,
            segments=output.segments,
        )

    def _arguments(self) -> tuple[str, ...]:
        return (*self._settings.command, *(self._settings.cpu_arguments if self._cpu else ()))

    def _values(self, window: AudioWindow) -> Mapping[str, str]:
        return {
            "wav": str(self._clip_file(window)),
            "model": self._settings.model or "",
            "language": window.language or self._settings.unknown_language,
            "device": self._device,
        }

    @property
    def _device(self) -> str:
        return "cpu" if self._cpu else self._settings.device

    def _clip_file(self, window: AudioWindow) -> Path:
        """Return the clip as a file: the suite's own, or a WAV file in the scratch folder."""
        if self._settings.audio == "original":
            if window.file is None:
                raise RuntimeError("the window names no file")
            return Path(os.path.abspath(window.file))  # noqa: PTH100 - links stay as the suite has them
        if self._runner is None:
            raise RuntimeError("load() comes first, and nothing after close()")
        path = self._runner.folder / "clip.wav"
        with path.open("wb") as file:
            write_wav(file, window.samples)
        return path

    def _describe(self) -> dict[str, Any]:
        """Return what decides the output, without paths: they differ between machines."""
        settings = self._settings
        model = None if settings.model is None else Path(settings.model)
        return {
            "backend": "command",
            **describe_command(self._arguments()),
            "version": self._version(),
            "model": None if model is None else model.name,
            "model_sha256": content_sha256(model) if model is not None and model.is_absolute() else None,
            "device": self._device,
            "audio": settings.audio,
            "output": settings.output,
            "unknown_language": settings.unknown_language,
            "max_words": settings.max_words,
            "env_sha256": sha256_json(settings.env),
        }

    def _version(self) -> str | None:
        """Return the sha256 of what `version_command` prints. Raises BackendError where it fails."""
        if not self._settings.version_command:
            return None
        ended = self._run(self._settings.version_command, VERSION_SECONDS)
        return version_sha256(ended, "recognizer.version_command")


def content_sha256(model: Path) -> str:
    """Return the sha256 of a model's file, or of the names and contents of all files of its folder."""
    if model.is_file():
        return sha256_file(model)
    found = (path for path in model.rglob("*") if path.is_file())
    files = sorted(itertools.islice(found, _MOST_MODEL_FILES + 1))
    if len(files) > _MOST_MODEL_FILES:
        raise BackendError(
            f"recognizer.model: {model} holds more than {_MOST_MODEL_FILES} files; is it the model's folder?"
        )
    return sha256_json({str(path.relative_to(model)): sha256_file(path) for path in files})


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000.0


def _last_words(ended: Ended) -> str | None:
    return ended.stderr.decode("utf-8", "replace") or None
