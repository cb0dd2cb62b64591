"""Reading traces: what is refused, with its line; what is bounded; and that no text comes through."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_traces import HEADER, find, healthy, judged, write
from trace_schema import trace_schema

import misheard.soak
from misheard.errors import InputError, SoakError
from misheard.soak import reading
from misheard.soak.document import soak_document
from misheard.soak.events import FIELDS, SHAPES, EventError, EventName, read_event
from misheard.soak.reading import read_trace

SCHEMA = json.loads((Path(misheard.soak.__file__).parent / "trace.schema.json").read_bytes())
CANARY = "zanzibarcanary"

GOOD: dict[str, Any] = {"event": "transcript_final", "t": 1.5, "turn": "t1", "words": 3}


def test_the_shipped_schema_says_what_the_code_says() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert trace_schema() == SCHEMA


def test_the_schema_takes_a_healthy_trace() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for row in [HEADER, *healthy(1)]:
        validator.validate(row)


_VALUES = st.one_of(
    st.sampled_from(
        [
            "t1",
            "turn-12",
            3,
            3.0,
            -0.0,
            1e300,
            10**13,
            1e13,
            0.5,
            -1,
            604_801,
            True,
            None,
            "add_shape",
            "clock_jump",
            "hello",
            "",
            [],
        ]
    ),
    st.integers(-5, 2**60),
    st.floats(0, 1e7),
)


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(EventName), key=st.sampled_from([*FIELDS, "text"]), value=_VALUES)
def test_code_and_schema_agree_about_any_event(name: EventName, key: str, value: object) -> None:
    good: dict[str, Any] = {"t": 1.0, "turn": "t1", "operation": 4, "type": "remove", "words": 1,
                            "audio_from": 1.0, "audio_to": 2.0, "fault": "disk_full"}  # fmt: skip
    required = {key: good[key] for key in ("t", *SHAPES[name].required)}
    event = {"event": str(name), **required, key: value}
    try:
        read = read_event(event, 1)
        valid = True
        if key in read.numbers:
            assert read.numbers[key] == value
        elif key in read.ids and isinstance(value, float):
            assert read.ids[key] == str(int(value))
    except EventError as error:
        # a relation of two fields is beyond a schema
        valid = error.problems == ("audio_to is before audio_from",)
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(event) == valid


REFUSED: dict[str, tuple[str, str]] = {
    "text": ('{"event": "transcript_final", "t": 1, "turn": "t1", "words": 2, "text": "zanzibarcanary"}',
             "has a field that transcript_final does not have"),
    "named text": ('{"event": "drained", "t": 1, "zanzibarcanary": 1}', "has a field that drained"),
    "text as id": ('{"event": "turn_opened", "t": 1, "turn": "zanzibarcanary"}', "turn is no id"),
    "text and a digit": ('{"event": "turn_opened", "t": 1, "turn": "zanzibarcanary1"}', "turn is no id"),
    "words as id": ('{"event": "turn_opened", "t": 1, "turn": "t1 zanzibarcanary"}', "turn is no id"),
    "text as type": ('{"event": "operation_applied", "t": 1, "operation": 1, "type": "zanzibarcanary"}',
                     "type must be one of add_shape"),
    "text as fault": ('{"event": "fault_injected", "t": 1, "fault": "zanzibarcanary"}',
                      "fault must be one of recognizer_error"),
    "another fault": ('{"event": "fault_injected", "t": 1, "fault": "remove"}', "fault must be one of"),
    "no fault": ('{"event": "fault_injected", "t": 1}', "fault is missing"),
    "text as event": ('{"event": "zanzibarcanary", "t": 1}', "event is none that a trace has"),
    "text as number": ('{"event": "drained", "t": "zanzibarcanary"}', "t must be seconds between"),
    "text as line": ('"zanzibarcanary"', "is no JSON object"),
    "no JSON": ("zanzibarcanary", "is no JSON"),
    "close": ('{"event": "transcript_fnal", "t": 1}', "did you mean transcript_final?"),
    "close field": ('{"event": "turn_opened", "t": 1, "turn": 1, "turm": "t1"}', "did you mean turn?"),
    "another's field": ('{"event": "drained", "t": 1, "turn": "t1"}', "drained has no field turn"),
    "no event": ('{"t": 1}', "event is missing"),
    "event of another type": ('{"event": ["drained"], "t": 1}', "event is none that a trace has"),
    "no time": ('{"event": "drained"}', "t is missing"),
    "negative time": ('{"event": "drained", "t": -1}', "t must be seconds between 0 and 604800"),
    "too late": ('{"event": "drained", "t": 604801}', "t must be seconds"),
    "huge": ('{"event": "drained", "t": 1e999}', "t must be seconds"),
    "huge whole": ('{"event": "drained", "t": 1' + "0" * 5000 + "}", "is no JSON"),
    "NaN": ('{"event": "drained", "t": NaN}', "is no JSON (cut off, or with NaN)"),
    "truth": ('{"event": "drained", "t": true}', "t must be seconds"),
    "half a word": ('{"event": "transcript_empty", "t": 1, "turn": 1, "words": 1.5}', "has no field words"),
    "fractional count": ('{"event": "transcript_partial", "t": 1, "turn": 1, "words": 1.5}',
                         "words must be a whole number"),
    "long id": ('{"event": "turn_opened", "t": 1, "turn": "' + "1" * 14 + '"}', "turn is no id"),
    "negative id": ('{"event": "turn_opened", "t": 1, "turn": -1}', "turn is no id"),
    "twice": ('{"event": "drained", "t": 1, "t": 2}', "has a field twice"),
    "empty sample": ('{"event": "sample", "t": 1}', "has none of memory_bytes"),
    "backwards audio": ('{"event": "audio_received", "t": 1, "audio_from": 2, "audio_to": 1}',
                        "audio_to is before audio_from"),
    "two in one line": ('{"event": "drained", "t": 1} {"zanzibarcanary": 1}', "is more than one JSON value"),
    "cut off": ('{"event": "dra', "is no JSON (cut off, or with NaN)"),
    "deep": ("[" * 5000 + "]" * 5000, "is no JSON"),
    "bytes": ('{"event": "\udcff"}', "is not UTF-8"),
    "long": ('{"event": "drained", "t": 1' + " " * 70_000 + "}", "is longer than 65536 bytes"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_said_with_its_line_and_without_its_text(
    tmp_path: Path, line: str, problem: str
) -> None:
    path = tmp_path / "trace.jsonl"
    text = "\n".join([json.dumps(HEADER), json.dumps(GOOD), line, json.dumps({**GOOD, "t": 2.0})])
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SoakError) as error:
        read_trace(path)
    (found,) = error.value.problems
    assert found.where == "line 3"
    assert problem in found.what
    assert CANARY not in str(error.value)


def test_times_that_go_back_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [GOOD, {**GOOD, "t": 1.4}, {**GOOD, "t": 1.5}])
    with pytest.raises(SoakError, match="line 3: is earlier than the event before it"):
        read_trace(path)


@pytest.mark.parametrize(
    "first", ['{"event": "drained", "t": 1}', '{"format": "misheard-trace/2"}', "zanzibarcanary", "[]", ""]
)
def test_another_first_line_is_one_problem(tmp_path: Path, first: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f"{first}\n" * 100)
    with pytest.raises(SoakError, match="misheard-trace/1") as error:
        read_trace(path)
    assert len(error.value.problems) == 1
    assert CANARY not in str(error.value)


def test_a_header_alone_is_no_trace(tmp_path: Path) -> None:
    with pytest.raises(SoakError, match="has no event"):
        read_trace(write(tmp_path / "t.jsonl", []))


def test_a_missing_file_and_a_folder_are_bad_input(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(InputError, match=r"directory"):
            read_trace(path)


def test_all_problems_are_counted_and_the_first_are_shown(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [{"event": "turn_opened"}] * 100)
    with pytest.raises(SoakError) as error:
        read_trace(path)
    shown = error.value.problems
    assert [str(each) for each in shown[:2]] == ["line 2: turn is missing", "line 2: t is missing"]
    assert len(shown) == reading.MAX_PROBLEMS + 1
    assert str(shown[-1]) == "and: 150 more; mend these first"


@pytest.mark.parametrize(("name", "value"), [("MAX_EVENTS", 10), ("MAX_FILE_BYTES", 500)])
def test_too_many_events_and_too_large_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    monkeypatch.setattr(reading, name, value)
    with pytest.raises(InputError, match=f"t.jsonl: (more than {value} events|larger than {value} bytes)"):
        read_trace(write(tmp_path / "t.jsonl", healthy(2)))


def test_a_million_events_in_bounded_memory(tmp_path: Path) -> None:
    code = """
