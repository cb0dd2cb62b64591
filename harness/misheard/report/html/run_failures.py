"""What failed: by arm, stage and kind, then item by item."""

from itertools import accumulate, chain

from misheard.report.failures import failure_rows
from misheard.report.html.page import Block, Cell, Column, Prose, Row, Section, Table
from misheard.report.html.run_documents import RunDocuments
from misheard.report.html.shown import shown
from misheard.report.labels import UNICODE, count_of
from misheard.report.values import Document

_MOST_ROWS = 500
_MOST_LETTERS = 200_000
"""Of the conditions of all rows together: an item may have very many."""


def failures_section(documents: RunDocuments) -> Section:
    """Return what failed, or that nothing did."""
    failures = documents.report["failures"]
    failed, samples = failures["samples_failed"], failures["samples"]
    if not failed:
        return Section("failures", "Failures", (Prose(("No item failed.",)),))
    rate = f"{failed} of {count_of(samples, 'item')} ({100 * failures['failure_rate']:.1f}%)"
    how = "counts as all wrong" if documents.report["scorer"].get("on_failure") == "worst" else "is left out"
    blocks: tuple[Block, ...] = (_by_kind(failures), _items(documents))
    return Section("failures", "Failures", blocks, f"{rate} failed; each {how} of what it failed in")


def _by_kind(failures: Document) -> Table:
    rows = []
    for arm, summary in failures["by_arm"].items():
        if summary["samples_failed"]:
            cells = [Cell(str(summary["samples_failed"]), sort=summary["samples_failed"])]
            cells += [Cell(_counts(summary[key])) for key in ("by_stage", "by_kind")]
            rows.append(Row(arm, tuple(cells)))
    columns = (Column("items"), Column("stages", is_text=True), Column("kinds", is_text=True))
    return Table("failed-arms", "By arm", "arm", columns, tuple(rows), sorts=False)


def _counts(counts: Document) -> str:
    return ", ".join(f"{name} {UNICODE.times}{count}" for name, count in counts.items())


def _items(documents: RunDocuments) -> Table:
    found = failure_rows(documents.table)
    conditions = {item.id: dict(item.conditions) for item in documents.table.items}
    sizes = accumulate(
        sum(len(shown(text)) for text in (item, failure.detail or "", *chain(*conditions[item].items())))
        for item, _, failure in found[:_MOST_ROWS]
    )
    kept = found[: max(1, sum(size <= _MOST_LETTERS for size in sizes))]
    rows = tuple(
        Row(
            item,
            tuple(
                Cell(text, sort=text)
                for text in (str(arm), failure.stage, str(failure.kind), failure.detail or "")
            ),
            below=", ".join(conditions[item].values()),
            conditions=conditions[item],
        )
        for item, arm, failure in kept
    )
    columns = tuple(Column(title, is_text=True) for title in ("arm", "stage", "kind", "detail"))
    more = len(found) - len(kept)
    notes = (f"and {more} more in failures.csv",) if more > 0 else ()
    return Table("failed-items", "Item by item", "item", columns, rows, notes=notes)
