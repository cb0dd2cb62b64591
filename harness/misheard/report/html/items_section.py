"""The item browser of a page: what is in it, from the journal of a run."""

import json
import re
from dataclasses import replace
from pathlib import Path

from misheard.command_lines import path_argument
from misheard.config import parse_config
from misheard.errors import IncompleteRunError
from misheard.metrics.table import CountTable
from misheard.report.html.items_document import ItemSources, items_document
from misheard.report.html.items_links import with_item_links
from misheard.report.html.items_losses import item_losses
from misheard.report.html.items_media import drawing_address, recording_address
from misheard.report.html.page import ItemBrowser, Page, Section
from misheard.report.html.run_documents import RunDocuments
from misheard.report.labels import count_of
from misheard.report.values import Document
from misheard.run.directory import RunDirectory
from misheard.run.scoring import RunOutputs, read_run_outputs

_HIDDEN = re.compile(
    r"[<>&\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""What begins markup, what turns the text around a file that is read as text, and what UTF-8 cannot carry."""


def read_items(root: Path, documents: RunDocuments, page: Path) -> Document:
    """Return what the item browser shows of a run; addresses in it are relative to `page`.

    Raises IncompleteRunError where the journal is missing, damaged, or not of the run that was scored.
    """
    directory = RunDirectory.open(root)
    if not directory.suite.is_file():
        raise IncompleteRunError(
            f"--with-text: {directory.suite} is missing; only the journal has the texts, so that the whole "
            "directory of the run is needed"
        )
    config = parse_config(str(directory.run_json), documents.run["config"])
    read = read_run_outputs(directory, documents.run, config)
    _check_same_run(root, read, documents.table)
    suite = read.suite
    axes: dict[str, list[str | None]] = {}
    for cell in documents.report["matrix"]:
        axes.setdefault(cell["axis"], []).append(cell["value"])
    recordings = {item.id: recording_address(suite, item, page) for item in suite.items}
    drawings = {
        (str(arm), item.id): drawing_address(directory.drawings, str(arm), item.id, page)
        for arm in (read.outputs.arms if directory.drawings.is_dir() else ())
        for item in suite.items
    }
    sources = ItemSources(
        items=suite.items,
        table=documents.table,
        outputs=read.outputs.arms,
        axes=axes,
        profile=str(documents.report["scorer"]["profile"]),
        char_scripts=suite.char_scripts,
        recordings={name: place for name, place in recordings.items() if place is not None},
        drawings={name: place for name, place in drawings.items() if place is not None},
        judge=documents.report.get("judge"),
        losses=item_losses(documents.report, documents.table, documents.families),
    )
    return items_document(sources)


def _check_same_run(root: Path, read: RunOutputs, table: CountTable) -> None:
    journal = [
        (item.id, planned.sha256) for item, planned in zip(read.suite.items, read.plan.items, strict=True)
    ]
    if journal != [(item.id, item.sha256) for item in table.items] or set(read.outputs.arms) != set(
        table.arms
    ):
        raise IncompleteRunError(
            f"{root}: journal and report are not of the same run; score it again: "
            f"misheard score {path_argument(root)}"
        )


def with_items(page: Page, document: Document) -> Page:
    """Return a page with an item browser where it said that it has none, and with links to the items.

    It may take recordings and drawings from the disk, or from the server that it comes from.
    """
    items = items_section(document)
    sections = tuple(items if section.id == items.id else section for section in page.sections)
    linked = with_item_links(replace(page, sections=sections), has_losses=bool(document["loses"]))
    return replace(linked, media_sources=("file:", "'self'"))


def items_section(document: Document) -> Section:
    """Return the section with the item browser."""
    kept, total = len(document["items"]), document["all"]
    parts = [f"{count_of(total, 'item')} with everything that was said, heard and answered"]
    if kept < total:
        parts.append(
            f"of them the {kept} with most errors, as more do not fit into a page; the rest is in the journal"
        )
    parts.append(f"texts are compared under the profile {document['profile']}")
    if document["withheld"]:
        parts.append(f"the judge's scores are withheld: {document['withheld']}")
    return Section("items", "Items", (ItemBrowser(_embedded(document)),), "; ".join(parts))


def _embedded(document: Document) -> str:
    """Return JSON that may stand inside an element: no markup can begin in it."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
