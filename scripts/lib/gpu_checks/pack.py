"""Collects what travels to a machine without a network: the model, the recordings and the missing wheels."""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from envs import ROOT, SetUpError, say

from gpu_checks.material import MODEL, RECORD, WEIGHTS, from_cache

WHEELS = (
    "annotated-types", "cffi", "nvidia-ml-py", "psutil", "pycparser", "pydantic", "pydantic_core",
    "soundfile", "typing-inspection", "typing_extensions",
)  # fmt: skip
"""What the checks import beyond torch, transformers, torchaudio, numba and numba-cuda and what these need."""

_PLATFORMS = ("manylinux_2_28", "manylinux_2_24", "manylinux_2_17", "manylinux2014", "manylinux1")
_MIB = 2**20


def pack(folder: Path, python_version: str) -> None:
    """Write everything into `folder`, which must be new or empty, and say how large it is.

    Raises SetUpError where the folder is not empty, the model or the recordings are not in the cache, or a
    wheel cannot be downloaded.
    """
    if folder.exists() and any(folder.iterdir()):
        raise SetUpError(f"{folder} is not empty; name a folder to be made")
    (folder / "model").mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        material = Path(scratch) / "material"
        material.mkdir()
        from_cache(material, link=False)
        _pack_model(material / "model", folder / "model")
        _pack_recordings(material, folder)
    _download_wheels(folder / "wheels", python_version)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    record = {
        "model": f"{MODEL}, weights in 8 bits",
        "python": python_version,
        "files": {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
    }
    (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    _say_sizes(folder)


def _pack_model(source: Path, target: Path) -> None:
    from safetensors.numpy import load_file

    from gpu_checks.weights import pack_weights

    pack_weights(load_file(source / "model.safetensors"), target / WEIGHTS)
    for path in source.iterdir():
        if path.name != "model.safetensors":
            shutil.copyfile(path, target / path.name)


def _pack_recordings(source: Path, target: Path) -> None:
    """Copy the recordings as FLAC: half of their size, the same samples."""
    import soundfile

    (target / "audio").mkdir()
    items = []
    for line in (source / "items.jsonl").read_text("utf-8").splitlines():
        item = json.loads(line)
        samples, rate = soundfile.read(source / item["audio"], dtype="int16")
        item["audio"] = str(Path(item["audio"]).with_suffix(".flac"))
        soundfile.write(target / item["audio"], samples, rate, subtype="PCM_16")
        items.append(json.dumps(item))
    (target / "items.jsonl").write_text("\n".join(items) + "\n", "utf-8")
    shutil.copyfile(source / "copyright", target / "copyright")


def _download_wheels(folder: Path, python_version: str) -> None:
    pins = {}
    for line in (ROOT / "requirements" / "lock.txt").read_text("utf-8").splitlines():
        name, found, version = line.partition("==")
        if found:
            pins[name] = version
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    command += ["--python-version", python_version, "--implementation", "cp"]
    for platform in _PLATFORMS:
        command += ["--platform", f"{platform}_x86_64"]
    command += [f"{name}=={pins[name]}" for name in WHEELS]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SetUpError(f"pip could not download the wheels:\n{done.stderr.strip()}")


def _say_sizes(folder: Path) -> None:
    def size(path: Path) -> float:
        return sum(found.stat().st_size for found in path.rglob("*") if found.is_file()) / _MIB

    parts = ", ".join(f"{name} {size(folder / name):.1f}" for name in ("model", "audio", "wheels"))
    say(f"{folder}: {size(folder):.1f} MiB ({parts})")
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, stdin=subprocess.DEVNULL
    )
    if listed.returncode == 0:
        names = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
        tree = sum(path.stat().st_size for path in names if path.is_file()) / _MIB
        say(f"with the files of this checkout: {tree + size(folder):.1f} MiB")
