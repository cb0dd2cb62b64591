"""Stages that prompt a language model: values in, a chat request with a key out; equal keys ask the same."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from misheard.canonical import sha256_json
from misheard.failures import Failure, FailureKind
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.stages.prompts import PromptTemplate


@dataclass(frozen=True, slots=True)
class Prompted:
    """A stage that asks a language model, with pinned settings: `respond`, or another by its name.

    `engine` is the fingerprint of the language model; with the prompt and the sampling parameters it is
    part of every key, so that a reply is never taken for one of another prompt, model or version.
    """

    prompt: PromptTemplate
    sampling: Sampling
    engine: Mapping[str, Any]
    stage: str = "respond"

    def fingerprint(self) -> dict[str, Any]:
        """Return everything that decides a reply, given the values of the prompt."""
        return {
            "stage": self.stage,
            "prompt": self.prompt.fingerprint(),
            "sampling": self.sampling.as_dict(),
            "engine": dict(self.engine),
        }

    def request(
        self, values: Mapping[str, str], language: str | None = None, execution: str = "shared"
    ) -> ChatRequest:
        """Return the request for the values of the prompt; `language` is the tag that chooses its examples.

        Requests with the same messages and `execution` have the same key. The default serves whoever
        asks the same; a control gives every item an execution of its own.
        """
        messages = self.prompt.messages(values, language)
        content = [[message.role, message.content] for message in messages]
        key = sha256_json([self.fingerprint(), content, execution])
        return ChatRequest(key, messages)


def completion_row(completion: Completion) -> dict[str, Any]:
    """Return a completion as JSON values for the journal."""
    row = asdict(completion)
    row["failure"] = None if completion.failure is None else str(completion.failure)
    return row


_PASSING = frozenset(
    {FailureKind.TIMEOUT, FailureKind.LLM_ERROR, FailureKind.PLANNER_ERROR, FailureKind.RENDERER_ERROR}
)


def is_passing(row: Mapping[str, Any]) -> bool:
    """Whether a completion of the journal failed in a way that another attempt may mend."""
    return row["failure"] in _PASSING


def completion_failure(row: Mapping[str, Any]) -> Failure | None:
    """Return why an answer of the journal failed, or None."""
    if row["failure"] is None:
        return None
    return Failure("respond", FailureKind(row["failure"]), row["detail"])
