"""What a config needs of a machine, read off its settings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.config import RunConfig
from misheard.errors import InputError
from misheard.recognizers.settings import FakeRecognizerSettings, ImportedRecognizerSettings
from misheard.run.prompts import load_prompts
from misheard.run.resolve import local_recognizer, resolve_config

_ON_DEVICE = frozenset({"ctranslate2", "transformers", "embedded", "vllm"})
"""Kinds that compute on this machine, on a device where they may."""

_DEAF = FakeRecognizerSettings()


@dataclass(frozen=True, slots=True)
class Part:
    """A recognizer or a language model of a config.

    Attributes:
        section: where it stands in the config, such as `judge.language_model`.
        settings: as the config has them.
        folder: of its model on this machine; None for a hub id and for kinds without one.
        problem: why its model or its program is not found; empty where it is.
    """

    section: str
    settings: Any
    folder: Path | None
    problem: str = ""

    @property
    def kind(self) -> str:
        """The kind of backend."""
        return str(self.settings.kind)

    @property
    def hub_id(self) -> str | None:
        """The hub id of its model; None where the model is a folder, or there is none."""
        is_local = self.folder is not None or self.problem or self.kind not in _ON_DEVICE
        return None if is_local else str(self.settings.model)


@dataclass(frozen=True, slots=True)
class Need:
    """A config and how it would be run.

    Attributes:
        config: as it was written.
        base: the folder that its relative paths start from.
        cpu: whether it would run with `--cpu`.
        recognizer, language_models: its parts.
        problems: what is not found of the rest: prompts, planner, renderer.
    """

    config: RunConfig
    base: Path
    cpu: bool
    recognizer: Part
    language_models: tuple[Part, ...]
    problems: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The recognizer and the language models."""
        return (self.recognizer, *self.language_models)

    def kinds(self) -> set[str]:
        """Return the kinds of all parts."""
        return {part.kind for part in self.parts}

    def copies(self, part: Part) -> int:
        """Return how often a part is loaded on this machine: once per Ray worker that the run starts."""
        execution = self.config.execution
        spread = part is self.recognizer and execution.executor == "ray" and execution.ray.address is None
        return execution.ray.workers if spread else 1

    def may_use_cuda(self, part: Part) -> bool:
        """Return whether a part takes a CUDA device where there is one."""
        return not self.cpu and part.kind in _ON_DEVICE and getattr(part.settings, "device", "auto") != "cpu"

    def must_use_cuda(self, part: Part) -> bool:
        """Return whether a part cannot do without a CUDA device."""
        return self.may_use_cuda(part) and getattr(part.settings, "device", "auto") == "cuda"


def read_need(config: RunConfig, base: Path, cpu: bool) -> Need:
    """Return what a config needs; every model, program and file is looked for as the run looks for it."""
    none = {"language_model": None, "correct": None, "plan": None, "render": None, "judge": None}
    alone = config.model_copy(update=none)
    models = []
    for section, settings in _language_models(config):
        without_ears = alone.model_copy(update={"language_model": settings, "recognizer": _DEAF})
        resolved, problem = _resolved(without_ears, base)
        problem = problem.replace("language_model", section, 1)
        models.append(_part(section, settings, resolved and resolved.language_model, problem))
    resolved, problem = _resolved(alone, base)
    if isinstance(config.recognizer, ImportedRecognizerSettings):
        problem = _problem_of(lambda: local_recognizer(config.recognizer))
    recognizer = _part("recognizer", config.recognizer, resolved and resolved.recognizer, problem)
    others = config.model_copy(update={"recognizer": _DEAF, "language_model": None})
    if others.judge is not None:
        others = others.model_copy(update={"judge": others.judge.model_copy(update={"language_model": None})})
    found, problem = _resolved(others, base)
    if found is not None:
        problem = _problem_of(lambda: load_prompts(found))
    return Need(config, base, cpu, recognizer, tuple(models), (problem,) if problem else ())


def _language_models(config: RunConfig) -> Iterator[tuple[str, Any]]:
    if config.language_model is not None:
        yield "language_model", config.language_model
    if config.judge is not None and config.judge.language_model is not None:
        yield "judge.language_model", config.judge.language_model


def _resolved(config: RunConfig, base: Path) -> tuple[RunConfig | None, str]:
    try:
        return resolve_config(config, base), ""
    except InputError as error:
        return None, str(error)


def _problem_of(action: Callable[[], object]) -> str:
    try:
        action()
    except InputError as error:
        return str(error)
    return ""


def _part(section: str, settings: Any, resolved: Any, problem: str) -> Part:
    folder = None
    if resolved is not None and settings.kind in _ON_DEVICE and Path(resolved.model).is_dir():
        folder = Path(resolved.model)
    return Part(section, settings, folder, problem)
