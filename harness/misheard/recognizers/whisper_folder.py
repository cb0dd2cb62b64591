"""Whether a folder holds a Whisper in the form that a recognizer loads; only files are looked at."""

import contextlib
import json
from pathlib import Path

from misheard.errors import BackendError

_FILES = {
    "ctranslate2": ("model.bin", "tokenizer.json", "config.json"),
    "transformers": ("config.json", "generation_config.json", "tokenizer.json"),
    "vllm": ("config.json",),
}
_FORMS = {"ctranslate2": "CTranslate2", "transformers": "Hugging Face"}
_LARGEST_JSON = 64 * 2**20
_HEAD_BYTES = 64
"""A `model.bin` begins with its format's version and the name of what it holds."""


def check_files(kind: str, folder: Path) -> None:
    """Raise BackendError where a folder is in the other form, or lacks a file that its form has.

    `kind` is the recognizer's: ctranslate2, transformers, or vllm, which may serve other models than Whisper.
    """
    if other := other_form(kind, folder):
        raise BackendError(f"recognizer.model: {folder}: {other}")
    of_whisper = f"; a Whisper model in {_FORMS[kind]} form has" if kind in _FORMS else ""
    for name in _FILES[kind]:
        if not (folder / name).is_file():
            raise BackendError(f"recognizer.model: {folder} has no {name}{of_whisper}")
    weights = "model*.safetensors" if kind == "transformers" else "*.safetensors"
    if kind != "ctranslate2" and not any(folder.glob(weights)):
        raise BackendError(
            f"recognizer.model: {folder} has no model.safetensors; weights in other formats are not loaded"
        )


def other_form(kind: str, folder: Path) -> str:
    """Return what to say where a folder holds a Whisper in the other form than `kind` loads; else nothing."""
    with contextlib.suppress(OSError):  # a folder that may not be entered is for the loader to refuse
        return _other_form(kind, folder)
    return ""


def _other_form(kind: str, folder: Path) -> str:
    binary, safetensors = folder / "model.bin", any(folder.glob("*.safetensors"))
    if kind == "ctranslate2":
        if safetensors and not binary.is_file() and _is_whisper(folder / "config.json"):
            return (
                "this is a Whisper in Hugging Face form; use kind: transformers, or convert it with "
                "ct2-transformers-converter --copy_files tokenizer.json"
            )
    elif not safetensors and _holds_whisper(binary):
        return (
            "this is a Whisper in CTranslate2 form; use kind: ctranslate2, or convert it with "
            "scripts/convert_whisper"
        )
    return ""


def _is_whisper(config: Path) -> bool:
    try:
        return config.stat().st_size <= _LARGEST_JSON and (
            json.loads(config.read_bytes()).get("model_type") == "whisper"
        )
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def _holds_whisper(binary: Path) -> bool:
    try:
        with binary.open("rb") as file:
            return b"WhisperSpec" in file.read(_HEAD_BYTES)
    except OSError:
        return False
