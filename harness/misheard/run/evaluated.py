"""Which items of a suite a run is over, and what it records of the others and of the lock."""

import dataclasses
import secrets
from pathlib import Path
from typing import Any, Literal

from misheard.run.directory import RunDirectory
from misheard.suite.holdout import holdout_facts, load_holdout
from misheard.suite.items import Suite
from misheard.suite.locked import check_lock
from misheard.suite.manifest import load_suite

RunSubset = Literal["open", "regression", "rolling", "holdout"]
"""The part of a split suite that a run is over; `open` is what is neither sealed, in reserve nor retired."""


def load_run_suite(
    path: Path, limit: int | None, subset: RunSubset = "open", run: str | None = None
) -> Suite:
    """Return the suite of a run, cut to its first `limit` items.

    A missing recording becomes a failed item later on; it is no error here. The holdout takes an opening that
    is unused, or used by the run of that id; see `misheard.suite.holdout.load_holdout`.
    """
    if subset == "holdout":
        suite = load_holdout(path, run, require_audio=False)
    else:
        suite = load_suite(path, require_audio=False, subset=subset)
    return suite if limit is None else dataclasses.replace(suite, items=suite.items[:limit])


def suite_facts(path: Path, suite: Suite) -> dict[str, Any]:
    """Return what `run.json` says of the suite's split, holdout and lock, each where there is one.

    Raises NotComparableError where the suite is not as its lock says.
    """
    facts: dict[str, Any] = {}
    if suite.selection is not None:
        facts["subset"] = suite.selection.subset
        facts["rotation"] = suite.selection.rotation
        facts["sets"] = {str(name): count for name, count in suite.selection.counts.items()}
        facts["holdout"] = holdout_facts(path, suite.selection)
    lock = check_lock(path)
    if lock is not None:
        facts["lock"] = lock.document()
    return facts


def left_out(suite: Suite) -> str:
    """Return what a command says of the items that were not loaded; empty where all were."""
    return "" if suite.selection is None else suite.selection.note()


def holdout_run(out: Path, *, resume: bool) -> str:
    """Return the id under which a run uses an opening: that of the run to resume, or a new one."""
    directory = RunDirectory(out)
    if resume and directory.begun:
        return str(directory.read_run().get("holdout_run"))
    return secrets.token_hex(16)
