"""A transformers model in this process, for machines without a server: greedy, in left-padded batches."""

import gc
import importlib.util
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.language_models.answers import grade_text
from misheard.language_models.constrained import JsonGrammar
from misheard.language_models.embedded_loading import LoadedModel, load_model, quiet
from misheard.language_models.greedy import Generated, decode_greedily
from misheard.language_models.model_content import check_model, check_pinned, is_folder
from misheard.language_models.protocol import ChatRequest, Completion, Message, Sampling
from misheard.language_models.settings import EmbeddedSettings

_GREEDY = Sampling(max_tokens=1)


class EmbeddedModel:
    """A causal language model with a chat template, loaded from safetensors; code of the model is never run.

    `cpu` overrides the device of the settings. Only greedy decoding is offered: `complete` raises
    BackendError for a sampling that asks for more. The answer to a prompt may depend on its batch in the
    last bits of the logits, so a batch is decoded exactly as it was handed over.
    """

    def __init__(self, settings: EmbeddedSettings, *, cpu: bool = False) -> None:
        self._settings = settings
        self._cpu = cpu
        self._loaded: LoadedModel | None = None
        self._grammars: dict[str, JsonGrammar] = {}

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
            import torch  # noqa: F401
            import transformers
        except ImportError as error:
            raise BackendError(
                f"language_model: embedded needs torch and transformers; {INSTALL_ADVICE}"
            ) from error
        with quiet(transformers):
            self._loaded = load_model(self._settings, cpu=self._cpu)
            self._check_decoding()

    def warm_up(self, sampling: Sampling) -> None:
        """Decode two tokens, so that the first batch is not the one that pays for set-up."""
        self._require_greedy(sampling)
        prompts = [self._prompt(self._started(), ChatRequest("warm-up", (Message("user", "Hello"),)))]
        self._generate(prompts, replace(sampling, max_tokens=min(2, sampling.max_tokens)))

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
            yield from self._batch(prompts, sampling, started)

    def close(self) -> None:
        """Let go of the model and its memory."""
        if self._loaded is None:
            return
        on_cuda = self._loaded.model.device.type == "cuda"
        self._loaded = None
        self._grammars.clear()
        gc.collect()
        if on_cuda:
            import torch

            torch.cuda.empty_cache()

    def _batch(
        self, prompts: dict[str, list[int]], sampling: Sampling, started: float
    ) -> Iterator[Completion]:
        loaded = self._started()
        try:
            generated = self._generate(list(prompts.values()), sampling)
        except _out_of_memory():
            detail = f"out of memory with {len(prompts)} requests at once; lower language_model.batch_size"
            for key in prompts:
                yield Completion(key, None, FailureKind.LLM_ERROR, detail)
            return
        texts = [loaded.tokenizer.decode(row, skip_special_tokens=True) for row in generated.tokens]
        seconds = (time.perf_counter() - started) / len(prompts)
        for (key, prompt), text, decoded, ended in zip(
            prompts.items(), texts, generated.decoded, generated.ended, strict=True
        ):
            finish_reason = "stop" if ended else "length"
            answer = grade_text(text, finish_reason, as_json=sampling.json_schema is not None)
            yield Completion(
                key,
                answer.text,
                answer.failure,
                answer.detail,
                finish_reason=finish_reason,
                prompt_tokens=len(prompt),
                completion_tokens=decoded,
                seconds=seconds,
                first_token_seconds=generated.first_token_seconds,
            )

    def _generate(self, prompts: list[list[int]], sampling: Sampling) -> Generated:
        loaded = self._started()
        grammar = None if sampling.json_schema is None else self._grammar(sampling.json_schema)
        return decode_greedily(
            loaded.model,
            prompts,
            max_tokens=sampling.max_tokens,
            end_tokens=loaded.end_tokens,
            pad_token=loaded.pad_token,
            constraints=None if grammar is None else grammar.constrain(len(prompts)),
        )

    def _grammar(self, schema: str) -> JsonGrammar:
        """Return the schema's grammar, compiled once. Raises BackendError where that cannot be done."""
        if schema not in self._grammars:
            loaded = self._started()
            self._grammars[schema] = JsonGrammar(loaded.tokenizer, loaded.end_tokens, schema)
        return self._grammars[schema]

    def _check_decoding(self) -> None:
        """Decode one token. Raises BackendError for a model that cannot be asked or decoded here."""
        try:
            self._prompt(self._started(), ChatRequest("check", (Message("user", "Hello"),)))
        except ItemFailedError as error:
            self.close()
            raise BackendError(f"language_model.model: {self._settings.model}: {error.detail}") from error
        try:
            self._generate([[min(self._started().end_tokens)]], _GREEDY)
        except Exception as error:
            self.close()
            raise BackendError(
                f"language_model.model: {self._settings.model} cannot be decoded in this process "
                f"({type(error).__name__}); serve it with vllm instead"
            ) from error

    def _prompt(self, loaded: LoadedModel, request: ChatRequest) -> list[int]:
        """Return the prompt's token ids. Raises ItemFailedError where the template refuses the messages."""
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        try:
            text = loaded.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
            return list(loaded.tokenizer(text, add_special_tokens=False)["input_ids"])
        except Exception as error:  # noqa: BLE001 - templates are programs of the model, and their errors quote text
            detail = f"the chat template refused the messages ({type(error).__name__})"
            raise ItemFailedError(FailureKind.LLM_ERROR, detail) from None

    def _require_greedy(self, sampling: Sampling) -> None:
        asked, greedy = sampling.as_dict(), _GREEDY.as_dict()
        free = {
            "max_tokens",
            "json_schema",
            "seed",
            "top_k",
            "top_p",
            "min_p",
        }  # the last four of no effect here
        if other := sorted(name for name in asked if name not in free and asked[name] != greedy[name]):
            raise BackendError(
                f"language_model: embedded decodes greedily and cannot follow {', '.join(other)}; "
                "use the defaults, or a server"
            )

    def _started(self) -> LoadedModel:
        if self._loaded is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        return self._loaded


def _check_length(prompt: int, max_tokens: int, context: int) -> None:
    if prompt + max_tokens > context:
        detail = f"{prompt} prompt tokens and max_tokens {max_tokens} exceed the context of {context}"
        raise ItemFailedError(FailureKind.PROMPT_TOO_LONG, detail)


def _out_of_memory() -> type[Exception]:
    import torch

    error: type[Exception] = torch.OutOfMemoryError
    return error
