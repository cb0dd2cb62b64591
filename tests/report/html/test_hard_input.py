"""What no suite holds and a damaged or foreign file may: the page is there, or an error says what to do."""

import copy
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hostile_items import hostile_sources
from hostile_run import verdict

from misheard.errors import IncompleteRunError, InputError
from misheard.report.html.charts.forest import Forest, ForestRow, forest
from misheard.report.html.charts.intervals import Dot, IntervalRow, Intervals, intervals
from misheard.report.html.items_document import items_document
from misheard.report.html.items_section import with_items
from misheard.report.html.links import link_to
from misheard.report.html.loading import read_verdict
from misheard.report.html.page import Page
from misheard.report.html.render import render
from misheard.report.html.soak_documents import read_soak_documents
from misheard.report.labels import plain
from soak.made_traces import healthy, write

if TYPE_CHECKING:
    from playwright.sync_api import Browser

UNDRAWABLE = ("nul \x00", "escape \x1b[31m", "two\nlines\x0b", "no character \uffff", "half \ud800")
"""Labels that XML or the font library cannot carry."""


@pytest.mark.parametrize("label", UNDRAWABLE)
def test_a_label_that_cannot_be_drawn_stands_as_escapes(label: str) -> None:
    rows = (IntervalRow(label, (Dot("audio", 0.5, None, "audio"),)),)
    drawn = [
        intervals(Intervals("chart-a", "T", "told", rows, str)),
        forest(Forest("chart-b", "T", "told", (ForestRow(label, 0.1, None, "worse", "worse", label),), str)),
    ]
    shown = label.encode("unicode_escape").decode("ascii")
    assert all(f">{shown}<" in one for one in drawn)


def test_a_link_keeps_the_bytes_of_a_name_that_is_no_text(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9 #?%\n")
    assert link_to(tmp_path / "index.html", folder / "report.html") == "caf%E9%20%23%3F%25%0A/report.html"


def broken(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    whole = {"format": "misheard-verdict", "format_version": 1, **copy.deepcopy(verdict())}
    whole["checks"] = [{"arm": None, "rule": None, "slice": {}, **check} for check in whole["checks"]]
    change(whole)
    return whole


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.pop("summary"),
        lambda one: one.update(refusals=[1]),
        lambda one: one.update(gate={}),
        lambda one: one.update(checks=[None]),
        lambda one: one["checks"][0].update(limit="1.2"),
        lambda one: one["checks"][0].pop("why"),
    ],
)
def test_a_damaged_verdict_is_named_and_not_the_report(
    change: Callable[[dict[str, Any]], Any], tmp_path: Path
) -> None:
    path = tmp_path / "verdict.json"
    path.write_text(json.dumps(broken(lambda _: None)))
    assert read_verdict(path, ["run"])["outcome"] == "no_ship"
    path.write_text(json.dumps(broken(change)))
    with pytest.raises(InputError, match=r"verdict\.json: is damaged; write it again"):
        read_verdict(path, ["run"])
    path.write_text(json.dumps(broken(lambda one: one["checks"][0].update(limit=float("nan")))))
    with pytest.raises(InputError, match="is no JSON"):
        read_verdict(path, ["run"])


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("machine", [1]),
        ("config", None),
        ("session", "x"),
        ("session", {"recordings": 3}),
        ("replayed", [None]),
        ("versions", -1),
    ],
)
def test_a_damaged_part_of_a_soak_is_named(part: str, value: Any, tmp_path: Path) -> None:
    limits = {"format": "misheard-soak/1"}
    whole = {"schema": "misheard/soak/1", "status": "complete", "minutes": 1, "speed": 1.0, "limits": limits}
    write(tmp_path / "trace.jsonl", healthy(2))
    path = tmp_path / "soak.json"
    path.write_text(json.dumps({**whole, "config": {}}))
    assert read_soak_documents(tmp_path).state is not None
    path.write_text(json.dumps({**whole, "config": {}, part: value}))
    with pytest.raises(IncompleteRunError, match=rf"soak\.json: not as misheard soak writes it .{part}"):
        read_soak_documents(tmp_path)


@pytest.mark.slow
def test_no_id_of_an_item_and_no_address_breaks_the_script(
    browser: "Browser", hostile_page: Page, tmp_path: Path
) -> None:
    sources = hostile_sources()
    names = ("list", "search", "__proto__", "axis-0", "\u202eturned")
    items = [replace(item, id=name) for item, name in zip(sources.items, names, strict=False)]
    sources = replace(sources, items=[*items, *sources.items[len(items) :]])
    path = tmp_path / "report.html"
    path.write_text(render(with_items(hostile_page, items_document(sources))), "utf-8")
    page = browser.new_page()
    broke: list[str] = []
    page.on("pageerror", lambda error: broke.append(str(error)))
    page.goto(path.as_uri())
    for name in names:
        page.evaluate(f"location.hash = '#item={name}'")
        page.wait_for_selector(".item[open] .item-body")
        assert page.locator(".item[open] .item-name").inner_text() == plain(name)
    for anchor in ("%", "%E0%A4%A", "items.sort=__proto__", "sort=constructor&metric=toString", "item=%"):
        page.evaluate(f"location.hash = '#{anchor}'")
        page.wait_for_timeout(50)
    assert page.locator(".item").count() == 25
    page.close()
    assert broke == []
