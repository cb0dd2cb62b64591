"""From a run's config to what carries its batch plan out."""

from pathlib import Path

from misheard.execution import ExecutionConfig
from misheard.recognizers.registry import make_recognizer
from misheard.recognizers.settings import LocalRecognizerSettings
from misheard.run.executors.local import LocalExecutor
from misheard.run.executors.protocol import RecognitionExecutor
from misheard.run.executors.ray import RayExecutor

_SHARED_PART = 0.5
"""Of a GPU's free memory, for a recognizer's server while a language model's is to have the rest."""


def make_executor(
    settings: LocalRecognizerSettings,
    execution: ExecutionConfig,
    *,
    cpu: bool,
    logs: Path,
    spent_seconds: float = 0.0,
    memory_cap: int | None = None,
) -> RecognitionExecutor:
    """Return what the config asks for, not yet loaded.

    `logs` is the run's folder for log files. `spent_seconds` of a program's time budget were used, and
    `memory_cap` was found, before the run was resumed.
    """
    if execution.executor == "ray":
        return RayExecutor(settings, execution.ray, cpu=cpu, logs=logs, memory_cap=memory_cap)
    recognizer = make_recognizer(
        settings,
        cpu=cpu,
        logs=logs,
        spent_seconds=spent_seconds,
        audit=execution.mode == "audit",
        memory_part=_SHARED_PART if execution.schedule == "overlap" else 1.0,
    )
    return LocalExecutor(recognizer, execution.read_ahead, memory_cap)
