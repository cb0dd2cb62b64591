"""What a page is made of, as plain values: sections of blocks, which the templates lay out.

Texts are unescaped: the templates escape them. A figure's `svg` alone is markup, made by `charts`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

SHADES = 8
"""Steps of the scale of a cell's background: 0 is best, the last is the worst of its column."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign beside a value, with the word that it stands for."""

    sign: str
    word: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: the value.
        below: what stands below it, such as its interval.
        sizes: how many items it is of and what failed.
        marks: signs that say in a shape what colour says as well.
        tip: lines that are shown on hover and on keyboard focus.
        sort: what sorting goes by; None sorts last.
        shade: 0 to SHADES - 1; None for no colour.
        tone: `bad`, `good` or `quiet`; empty for none.
        link: an anchor of this page.
        href: a relative address of another page, escaped as one (see `links`).
    """

    text: str = ""
    below: str = ""
    sizes: str = ""
    marks: tuple[Mark, ...] = ()
    tip: tuple[str, ...] = ()
    sort: float | str | None = None
    shade: int | None = None
    tone: str = ""
    link: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its title, an explanation, and the heading that it shares with its neighbours."""

    title: str
    note: str = ""
    group: str = ""
    is_text: bool = False
    key: str = ""
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row: what it is called, its cells, and the conditions by which the page filters it.

    Attributes:
        name: of the row.
        cells: one per column.
        prefix: what stands before the name in the background, such as the axis of a condition.
        others: further prefixes and names, of conditions that hold the very same items.
        below: what stands below the name.
        conditions: the value per axis; None is the value of items that give none.
        is_one_condition: whether the row is a cell of one axis, to be shown where that very value is chosen.
        link: an anchor of this page.
    """

    name: str
    cells: tuple[Cell, ...]
    prefix: str = ""
    others: tuple[tuple[str, str], ...] = ()
    below: str = ""
    conditions: Mapping[str, str | None] = field(default_factory=dict)
    is_one_condition: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that scrolls inside itself; its columns sort where `sorts` is set."""

    kind: ClassVar[str] = "table"
    id: str
    caption: str
    head: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    sorts: bool = True
    is_matrix: bool = False
    notes: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """The headings above the columns with how many columns each spans; none where no column has one."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return tuple(found) if any(name for name, _ in found) else ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its caption; its title and description for screen readers are inside the SVG.

    One that `is_wide` scrolls inside itself where the page is narrow.
    """

    kind: ClassVar[str] = "figure"
    svg: str
    caption: str
    note: str = ""
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, str], ...]
    caption: str = ""
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences, a paragraph each. `tone` is `lead`, `quiet` or `warning`; empty for plain text."""

    kind: ClassVar[str] = "prose"
    sentences: tuple[str, ...]
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """Commands or a file, to be copied."""

    kind: ClassVar[str] = "code"
    text: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """Blocks that stand side by side where there is room."""

    kind: ClassVar[str] = "side"
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that are folded away until they are asked for."""

    kind: ClassVar[str] = "details"
    summary: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One of several views of which the page shows one; its key is what a deep link names."""

    key: str
    title: str
    group: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Panels:
    """Views to choose from; `name` is the parameter of a deep link (`#metric=wer`)."""

    kind: ClassVar[str] = "panels"
    name: str
    label: str
    panels: tuple[Panel, ...]

    @property
    def groups(self) -> tuple[tuple[str, tuple[Panel, ...]], ...]:
        """The panels under the heading that they share, in order."""
        found: dict[str, list[Panel]] = {}
        for panel in self.panels:
            found.setdefault(panel.group, []).append(panel)
        return tuple((name, tuple(panels)) for name, panels in found.items())


@dataclass(frozen=True, slots=True)
class Filters:
    """The values of each condition axis, of which a reader may choose."""

    kind: ClassVar[str] = "filters"
    axes: Mapping[str, Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class ItemBrowser:
    """Items with their texts. `data` is markup: JSON in which no element can begin (see `items_section`)."""

    kind: ClassVar[str] = "items"
    data: str


Block = Table | Figure | Facts | Prose | Code | Side | Details | Panels | Filters | ItemBrowser


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that the contents link to."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Highlight:
    """One of the things that a reader must see first.

    Attributes:
        title: what it is about, such as `Worst cell`.
        value: the figure.
        what: the metric or stage, in words.
        where: the condition, or empty.
        detail: interval and sizes.
        more: what stands beside it, such as the other stages.
        note: what weakens it.
        link: the anchor with everything about it.
        tone: `bad` or `quiet`; empty for none.
        conditions: axis and value of each cell that it names.
        items_order: how links to the items of its conditions order them: `errors`, or `lost` for what they
            lose to mishearing.
        further: texts and anchors of further links.
    """

    title: str
    value: str
    what: str
    where: str = ""
    detail: str = ""
    more: str = ""
    note: str = ""
    link: str = ""
    tone: str = ""
    conditions: tuple[tuple[str, str | None], ...] = ()
    items_order: str = "errors"
    further: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Banner:
    """A verdict: the word, the sentence behind it, and the anchor of the findings that led to it."""

    word: str
    sentence: str
    tone: str
    link: str


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page.

    Attributes:
        title: its heading, and the title of the document.
        label: what kind of page it is, such as `Run`.
        facts: a line of facts below the title.
        banner: a verdict, where there is one.
        lead: the sentences that the page comes down to, seen first.
        lead_note: what a term in them means.
        highlights: the figures that matter most.
        sections: in order; the contents are made of them.
        template: of the page, in `templates/`.
        media_sources: where the page may take recordings and drawings from, as a content security policy says
            it; nowhere where there are none.
    """

    title: str
    label: str
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    highlights: tuple[Highlight, ...] = ()
    lead: tuple[str, ...] = ()
    lead_note: str = ""
    banner: Banner | None = None
    template: str = "page.html.j2"
    media_sources: tuple[str, ...] = ()
