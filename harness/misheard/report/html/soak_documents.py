"""What the page of a long session is made of: its trace with the verdict, and what its folder says of it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.errors import IncompleteRunError
from misheard.report.values import Document
from misheard.soak.finished import FinishedSoak, read_soak
from misheard.soak.limits import Limits
from misheard.soak.replay.folder import SoakFolder
from misheard.soak.table import Trace
from misheard.soak.verdict import SoakVerdict

_PARTS = ("machine", "replayed", "session", "suite", "system", "versions")
"""Of soak.json, each an object or left out."""


@dataclass(frozen=True, slots=True)
class SoakDocuments:
    """A session.

    Attributes:
        name: of its folder, or of its trace.
        trace: its events.
        judged: the verdict on them.
        limits: what it was judged by.
        sentence: what was played how, in one line; empty for a trace of another product.
        state: soak.json; None for a trace of another product.
    """

    name: str
    trace: Trace
    judged: SoakVerdict
    limits: Limits
    sentence: str = ""
    state: Document | None = None


def read_soak_documents(folder: Path) -> SoakDocuments:
    """Return what the page of a soak's folder is made of. Raises as `misheard.soak.finished.read_soak`."""
    soak = read_soak(folder)
    return soak_documents(folder, soak, soak.facts.limits)


def soak_documents(folder: Path, soak: FinishedSoak, limits: Limits) -> SoakDocuments:
    """Return the same of a folder that was read, and judged by limits that may be others than its own.

    Raises IncompleteRunError where soak.json changed since, or lacks what the page shows.
    """
    path = SoakFolder(folder).soak_json
    try:
        state = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise IncompleteRunError(f"{path}: cannot be read ({type(error).__name__})") from error
    if wrong := _damaged_parts(state):
        raise IncompleteRunError(f"{path}: not as misheard soak writes it ({', '.join(wrong)})")
    return SoakDocuments(soak.name, soak.read.trace, soak.judged, limits, soak.facts.sentence, state)


def _damaged_parts(state: Any) -> list[str]:
    """Return the parts of soak.json that are of another type than the page reads."""
    if not isinstance(state, dict):
        return ["all of it"]
    wrong = [name for name in _PARTS if not isinstance(state.get(name), dict | None)]
    if not isinstance(state.get("config"), dict):
        wrong.append("config")
    session = state.get("session")
    if isinstance(session, dict) and not isinstance(session.get("recordings"), dict | None):
        wrong.append("session.recordings")
    return wrong
