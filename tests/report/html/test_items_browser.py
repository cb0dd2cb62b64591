"""The item browser in Chromium: texts stay texts, edits read right, and every way to an item leads there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile_run import SCRIPT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def file(items_html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("items") / "report.html"
    path.write_text(items_html, "utf-8")
    return path


@pytest.fixture(scope="module")
def opened(browser: "Browser", file: Path) -> "Iterator[Page]":
    """One page for all tests; a console message fails the last.

    So does a request for anything but the page and the drawing of its first item: no recording is loaded
    before it is played.
    """
    context = browser.new_context(viewport={"width": 360, "height": 780})
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "console",
        lambda message: said.append(message.text) if "ERR_FILE_NOT_FOUND" not in message.text else None,
    )
    page.goto(file.as_uri())
    yield page
    drawing = (file.parent / "x.svg").as_uri()
    assert said == [] and file.as_uri() in asked and set(asked) <= {file.as_uri(), drawing}
    context.close()


@pytest.fixture
def page(opened: "Page") -> "Page":
    opened.evaluate("history.replaceState(null, '', '#'); dispatchEvent(new HashChangeEvent('hashchange'))")
    assert opened.locator("#item-state").inner_text() == "1 to 25 of 34 items"
    return opened


def opened_item(page: "Page", place: int) -> "Locator":
    """Return the item at a place of the suite, opened."""
    page.get_by_label("Order").select_option("suite")
    item = page.locator("details.item").nth(place)
    item.evaluate("(one) => { one.open = true; }")
    item.locator(".item-body").wait_for()
    return item


def edits(item: "Locator", kind: str) -> list[str]:
    """Return what a screen reader reads of the edits of the first alignment of a kind."""
    return [
        " ".join(text.split())
        for text in item.locator(f".aligned.is-{kind}").first.locator(".edit").all_text_contents()
    ]


def test_texts_are_shown_as_they_are_and_run_nothing(page: "Page") -> None:
    text = opened_item(page, 0).inner_text()
    assert f"{SCRIPT} you" in text and "</script>" in text and page.evaluate("window.broken") is None
    assert "\\u202egnp \\x1b[31mred" in opened_item(page, 1).inner_text()
    assert page.locator("#item-browser img[src=x], #item-browser script:not(#items-data)").count() == 0
    assert "cut here: 1,050,000 characters in all" in opened_item(page, 12).inner_text()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_edits_are_told_by_words_as_well_and_clusters_stay_whole(page: "Page") -> None:
    item = opened_item(page, 6)
    assert edits(item, "words") == ["substituted: cat by bat;", "inserted: down;"]
    assert edits(item, "characters") == ["substituted: c by b;", "inserted: down;"]
    assert edits(opened_item(page, 2), "characters") == ["substituted: स्ते by स्का;", "inserted: र;"]
    assert edits(opened_item(page, 4), "words") == ["substituted: 想 by 要;"]


def test_right_to_left_texts_run_from_the_right(page: "Page") -> None:
    item = opened_item(page, 3)
    assert edits(item, "words") == ["substituted: بالعالم by العالم;"]
    line = item.locator(".aligned.is-words").first
    # letters join over the edge of an edit as in their word, and no other text gets joiners
    assert edits(item, "characters") == ["deleted: ب\u200d;"]
    assert "\u200dالعالم" in item.locator(".aligned.is-characters").first.inner_text()
    assert "\u200d" not in item.locator(".item-text").first.inner_text()
    assert line.get_attribute("dir") == "rtl" and line.get_attribute("lang") == "ar"
    first, last = (line.locator(one).first.bounding_box() for one in ("del", "ins"))
    assert first is not None and last is not None and first["x"] > last["x"]


def test_texts_that_arms_share_stand_once_and_what_was_judged_says_how(page: "Page") -> None:
    item = opened_item(page, 6)
    assert [text for text in item.locator("h3").all_inner_texts() if "arm" in text] == [
        "Heard, audio arm",
        "Corrected, audio arm",
    ]
    arms = item.locator(".arm").all_inner_texts()
    for arm, found in zip(
        arms,
        (
            ("83.5 of 100", "50 of 100, undecided: its replies are on two sides of the threshold"),
            ("100 of 100, not asked: the very same text",),
            ("no valid reply",),
        ),
        strict=True,
    ):
        assert arm.count("judge, ") == len(found) and all(one in arm for one in found)


def test_items_are_found_filtered_and_ordered_and_the_address_says_so(page: "Page", file: Path) -> None:
    state = page.locator("#item-state")
    page.get_by_label("Show").select_option("failed")
    assert state.inner_text() == "1 to 1 of 1 item" and "items.show=failed" in page.url
    page.get_by_label("Show").select_option("")
    page.locator("#item-class").select_option("audio:hallucinated")
    assert (
        page.locator("details.item .badge", has_text="hallucinated").count()
        == page.locator("details.item").count()
    )
    page.locator("#item-class").select_option("")
    page.get_by_label("Order").select_option("rate")
    shown = page.locator("details.item .item-signs").all_inner_texts()
    assert "error" in shown[0] and "items.sort=rate" in page.url
    page.get_by_role("button", name="Next").click()
    assert state.inner_text() == "26 to 34 of 34 items"


def word_errors(page: "Page") -> list[int]:
    """Return the errors of the items that are shown and have any, in their order."""
    found = page.locator("details.item .item-signs").all_inner_texts()
    return [
        int(text.split(" word error")[0].split()[-1])
        for text in found
        if " word error" in text and "no " not in text
    ]


def test_items_come_with_the_most_errors_first(page: "Page") -> None:
    assert page.get_by_label("Order").input_value() == "errors" and "items.sort" not in page.url
    errors = word_errors(page)
    assert errors == sorted(errors, reverse=True) and errors[0] > errors[-1] > 0


def test_items_are_ordered_by_what_they_lose_to_mishearing(page: "Page") -> None:
    page.get_by_label("Order").select_option("lost")
    assert "items.sort=lost" in page.url
    found = page.locator("details.item .item-signs").all_inner_texts()
    lost = [float(text.split("−")[1].split()[0]) if "−" in text else 0.0 for text in found]
    assert lost == sorted(lost, reverse=True) and lost[0] > 0 == lost[-1] and "answer quality" in found[0]


def test_what_no_item_has_is_not_offered(page: "Page", items_html: str, tmp_path: Path) -> None:
    html = re.sub(r'"class":"(correct|abstained|hallucinated)",', "", items_html)
    path = tmp_path / "report.html"
    path.write_text(html.replace('"loses":"answer quality"', '"loses":""'), "utf-8")
    other = page.context.new_page()
    other.goto(f"{path.as_uri()}#items.sort=lost")
    assert other.locator("#item-state").inner_text() == "1 to 25 of 34 items"
    assert other.locator("#item-class").count() == 0 and page.locator("#item-class").count() == 1
    assert other.get_by_label("Order").input_value() == "errors"
    assert other.get_by_label("Order").locator("option[value=lost]").count() == 0
    other.close()


def test_the_worst_cell_leads_to_its_items_the_one_with_most_errors_first(page: "Page") -> None:
    page.locator(".highlight .further a").first.click()
    assert "items.axis." in page.url and page.get_by_label("Order").input_value() == "errors"
    errors = word_errors(page)
    assert errors == sorted(errors, reverse=True) and errors[0] > 0


def test_a_cell_leads_to_its_items_and_a_failure_to_its_item(page: "Page") -> None:
    page.locator("#matrix tbody tr", has_text="mic").first.locator("th a").click()
    assert page.locator("#item-axis-1").input_value() in ("0", "1") and "items.axis.mic=" in page.url
    page.locator("#failed-items tbody th a").first.click()
    assert page.locator("details.item[open] .failed").count() == 1
    assert page.locator("details.item[open] summary").evaluate("(one) => one === document.activeElement")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_items(page: "Page", scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra dev")
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for place in (0, 3, 6):
        opened_item(page, place)
    found = axe.Axe().run(page, context="#items").response["violations"]
    grave = [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert grave == []
