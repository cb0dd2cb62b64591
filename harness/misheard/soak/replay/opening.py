"""From a config to its parts, checked, loaded and started: what takes part in a session."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from misheard.config import RunConfig
from misheard.errors import InputError
from misheard.language_models.protocol import LanguageModel, Sampling
from misheard.language_models.registry import make_language_model
from misheard.language_models.vllm_server import VllmModel
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.plugins.protocol import Plugin
from misheard.recognizers.protocol import Recognizer
from misheard.recognizers.registry import make_recognizer
from misheard.recognizers.settings import CommandSettings
from misheard.recognizers.vllm import VllmRecognizer
from misheard.run.progress import Progress
from misheard.run.resolve import local_recognizer
from misheard.soak.replay.server import LastingModel, LastingRecognizer

_SHARED_PART = 0.5
"""Of a GPU's free memory, for a recognizer's server while a language model's is to have the rest."""
_WARM_UP_TOKENS = 8


@dataclass(frozen=True, slots=True)
class Parts:
    """What takes part: loaded and started, or, before that, checked. None where the system has none."""

    recognizer: Recognizer
    model: LanguageModel | None
    planner: Plugin | None
    renderer: Plugin | None


def check_system(config: RunConfig) -> None:
    """Check that a system can be live. Raises InputError."""
    if isinstance(config.recognizer, CommandSettings):
        raise InputError(
            "recognizer.kind: command reads recordings from files, and a live session has none; "
            "take ctranslate2, transformers, openai_api or vllm"
        )
    if config.correct is not None and config.correct.n_best:
        raise InputError("correct.n_best: is not used in a live session; set it to false")


def checked_parts(
    config: RunConfig, *, base: Path, logs: Path, cpu: bool, restarted: Callable[[float], None]
) -> Parts:
    """Return the parts of a config, checked and not started; plug-ins are found from `base`.

    `restarted` is told how many seconds it took to start a server of the session again. Raises InputError and
    BackendError.
    """
    restarts = config.soak.restarts
    recognizer = make_recognizer(
        local_recognizer(config.recognizer),
        cpu=cpu,
        logs=logs,
        memory_part=1.0 if config.language_model is None else _SHARED_PART,
    )
    if isinstance(recognizer, VllmRecognizer):
        recognizer = LastingRecognizer(recognizer, restarts=restarts, on_restart=restarted)
    model = planner = renderer = None
    if config.language_model is not None:
        model = make_language_model(config.language_model, logs=logs, cpu=cpu)
        with contextlib.closing(model):
            model.check()
        if isinstance(model, VllmModel):
            model = LastingModel(model, restarts=restarts, on_restart=restarted)
    plan = config.plan
    if plan is not None:
        from misheard.renderers.registry import make_renderer

        renderer = make_renderer(config.render, base)
        renderer.check()
    if plan is not None and not isinstance(plan, LanguageModelPlannerSettings):
        from misheard.planners.registry import make_planner

        planner = make_planner(plan, base)
        planner.check()
    return Parts(recognizer, model, planner, renderer)


@contextlib.contextmanager
def started(parts: Parts, progress: Progress) -> Iterator[None]:
    """Load and start the parts, and close them afterwards. Raises BackendError."""
    with contextlib.ExitStack() as stack:
        stack.callback(parts.recognizer.close)
        progress.begin("loading the recognizer", None)
        parts.recognizer.load()
        parts.recognizer.warm_up()
        if parts.model is not None:
            stack.callback(parts.model.close)
            progress.begin("starting the language model", None)
            parts.model.start()
            parts.model.warm_up(Sampling(max_tokens=_WARM_UP_TOKENS))
        for name, plugin in (("planner", parts.planner), ("renderer", parts.renderer)):
            if plugin is not None:
                stack.callback(plugin.close)
                progress.begin(f"starting the {name}", None)
                plugin.start()
        yield
