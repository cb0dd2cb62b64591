"""What a user's planner or renderer is to the rest of misheard: one JSON object in, one JSON object out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from misheard.failures import FailureKind
from misheard.language_models.protocol import Completion


@dataclass(frozen=True, slots=True)
class PluginRequest:
    """One request; `key` names it in a call and comes back with the completion."""

    key: str
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PluginRole:
    """What a plug-in is used as.

    Attributes:
        name: the section of the config, and the method of a Python class.
        error: the failure of a plug-in that breaks.
    """

    name: str
    error: FailureKind


PLANNER = PluginRole("plan", FailureKind.PLANNER_ERROR)
RENDERER = PluginRole("render", FailureKind.RENDERER_ERROR)


class Plugin(Protocol):
    """A planner or renderer that can be started and asked.

    The methods mean what they mean for a `LanguageModel`. The text of a completion is the reply as canonical
    JSON, an object; whether it is a plan or operations is for the stage to say. Trouble with one request is a
    completion with a failure: `planner_error` or `renderer_error`, `timeout`, `invalid_output`. `complete`
    raises BackendError only when no further request can succeed.
    """

    @property
    def batch_size(self) -> int | None: ...

    def check(self) -> None: ...

    def start(self) -> None: ...

    def fingerprint(self) -> dict[str, Any]: ...

    def complete(self, requests: Sequence[PluginRequest]) -> Iterator[Completion]: ...

    def close(self) -> None: ...
