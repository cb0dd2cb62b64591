"""The item browser as data: what is aligned, escaped, cut or left out, and what links lead to."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from hostile_items import LEADS, TEXTS, hostile_sources
from hostile_run import hostile_documents

from made_up_tables import FAMILIES, SCENE_FAMILIES, FailureRates, make_table, scene_table
from misheard.metrics.base import Arm
from misheard.report.failures import failure_rows
from misheard.report.html.items_alignment import (
    MOST_CHARACTERS,
    PairAlignment,
    TextPair,
    character_alignments,
    cluster_lengths,
    word_alignments,
    word_splitter,
)
from misheard.report.html.items_document import _within, items_document
from misheard.report.html.items_links import with_item_links
from misheard.report.html.items_losses import item_losses
from misheard.report.html.items_media import drawing_address, recording_address
from misheard.report.html.items_section import items_section
from misheard.report.html.items_text import shown_text
from misheard.report.html.page import Cell, Column, Highlight, Page, Row, Section, Table
from misheard.scoring.alignments import align_tokens
from misheard.suite.items import Item, Suite
from misheard.text.tokenisers import DEFAULT_CHAR_SCRIPTS, graphemes

PAIRS = (
    ("the cat sat", "the bat sat down"),
    ("", "you"),
    ("gone with the wind", ""),
    ("नमस्ते दुनिया", "नमस्कार दुनिया"),
    ("مرحبا بالعالم", "مرحبا العالم"),
    ("👩‍👩‍👧 ok", "👩 ok"),
)
WORDS = word_splitter(DEFAULT_CHAR_SCRIPTS)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return items_document(hostile_sources())


def decoded(found: PairAlignment | None, reference: Sequence[str]) -> list[str]:
    """Return the hypothesis that steps over the reference's tokens come to, in tokens without spaces."""
    assert found is not None
    tokens, at = [], 0
    for step in found.steps:
        if isinstance(step, str):
            tokens.append(step[1:].strip())
            at += step[0] == "~"
        else:
            tokens += reference[at : at + step] if step > 0 else []
            at += abs(step)
    assert at == len(reference)
    return tokens


@pytest.mark.parametrize(("reference", "hypothesis"), PAIRS)
def test_steps_come_to_the_hypothesis_and_are_counted_as_errors_are(reference: str, hypothesis: str) -> None:
    pair = TextPair(reference, hypothesis)
    for found, split in (
        (word_alignments([pair], WORDS), str.split),
        (character_alignments([pair]), graphemes),
    ):
        assert decoded(found[0], split(reference)) == split(hypothesis)
        operations = [step.operation for step in align_tokens(split(reference), split(hypothesis))]
        counts = [operations.count(name) for name in ("substitution", "deletion", "insertion")]
        assert found[0] is not None and found[0].counts == (*counts, len(split(reference)))


def test_what_a_reader_takes_for_one_character_is_never_split() -> None:
    assert cluster_lengths("abc") == [] and cluster_lengths("नमस्ते") == [len(one) for one in graphemes("नमस्ते")]
    (found,) = character_alignments([TextPair("कि", "की")])
    assert found is not None and found.steps == ["~की"]
    # scripts without spaces go by character, and marks stay with theirs
    assert WORDS("กำลัง latte") == [*graphemes("กำลัง"), "latte"]
    assert cluster_lengths("😀a") == [2, 1]


def test_what_cannot_be_seen_is_an_escape_and_joiners_stay() -> None:
    assert shown_text("a\u202eb\x00\x1b[1m\ud800\nक्\u200dष") == "a\\u202eb\\x00\\x1b[1m\\ud800\nक्\u200dष"


def test_a_long_text_is_cut_between_characters_and_says_so() -> None:
    long = "a" * (MOST_CHARACTERS - 1) + "कि" * 10
    assert shown_text(long) == ["a" * (MOST_CHARACTERS - 1), len(long)]


