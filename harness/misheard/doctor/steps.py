"""Which checks are made: all of them, or those that a config gives reason for."""

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from misheard.doctor.checks import Check, Group
from misheard.doctor.child import Child, Outcome
from misheard.doctor.devices import Devices
from misheard.doctor.gpu import check_ctranslate2_cuda, check_driver, check_numba_cuda, check_torch_cuda
from misheard.doctor.machine import check_files, check_folders, check_memory, check_shared_memory
from misheard.doctor.models import check_hub, check_models, named_models
from misheard.doctor.need import Need, Part
from misheard.doctor.software import (
    check_kernels,
    check_packages,
    check_part,
    check_python,
    check_sounds,
    check_vllm,
)
from misheard.language_models.settings import ServerSettings, VllmSettings
from misheard.language_models.vllm_command import VllmBuild, server_env

_CHILD_SECONDS = 120.0
_VLLM_SECONDS = 300.0
_SLOW_PROBE = Path(__file__).parent / "probes" / "vllm_start.py"

_TORCH_KINDS = frozenset({"transformers", "embedded"})
_ASKED_KINDS = frozenset({"openai_api", "vllm"})


@dataclass(frozen=True, slots=True)
class Step:
    """Something that is looked at, in a child or here.

    Attributes:
        title: what is said meanwhile.
        groups: the groups that its checks may belong to.
        read: makes the checks; of the child's outcome where there is a child.
        child: None where nothing can hang or abort.
    """

    title: str
    groups: tuple[Group, ...]
    read: Callable[..., list[Check]]
    child: Child | None = None

    def checks(self, outcome: Outcome | None) -> list[Check]:
        """Return what was found."""
        return self.read() if outcome is None else self.read(outcome)


def probe(name: str, *arguments: str, stdin: str = "") -> Child:
    """Return the child that runs a probe of this package in this interpreter."""
    command = (sys.executable, "-P", "-m", f"misheard.doctor.probes.{name}", *arguments)
    return Child(command, _CHILD_SECONDS, stdin=stdin)


def asks_for_devices(need: Need | None) -> bool:
    """Return whether the driver is asked: always without a config, else where a part may use CUDA."""
    return need is None or any(need.may_use_cuda(part) for part in need.parts)


def all_steps(need: Need | None, devices: Devices | None, runs: Path) -> list[Step]:
    """Return the steps, the slowest first: two children run at a time.

    `devices` are None where the driver was not asked; `runs` is the folder of new runs.
    """
    return [
        *_vllm(need),
        *_libraries(need, devices or Devices()),
        *_parts(need),
        *_cuda(need, devices),
        Step("python", (Group.PYTHON,), check_python),
        Step("kernels", (Group.PYTHON,), check_kernels, probe("kernels")),
        _sounds("soundfile", need is not None),
        _sounds("av", False),  # for compressed recordings alone
        *_here(need, devices or Devices(), runs),
    ]


def _sounds(package: str, needed: bool) -> Step:
    read = partial(check_sounds, package=package, needed=needed)
    return Step(package, (Group.AUDIO,), read, probe("sounds", package))


def _here(need: Need | None, devices: Devices, runs: Path) -> Iterator[Step]:
    """Yield what needs no child."""
    if need is None:
        yield Step("models", (Group.MODELS,), named_models)
    else:
        yield Step("models", (Group.MODELS,), partial(check_models, need))
    uses_hub = need is None or any(part.hub_id is not None for part in need.parts)
    if uses_hub:
        yield Step("model hub", (Group.MODELS,), check_hub)
    groups = (Group.GPU, Group.MACHINE) if devices.visible else (Group.MACHINE,)
    yield Step("memory", groups, partial(check_memory, need, devices.visible))
    yield Step("folders", (Group.MACHINE,), lambda: list(check_folders(runs, uses_hub)))
    yield Step("open files", (Group.MACHINE,), partial(check_files, need))
    yield Step("shared memory", (Group.MACHINE,), partial(check_shared_memory, need))


def _libraries(need: Need | None, devices: Devices) -> Iterator[Step]:
    """Yield a step per family of libraries: those of one family are imported together."""
    kinds = need.kinds() if need is not None else set()
    asked = need is None
    uses_torch = bool(kinds & {*_TORCH_KINDS, "ctranslate2"})
    if asked or kinds & _TORCH_KINDS:
        yield _packages(Group.LANGUAGE_MODEL, ("transformers", "jinja2", *_constrained(need)), not asked)
    if asked or uses_torch:
        wants = need is None or any(need.may_use_cuda(p) for p in need.parts if p.kind in _TORCH_KINDS)
        must = need is not None and any(need.must_use_cuda(p) for p in need.parts if p.kind in _TORCH_KINDS)
        yield Step(
            "torch",
            (Group.RECOGNITION, *((Group.GPU,) if wants else ())),
            partial(_torch, devices=devices if wants else Devices(), needed=must, asked=asked),
            probe("torch_cuda"),
        )
    if asked or "ctranslate2" in kinds:
        yield _packages(Group.RECOGNITION, ("ctranslate2", "tokenizers"), not asked)
    if asked or kinds & _ASKED_KINDS:
        yield _packages(Group.LANGUAGE_MODEL, ("openai", "httpx"), not asked)
    if need is None or _draws(need):
        yield _packages(Group.BOARDS, ("networkx", "drawsvg"), not asked)
    if need is None or need.config.execution.executor == "ray":
        yield _packages(Group.RECOGNITION, ("ray",), not asked)


