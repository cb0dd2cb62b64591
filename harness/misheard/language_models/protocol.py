"""What a language model is to the rest of misheard."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from misheard.failures import FailureKind


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat: role `system`, `user` or `assistant`, and its text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to the model; `key` names it in a call and comes back with the completion."""

    key: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Sampling:
    """Every sampling parameter that is sent, so that no default of a server or model decides.

    The defaults are greedy decoding. `json_schema` is a JSON schema, as canonical JSON, that the answer is
    held to while it is decoded; None leaves the answer free.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = -1
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0
    json_schema: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters as JSON values; a schema only where there is one."""
        return {
            name: value for name, value in asdict(self).items() if name != "json_schema" or value is not None
        }


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back for one request.

    Exactly one of `text` and `failure` is given. `text` is the answer as graded: stripped of white space at
    its ends and of closed thinking sections. `detail` says why a request failed, without any text of prompt
    or answer. `seconds` is the request's latency (a batch's time divided by its size where requests run as
    one batch); `first_token_seconds` is None where the backend cannot tell. `attempts` counts tries.
    """

    key: str
    text: str | None
    failure: FailureKind | None = None
    detail: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    first_token_seconds: float | None = None
    attempts: int = 1


class LanguageModel(Protocol):
    """A language model that can be started and asked.

    `batch_size` is None where the backend schedules requests by itself (a server); otherwise `complete` gets
    at most that many requests, and their composition is part of the batch plan because it may change the
    numerics. `check` finds out, quickly and before any work, what can be known to be wrong; `start` gets the
    model ready. Both raise BackendError with what to do where the model cannot be used; after `start`,
    `fingerprint` names everything that decides the output (model, revision or content, chat template,
    engine version). `complete` yields one completion per request, in the order in which they finish; it
    raises only when no further request can succeed (BackendError). `close` may be called at any time.
    """

    @property
    def batch_size(self) -> int | None: ...

    def check(self) -> None: ...

    def start(self) -> None: ...

    def warm_up(self, sampling: Sampling) -> None: ...

    def fingerprint(self) -> dict[str, Any]: ...

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]: ...

    def close(self) -> None: ...
