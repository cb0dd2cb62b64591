"""The renderer that ships with misheard: it makes a board show what is planned."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from misheard.canonical import canonical_json
from misheard.language_models.protocol import Completion
from misheard.plugins.protocol import PluginRequest
from misheard.scenes.differences import differences
from misheard.scenes.operations import operations_as_json
from misheard.scenes.scene import Scene

_VERSION = 1
"""Raised when the same board and plan lead to other operations."""


class BoardRenderer:
    """Answers with the operations that lead from a board to a plan."""

    batch_size: int | None = 256

    def check(self) -> None:
        """Nothing can be missing."""

    def start(self) -> None:
        """Nothing to start."""

    def fingerprint(self) -> dict[str, Any]:
        """Return the renderer's name and version."""
        return {"kind": "board", "version": _VERSION}

    def complete(self, requests: Sequence[PluginRequest]) -> Iterator[Completion]:
        """Yield one completion per request, in order."""
        for request in requests:
            started = time.perf_counter()
            board, plan = (Scene.from_json(request.payload[name]) for name in ("board", "plan"))
            text = canonical_json(operations_as_json(differences(board, plan)))
            yield Completion(request.key, text, seconds=time.perf_counter() - started)

    def close(self) -> None:
        """Nothing to close."""