import resource, sys
from pathlib import Path
from misheard.soak.limits import Limits
from misheard.soak.reading import read_trace
from misheard.soak.verdict import judge_trace
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read = read_trace(Path(sys.argv[1]))
verdict = judge_trace(read, Limits(), "t", None)
print(sum(verdict.counts.values()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    path = tmp_path / "t.jsonl"
    with path.open("w") as file:
        file.write(json.dumps(HEADER) + "\n")
        for second in range(1000):
            file.write(f'{{"event":"sample","t":{second},"queue_plan":1}}\n' * 1000)
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )  # fmt: skip
    events, kilobytes = map(int, done.stdout.split())
    assert events == 1_000_000
    assert kilobytes < 400_000


def test_a_trace_without_a_last_line_end_and_with_blank_lines_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("\ufeff" + json.dumps(HEADER) + "\r\n\n" + json.dumps(GOOD))
    assert read_trace(path).trace.lines.tolist() == [3]


def test_no_number_of_a_document_is_nan(tmp_path: Path) -> None:
    rows = healthy(3)
    find(rows, "transcript_final", 1)["seconds"] = 604_800
    text = json.dumps(soak_document(judged(tmp_path, rows)), allow_nan=False)
    assert all(math.isfinite(check["value"] or 0.0) for check in json.loads(text)["checks"])
