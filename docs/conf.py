"""The site of these pages: Sphinx reads them as they are. Build it with scripts/docs."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.data import JsonLexer
from sphinx.application import Sphinx

DOCS = Path(__file__).parent

project = "misheard"
author = "the misheard authors"
extensions = ["myst_parser"]
exclude_patterns = ["conf.py"]
nitpicky = True
highlight_language = "none"
html_theme = "furo"
html_title = "misheard"
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # made by fetching pages, which no browser allows from disk
smartquotes = False  # an option such as --resume would begin with a dash
myst_heading_anchors = 4


def _contents(text: str) -> str:
    """Return the tables of contents for index.md: one per heading, of its bullets' first links."""
    tables = []
    for part in text.split("\n## ")[1:]:
        caption, _, rest = part.partition("\n")
        pages = re.findall(r"^\* \[[^\]]+\]\(([\w-]+)\.md\)", rest, re.MULTILINE)
        tables.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"]))
    return "\n\n".join(tables)


def _read(_: Sphinx, name: str, source: list[str]) -> None:
    """Prepare a page: contents of the index; Markdown files outside docs/, which are no pages."""
    text = re.sub(r"\[([^\]]+)\]\((\.\./[\w./-]+\.md)\)", r"{download}`\1 <\2>`", source[0])
    # a link that is called like its file gets the title of the page
    source[0] = re.sub(r"\[([\w-]+\.md)\]\((\1(?:#[\w-]+)?)\)", r"[](\2)", text)
    if name == "index":
        source[0] += "\n" + _contents(source[0])


def _list_external_links(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Note the links of a page that lead elsewhere: they are listed, since nothing here asks a network."""
    found = {node["refuri"] for node in doctree.findall(nodes.reference) if "://" in node.get("refuri", "")}
    with (Path(app.outdir) / "external-links.txt").open("a", encoding="utf-8") as out:
        out.writelines(f"{name}: {uri}\n" for uri in sorted(found))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the steps above, and JSON Lines to the languages of code blocks."""
    app.add_lexer("jsonl", JsonLexer)
    app.connect("source-read", _read)
    app.connect("doctree-resolved", _list_external_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
