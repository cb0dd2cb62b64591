"""Plug-ins started, asked and closed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from misheard.language_models.protocol import Completion
from misheard.plugins.protocol import PLANNER, PluginRequest, PluginRole
from misheard.plugins.registry import make_plugin
from misheard.plugins.settings import PluginSettings


def ask(
    settings: PluginSettings, payloads: Sequence[dict[str, Any]], role: PluginRole = PLANNER
) -> list[Completion]:
    """Return the completions of the requests `0`, `1`, … in their order."""
    plugin = make_plugin(settings, role, Path(__file__).parent)
    plugin.check()
    plugin.start()
    try:
        requests = [PluginRequest(str(number), payload) for number, payload in enumerate(payloads)]
        found = {completion.key: completion for completion in plugin.complete(requests)}
    finally:
        plugin.close()
    assert len(found) == len(payloads)
    return [found[request.key] for request in requests]
