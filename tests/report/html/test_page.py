"""The page of a run as text: what is in it, what is not, and that names stay names."""

import base64
import copy
import hashlib
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest
from hostile_run import SECTIONS, hostile_documents, run_json

from made_up_tables import CER, SCENE_FAMILIES, WER, FailureRates, make_table, scene_table
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.report.build import build_report
from misheard.report.html.page import Table
from misheard.report.html.render import render
from misheard.report.html.run_documents import RunDocuments
from misheard.report.html.run_highlights import highlights
from misheard.report.html.run_matrix import matrix_section
from misheard.report.html.run_page import run_page


class Seen(HTMLParser):
    """Every tag with its attributes, and all text outside of style and script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in ("style", "script"):
            self.text.append(data)


@pytest.fixture(scope="module")
def seen(hostile_html: str) -> Seen:
    return Seen(hostile_html)


def test_the_same_run_gives_the_same_bytes(hostile_html: str) -> None:
    assert render(run_page(hostile_documents())) == hostile_html


@pytest.mark.parametrize("section", SECTIONS)
def test_every_part_is_there_and_in_the_contents(seen: Seen, section: str) -> None:
    assert ("section", section) in [(tag, one.get("id")) for tag, one in seen.tags]
    assert ("a", f"#{section}") in [(tag, one.get("href")) for tag, one in seen.tags]


def test_names_are_neither_markup_nor_turn_the_text_around(hostile_html: str, seen: Seen) -> None:
    assert [tag for tag, _ in seen.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in seen.tags]
    assert not [one for _, one in seen.tags if any(name.startswith("on") for name in one)]
    assert "\u202e" not in hostile_html
    text = "".join(seen.text)
    assert "<script>window.broken=1</script>" in text and "txt.\\u202egnp" in text and "നല്ല ശബ്ദം" in text


def test_nothing_is_loaded_and_nothing_is_styled_or_run_but_what_the_policy_names(seen: Seen) -> None:
    (policy,) = [
        one["content"] for tag, one in seen.tags if one.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None and policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    assert not [one for _, one in seen.tags if {"src", "style", "srcset"} & one.keys()]
    links = [str(one["href"]) for _, one in seen.tags if "href" in one]
    assert links and all(link.startswith("#") for link in links)


def test_the_policy_names_the_style_and_the_scripts_by_their_hashes(hostile_html: str) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', hostile_html)
    for tag, count in (("style", 1), ("script", 2)):
        inner = re.findall(rf"<{tag}>(.*?)</{tag}>", hostile_html, re.DOTALL)
        hashes = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in inner]
        named = " ".join(f"'sha256-{one}'" for one in hashes)
        assert len(inner) == count and f"{tag}-src {named};" in unescape(policy)


def test_ids_are_unique_and_what_refers_to_one_finds_it(seen: Seen) -> None:
    ids = Counter(one["id"] for _, one in seen.tags if "id" in one)
    assert [name for name, count in ids.items() if count > 1] == []
    named = [name for _, one in seen.tags for name in (one.get("aria-labelledby") or "").split()]
    targets = [str(one["href"])[1:] for _, one in seen.tags if "href" in one and "=" not in str(one["href"])]
    assert set(named + targets) <= set(ids)


def test_the_worst_cell_comes_first_then_the_stage_to_blame() -> None:
    documents = hostile_documents()
    first, second, *_ = highlights(documents.report)
    worst = [
        one for one in documents.report["worst_cells"] if (one["metric"], one["arm"]) == ("wer", "audio")
    ]
    assert first.title == "Worst cell" and first.what == "word error rate"
    assert all(str(one["value"]) in first.where for one in worst) and "95% interval" in first.detail
    whole = documents.report["attribution"][0]["metrics"]
    (parts,) = [entry for entry in whole if entry["metric"] == "correct_rate"]
    assert parts["largest"]["stage"] == "after_transcript" and parts["largest"]["shown"]
    assert (second.title, second.value) == ("Stage to blame", "After the transcript")
    assert second.more.startswith("recognition: 10.8 points, 22%")


def test_a_stage_is_blamed_only_for_what_it_is_shown_to_lose() -> None:
    few = scene_table(FailureRates(recognition=0.3, planning=0.1, rendering=0.0), 4, 5)
    many = scene_table(FailureRates(recognition=0.3, planning=0.02, rendering=0.0), 12, 8)
    none = scene_table(FailureRates(recognition=0.0, planning=0.0, rendering=0.0), 12, 8)
    small, shown, nothing = (
        build_report(
            table, SCENE_FAMILIES, suite={}, system={}, scorer={}, timings=None, axes={}, primary_metrics={},
            resamples=200,
        )
        for table in (few, many, none)
    )  # fmt: skip
    blamed = [
        next(one for one in highlights(one) if one.title == "Stage to blame")
        for one in (small, shown, nothing)
    ]
    assert [one.value for one in blamed] == ["Recognition", "Recognition", "–"]
    assert blamed[0].note == "too few for a verdict" and blamed[1].note == ""
    assert "of label F1" in blamed[1].what and blamed[1].more.startswith("planning: ")


def test_what_is_missing_anyway_stands_beside_the_stage_to_blame() -> None:
    """No answer has the very words of the reference: that is no stage's fault, and must not be left out."""
    report = copy.deepcopy(hostile_documents().report)
    lost = report["propagation"]["lost_to_recognition"]
    for metric in set(lost) - {"response_quality"}:
        del lost[metric]
    (entry,) = [one for one in report["attribution"][0]["metrics"] if one["metric"] == "response_quality"]
    (loss,) = entry["losses"]
    lost_to = next(one for one in highlights(report) if one.title == "Lost to recognition")
    assert (lost_to.value, lost_to.what) == (f"{loss['amount']:.3f}", "of answer quality")
    rest = entry["remainder"]
    assert lost_to.more == f"missing anyway: {rest['amount']:.3f}, {rest['share']:.0%}"


