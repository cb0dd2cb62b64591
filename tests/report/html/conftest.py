"""One browser, and one page that every test of the page looks at."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile_items import hostile_sources
from hostile_run import hostile_documents

from misheard.report.html.items_document import items_document
from misheard.report.html.items_section import with_items
from misheard.report.html.page import Page
from misheard.report.html.render import render
from misheard.report.html.run_page import run_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def hostile_page() -> Page:
    """The page of a run with hostile names, in parts."""
    return run_page(hostile_documents())


@pytest.fixture(scope="session")
def hostile_html(hostile_page: Page) -> str:
    """The same page as a document."""
    return render(hostile_page)


@pytest.fixture(scope="session")
def items_html(hostile_page: Page) -> str:
    """The same page with items whose texts are hostile too."""
    return render(with_items(hostile_page, items_document(hostile_sources())))


@pytest.fixture(scope="session")
def hostile_file(hostile_html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same page on disk."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(hostile_html, "utf-8")
    return path


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Debian's Chromium, headless, driven by Playwright."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the extra dev")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no chromium; scripts/test installs it where it can")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
