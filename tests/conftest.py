"""Shared fixtures: where models and tools are, and what is missing when they are not."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The folder of model weights that `scripts/fetch_models` fills."""
    value = os.environ.get("MISHEARD_MODELS")
    if not value or not Path(value).is_dir():
        pytest.skip("MISHEARD_MODELS names no folder; run scripts/test, or scripts/fetch_models and set it")
    return Path(value)


@pytest.fixture(scope="session")
def vllm_python() -> Path:
    """The interpreter of an environment with vLLM."""
    value = os.environ.get("MISHEARD_VLLM_PYTHON")
    if not value or not Path(value).is_file():
        pytest.skip("MISHEARD_VLLM_PYTHON names no interpreter; run scripts/test, which makes one")
    return Path(value)


@pytest.fixture(scope="session")
def real_speech() -> Path:
    """The suite of real recordings that `scripts/fetch_real_speech` lays out."""
    value = os.environ.get("MISHEARD_REAL_SPEECH")
    if not value or not Path(value).is_dir():
        pytest.skip("MISHEARD_REAL_SPEECH names no suite; run scripts/test, or scripts/fetch_real_speech")
    return Path(value)
