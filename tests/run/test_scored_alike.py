"""In what two reports were scored differently: what a user can set first, with the command that mends it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from misheard.report import build
from misheard.run.rescoring import earlier_report, rescoring_notes
from misheard.run.scorers import difference

NFC: dict[str, Any] = {
    "profile": "nfc", "profiles": {"nfc": 1}, "on_failure": "exclude", "response_scorer": "word_overlap_f1",
    "response_scorer_source_sha256": None, "text2num": 1,
}  # fmt: skip
SPOKEN = {**NFC, "profile": "spoken", "profiles": {"nfc": 1, "spoken": 3}, "number_words_kept": ["en"]}
A, B = Path("runs/first"), Path("runs/a b")


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (SPOKEN, NFC, "profile 'spoken' and 'nfc'; score the second as the first was: misheard score "
         "'runs/a b' --set scoring.profile=spoken"),
        (NFC, {**NFC, "on_failure": "worst", "text2num": 2}, "on failure 'exclude' and 'worst', text2num; "
         "score the second as the first was: misheard score 'runs/a b' --set on_failure=exclude"),
        (NFC, {**SPOKEN, "response_scorer": "own.py:score", "response_scorer_source_sha256": "a"},
         "profile 'nfc' and 'spoken', response scorer 'word_overlap_f1' and 'own.py:score'; score the second "
         "as the first was: misheard score 'runs/a b' --set scoring.profile=nfc "
         "--set scoring.response_scorer=word_overlap_f1"),
        (NFC, {**NFC, "text2num": 2}, "text2num; score both with this version: misheard score runs/first; "
         "misheard score 'runs/a b'"),
        (NFC, {**NFC, "content": 1}, "content; these come from the suite: run both over the same"),
    ],
)  # fmt: skip
def test_what_can_be_changed_comes_first(first: dict[str, Any], second: dict[str, Any], said: str) -> None:
    keys = [key for key in {*first, *second} if first.get(key) != second.get(key)]
    assert difference((A, first), (B, second), keys) == said


def write_report(run: Path, scorer: dict[str, Any], seconds: int) -> None:
    document = {"format": build.FORMAT, "format_version": build.FORMAT_VERSION, "scorer": scorer}
    (run / "report.json").write_text(json.dumps(document))
    os.utime(run / "report.json", (seconds, seconds))


CHANGED = (
    "the report of {0} now counts with profile 'spoken', no longer 'nfc'; back: misheard score {0} --set "
    "scoring.profile=nfc"
)
OLD_PAGE = "{0}/report.html shows an earlier scoring; renew it: misheard report {0} --html"


@pytest.mark.parametrize(
    ("before", "page", "after", "notes"),
    [
        (NFC, None, SPOKEN, [CHANGED]),
        (NFC, 2, SPOKEN, [CHANGED, OLD_PAGE]),
        (NFC, 2, NFC, []),
        (NFC, 0, NFC, [OLD_PAGE]),
        (None, 0, NFC, [OLD_PAGE]),
        (None, None, NFC, []),
    ],
)
def test_what_is_said_after_scoring(
    tmp_path: Path,
    before: dict[str, Any] | None,
    page: int | None,
    after: dict[str, Any],
    notes: list[str],
) -> None:
    """Files were written in second 1; a page in `page`."""
    if before is not None:
        write_report(tmp_path, before, 1)
    if page is not None:
        (tmp_path / "report.html").write_text("page")
        os.utime(tmp_path / "report.html", (page, page))
    earlier = earlier_report(tmp_path)
    write_report(tmp_path, after, 3)
    assert list(rescoring_notes(tmp_path, earlier, after)) == [note.format(tmp_path) for note in notes]
    assert page is None or (tmp_path / "report.html").read_text() == "page"


def test_a_report_that_cannot_be_read_is_no_earlier_one(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("{")
    assert earlier_report(tmp_path).scorer is None
