"""From files to what a page is made of. Only report files are read: no text of an item, no model."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from types import NoneType

from misheard.errors import InputError
from misheard.report.html.run_documents import RunDocuments
from misheard.report.html.samples import read_samples
from misheard.report.values import Document
from misheard.run.directory import RunDirectory
from misheard.run.finished import read_finished_run

MAX_VERDICT_BYTES = 64 * 1024**2
_VERDICT = ("misheard-verdict", 1)
_TEXT, _FIGURE = (str,), (int, float, NoneType)
_PARTS: Mapping[str, tuple[type, ...]] = {
    "outcome": _TEXT,
    "summary": _TEXT,
    "gate": (dict,),
    "baseline": (str, NoneType),
    "refusals": (list,),
    "notes": (list,),
    "checks": (list,),
}
"""What a verdict must hold for a page, by type."""

_CHECK: Mapping[str, tuple[type, ...]] = {
    "id": _TEXT,
    "role": _TEXT,
    "status": _TEXT,
    "decides": (bool,),
    "why": _TEXT,
    "limit": _FIGURE,
    "metric": (str, NoneType),
    "arm": (str, NoneType),
    "rule": (str, NoneType),
    "slice": (dict,),
}
"""The same of each of its checks."""


def read_run_documents(path: Path, verdict: Path | None = None) -> RunDocuments:
    """Return what the page of a run is made of.

    Args:
        path: of the run's directory.
        verdict: what `misheard gate --json` wrote of this run, if any.

    Raises as `misheard.run.finished.read_finished_run`, InputError for a verdict that is not of this run.
    """
    directory = RunDirectory.open(path)
    finished = read_finished_run(path)
    name = path.resolve().name
    return RunDocuments(
        name=name,
        report=finished.report,
        run=directory.read_run(),
        table=finished.table,
        families=finished.families,
        samples=read_samples(directory.telemetry),
        verdict=None if verdict is None else read_verdict(verdict, [name]),
    )


def read_verdict(path: Path, runs: Collection[str]) -> Document:
    """Return the verdict of a gate on one of some runs. Raises InputError for a file that is none."""
    try:
        if path.stat().st_size > MAX_VERDICT_BYTES:
            raise InputError(f"--verdict {path}: over {MAX_VERDICT_BYTES} bytes; this is no verdict")
        document = json.loads(path.read_bytes(), parse_constant=_refuse)
    except OSError as error:
        raise InputError(f"--verdict {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"--verdict {path}: is no JSON; write it with misheard gate --json") from error
    if not isinstance(document, dict) or (document.get("format"), document.get("format_version")) != _VERDICT:
        raise InputError(
            f"--verdict {path}: is no verdict of this version; write it with misheard gate --json"
        )
    if document.get("candidate") not in runs:
        raise InputError(f"--verdict {path}: is of another run; name the verdict of {' or '.join(runs)}")
    if not _is_whole(document):
        raise InputError(f"--verdict {path}: is damaged; write it again with misheard gate --json")
    return document


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _is_whole(verdict: Document) -> bool:
    return (
        _has(verdict, _PARTS)
        and isinstance(verdict["gate"].get("name"), str)
        and all(isinstance(text, str) for text in (*verdict["refusals"], *verdict["notes"]))
        and all(isinstance(check, dict) and _has(check, _CHECK) for check in verdict["checks"])
    )


def _has(document: Document, parts: Mapping[str, tuple[type, ...]]) -> bool:
    return all(name in document and isinstance(document[name], kinds) for name, kinds in parts.items())
