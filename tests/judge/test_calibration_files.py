"""Calibration sets and files from hands that may be hostile; agreement against scipy."""

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from made_calibrations import made_set, write_set

from misheard.canonical import sha256_json
from misheard.errors import InputError, SuiteError
from misheard.judge.agreement import agreements, rank_correlation, worst_agreement
from misheard.judge.calibration import Rerun, calibrate, read_calibration, write_calibration
from misheard.judge.calibration_set import read_calibration_set
from misheard.judge.drift import measure_drift
from misheard.metrics.base import Judgement

ROW = made_set(each=2)[1]


def changed(**fields: Any) -> dict[str, Any]:
    row = {**ROW, **fields}
    return {name: value for name, value in row.items() if value is not ...}


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (changed(id="../x"), "id must be|id is not"),
        (changed(id=...), "id is missing"),
        (changed(language="english please"), "language is not"),
        (changed(language=...), "language is missing"),
        (changed(question="fluency"), "question must be meaning or answer"),
        (changed(question="meaning"), "asked, the question"),
        (changed(asked=...), "asked is missing"),
        (changed(reference=" "), "reference must have"),
        (changed(candidate=7), "candidate must be text"),
        (changed(candidate="x" * 20_001), "candidate must have"),
        (changed(candidate="\ud800"), "half of a surrogate pair"),
        (changed(human_score=...), "human_score is missing"),
        (changed(human_score="90"), "human_score must be a number"),
        (changed(human_score=True), "human_score must be a number"),
        (changed(human_score=100.5), "human_score must be a number"),
        (changed(humanscore=1), "unknown field 'humanscore'"),
        (changed(scored_by="a\nb"), "scored_by must be one line"),
        (changed(note=[]), "note must be text"),
        ([], "not a JSON object"),
    ],
)
def test_a_wrong_item_is_named_and_its_text_is_not(tmp_path: Path, row: Any, complaint: str) -> None:
    path = write_set(tmp_path / "set.jsonl", [row])
    with pytest.raises(SuiteError, match=complaint) as raised:
        read_calibration_set(path)
    assert "canary" not in str(raised.value)


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    rows = [changed(human_score=-1), changed(reference=...), changed(), changed()]
    (path := tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "{\n")
    with pytest.raises(SuiteError) as raised:
        read_calibration_set(path)
    said = str(raised.value)
    assert all(line in said for line in ("line 1", "line 2", "line 5"))
    assert "stands in line" in said


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n\n",
        b"\xff\xfe{}",
        b'{"id": "a", "id": "b"}',
        b'{"human_score": NaN}',
        b"[" * 100_000,
        b"\x00" * 9,
    ],
)
def test_bytes_that_are_no_set_are_refused(tmp_path: Path, raw: bytes) -> None:
    (path := tmp_path / "set.jsonl").write_bytes(raw)
    with pytest.raises(InputError):
        read_calibration_set(path)


def test_folders_and_missing_files_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(InputError, match=re.escape(str(path))):
            read_calibration_set(path)
        with pytest.raises(InputError, match=re.escape(str(path))):
            read_calibration(path)


def test_the_template_covers_what_it_says() -> None:
    over = read_calibration_set(None)
    assert len(over.items) == 50
    assert {item.language for item in over.items} == {"en", "hi", "ta", "ml", "te", "ar", "zh"}
    for language in {item.language for item in over.items}:
        own = [item for item in over.items if item.language == language]
        assert {item.question for item in own} == {"meaning", "answer"}
        assert min(i.human_score for i in own) < 50 < max(i.human_score for i in own)
    texts = [text for i in over.items for text in (i.texts.reference, i.texts.candidate, i.texts.asked or "")]
    assert all(unicodedata.is_normalized("NFC", text) for text in texts)
    assert all("authors" in item.scored_by for item in over.items)
    assert not any(item.texts.identical for item in over.items)


def made_calibration(path: Path) -> dict[str, Any]:
    over = read_calibration_set(None)
    said = {item.id: Judgement(50.0, change=0.0, flipped=False) for item in over.items}
    write_calibration(path, calibrate(None, over, Rerun({"meaning": {}, "answer": {}}, said)))
    loaded: dict[str, Any] = json.loads(path.read_bytes())
    return loaded


