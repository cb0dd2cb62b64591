"""A transformers model in this process, for machines without a server: greedy, in left-padded batches."""

import contextlib
import gc
import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.language_models.answers import grade_text
from misheard.language_models.greedy import decode_greedily
from misheard.language_models.model_content import (
    CONTENT_PATTERNS,
    ModelContent,
    check_model,
    check_pinned,
    is_folder,
    read_content,
)
from misheard.language_models.protocol import ChatRequest, Completion, Message, Sampling
from misheard.language_models.settings import EmbeddedSettings
from misheard.models import download_snapshot

_GREEDY = Sampling(max_tokens=1)


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: Any
    tokenizer: Any
    content: ModelContent
    end_tokens: frozenset[int]
    pad_token: int
    max_context: int
    versions: dict[str, str]


class EmbeddedModel:
    """A causal language model with a chat template, loaded from safetensors; code of the model is never run.

    `cpu` overrides the device of the settings. Only greedy decoding is offered: `complete` raises
    BackendError for a sampling that asks for more. The answer to a prompt may depend on its batch in the
    last bits of the logits, so a batch is decoded exactly as it was handed over.
    """

    def __init__(self, settings: EmbeddedSettings, *, cpu: bool = False) -> None:
        self._settings = settings
        self._cpu = cpu
        self._loaded: _Loaded | None = None

    @property
    def batch_size(self) -> int | None:
        return self._settings.batch_size

    def check(self) -> None:
        """Check that the model is pinned, or a folder of one that can chat, and the libraries are here."""
        check_model(self._settings.model, self._settings.revision)
        for library in ("torch", "transformers"):
            if importlib.util.find_spec(library) is None:
                raise BackendError(f"language_model: embedded needs {library}; {INSTALL_ADVICE}")

    def start(self) -> None:
        """Load the model. Raises BackendError where it cannot be used for chat on this machine."""
        if self._loaded is not None:
            return
        check_pinned(self._settings.model, self._settings.revision)
        if "torch" not in sys.modules:
            # Threads that spin while they wait are several times slower where cores are shared.
            os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        try:
            import torch
            import transformers
        except ImportError as error:
            raise BackendError(
                f"language_model: embedded needs torch and transformers; {INSTALL_ADVICE}"
            ) from error
        if self._settings.threads is not None:
            torch.set_num_threads(self._settings.threads)
        device = self._device(torch)
        with _quiet(transformers):
            self._loaded = self._load(_folder(self._settings), device, torch, transformers)
            self._check_decoding()

    def warm_up(self, sampling: Sampling) -> None:
        """Decode two tokens, so that the first batch is not the one that pays for set-up."""
        self._require_greedy(sampling)
        prompts = [self._prompt(self._started(), ChatRequest("warm-up", (Message("user", "Hello"),)))]
        self._generate(prompts, min(2, sampling.max_tokens))

    def fingerprint(self) -> dict[str, Any]:
        loaded = self._started()
        return {
            "kind": "embedded",
            "model": Path(self._settings.model).name
            if is_folder(self._settings.model)
            else self._settings.model,
            "revision": self._settings.revision,
            "content_sha256": loaded.content.files_sha256,
            "chat_template_sha256": loaded.content.chat_template_sha256,
            "device": loaded.model.device.type,
            "dtype": str(loaded.model.dtype).removeprefix("torch."),
            "threads": self._settings.threads,
            "max_context": loaded.max_context,
            **loaded.versions,
        }

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        self._require_greedy(sampling)
        if len(requests) > self._settings.batch_size:
            raise ValueError(f"{len(requests)} requests for a batch size of {self._settings.batch_size}")
        loaded = self._started()
        started = time.perf_counter()
        prompts: dict[str, list[int]] = {}
        for request in requests:
            try:
                prompt = self._prompt(loaded, request)
                _check_length(len(prompt), sampling.max_tokens, loaded.max_context)
                prompts[request.key] = prompt
            except ItemFailedError as failed:
                yield Completion(request.key, None, failed.kind, failed.detail)
        if prompts:
            yield from self._batch(prompts, sampling.max_tokens, started)

    def close(self) -> None:
        """Let go of the model and its memory."""
        if self._loaded is None:
            return
        on_cuda = self._loaded.model.device.type == "cuda"
        self._loaded = None
        gc.collect()
        if on_cuda:
            import torch

            torch.cuda.empty_cache()

    def _batch(self, prompts: dict[str, list[int]], max_tokens: int, started: float) -> Iterator[Completion]:
        loaded = self._started()
        try:
            generated = self._generate(list(prompts.values()), max_tokens)
        except _out_of_memory():
            detail = f"out of memory with {len(prompts)} requests at once; lower language_model.batch_size"
            for key in prompts:
                yield Completion(key, None, FailureKind.LLM_ERROR, detail)
            return
        texts = [loaded.tokenizer.decode(row, skip_special_tokens=True) for row in generated.tokens]
        seconds = (time.perf_counter() - started) / len(prompts)
        for (key, prompt), text, tokens, ended in zip(
            prompts.items(), texts, generated.tokens, generated.ended, strict=True
        ):
            finish_reason = "stop" if ended else "length"
            answer = grade_text(text, finish_reason)
            yield Completion(
                key,
                answer.text,
                answer.failure,
                answer.detail,
                finish_reason=finish_reason,
                prompt_tokens=len(prompt),
                completion_tokens=len(tokens) + ended,
                seconds=seconds,
                first_token_seconds=generated.first_token_seconds,
            )

    def _generate(self, prompts: list[list[int]], max_tokens: int) -> Any:
        loaded = self._started()
        return decode_greedily(
            loaded.model,
            prompts,
            max_tokens=max_tokens,
            end_tokens=loaded.end_tokens,
            pad_token=loaded.pad_token,
        )

    def _check_decoding(self) -> None:
        """Decode one token. Raises BackendError for a model that cannot be asked or decoded here."""
        try:
            self._prompt(self._started(), ChatRequest("check", (Message("user", "Hello"),)))
        except ItemFailedError as error:
            self.close()
            raise BackendError(f"language_model.model: {self._settings.model}: {error.detail}") from error
        try:
            self._generate([[min(self._started().end_tokens)]], 1)
        except Exception as error:
            self.close()
            raise BackendError(
                f"language_model.model: {self._settings.model} cannot be decoded in this process "
                f"({type(error).__name__}); serve it with vllm instead"
            ) from error

    def _prompt(self, loaded: _Loaded, request: ChatRequest) -> list[int]:
        """Return the prompt's token ids. Raises ItemFailedError where the template refuses the messages."""
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        try:
            text = loaded.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
            return list(loaded.tokenizer(text, add_special_tokens=False)["input_ids"])
        except Exception as error:  # noqa: BLE001 - templates are programs of the model, and their errors quote text
            detail = f"the chat template refused the messages ({type(error).__name__})"
            raise ItemFailedError(FailureKind.LLM_ERROR, detail) from None

    def _load(self, folder: Path, device: str, torch: Any, transformers: Any) -> _Loaded:
        content = read_content(folder)
        options = {"local_files_only": True, "trust_remote_code": False}
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                folder, dtype=self._dtype(device, torch), use_safetensors=True, **options
            )
            model.to(device).eval()
        except Exception as error:
            raise BackendError(
                f"language_model.model: {folder} cannot be loaded: {type(error).__name__}: {str(error)[:500]}"
            ) from error
        if not tokenizer.chat_template:
            raise BackendError(
                f"language_model.model: {folder} has no chat template; choose an instruct model"
            )
        end_tokens = _end_tokens(model, tokenizer)
        return _Loaded(
            model=model,
            tokenizer=tokenizer,
            content=content,
            end_tokens=end_tokens,
            pad_token=min(end_tokens) if tokenizer.pad_token_id is None else tokenizer.pad_token_id,
            max_context=self._context(model),
            versions={"transformers": transformers.__version__, "torch": torch.__version__},
        )

    def _context(self, model: Any) -> int:
        own: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        wanted = self._settings.max_context
        limit = own if wanted is None else wanted
        if limit is None:
            raise BackendError("language_model.max_context: the model names no limit; set one")
        if own is not None and limit > own:
            raise BackendError(f"language_model.max_context: {limit} is more than the model's {own}")
        return limit

    def _device(self, torch: Any) -> str:
        if self._cpu or self._settings.device == "cpu":
            return "cpu"
        if torch.cuda.is_available():
            return "cuda"
        if self._settings.device == "cuda":
            raise BackendError("language_model.device: no CUDA device is available; use auto, cpu or --cpu")
        return "cpu"

    def _dtype(self, device: str, torch: Any) -> Any:
        if self._settings.dtype != "auto":
            return getattr(torch, self._settings.dtype)
        return torch.float32 if device == "cpu" else "auto"

    def _require_greedy(self, sampling: Sampling) -> None:
        asked, greedy = sampling.as_dict(), _GREEDY.as_dict()
        free = {"max_tokens", "seed", "top_k", "top_p", "min_p"}  # of no effect at temperature 0
        if other := sorted(name for name in asked if name not in free and asked[name] != greedy[name]):
            raise BackendError(
                f"language_model: embedded decodes greedily and cannot follow {', '.join(other)}; "
                "use the defaults, or a server"
            )

    def _started(self) -> _Loaded:
        if self._loaded is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        return self._loaded


def _folder(settings: EmbeddedSettings) -> Path:
    """Return where the model lies, fetching a hub id at its pinned revision. Raises BackendError."""
    if is_folder(settings.model):
        return Path(settings.model)
    patterns = list(CONTENT_PATTERNS)
    return Path(download_snapshot("language_model.model", settings.model, settings.revision or "", patterns))


def _check_length(prompt: int, max_tokens: int, context: int) -> None:
    if prompt + max_tokens > context:
        detail = f"{prompt} prompt tokens and max_tokens {max_tokens} exceed the context of {context}"
        raise ItemFailedError(FailureKind.PROMPT_TOO_LONG, detail)


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return every token that ends an answer. Raises BackendError where the model names none."""
    found: set[int] = set()
    for source in (model.generation_config, model.config.get_text_config(), tokenizer):
        value = getattr(source, "eos_token_id", None)
        found.update(value if isinstance(value, list | tuple) else [] if value is None else [value])
    if not found:
        raise BackendError("language_model.model: the model names no end-of-sequence token")
    return frozenset(found)


def _out_of_memory() -> type[Exception]:
    import torch

    error: type[Exception] = torch.OutOfMemoryError
    return error


@contextlib.contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
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
