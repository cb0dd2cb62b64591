"""The base install, in an environment of its own: scores, compares and reports without a model library."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODEL_LIBRARIES = ("torch", "transformers", "vllm", "ctranslate2", "soundfile", "openai")


def call(*arguments: object, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(a) for a in arguments], capture_output=True, text=True, check=False, cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), **more},
    )  # fmt: skip


def pip_settings() -> dict[str, str]:
    """Return where pip takes packages from, what it has downloaded already among it."""
    asked = [sys.executable, "-m", "pip", "--disable-pip-version-check", "cache", "dir"]
    cache = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    kept = {"PIP_CACHE_DIR": cache} if cache else {}
    return kept | {name: value for name, value in os.environ.items() if name.startswith("PIP_")}


@pytest.mark.slow
def test_score_compare_and_report_without_models(
    tmp_path: Path, make_suite: Callable[..., Path], make_config: Callable[..., Path]
) -> None:
    suite, config = make_suite(), make_config()
    for name in ("a", "b"):
        done = subprocess.run(
            [sys.executable, "-m", "misheard", "run", str(config), "--cpu", "--suite", str(suite),
             "--out", str(tmp_path / name)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    before = (tmp_path / "a" / "report.json").read_bytes()

    venv = tmp_path / "venv"
    assert call(sys.executable, "-m", "venv", "--without-pip", venv, cwd=tmp_path).returncode == 0
    lock = ROOT / "requirements" / "lock.txt"
    pip = (sys.executable, "-m", "pip", "--python", venv / "bin" / "python")
    # modules are compiled when they are imported, which few of them are
    install = (*pip, "install", "-q", "--no-compile", "-c", lock, ROOT)
    installed = call(*install, cwd=tmp_path, **pip_settings())
    assert installed.returncode == 0, installed.stderr
    found = json.loads(call(*pip, "list", "--format", "json", cwd=tmp_path).stdout)
    assert not {package["name"] for package in found} & set(MODEL_LIBRARIES)

    command = venv / "bin" / "misheard"
    scored = call(command, "score", "a", cwd=tmp_path)
    assert scored.returncode == 0, scored.stderr
    assert (tmp_path / "a" / "report.json").read_bytes() == before
    compared = call(command, "compare", "a", "b", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    reported = call(command, "report", "b", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
    assert "word error rate" in reported.stdout
    paged = call(command, "report", "b", "--html", cwd=tmp_path)
    assert paged.returncode == 0, paged.stderr
    assert "word error rate" in (tmp_path / "b" / "report.html").read_text("utf-8")
    refused = call(command, "run", config, "--suite", suite, "--out", "c", "--set",
                   "recognizer={kind: ctranslate2, model: ./}", cwd=tmp_path)  # fmt: skip
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    helped = call(command, "doctor", cwd=tmp_path)
    assert "pip install 'misheard[run]'" in helped.stdout