def test_texts_of_a_megabyte_have_no_alignment(document: dict[str, Any]) -> None:
    item = document["items"][12]
    (text,) = item["arms"][0]["texts"]
    assert item["text"][1] == len(TEXTS[5][0]) and set(text) == {"what", "text"} and "errors" not in item


def test_each_text_is_compared_once_and_a_correction_beside_it(document: dict[str, Any]) -> None:
    arms = dict(zip(document["arms"], document["items"][6]["arms"], strict=True))
    assert [text["what"] for text in arms["audio"]["texts"]] == ["heard", "corrected"]
    assert "texts" not in arms["transcript"] and document["items"][6]["errors"] == 2
    assert arms["audio"]["texts"][0]["words"] == [[1, "~bat", 1, "+down"], 1, 0, 1, 3]
    assert document["items"][5]["failed"] == 1 and "texts" not in document["items"][5]["arms"][0]


def test_scores_of_the_judge_are_there_with_what_they_are_where_it_is_trusted(
    document: dict[str, Any],
) -> None:
    arms = dict(zip(document["arms"], document["items"][6]["arms"], strict=True))
    assert arms["audio"]["judge"] == {"meaning": [83.5], "answer": [50, "flipped"]}
    assert arms["transcript"]["judge"] == {"answer": [100, "identical"]}
    assert arms["control"]["judge"] == {"answer": [None]}
    assert document["withheld"] == "" and "judge" not in document["items"][4]["arms"][0]


def test_scores_that_the_report_withholds_are_not_in_the_items() -> None:
    withheld = {"status": "withheld", "reason": "the judge was not calibrated"}
    for judge, note in ((withheld, "scores are withheld: the judge was not calibrated"), (None, "")):
        document = items_document(replace(hostile_sources(), judge=judge))
        assert not [arm for item in document["items"] for arm in item["arms"] if "judge" in arm]
        assert note in items_section(document).note and bool(document["withheld"]) is bool(note)


def test_of_too_many_items_those_with_most_errors_stay_in_order() -> None:
    rows: list[dict[str, Any]] = [
        {"id": name, "errors": errors} for name, errors in zip("abcd", (0, 3, 1, 2), strict=True)
    ]
    rows.append({"id": "e", "failed": 1})
    size = len(json.dumps(rows[0], separators=(",", ":")))
    assert [row["id"] for row in _within(rows, 3 * size)] == ["b", "d", "e"]
    assert _within(rows, 5 * size) == rows


def test_the_embedded_texts_are_no_markup_and_turn_nothing_around(
    document: dict[str, Any], items_html: str
) -> None:
    html = items_html
    (data,) = re.findall(r'<script type="application/json" id="items-data">(.*?)</script>', html, re.DOTALL)
    assert not set(data) & set("<>&\u202e\x00\x1b") and json.loads(data) == document
    assert html.encode("utf-8") and html.count("<script") == 3
    assert "media-src file: &#39;self&#39;; img-src" in html


def test_cells_and_failures_link_to_the_items_behind_them(hostile_html: str, items_html: str) -> None:
    assert not re.search(r'href="#items?[=.]', hostile_html) and 'id="item-browser"' not in hostile_html
    assert "--html --with-text" in hostile_html and "--html --with-text" not in items_html
    links = [unescape(link) for link in re.findall(r'href="#(items?[=.][^"]*)"', items_html)]
    assert "items.axis.mic=b&items.sort=errors" in links
    assert "items.axis.mic=a&items.class=audio%3Ahallucinated" in links
    (worst,) = re.findall(
        r'class="further"><a href="#([^"]*)">((?:its items|items at [^<]*), most errors first)', items_html
    )[:1]
    assert unescape(worst[0]) in links
    failed = {failed for failed, _, _ in failure_rows(hostile_documents().table)}
    assert {parse_qs(link)["item"][0] for link in links if link.startswith("item=")} == failed


