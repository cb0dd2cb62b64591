"""Loads a transformers model and its tokenizer from safetensors; code of the model is never run."""

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.errors import BackendError
from misheard.language_models.model_content import CONTENT_PATTERNS, ModelContent, is_folder, read_content
from misheard.language_models.settings import EmbeddedSettings
from misheard.models import download_snapshot


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory with its tokenizer, and what of it decides answers."""

    model: Any
    tokenizer: Any
    content: ModelContent
    end_tokens: frozenset[int]
    pad_token: int
    max_context: int
    versions: dict[str, str]


def load_model(settings: EmbeddedSettings, *, cpu: bool) -> LoadedModel:
    """Load a model from its folder, or from the hub at its pinned revision.

    `cpu` overrides the device of the settings. Raises BackendError where it cannot be loaded, or cannot chat.
    """
    import torch
    import transformers

    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    device = _device(settings, cpu, torch)
    return _load(_folder(settings), settings, device, torch, transformers)


def _load(
    folder: Path, settings: EmbeddedSettings, device: str, torch: Any, transformers: Any
) -> LoadedModel:
    content = read_content(folder)
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        model, found = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=_dtype(settings, device, torch),
            use_safetensors=True,
            output_loading_info=True,
            **options,
        )
        check_complete(found)
        model.to(device).eval()
    except Exception as error:
        raise BackendError(
            f"language_model.model: {folder} cannot be loaded: {type(error).__name__}: {str(error)[:500]}"
        ) from error
    if not tokenizer.chat_template:
        raise BackendError(f"language_model.model: {folder} has no chat template; choose an instruct model")
    end_tokens = _end_tokens(model, tokenizer)
    return LoadedModel(
        model=model,
        tokenizer=tokenizer,
        content=content,
        end_tokens=end_tokens,
        pad_token=min(end_tokens) if tokenizer.pad_token_id is None else tokenizer.pad_token_id,
        max_context=_context(settings, model),
        versions={"transformers": transformers.__version__, "torch": torch.__version__},
    )


def check_complete(found: Mapping[str, Any]) -> None:
    """Raise ValueError where a model's files lack weights: the library would make them up at random.

    `found` is what its `output_loading_info` gives.
    """
    if missing := sorted(found["missing_keys"]):
        raise ValueError(
            f"the files lack {len(missing)} of the weights that config.json asks for, such as {missing[0]}"
        )


def _context(settings: EmbeddedSettings, model: Any) -> int:
    own: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    wanted = settings.max_context
    limit = own if wanted is None else wanted
    if limit is None:
        raise BackendError("language_model.max_context: the model names no limit; set one")
    if own is not None and limit > own:
        raise BackendError(f"language_model.max_context: {limit} is more than the model's {own}")
    return limit


def _device(settings: EmbeddedSettings, cpu: bool, torch: Any) -> str:
    if cpu or settings.device == "cpu":
        return "cpu"
    if torch.cuda.is_available():
        return "cuda"
    if settings.device == "cuda":
        raise BackendError("language_model.device: no CUDA device is available; use auto, cpu or --cpu")
    return "cpu"


def _dtype(settings: EmbeddedSettings, device: str, torch: Any) -> Any:
    if settings.dtype != "auto":
        return getattr(torch, settings.dtype)
    return torch.float32 if device == "cpu" else "auto"


def _folder(settings: EmbeddedSettings) -> Path:
    """Return where the model lies, fetching a hub id at its pinned revision. Raises BackendError."""
    if is_folder(settings.model):
        return Path(settings.model)
    patterns = list(CONTENT_PATTERNS)
    return Path(download_snapshot("language_model.model", settings.model, settings.revision or "", patterns))


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return every token that ends an answer. Raises BackendError where the model names none."""
    found: set[int] = set()
    for source in (model.generation_config, model.config.get_text_config(), tokenizer):
        value = getattr(source, "eos_token_id", None)
        found.update(value if isinstance(value, list | tuple) else [] if value is None else [value])
    if not found:
        raise BackendError("language_model.model: the model names no end-of-sequence token")
    return frozenset(found)


@contextlib.contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Keep progress bars and advice of the library off the terminal while a model is loaded."""
    logging = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
