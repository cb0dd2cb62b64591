"""The converter says where it wrote, and runs in the interpreter that it is given."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "convert_whisper"


def convert(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


@pytest.mark.models
def test_it_says_where_it_wrote(models_dir: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra run")
    source, folder = models_dir / "whisper-tiny.en", tmp_path / "tiny-hf"
    done = convert(source, folder, "--python", sys.executable)
    assert done.returncode == 0, done.stderr
    assert f"wrote {folder}: the Whisper of {source} in Hugging Face form" in done.stderr
    assert json.loads((folder / "config.json").read_bytes())["model_type"] == "whisper"


def test_an_interpreter_that_cannot_convert_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho safetensors transformers\n")
    python.chmod(0o755)
    refused = convert(tmp_path, tmp_path / "out", "--python", python)
    assert refused.returncode == 1 and f"{python} lacks safetensors, transformers" in refused.stderr
    refused = convert(tmp_path, tmp_path / "out", "--python", tmp_path / "none")
    assert refused.returncode == 1 and "is no working interpreter" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    refused = convert(tmp_path, tmp_path / "out")
    assert refused.returncode == 1 and "has no model.bin" in refused.stderr
