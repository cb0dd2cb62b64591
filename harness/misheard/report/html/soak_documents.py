"""What the page of a long session is made of: its trace with the verdict, and what its folder says of it."""

import json
from dataclasses import dataclass
from pathlib import Path

from misheard.errors import IncompleteRunError
from misheard.report.values import Document
from misheard.soak.finished import FinishedSoak, read_soak
from misheard.soak.limits import Limits
from misheard.soak.replay.folder import SoakFolder
from misheard.soak.table import Trace
from misheard.soak.verdict import SoakVerdict


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

    Raises IncompleteRunError where soak.json changed since.
    """
    path = SoakFolder(folder).soak_json
    try:
        state = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise IncompleteRunError(f"{path}: cannot be read ({type(error).__name__})") from error
    return SoakDocuments(soak.name, soak.read.trace, soak.judged, limits, soak.facts.sentence, state)
