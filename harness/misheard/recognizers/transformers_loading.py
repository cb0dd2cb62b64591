"""Loads a Whisper checkpoint in Hugging Face form: safetensors and JSON, no pickles, no code of the model."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.audio.features import FRAMES, HOP, N_FFT
from misheard.audio.windows import SAMPLE_RATE
from misheard.canonical import sha256_file
from misheard.errors import BackendError
from misheard.language_models.embedded_loading import check_complete, quiet
from misheard.recognizers.settings import TransformersSettings
from misheard.recognizers.whisper_decoding import Suppressed
from misheard.recognizers.whisper_folder import check_files
from misheard.recognizers.whisper_tokens import MAX_LENGTH, WhisperTokens, read_tokens

_MULTILINGUAL_VOCABULARY = 51_865
_MODEL_FILES = frozenset({".json", ".safetensors", ".txt"})
_LARGEST_JSON = 64 * 2**20
_FEATURES = {"sampling_rate": SAMPLE_RATE, "n_fft": N_FFT, "hop_length": HOP, "chunk_length": 30}


@dataclass(frozen=True, slots=True)
class LoadedWhisper:
    """A model in memory, and what of its folder decides the text. `content` is hex sha256 by file."""

    model: Any
    tokenizer: Any
    tokens: WhisperTokens
    suppressed: Suppressed
    n_mels: int
    content: dict[str, str]


def check_folder(folder: Path) -> None:
    """Raise BackendError where a folder is no Whisper checkpoint that can be loaded, before torch is."""
    check_files("transformers", folder)
    kind = _json(folder, "config.json").get("model_type")
    if kind != "whisper":
        raise BackendError(f"recognizer.model: {folder} holds a model of type {kind!r}, not whisper")
    if (folder / "preprocessor_config.json").is_file():
        _check_features(folder)


def _check_features(folder: Path) -> None:
    """Raise BackendError where a model was trained on other features than misheard computes."""
    wanted = _json(folder, "preprocessor_config.json")
    for name, ours in _FEATURES.items():
        if wanted.get(name, ours) != ours:
            raise BackendError(
                f"recognizer.model: {folder}/preprocessor_config.json wants {name} {wanted[name]}, "
                f"and misheard computes Whisper's features with {ours}"
            )


def _json(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    try:
        if path.stat().st_size > _LARGEST_JSON:
            raise ValueError("too large")
        value = json.loads(path.read_bytes())
        if not isinstance(value, dict):
            raise ValueError("no mapping")
    except (OSError, ValueError, RecursionError) as error:
        raise BackendError(
            f"recognizer.model: {folder} cannot be loaded: {name} ({type(error).__name__})"
        ) from error
    return value


def load_whisper(folder: Path, device: str, dtype: str) -> LoadedWhisper:
    """Load a checkpoint onto a device. Raises BackendError where it cannot be used."""
    import tokenizers
    import torch
    import transformers

    try:
        with quiet(transformers):
            model, found = transformers.WhisperForConditionalGeneration.from_pretrained(
                folder,
                dtype=getattr(torch, dtype),
                attn_implementation="sdpa",
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
            )
        check_complete(found)
        model.to(device).eval()
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    except torch.OutOfMemoryError as error:
        raise BackendError(
            f"recognizer.model: {folder} does not fit into the memory of the device; what else is on it?"
        ) from error
    except Exception as error:
        raise BackendError(
            f"recognizer.model: {folder} cannot be loaded: {type(error).__name__}: {str(error)[:500]}"
        ) from error
    config = model.config
    if (config.max_source_positions, config.max_target_positions) != (FRAMES // 2, MAX_LENGTH):
        raise BackendError(
            f"recognizer.model: {folder} takes {config.max_source_positions} frames and "
            f"{config.max_target_positions} tokens, not Whisper's {FRAMES // 2} and {MAX_LENGTH}"
        )
    return LoadedWhisper(
        model=model,
        tokenizer=tokenizer,
        tokens=read_tokens(
            tokenizer.get_vocab(),
            f"{folder}/tokenizer.json",
            multilingual=config.vocab_size >= _MULTILINGUAL_VOCABULARY,
        ),
        suppressed=_suppressed(folder, config.vocab_size),
        n_mels=config.num_mel_bins,
        content={p.name: sha256_file(p) for p in sorted(folder.iterdir()) if p.suffix in _MODEL_FILES},
    )


def _suppressed(folder: Path, vocabulary: int) -> Suppressed:
    """Read which tokens are not to be chosen, as the checkpoint's authors published them."""
    generation = _json(folder, "generation_config.json")
    lists = []
    for name in ("suppress_tokens", "begin_suppress_tokens"):
        tokens = generation.get(name) or []
        if not isinstance(tokens, list) or not all(
            type(token) is int and 0 <= token < vocabulary for token in tokens
        ):
            raise BackendError(
                f"recognizer.model: {folder}/generation_config.json: {name} is no list of tokens"
            )
        lists.append(tuple(tokens))
    return Suppressed(*lists)


def choose_device(settings: TransformersSettings, *, cpu: bool) -> str:
    """Return `cpu` or `cuda`. Raises BackendError where CUDA is asked for and cannot be used."""
    import torch

    if cpu or settings.device == "cpu":
        return "cpu"
    if torch.cuda.is_available():
        return "cuda"
    if settings.device == "cuda":
        raise BackendError(
            "recognizer.device: torch sees no CUDA device; install a driver and a CUDA build of torch, "
            "or use auto, cpu or --cpu"
        )
    return "cpu"