def test_a_calibration_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    made_calibration(path)
    before = path.read_bytes()
    write_calibration(path, read_calibration(path))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(status="fine"),
        lambda data: data.update(scores={"x": {"score": 101, "change": None, "flipped": None, "invalid": 0}}),
        lambda data: data.update(scores={"x": 80}),
        lambda data: data.update(anchor=None),
        lambda data: data.update(judge=[]),
        lambda data: data.update(extra=1),
        lambda data: data.pop("acceptances"),
        lambda data: data.update(set_sha256="x"),
        lambda data: data.update(drift={"overall": "canary"}),
    ],
)
def test_a_damaged_calibration_is_refused_with_a_hash_and_without(tmp_path: Path, change: Any) -> None:
    path = tmp_path / "calibration.json"
    data = made_calibration(path)
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match="is not as misheard judge calibrate wrote it"):
        read_calibration(path)
    data.pop("sha256")
    path.write_text(json.dumps({**data, "sha256": sha256_json(data)}))
    with pytest.raises(InputError, match="damaged") as raised:
        read_calibration(path)
    assert "canary" not in str(raised.value)


def test_a_number_beyond_what_json_can_hold_again_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    made_calibration(path)
    content = re.sub(rb'"score": [\d.]+', b'"score": 1e999', path.read_bytes(), count=1)
    assert b"1e999" in content
    path.write_bytes(content)
    with pytest.raises(InputError, match="a number that is not finite"):
        read_calibration(path)


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b'{"format": "x"}', b"[" * 100_000, b"\xff", b'{"a": NaN}']
)
def test_bytes_that_are_no_calibration_are_refused(tmp_path: Path, raw: bytes) -> None:
    (path := tmp_path / "c.json").write_bytes(raw)
    with pytest.raises(InputError, match=re.escape(str(path))):
        read_calibration(path)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
def test_rank_correlation_is_spearmans(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    found = rank_correlation(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(scipy.stats.spearmanr(first, second).statistic)


def test_agreement_is_told_per_language_and_question_and_never_as_one(tmp_path: Path) -> None:
    over = read_calibration_set(write_set(tmp_path / "s.jsonl", made_set(each=14)))
    rng = np.random.default_rng(3)
    said = {
        item.id: Judgement(float(rng.integers(0, 101)), change=1.0, flipped=item.language == "hi")
        for item in over.items
    }
    said["en-1"] = Judgement(None, invalid=1)
    found = agreements(over.items, said, 1000, 1)
    names = [(one.language, one.question) for one in found]
    assert (None, None) not in names
    assert len(names) == len(set(names)) == 2 * 2 + 2 + 2
    for one in found:
        rows = [
            (said[item.id].score, item.human_score)
            for item in over.items
            if one.language in (None, item.language)
            and one.question in (None, item.question)
            and said[item.id].score is not None
        ]
        moved = np.array([judge - human for judge, human in rows])
        assert one.n == len(rows)
        assert one.difference == pytest.approx(moved.mean())
        assert one.error == pytest.approx(np.abs(moved).mean())
        assert one.interval is not None
        assert one.interval.low <= one.difference <= one.interval.high
    english = next(one for one in found if (one.language, one.question) == ("en", "answer"))
    assert (english.items, english.n, english.invalid, english.flips) == (7, 6, 1, 0)
    hindi = next(one for one in found if (one.language, one.question) == ("hi", None))
    assert (hindi.flips, hindi.pairs) == (14, 14)
    worst = worst_agreement(found)
    assert worst is not None
    assert worst.error == max(one.error or 0 for one in found if one.language and one.question)


def test_no_interval_under_six_items(tmp_path: Path) -> None:
    over = read_calibration_set(write_set(tmp_path / "s.jsonl", made_set("en", 5)))
    said = {item.id: Judgement(50.0) for item in over.items}
    assert all(one.interval is None for one in agreements(over.items, said, 200, 1))


def test_drift_at_the_bound_passes_and_beyond_blocks() -> None:
    items = read_calibration_set(None).items
    old = {item.id: 50.0 for item in items}
    assert not measure_drift(items, old, dict.fromkeys(old, 51.0)).beyond()
    assert measure_drift(items, old, dict.fromkeys(old, 51.01)).beyond()
    assert not measure_drift(items, old, old).beyond()
    without = {**old, items[0].id: None}
    assert measure_drift(items, old, without).unpaired == (items[0].id,)
    assert measure_drift(items, {}, {}).overall is None
