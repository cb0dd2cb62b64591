"""What makes a vLLM server repeat itself, as far as the installed version and the device have it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from misheard.language_models.gpu_memory import Gpu
from misheard.language_models.settings import VllmServerSettings
from misheard.language_models.vllm_command import VllmBuild

PREFIX_CACHING = "--enable-prefix-caching"
BATCH_INVARIANT = "VLLM_BATCH_INVARIANT"

_CAPABILITIES = (((0, 20), (8, 0)), ((0, 11, 1), (9, 0)))
"""Since which version of vLLM batch invariance is there for which compute capability: its documentation, page
features/batch_invariance, of these versions and of 0.32."""


@dataclass(frozen=True, slots=True)
class AuditMode:
    """Options and environment variables of the server, and what a fingerprint says of them."""

    options: tuple[str, ...]
    env: dict[str, str]
    record: dict[str, Any]


def audit_mode(settings: VllmServerSettings, build: VllmBuild, gpus: Sequence[Gpu] | str) -> AuditMode:
    """Return what an audited server is told. What the user's own settings say about it is left alone.

    `gpus` are the server's devices, or why they are unknown. The record has null, with a reason, for what is
    not available.
    """
    options: tuple[str, ...] = ()
    record: dict[str, Any] = {"prefix_caching": False}
    if settings.has_option(PREFIX_CACHING):
        record["prefix_caching"] = PREFIX_CACHING in settings.options
    else:
        options = (PREFIX_CACHING.replace("--", "--no-", 1),)
    env: dict[str, str] = {}
    if BATCH_INVARIANT in settings.env:
        record["batch_invariance"] = settings.env[BATCH_INVARIANT] == "1"
    elif reason := _unavailable(build, gpus):
        record |= {"batch_invariance": None, "batch_invariance_reason": reason}
        env[BATCH_INVARIANT] = "0"
    else:
        record["batch_invariance"] = True
        env[BATCH_INVARIANT] = "1"
    record |= {
        "attention_backend": None,
        "attention_backend_reason": "vLLM chooses it and names it in its log",
    }
    return AuditMode(options, env, record)


def _unavailable(build: VllmBuild, gpus: Sequence[Gpu] | str) -> str | None:
    if build.cpu_only:
        return "CPU build"
    if build.version is None:
        return "the version of vLLM is unknown"
    needed = next((least for since, least in _CAPABILITIES if build.version >= since), None)
    if needed is None:
        return "vLLM has it since 0.11.1"
    if isinstance(gpus, str):
        return gpus
    for gpu in gpus:
        if gpu.capability is None:
            return f"the compute capability of {gpu.name} is unknown"
        if gpu.capability < needed:
            have, least = (".".join(map(str, version)) for version in (gpu.capability, needed))
            return f"{gpu.name} has compute capability {have}, this vLLM needs {least}"
    return None
