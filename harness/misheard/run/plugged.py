"""A user's planner or renderer as something that a stage asks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from misheard.canonical import canonical_json
from misheard.language_models.protocol import Completion
from misheard.plugins.protocol import Plugin, PluginRequest


@dataclass(frozen=True, slots=True)
class Plugged:
    """A plug-in, asked in batches or one by one as it wants."""

    plugin: Plugin

    @property
    def batch_size(self) -> int | None:
        return self.plugin.batch_size

    def size(self, request: PluginRequest) -> int:
        """Return the length of a request's JSON in characters."""
        return len(canonical_json(request.payload))

    def complete(self, requests: Sequence[PluginRequest]) -> Iterator[Completion]:
        return self.plugin.complete(requests)
