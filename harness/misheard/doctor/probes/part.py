"""Checks one part of a config as the run does before it begins: a server, or what is the user's own.

    python -P -m misheard.doctor.probes.part SECTION FOLDER < SETTINGS

The settings are JSON; relative paths start from FOLDER. What is wrong is the last line of standard error.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from misheard.doctor.probes import die_with_parent, tell
from misheard.errors import MisheardError


def main(section: str, base: Path, settings: str) -> None:
    """Check it, and say what answered."""
    if section == "plan":
        _planner(base, settings)
    elif section == "render":
        _renderer(base, settings)
    elif section == "scoring":
        _scorer(settings)
    else:
        tell(**asyncio.run(_server(section, settings)))


def _planner(base: Path, settings: str) -> None:
    from pydantic import TypeAdapter

    from misheard.planners.registry import make_planner
    from misheard.planners.settings import PluginPlannerSettings

    adapter: TypeAdapter[Any] = TypeAdapter(PluginPlannerSettings)
    make_planner(adapter.validate_json(settings), base).check()


def _renderer(base: Path, settings: str) -> None:
    from pydantic import TypeAdapter

    from misheard.renderers.registry import make_renderer
    from misheard.renderers.settings import RendererSettings

    adapter: TypeAdapter[Any] = TypeAdapter(RendererSettings)
    make_renderer(adapter.validate_json(settings), base).check()


def _scorer(settings: str) -> None:
    from misheard.metrics.response import load_scorer

    load_scorer(json.loads(settings)["response_scorer"])


async def _server(section: str, settings: str) -> dict[str, Any]:
    """Return what a server says of itself; nothing but its list of models and its version is asked for."""
    from misheard.language_models.api_client import make_api_client
    from misheard.language_models.server_facts import read_server_facts
    from misheard.language_models.settings import ServerSettings

    parsed = ServerSettings.model_validate_json(settings)
    client, http = make_api_client(parsed, section)
    async with client:
        facts = await read_server_facts(client, http, parsed, section)
    return {"context": facts.max_context, "version": facts.engine_version}


if __name__ == "__main__":
    die_with_parent()
    try:
        main(sys.argv[1], Path(sys.argv[2]), sys.stdin.read())
    except MisheardError as error:
        sys.exit(" ".join(str(error).split()))
