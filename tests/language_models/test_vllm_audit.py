"""What an audited server is told, and what is said of what is not available."""

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import serving

from misheard.language_models.gpu_memory import Gpu
from misheard.language_models.openai_api import OpenAiModel
from misheard.language_models.settings import ApiSettings, VllmSettings
from misheard.language_models.vllm_audit import audit_mode
from misheard.language_models.vllm_command import VllmBuild

HOPPER, AMPERE, TURING = ((9, 0), (8, 6), (7, 5))


def gpus(*capabilities: tuple[int, int] | None) -> tuple[Gpu, ...]:
    return tuple(Gpu(f"GPU {n}", 1, 1, capability) for n, capability in enumerate(capabilities))


@pytest.mark.parametrize(
    ("version", "devices", "reason"),
    [
        ((0, 32, 0), gpus(HOPPER), None),
        ((0, 32, 0), gpus(AMPERE), None),
        ((0, 20, 0), gpus(AMPERE), None),
        ((0, 19, 2), gpus(AMPERE), "GPU 0 has compute capability 8.6, this vLLM needs 9.0"),
        ((0, 19, 2), gpus(HOPPER), None),
        ((0, 11, 1), gpus(HOPPER), None),
        ((0, 11, 0), gpus(HOPPER), "vLLM has it since 0.11.1"),
        ((0, 32, 0), gpus(HOPPER, TURING), "GPU 1 has compute capability 7.5, this vLLM needs 8.0"),
        ((0, 32, 0), gpus(None), "the compute capability of GPU 0 is unknown"),
        ((0, 32, 0), "no driver", "no driver"),
        (None, gpus(HOPPER), "the version of vLLM is unknown"),
    ],
)
def test_batch_invariance_is_asked_for_where_it_is_there(
    version: tuple[int, ...] | None, devices: Any, reason: str | None
) -> None:
    build = VllmBuild(Path("/p"), cpu_only=False, version=version)
    mode = audit_mode(VllmSettings(model="m"), build, devices)
    assert mode.options == ("--no-enable-prefix-caching",) and mode.record["prefix_caching"] is False
    assert mode.env == {"VLLM_BATCH_INVARIANT": "0" if reason else "1"}
    assert mode.record["batch_invariance"] is (None if reason else True)
    assert mode.record.get("batch_invariance_reason") == reason
    assert mode.record["attention_backend"] is None and "log" in mode.record["attention_backend_reason"]


def test_there_is_no_batch_invariance_on_a_cpu() -> None:
    build = VllmBuild(Path("/p"), cpu_only=True, version=(0, 32))
    mode = audit_mode(VllmSettings(model="m"), build, "on the CPU")
    assert mode.record["batch_invariance_reason"] == "CPU build" and mode.record["batch_invariance"] is None
    assert mode.env == {"VLLM_BATCH_INVARIANT": "0"}


@pytest.mark.parametrize(
    ("settings", "options", "env", "record"),
    [
        ({"extra_args": ["--enable-prefix-caching"]}, (), "1", {"prefix_caching": True}),
        ({"extra_args": ["--no_enable_prefix_caching"]}, (), "1", {"prefix_caching": False}),
        (
            {"env": {"VLLM_BATCH_INVARIANT": "0"}},
            ("--no-enable-prefix-caching",),
            None,
            {"batch_invariance": False},
        ),
    ],
)
def test_what_the_user_says_is_left_alone_and_recorded(
    settings: dict[str, Any], options: tuple[str, ...], env: str | None, record: dict[str, Any]
) -> None:
    build = VllmBuild(Path("/p"), cpu_only=False, version=(0, 32))
    mode = audit_mode(VllmSettings(model="m", **settings), build, gpus(HOPPER))
    assert mode.options == options
    assert mode.env.get("VLLM_BATCH_INVARIANT") == env
    assert record.items() <= mode.record.items()


@pytest.mark.parametrize("audit", [True, False])
def test_of_a_server_that_is_attached_nothing_is_known(audit: bool) -> None:
    with serving() as server:
        model = OpenAiModel(ApiSettings(base_url=server.url, model="m"), audit=audit)
        model.start()
        shown = model.fingerprint()
        model.close()
    assert ("audit" in shown) is audit
    if audit:
        assert shown["audit"]["batch_invariance"] is None is shown["audit"]["prefix_caching"]
        assert "cannot be verified" in json.dumps(shown["audit"])
