"""What a run's report and page were before it is scored again, and what the user should know afterwards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.canonical import sha256_file
from misheard.command_lines import path_argument
from misheard.errors import MisheardError
from misheard.report.files import REPORT, read_report
from misheard.run.scorers import option_changes, score_command
from misheard.suite.problems import shown

PAGE = "report.html"


@dataclass(frozen=True, slots=True)
class Earlier:
    """The report that a run has before it is scored.

    Attributes:
        scorer: how it was counted; None where there is no report that can be read.
        sha256: of the file; None where there is none.
        has_old_page: whether the page beside it is older than it.
    """

    scorer: Mapping[str, Any] | None
    sha256: str | None
    has_old_page: bool


def earlier_report(run: Path) -> Earlier:
    """Return what there is of a report; whatever is wrong with it, scoring mends."""
    report, page = run / REPORT, run / PAGE
    try:
        scorer = read_report(run)["scorer"]
    except (MisheardError, OSError, LookupError):
        return Earlier(None, None, has_old_page=False)
    is_old = page.is_file() and page.stat().st_mtime_ns < report.stat().st_mtime_ns
    return Earlier(scorer, sha256_file(report), is_old)


def rescoring_notes(run: Path, earlier: Earlier, scorer: Mapping[str, Any]) -> Iterator[str]:
    """Yield that the report counts in another way than the earlier one, and that its page is older.

    Args:
        run: the directory, scored anew.
        earlier: what it held before.
        scorer: of the new report.
    """
    changes = () if earlier.scorer is None else option_changes(earlier.scorer, scorer)
    if changes:
        now = ", ".join(f"{change.name} {shown(change.after)}" for change in changes)
        before = ", ".join(shown(change.before) for change in changes)
        back = score_command(run, [(change.option, change.before) for change in changes])
        yield f"the report of {run} now counts with {now}, no longer {before}; back: {back}"
    if (run / PAGE).is_file() and (earlier.has_old_page or sha256_file(run / REPORT) != earlier.sha256):
        renew = f"misheard report {path_argument(run)} --html"
        yield f"{run / PAGE} shows an earlier scoring; renew it: {renew}"
