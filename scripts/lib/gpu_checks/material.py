"""What the checks work on: a model in Hugging Face form and recordings, in one folder.

`model/` is Whisper tiny.en, `audio/` and `items.jsonl` are the recordings with what is said in them, and
`ctranslate2/` is a link to the same model for CTranslate2 where this machine has it.
"""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

from envs import ROOT, SetUpError, cache_dir, say

MODEL = "whisper-tiny.en"
WEIGHTS = "weights.npz"
RECORD = "PACK.json"

_MODEL_FILES = (
    "config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json",
    "tokenizer_config.json",
)  # fmt: skip


def script(name: str) -> ModuleType:
    """Load one of the scripts, whose names are no module names."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None  # noqa: S101 - a loader was given
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def from_cache(folder: Path, *, link: bool = True) -> None:
    """Make the folder from the caches of models and suites. Raises SetUpError where they lack something."""
    model = Path(os.environ.get("MISHEARD_MODELS") or cache_dir() / "models") / MODEL
    speech = Path(os.environ.get("MISHEARD_REAL_SPEECH") or cache_dir() / "suites" / "real-speech")
    if not (model / "model.bin").is_file():
        raise SetUpError(f"{model} is no model; scripts/fetch_models {MODEL} fetches it")
    if not (speech / "items.jsonl").is_file():
        raise SetUpError(f"{speech} is no suite; scripts/fetch_real_speech lays it out")
    script("convert_whisper").convert(model, folder / "model")
    shutil.copyfile(model / "LICENSE", folder / "model" / "LICENSE")
    for name in ("items.jsonl", "copyright"):
        shutil.copyfile(speech / name, folder / name)
    shutil.copytree(speech / "audio", folder / "audio")
    if link:
        (folder / "ctranslate2").symlink_to(model)


def from_pack(pack: Path, folder: Path) -> None:
    """Make the folder from what `--pack` wrote. Raises SetUpError where that is not complete."""
    from safetensors.numpy import save_file

    from gpu_checks.weights import unpack_weights

    (folder / "model").mkdir(parents=True)
    tensors = unpack_weights(pack / "model" / WEIGHTS)
    save_file(tensors, folder / "model" / "model.safetensors", metadata={"format": "pt"})
    for name in _MODEL_FILES:
        shutil.copyfile(pack / "model" / name, folder / "model" / name)
    shutil.copyfile(pack / "items.jsonl", folder / "items.jsonl")
    shutil.copytree(pack / "audio", folder / "audio")


def check_pack(pack: Path) -> None:
    """Raise SetUpError where a file of the pack is missing or not as it was written, or a wheel was added."""
    try:
        files = dict(json.loads((pack / RECORD).read_text("utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        raise SetUpError(f"{pack} is no folder that scripts/gpu_check --pack wrote") from None
    needed = ["items.jsonl", *(f"model/{name}" for name in (WEIGHTS, *_MODEL_FILES))]
    wheels = [f"wheels/{wheel.name}" for wheel in (pack / "wheels").glob("*.whl")]
    for name in sorted({*files, *needed, *wheels}):
        try:
            found = hashlib.sha256((pack / name).read_bytes()).hexdigest()
        except (OSError, ValueError):
            found = "missing"
        if name not in files or found != files[name]:
            raise SetUpError(f"{pack}/{name} is missing, damaged or was not packed; pack again")


def install_lacking(pack: Path, folder: Path) -> None:
    """Install the wheels whose packages this Python does not have into `folder`, from the pack alone."""
    lacking = []
    for wheel in sorted((pack / "wheels").glob("*.whl")):
        name = wheel.name.partition("-")[0]
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            lacking.append(str(wheel))
    if not lacking:
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    command += ["--disable-pip-version-check", "--no-cache-dir", "--target", str(folder), *lacking]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SetUpError(f"pip could not install the wheels of {pack}:\n{done.stderr.strip()}")
    say(f"installed from the folder: {', '.join(Path(w).name.partition('-')[0] for w in lacking)}")