def test_an_item_loses_what_its_transcript_had_and_its_recording_had_not(document: dict[str, Any]) -> None:
    table = make_table(4, 7)
    found = item_losses(LEADS, table, FAMILIES)
    assert found is not None and found.what == document["loses"] == "answer quality"
    heard, written = (table.arms[arm].counts["response"].values[:, 1] for arm in (Arm.AUDIO, Arm.TRANSCRIPT))
    for place, item in enumerate(document["items"]):
        # item 5 failed, and those after the 28 with speech have no answer
        expected = None if place == 5 or place >= 28 else round(written[place] - heard[place], 3)
        assert item.get("lost") == expected
    assert any(item.get("lost", 0) > 0 for item in document["items"])


def test_a_board_loses_the_metric_that_the_report_leads_with() -> None:
    table = scene_table(FailureRates(0.3, 0.0, 0.0), 2, 3)
    report = {"propagation": {"lost_to_recognition": {"label_f1": {"n": 6, "flags": []}}}}
    found = item_losses(report, table, SCENE_FAMILIES)
    assert found is not None and found.what == "label F1"
    hits = table.arms[Arm.AUDIO].counts["scene"].values[:, SCENE_FAMILIES[1].columns.index("label_hits")]
    assert found.amounts == pytest.approx(1 - 2 * hits / (6 + hits)) and found.amounts.max() > 0


def test_without_a_pair_no_item_loses_anything() -> None:
    assert item_losses({"propagation": {"lost_to_recognition": {}}}, make_table(1, 2), FAMILIES) is None
    document = items_document(replace(hostile_sources(), losses=None))
    assert document["loses"] == "" and not any("lost" in item for item in document["items"])


@pytest.mark.parametrize(
    ("has_losses", "order", "text"),
    [(True, "lost", "most lost to mishearing first"), (False, "errors", "most errors first")],
)
def test_links_order_by_what_is_lost_where_the_page_can(has_losses: bool, order: str, text: str) -> None:
    where = {"mic": "a"}
    row = Row("a", (Cell("0.5"), Cell("0.5")), conditions=where, is_one_condition=True)
    columns = (Column("answer quality", key="response_quality"), Column("WER", key="wer"))
    matrix = Table("matrix", "", "condition", columns, (row,), is_matrix=True)
    card = Highlight("Worst cell", "0.5", "", conditions=(("mic", "a"),), items_order="lost")
    page = with_item_links(
        Page("r", "Run", (), (Section("s", "s", (matrix,)),), (card, replace(card, items_order="errors"))),
        has_losses=has_losses,
    )
    link = f"items.axis.mic=a&items.sort={order}"
    assert page.highlights[0].further == ((f"its items, {text}", link),)
    assert page.highlights[1].further[0][1] == "items.axis.mic=a&items.sort=errors"
    (table,) = page.sections[0].blocks
    assert isinstance(table, Table)
    assert [cell.link for cell in table.rows[0].cells] == [link, "items.axis.mic=a&items.sort=errors"]


def test_recordings_are_linked_inside_the_folder_of_the_suite_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a suite: 50%"
    folder.mkdir()
    (folder / 'r "1".wav').write_bytes(b"x")
    (tmp_path / "out.wav").write_bytes(b"x")
    (folder / "link.wav").symlink_to(tmp_path / "out.wav")
    suite = Suite(name="s", version="1", root=folder, axes={}, items=())
    page = tmp_path / "run" / "report.html"
    item = Item(id="q", audio='r "1".wav', reference="x")
    assert recording_address(suite, item, page) == "../a%20suite%3A%2050%25/r%20%221%22.wav"
    for path in ("gone.wav", "../out.wav", "link.wav", ".", "a\x00b"):
        assert recording_address(suite, replace(item, audio=path), page) is None
    (tmp_path / "audio").mkdir()
    (tmp_path / "audio" / "q.svg").write_text("<svg/>")
    assert drawing_address(tmp_path, "audio", "q", page) == "../audio/q.svg"
    assert drawing_address(tmp_path, "plan", "q", page) is None
