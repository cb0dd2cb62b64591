"""The pages of a comparison, a session and several runs: what they say, and that names stay names."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hostile_pages import entry, gate_check, hostile_comparison, hostile_index, hostile_soak
from test_page import Seen

from misheard.report.html.charts.trend import Trend, TrendPoint, trend
from misheard.report.html.comparison_documents import ComparedRun
from misheard.report.html.comparison_page import comparison_page
from misheard.report.html.comparison_rows import Named, Tolerances
from misheard.report.html.index_loading import read_index
from misheard.report.html.index_page import index_page
from misheard.report.html.links import link_to
from misheard.report.html.page import Page, Row, Table
from misheard.report.html.render import render
from misheard.report.html.soak_page import soak_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Make = Callable[[Path], Page]
MAKERS: dict[str, Make] = {
    "comparison": lambda _: comparison_page(hostile_comparison()),
    "several": lambda _: comparison_page(hostile_comparison(2)),
    "soak": lambda folder: soak_page(hostile_soak(folder)),
    "index": lambda _: index_page(hostile_index()),
}
PAGES = pytest.mark.parametrize("name", MAKERS)


def tables(page: Page) -> dict[str, Table]:
    """Every table of a page that is not inside another block, by id."""
    return {one.id: one for section in page.sections for one in section.blocks if isinstance(one, Table)}


def words(row: Row) -> list[str]:
    return [cell.text for cell in row.cells]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every page as HTML."""
    folder = tmp_path_factory.mktemp("drawn")
    return {name: render(make(folder)) for name, make in MAKERS.items()}


@pytest.mark.parametrize("name", ["soak", "index"])
def test_a_page_is_the_same_each_time(name: str, drawn: dict[str, str], tmp_path: Path) -> None:
    assert render(MAKERS[name](tmp_path)) == drawn[name]


@PAGES
def test_names_are_text(name: str, drawn: dict[str, str]) -> None:
    html = drawn[name]
    seen = Seen(html)
    assert [tag for tag, _ in seen.tags].count("script") == 2 and "img" not in [tag for tag, _ in seen.tags]
    assert not [one for _, one in seen.tags if any(name.startswith("on") for name in one)]
    assert "\u202e" not in html and "<script>window.broken=1</script>" in "".join(seen.text)


@PAGES
def test_ids_are_unique_and_links_lead_somewhere(name: str, drawn: dict[str, str]) -> None:
    seen = Seen(drawn[name])
    ids = Counter(one["id"] for _, one in seen.tags if "id" in one)
    assert [name for name, count in ids.items() if count > 1] == []
    links = [str(one["href"]) for _, one in seen.tags if "href" in one]
    anchors = {link[1:] for link in links if link.startswith("#") and "=" not in link}
    assert anchors <= set(ids)
    assert {link for link in links if not link.startswith("#")} <= {"a/report.html", "b/report.html"}


def test_a_comparison_says_what_is_worse_in_words_and_what_the_gate_allows() -> None:
    page = comparison_page(hostile_comparison())
    assert page.highlights[0].title == "Word error rate: worse" and page.highlights[0].tone == "bad"
    (row,) = [row for row in tables(page)["whole-table"].rows if row.name == "word error rate"]
    assert row.cells[0].text == "✗ worse" and row.cells[-1].text == "fail"
    assert row.cells[-1].below == "may rise by at most 2 points"
    assert words(tables(page)["differs-config"].rows[0]) != [] and "heard-items" in tables(page)


@pytest.mark.parametrize(
    ("directory", "config", "called"),
    [
        ("a", {}, "a"),
        ("a", {"recognizer": {"kind": "imported", "name": "service A"}}, "service A (a)"),
        ("a", {"recognizer": {"kind": "imported", "name": "a"}}, "a"),
        ("a", {"recognizer": {"kind": "fake"}}, "a"),
    ],
)
def test_sides_of_a_comparison_are_called_like_their_systems(
    directory: str, config: dict[str, Any], called: str
) -> None:
    other = replace(hostile_comparison(), a=ComparedRun(directory, config))
    page = comparison_page(other)
    assert page.title.endswith(f" against {called}") and page.facts[0] == f"A {called}"
    assert tables(page)["runs"].rows[0].name == called


@pytest.mark.parametrize(
    ("rule", "limit", "allowed"),
    [
        ("may_rise_by_at_most", 0.02, (None, 0.02)),
        ("must_fall_by_at_least", 0.01, (None, -0.01)),
        ("may_fall_by_at_most", 0.02, (-0.02, None)),
        ("must_rise_by_at_least", 0.01, (0.01, None)),
        ("must_improve", None, (None, 0.0)),
        ("at_most", 0.3, None),
    ],
)
def test_a_tolerance_is_a_range_of_differences(
    rule: str, limit: float | None, allowed: tuple[float | None, float | None] | None
) -> None:
    tolerances = Tolerances({"checks": [gate_check(rule=rule, limit=limit)]})
    one = {"metric": "wer", "arm": "audio", "better": "lower"}
    assert tolerances.allowed(Named("all items", one)) == allowed
    assert tolerances.check(Named("b", one, slice=(("mic", "b"),))) is None


