"""Shared fixtures: where models and tools are, and what is missing when they are not."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from command_line import end_warm_processes


def pytest_configure() -> None:
    """Listen to Ctrl-C, which a shell that starts the tests in the background lets them ignore.

    Models that are loaded here set OMP_WAIT_POLICY; it is set before, as the command does, so that it is the
    same from the first test to the last.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def pytest_unconfigure() -> None:
    end_warm_processes()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files with slow tests first: files are spread over processes, and none should end with one."""
    weights: dict[Path, int] = {}
    for item in items:
        slow = any(item.get_closest_marker(name) for name in ("models", "vllm", "slow"))
        weights[item.path] = weights.get(item.path, 0) + slow
    items.sort(key=lambda item: -weights[item.path])


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


@pytest.fixture
def make_suite(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a suite of `speech` questions and `silent` clips into a folder."""
    soundfile = pytest.importorskip("soundfile", reason="needs the extra run")

    def make(speech: int = 6, silent: int = 1, name: str = "suite", seconds: float = 1.0) -> Path:
        root = tmp_path / name
        (root / "audio").mkdir(parents=True)
        rng = np.random.default_rng(7)
        rows: list[dict[str, Any]] = []
        for index in range(speech + silent):
            item = f"q{index:02d}"
            length = int(16_000 * seconds * (1 + index % 3))
            samples = 0.1 * rng.standard_normal(length).astype(np.float32)
            soundfile.write(root / "audio" / f"{item}.flac", samples, 16_000)
            row: dict[str, Any] = {"id": item, "audio": f"audio/{item}.flac"}
            if index < speech:
                row |= {
                    "reference": f"canary question number {index}",
                    "reference_answer": f"The canary answer is {index}.",
                    "fact": [str(index)],
                    "session": f"s{index % 3}",
                }
            else:
                row |= {"kind": "non_speech", "reference": ""}
            rows.append(row)
        header = {
            "name": name,
            "version": "1",
            "defaults": {"language": "en", "scripts": ["Latn"], "conditions": {"noise": "clean"}},
            "conditions": {"language": ["en"], "noise": ["clean"]},
            "primary": {"en": "wer"},
        }
        (root / "suite.yaml").write_text(yaml.safe_dump(header))
        (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return root

    return make


@pytest.fixture
def make_config(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a config without models; keyword arguments replace sections."""

    def make(**sections: Any) -> Path:
        config: dict[str, Any] = {
            "recognizer": {"kind": "fake", "batch_size": 2},
            "language_model": {"kind": "fake"},
            "scoring": {"resamples": 200},
        }
        config.update(sections)
        path = tmp_path / "config.yaml"
        path.write_text(yaml.safe_dump(config))
        return path

    return make