def _torch(outcome: Outcome, *, devices: Devices, needed: bool, asked: bool) -> list[Check]:
    packages = check_packages(outcome, Group.RECOGNITION, ("torch", "torchaudio"), not asked)
    return [*packages, *check_torch_cuda(outcome, devices, needed, asked)]


def _constrained(need: Need | None) -> tuple[str, ...]:
    """Return what holds an embedded model to a schema, where plans or judgements are asked for."""
    if need is None:
        return ("llguidance",)
    plans = need.config.plan is not None and need.config.plan.kind == "language_model"
    embedded = any(part.kind == "embedded" for part in need.language_models)
    return ("llguidance",) if embedded and (plans or need.config.judge is not None) else ()


def _draws(need: Need) -> bool:
    render = need.config.render
    return need.config.plan is not None and (render is None or render.kind == "board")


def _packages(group: Group, packages: tuple[str, ...], needed: bool) -> Step:
    read = partial(check_packages, group=group, packages=packages, needed=needed)
    pairs = [f"{package}={package}" for package in packages]
    return Step(packages[0], (group,), read, probe("libraries", *pairs))


def _cuda(need: Need | None, devices: Devices | None) -> Iterator[Step]:
    """Yield the driver's lines, and the libraries that compute on a device beside torch."""
    if devices is None:
        return
    must = need is not None and any(map(need.must_use_cuda, need.parts))
    yield Step("GPU", (Group.GPU,), partial(check_driver, devices, must))
    hears = need is None or (need.recognizer.kind == "ctranslate2" and need.may_use_cuda(need.recognizer))
    needed = need is not None and need.must_use_cuda(need.recognizer)
    if hears and (devices.visible or needed) and importlib.util.find_spec("ctranslate2"):
        command = (sys.executable, "-P", "-m", "misheard.recognizers.ctranslate2")
        read = partial(check_ctranslate2_cuda, needed=needed)
        yield Step("CUDA of ctranslate2", (Group.GPU,), read, Child(command, _CHILD_SECONDS))
    if need is None and importlib.util.find_spec("numba_cuda"):
        read = partial(check_numba_cuda, devices=devices)
        yield Step("numba-cuda", (Group.GPU,), read, probe("numba_cuda"))


def _vllm(need: Need | None) -> Iterator[Step]:
    """Yield a step per interpreter of a vLLM server."""
    if need is None:
        python = Path(os.environ.get("MISHEARD_VLLM_PYTHON") or sys.executable)
        settings = VllmSettings(model="any", python=python)
        yield _vllm_step("language_model", settings, cpu=False, needed=False)
        return
    seen = set()
    for part in need.parts:
        own = (part.settings.python, part is need.recognizer) if part.kind == "vllm" else None
        if own is not None and own not in seen:
            seen.add(own)
            yield _vllm_step(part.section, part.settings, cpu=need.cpu, needed=True)


def _vllm_step(section: str, settings: VllmSettings, *, cpu: bool, needed: bool) -> Step:
    python = settings.python or Path(sys.executable)
    env = server_env(settings, VllmBuild(python, cpu_only=False), cpu=cpu)
    speech = ("speech",) if section == "recognizer" else ()
    child = Child((str(python), str(_SLOW_PROBE), *speech), _VLLM_SECONDS, env)
    read = partial(check_vllm, python=python, section=section, needed=needed)
    return Step("vLLM (20 s or more)", (Group.LANGUAGE_MODEL,), read, child)


def _parts(need: Need | None) -> Iterator[Step]:
    """Yield a step per server that must be running, and per part that is the user's own code."""
    if need is None:
        return
    for part in need.parts:
        if isinstance(part.settings, ServerSettings):
            for url in (part.settings.base_url, *getattr(part.settings, "further_urls", ())):
                yield _server(need, part, url)
    scoring = need.config.scoring
    if ":" in scoring.response_scorer:
        read = partial(
            check_part,
            group=Group.PYTHON,
            name="response scorer",
            found=f"{scoring.response_scorer} is there",
        )
        child = probe("part", "scoring", str(need.base), stdin=scoring.model_dump_json())
        yield Step("response scorer", (Group.PYTHON,), read, child)
    plan, render = need.config.plan, need.config.render
    sections: Sequence[tuple[str, Any, tuple[str, ...]]] = (
        ("plan", plan, ("language_model",)),
        ("render", render, ("board",)),
    )
    for section, settings, own in sections:
        if settings is not None and settings.kind not in own and not need.problems:
            read = partial(
                check_part, group=Group.BOARDS, name=section, found=f"{settings.kind}: can be asked"
            )
            child = probe("part", section, str(need.base), stdin=settings.model_dump_json())
            yield Step(section, (Group.BOARDS,), read, child)


def _server(need: Need, part: Part, url: str) -> Step:
    group = Group.RECOGNITION if part.section == "recognizer" else Group.LANGUAGE_MODEL
    asked = part.settings.model_copy(update={"base_url": url})
    stdin = asked.model_dump_json(include=set(ServerSettings.model_fields))
    read = partial(check_part, group=group, name=part.section, found=f"{url} serves {part.settings.model}")
    return Step(part.section, (group,), read, probe("part", part.section, str(need.base), stdin=stdin))