def test_where_mishearing_costs_most_is_said_of_what_is_lost_to_it() -> None:
    report = hostile_documents().report
    found = next(one for one in highlights(report) if one.title == "Mishearing costs most")
    losses = {
        (place["axis"], place["value"]): loss
        for place in report["attribution"]
        for entry in place["metrics"]
        for loss in entry["losses"]
        if entry["metric"] == "correct_rate" and place["axis"] is not None
    }
    most = max(loss["amount"] for loss in losses.values())
    assert found.value == f"{100 * most:.1f} points"
    assert {losses[cell]["amount"] for cell in found.conditions} == {most}
    assert all(str(value) in found.where for _, value in found.conditions)
    assert f"{losses[found.conditions[0]]['difference']['n']} pairs" in found.detail


def test_there_is_no_row_over_everything() -> None:
    report = hostile_documents().report
    (matrix,) = [block for block in matrix_section(report).blocks if isinstance(block, Table)]
    named = [pair for row in matrix.rows for pair in row.conditions.items()]
    assert sorted(named, key=str) == sorted(((c["axis"], c["value"]) for c in report["matrix"]), key=str)


def test_a_run_without_answers_times_and_samples_has_a_page_too() -> None:
    whole = make_table(2, 3, 0)
    audio = whole.arms[Arm.AUDIO]
    counts = {name: audio.counts[name] for name in ("wer", "cer")}
    items = tuple(replace(item, conditions={}) for item in whole.items)
    table = CountTable(items, {Arm.AUDIO: replace(audio, counts=counts, timings={}, flags={})})
    report = build_report(
        table, (WER, CER), suite={"name": "s", "version": "1"}, system={}, scorer={"sha256": ""},
        timings=None, axes={}, primary_metrics={}, resamples=100,
    )  # fmt: skip
    page = run_page(RunDocuments("r", report, run_json(), table, (WER, CER)))
    names = [section.id for section in page.sections]
    assert {"by-condition", "failures", "suite", "reproduce"} <= set(names)
    assert not {"arms", "losses", "latencies", "machine"} & set(names)
    assert page.highlights[0].title == "Worst cell" and page.banner is None
    assert "<h1>" in render(page)
