"""From the cells and failures of a page to the items behind them: only a page with items has such links."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

from misheard.report.html.page import Block, Cell, Details, Highlight, Page, Panels, Row, Section, Side, Table
from misheard.report.takeaway_stages import LEADING

_CLASS_OF = {
    "correct_rate": "correct",
    "abstention_rate": "abstained",
    "hallucination_rate": "hallucinated",
}
_AXIS = "items.axis."
_MOST_LINKS = 3
"""Of a worst cell that others equal."""


_BY_LOSS = {
    *LEADING, "quality_drop", "degraded_fraction", "label_f1_drop", "connection_f1_drop",
    "degraded_board_fraction",
}  # fmt: skip
"""Metrics whose cells lead to the items that lose most."""
_ORDERS = {"errors": "most errors first", "lost": "most lost to mishearing first"}
"""How the items of a link are ordered."""


def with_item_links(page: Page, *, has_losses: bool) -> Page:
    """Return a page whose worst cells, matrix cells and failed items link into its item browser.

    Args:
        page: of a run, with an item browser.
        has_losses: whether the browser can order items by what they lose to mishearing.
    """
    highlights = tuple(replace(one, further=tuple(_worst_first(one, has_losses))) for one in page.highlights)
    sections = tuple(_section(section, has_losses) for section in page.sections)
    return replace(page, highlights=highlights, sections=sections)


def _worst_first(one: Highlight, has_losses: bool) -> Iterator[tuple[str, str]]:
    order = one.items_order if has_losses else "errors"
    for axis, value in one.conditions[:_MOST_LINKS]:
        where = {f"{_AXIS}{axis}": "" if value is None else value}
        shown = "(none)" if value is None else value
        text = "its items" if len(one.conditions) == 1 else f"items at {axis}={shown}"
        yield f"{text}, {_ORDERS[order]}", urlencode({**where, "items.sort": order})


def _section(section: Section, has_losses: bool) -> Section:
    return replace(section, blocks=tuple(_block(block, "", has_losses) for block in section.blocks))


def _block(block: Block, metric: str, has_losses: bool) -> Block:
    if isinstance(block, Table):
        return _table(block, metric, has_losses)
    if isinstance(block, Side | Details):
        return replace(block, blocks=tuple(_block(inner, metric, has_losses) for inner in block.blocks))
    if isinstance(block, Panels):
        panels = (
            replace(panel, blocks=tuple(_block(inner, panel.key, has_losses) for inner in panel.blocks))
            for panel in block.panels
        )
        return replace(block, panels=tuple(panels))
    return block


def _table(table: Table, metric: str, has_losses: bool) -> Table:
    if table.id == "failed-items":
        rows: Iterator[Row] = (replace(row, link=urlencode({"item": row.name})) for row in table.rows)
    elif table.is_matrix:
        rows = (_condition(table, row, metric, has_losses) for row in table.rows)
    else:
        return table
    return replace(table, rows=tuple(rows))


def _condition(table: Table, row: Row, metric: str, has_losses: bool) -> Row:
    if not row.is_one_condition:
        return row
    axis, value = next(iter(row.conditions.items()))
    where = {f"{_AXIS}{axis}": "" if value is None else value}

    def link(cell: Cell, place: int) -> Cell:
        if not cell.text:
            return cell
        column = table.columns[place]
        arm = column.title if metric else "audio"
        name = metric or column.key
        found = _CLASS_OF.get(name)
        order = "lost" if has_losses and name in _BY_LOSS else "errors"
        query = {**where, "items.class": f"{arm}:{found}"} if found else {**where, "items.sort": order}
        return replace(cell, link=urlencode(query))

    cells = tuple(link(cell, place) for place, cell in enumerate(row.cells))
    return replace(row, cells=cells, link=urlencode({**where, "items.sort": "errors"}))