def test_a_session_shows_its_faults_restarts_and_first_breaches_in_one_list(
    drawn: dict[str, str], tmp_path: Path
) -> None:
    page = soak_page(hostile_soak(tmp_path))
    kinds = [words(row)[1] for row in tables(page)["moments"].rows]
    assert kinds[:1] == ["▼ fault"] and "■ restart" in kinds and "× check broken" in kinds
    first = tables(page)["checks"].rows[0]
    assert first.cells[0].text in ("✗ fail", "∅ no evidence")
    assert page.banner is not None and page.banner.word == "NO SHIP"
    html = drawn["soak"]
    assert "--fault server_crash@99" in html and html.count('role="img"') == 1


def test_a_trend_is_broken_where_suite_scorer_or_judge_changed() -> None:
    page = index_page(hostile_index())
    changes = [(row.name, words(row)) for row in tables(page)["changes-1"].rows]
    assert [(name, changed) for name, (changed, _) in changes] == [
        ("2 to 3", "suite"), ("5 to 6", "scorer"), ("6 to 7", "suite, scorer, judge"),
    ]  # fmt: skip
    assert "scorer: profile" in changes[1][1][1]
    assert len(tables(page)["index"].rows) == 9 and "problems" in tables(page)


def test_no_line_of_a_trend_leads_over_a_change() -> None:
    points = tuple(TrendPoint(n, n / 10) for n in range(1, 5))
    drawn = [trend(Trend("chart-t", "T", "told", points, breaks, str)) for breaks in ({}, {2: ("suite",)})]
    lines = [
        re.findall(r'<path d="M [^"]*L [^"]*"[^>]*stroke="var\(--chart-accent\)"[^>]*stroke-width="2"', one)
        for one in drawn
    ]
    assert [len(one) for one in lines] == [1, 2] and ">suite<" in drawn[1]


def test_a_link_is_relative_and_no_name_becomes_a_scheme(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    assert link_to(page, tmp_path / "javascript:alert(1)" / "report.html") == (
        "javascript%3Aalert%281%29/report.html"
    )
    assert (
        link_to(tmp_path / "a" / "b.html", tmp_path / "c" / 'd"e' / "report.html") == "../c/d%22e/report.html"
    )


def test_folders_that_are_no_runs_are_named_and_the_others_are_listed(tmp_path: Path) -> None:
    for name in ("foreign", "damaged", "soak-20260102-030405"):
        (tmp_path / name).mkdir()
    (tmp_path / "damaged" / "run.json").write_text("{")
    limits = {"format": "misheard-soak/1"}
    soak = {"schema": "misheard/soak/1", "status": "complete", "minutes": 1, "speed": 1.0, "limits": limits}
    (tmp_path / "soak-20260102-030405" / "soak.json").write_text(json.dumps(soak))
    (tmp_path / "soak-20260102-030405" / "verdict.json").write_text("[]")
    index = read_index([*sorted(tmp_path.iterdir()), tmp_path / "missing"], tmp_path / "index.html")
    assert [(one.name, one.kind, one.day) for one in index.entries] == [
        ("soak-20260102-030405", "soak", "2026-01-02 03:04")
    ]
    assert sorted(Path(problem.folder).name for problem in index.problems) == [
        "damaged", "foreign", "missing", "verdict.json",
    ]  # fmt: skip


def test_the_page_of_the_last_time_is_no_folder_to_list(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!doctype html>")
    assert read_index(tmp_path.iterdir(), tmp_path / "index.html").problems == ()
    (problem,) = read_index(tmp_path.iterdir(), tmp_path / "other.html").problems
    assert Path(problem.folder).name == "index.html"


def test_a_hundred_runs_stay_small() -> None:
    index = hostile_index()
    html = render(index_page(type(index)(tuple(entry(n) for n in range(100)), ())))
    assert len(html.encode()) < 3 * 1024**2 and html.count("report.html") >= 100


@pytest.mark.slow
def test_pages_work_in_chromium_without_errors_or_grave_findings(
    browser: "Browser", drawn: dict[str, str], tmp_path: Path
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra dev")
    context = browser.new_context(viewport={"width": 360, "height": 780}, color_scheme="dark")
    tab = context.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    for name in ("comparison", "soak", "index"):
        path = tmp_path / f"{name}.html"
        path.write_text(drawn[name], "utf-8")
        tab.goto(path.as_uri())
        for width in (1600, 360):
            tab.set_viewport_size({"width": width, "height": 900})
            assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found = axe.Axe().run(tab).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        assert tab.evaluate("window.broken") is None
    context.close()
    assert said == []
