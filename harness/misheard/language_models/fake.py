"""A language model without a model: for tests of everything above it, and for trying a config.

    settings = FakeSettings(answers={"What is the capital of France?": "Paris"}, default="I do not know.")
    requests = [ChatRequest("q1", (Message("user", "What is the capital of France?"),))]
    completions = list(FakeModel(settings).complete(requests, Sampling(max_tokens=8)))

Answers depend on the last user message alone, and pass through the same post-processing as a real model's. A
JSON schema holds none of them: a server that ignores it answers like that.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from misheard.canonical import sha256_json
from misheard.failures import FailureKind
from misheard.language_models.answers import grade_text
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.language_models.settings import FakeSettings


class FakeModel:
    """Deterministic answers, failures and delays from `FakeSettings`; counts what it was asked.

    `calls` holds the keys of each call of `complete`, in order.
    """

    def __init__(self, settings: FakeSettings) -> None:
        self._settings = settings
        self.calls: list[tuple[str, ...]] = []

    @property
    def batch_size(self) -> int | None:
        return self._settings.batch_size

    def check(self) -> None:
        """Do nothing: there is nothing that could be missing."""

    def start(self) -> None:
        """Do nothing: there is nothing to load."""

    def warm_up(self, sampling: Sampling) -> None:
        """Do nothing: there is nothing to warm up."""

    def fingerprint(self) -> dict[str, Any]:
        # The tables hold texts of prompts and answers, so they appear hashed.
        return {
            "kind": "fake",
            "settings_sha256": sha256_json(self._settings.model_dump(mode="json", exclude={"delay_seconds"})),
        }

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        self.calls.append(tuple(request.key for request in requests))
        for request in requests:
            if self._settings.delay_seconds:
                time.sleep(self._settings.delay_seconds)
            yield self._answer(request, as_json=sampling.json_schema is not None)

    def close(self) -> None:
        """Do nothing: nothing is held."""

    def _answer(self, request: ChatRequest, *, as_json: bool) -> Completion:
        question = next((m.content for m in reversed(request.messages) if m.role == "user"), "")
        seconds = self._settings.delay_seconds
        if kind := self._settings.failures.get(question):
            return Completion(request.key, None, FailureKind(kind), "scripted failure", seconds=seconds)
        default = question if self._settings.default is None else self._settings.default
        raw = self._settings.answers.get(question, default)
        answer = grade_text(raw, "stop", as_json=as_json)
        return Completion(
            request.key, answer.text, answer.failure, answer.detail, finish_reason="stop", seconds=seconds
        )
