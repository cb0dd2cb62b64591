"""The page in Chromium: no error, no request, and everything that moves works from the keyboard."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow


@pytest.fixture
def page(browser: "Browser", hostile_file: Path) -> "Iterator[Page]":
    """The page at the width of a telephone, dark; a console message or a request fails the test."""
    context = browser.new_context(viewport={"width": 360, "height": 780}, color_scheme="dark")
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(hostile_file.as_uri())
    yield page
    assert said == [] and set(asked) == {hostile_file.as_uri()}
    context.close()


def test_names_run_nothing_and_nothing_is_wider_than_the_screen(page: "Page") -> None:
    assert page.evaluate("window.broken") is None
    for width in (360, 768, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_worst_cell_and_the_stage_to_blame_are_on_the_first_screen(page: "Page") -> None:
    for size in ({"width": 360, "height": 780}, {"width": 1600, "height": 900}):
        page.set_viewport_size(size)
        for title in ("Worst cell", "Stage to blame"):
            box = page.locator(".highlight", has_text=title).first.bounding_box()
            assert box is not None and box["y"] + box["height"] <= size["height"]


def test_a_table_fades_where_there_is_more_of_it_and_only_on_screens(page: "Page") -> None:
    masks = "getComputedStyle(document.querySelector('#matrix').parentElement).maskImage"
    scrolled = "(at) => { document.querySelector('#matrix').parentElement.scrollLeft = at; }"
    is_masked = f"() => {masks} !== 'none'"
    page.wait_for_function(is_masked)
    page.evaluate(scrolled, 100_000)
    page.wait_for_function(f"() => {masks} === 'none'")
    page.evaluate(scrolled, 0)
    page.wait_for_function(is_masked)
    page.emulate_media(media="print")
    page.wait_for_function(f"() => {masks} === 'none'")
    page.emulate_media(media="screen")
    page.evaluate("document.querySelector('#matrix').style.display = 'none'")
    page.wait_for_function(f"() => {masks} === 'none'")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: "Page", scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra dev")
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = axe.Axe().run(page).response["violations"]
    grave = [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert grave == []


def test_conditions_filter_rows_and_the_address_says_so(page: "Page", hostile_file: Path) -> None:
    rows = page.locator("#matrix tbody tr:visible")
    everything = rows.count()
    page.get_by_label("b", exact=True).check(force=True)
    assert rows.count() == 1 and "axis.mic=b" in page.url
    page.goto("about:blank")
    page.goto(f"{hostile_file.as_uri()}#axis.mic=b&metric=cer")
    assert rows.count() == 1 and page.locator("#metric-cer").is_visible()
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function(
        f"document.querySelectorAll('#matrix tbody tr:not([hidden])').length === {everything}"
    )
    assert "axis." not in page.url


def test_columns_sort_from_the_keyboard_and_come_back(page: "Page") -> None:
    heading = page.locator("#matrix th[data-key=wer]")
    column = heading.evaluate("(one) => one.cellIndex")
    values = (
        f"[...document.querySelectorAll('#matrix tbody tr')].map((row) => row.cells[{column}].dataset.sort)"
    )
    before = page.evaluate(values)
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending" and "sort=-wer" in page.url
    known = [float(one) for one in page.evaluate(values) if one is not None]
    assert known == sorted(known, reverse=True) and len(known) > 1
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") is None and page.evaluate(values) == before


def test_explanations_show_on_focus_and_arrow_keys_go_from_cell_to_cell(page: "Page") -> None:
    page.locator("#matrix td[tabindex='0']").focus()
    tip = page.get_by_role("tooltip")
    first = tip.inner_text()
    assert "items" in first
    page.keyboard.press("ArrowDown")
    assert tip.is_visible() and tip.inner_text() != first
    assert page.locator("#matrix td[tabindex='0']").count() == 1
    page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_one_metric_shows_at_a_time_and_the_theme_changes(page: "Page") -> None:
    assert page.locator(".panel:visible").count() == 1
    page.get_by_label("One metric, every arm:").select_option("cer")
    assert page.locator("#metric-cer").is_visible() and "metric=cer" in page.url
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 20, 23)"
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(246, 246, 243)"
