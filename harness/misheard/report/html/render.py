"""A page as HTML: templates with everything escaped, style and script inlined and named by their hash."""

import base64
import functools
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING

from misheard.canonical import canonical_json
from misheard.report.html.page import ItemBrowser, Page
from misheard.report.html.shown import bounded, shown, shown_line

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "misheard.report.html"


def render(page: Page) -> str:
    """Return a page as one HTML document: equal pages, equal text.

    Nothing is loaded: a content security policy forbids what is not in the document, and names style and
    script by their hashes.
    """
    style, head, script = map(_own_file, ("style.css", "head.js", "page.js"))
    if any(isinstance(block, ItemBrowser) for section in page.sections for block in section.blocks):
        style, script = style + _own_file("items.css"), script + _own_file("items.js")
    return _environment().get_template(page.template).render(
        page=page,
        style=style,
        head_script=head,
        script=script,
        policy=_policy(style, (head, script), page.media_sources),
    )  # fmt: skip


@functools.cache
def _own_file(name: str) -> str:
    return (resources.files(_PACKAGE) / name).read_text("utf-8")


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters["shown"] = shown
    environment.filters["shown_line"] = shown_line
    environment.filters["json"] = lambda value: canonical_json(bounded(value))
    return environment


def _policy(style: str, scripts: Sequence[str], media_sources: tuple[str, ...]) -> str:
    parts = [
        "default-src 'none'",
        f"style-src {_hash(style)}",
        f"script-src {' '.join(map(_hash, scripts))}",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if media_sources:
        parts += [f"{kind}-src {' '.join(media_sources)}" for kind in ("media", "img")]
    return "; ".join(parts)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
