"""The verdict of a gate on the page of a run: the outcome first, then every check with its finding."""

from collections.abc import Iterator

from misheard.report.html.page import Banner, Block, Cell, Column, Prose, Row, Section, Table
from misheard.report.values import Document

SECTION = "verdict"

_MOST_CHECKS = 500

_TONES = {"ship": "good", "inconclusive": "quiet"}
_STATUS_TONES = {"pass": "good", "fail": "bad", "no_evidence": "bad"}


def banner(verdict: Document | None) -> Banner | None:
    """Return the outcome in one line; None without a verdict."""
    if verdict is None:
        return None
    word, _, sentence = verdict["summary"].partition(": ")
    baseline = "" if verdict["baseline"] is None else f", against {verdict['baseline']}"
    tone = _TONES.get(verdict["outcome"], "bad")
    return Banner(word, f"{sentence} (gate {verdict['gate']['name']}{baseline})", tone, link=SECTION)


def blocking(verdict: Document | None) -> list[str]:
    """Return why a verdict is no pass: its refusals, and the sentences of the checks that block."""
    if verdict is None:
        return []
    checks = [one for one in verdict["checks"] if one["decides"] and one["status"] not in ("pass", "waived")]
    return [*verdict["refusals"], *(check["why"] for check in checks)]


def verdict_section(verdict: Document | None) -> Iterator[Section]:
    """Yield every check of a verdict; nothing without one."""
    if verdict is None:
        return
    passed = [check["status"] == "pass" for check in verdict["checks"]]
    order = sorted(range(len(passed)), key=lambda place: (passed[place], place))[:_MOST_CHECKS]
    rows = tuple(_row(verdict["checks"][place]) for place in sorted(order))
    more = len(passed) - len(rows)
    notes = (
        (f"and {more:,} more in the verdict itself; those that passed are left out first",) if more else ()
    )
    blocks: list[Block] = [Prose(tuple(verdict["refusals"]), "warning")] if verdict["refusals"] else []
    if rows:
        columns = (Column("status", is_text=True), Column("finding", is_text=True))
        blocks.append(Table("checks", "Every check", "check", columns, rows, notes=notes))
    blocks.append(Prose(tuple(verdict["notes"]), "quiet"))
    yield Section(SECTION, "Verdict of the gate", tuple(blocks), verdict["summary"])


def _row(check: Document) -> Row:
    status = check["status"].replace("_", " ")
    cells = (Cell(status, tone=_STATUS_TONES.get(check["status"], "quiet"), sort=status), Cell(check["why"]))
    return Row(check["id"], cells, below="" if check["decides"] else "one of several claims")
