"""From the cells and failures of a page to the items behind them: only a page with items has such links."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

from misheard.report.html.page import Block, Cell, Details, Highlight, Page, Panels, Row, Section, Side, Table

_CLASS_OF = {
    "correct_rate": "correct",
    "abstention_rate": "abstained",
    "hallucination_rate": "hallucinated",
}
_AXIS = "items.axis."
_MOST_LINKS = 3
"""Of a worst cell that others equal."""


def with_item_links(page: Page) -> Page:
    """Return a page whose worst cells, matrix cells and failed items link into its item browser."""
    highlights = tuple(replace(one, further=tuple(_worst_first(one))) for one in page.highlights)
    return replace(page, highlights=highlights, sections=tuple(map(_section, page.sections)))


def _worst_first(one: Highlight) -> Iterator[tuple[str, str]]:
    for axis, value in one.conditions[:_MOST_LINKS]:
        where = {f"{_AXIS}{axis}": "" if value is None else value}
        shown = "(none)" if value is None else value
        text = "its items" if len(one.conditions) == 1 else f"items at {axis}={shown}"
        yield f"{text}, most errors first", urlencode({**where, "items.sort": "errors"})


def _section(section: Section) -> Section:
    return replace(section, blocks=tuple(_block(block, "") for block in section.blocks))


def _block(block: Block, metric: str) -> Block:
    if isinstance(block, Table):
        return _table(block, metric)
    if isinstance(block, Side | Details):
        return replace(block, blocks=tuple(_block(inner, metric) for inner in block.blocks))
    if isinstance(block, Panels):
        panels = (
            replace(panel, blocks=tuple(_block(inner, panel.key) for inner in panel.blocks))
            for panel in block.panels
        )
        return replace(block, panels=tuple(panels))
    return block


def _table(table: Table, metric: str) -> Table:
    if table.id == "failed-items":
        rows: Iterator[Row] = (replace(row, link=urlencode({"item": row.name})) for row in table.rows)
    elif table.is_matrix:
        rows = (_condition(table, row, metric) for row in table.rows)
    else:
        return table
    return replace(table, rows=tuple(rows))


def _condition(table: Table, row: Row, metric: str) -> Row:
    if not row.is_one_condition:
        return row
    axis, value = next(iter(row.conditions.items()))
    where = {f"{_AXIS}{axis}": "" if value is None else value}

    def link(cell: Cell, place: int) -> Cell:
        if not cell.text:
            return cell
        column = table.columns[place]
        arm = column.title if metric else "audio"
        found = _CLASS_OF.get(metric or column.key)
        query = {**where, "items.class": f"{arm}:{found}"} if found else {**where, "items.sort": "errors"}
        return replace(cell, link=urlencode(query))

    cells = tuple(link(cell, place) for place, cell in enumerate(row.cells))
    return replace(row, cells=cells, link=urlencode({**where, "items.sort": "errors"}))
