"""What a run's report says of the sets of its suite: which one it is over, what is sealed, who opened it."""

from collections.abc import Iterator

from rich.console import RenderableType

from misheard.report.labels import Marks, count_of, plain
from misheard.report.terminal_cells import dim, joined
from misheard.report.values import Document

_SET_NOTES = {"regression": "Over the regression set alone", "rolling": "Over the rolling set alone"}
_LATEST = 3


def holdout_block(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield nothing for a suite without a split and with every item in its lock."""
    suite = report["suite"]
    lines = []
    if parts := [*set_parts(suite), *lock_parts(suite)]:
        lines.append(joined(parts, width, marks))
    log = (suite.get("holdout") or {}).get("log", [])
    lines += [plain(f"  {entry['at']} {entry['who']}: {entry['reason']}") for entry in log[-_LATEST:]]
    if len(log) > _LATEST:
        lines.append(f"  and {len(log) - _LATEST} more before, in report.json")
    if lines:
        yield dim("\n".join(lines))


def set_parts(suite: Document) -> Iterator[str]:
    """Yield which set of a split suite a report is over, and what is sealed; nothing without a split."""
    holdout = suite.get("holdout")
    if holdout is None:
        return
    if holdout["opened"]:
        yield f"Over the sealed holdout, {count_of(holdout['sealed'], 'item')}"
    else:
        if note := _SET_NOTES.get(suite.get("subset", "")):
            yield note
        if holdout["sealed"]:
            yield f"{count_of(holdout['sealed'], 'item')} sealed, not in this report"
    if holdout["openings"]:
        yield f"opened {count_of(holdout['openings'], 'time')}"
    elif holdout["sealed"]:
        yield "never opened"
    if suite.get("rotation"):
        yield f"rotation {suite['rotation']} of the rolling set"


def lock_parts(suite: Document) -> Iterator[str]:
    """Yield how many items the suite's lock does not have."""
    added = (suite.get("lock") or {}).get("added_items", 0)
    if added:
        yield f"{count_of(added, 'item')} not in the lock"
