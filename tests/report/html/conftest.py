"""One browser, and one page that every test of the page looks at."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile_run import hostile_documents

from misheard.report.html.render import render
from misheard.report.html.run_page import run_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def hostile_html() -> str:
    """The page of a run with hostile names."""
    return render(run_page(hostile_documents()))


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
