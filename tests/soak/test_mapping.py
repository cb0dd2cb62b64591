"""Traces of another product, in its own field names, units and operation names."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from made_traces import HEADER, Row, healthy, judged, write

from misheard.errors import InputError, SoakError
from misheard.soak.events import FaultKind
from misheard.soak.limits import Limits, load_limits
from misheard.soak.mapping import load_mapping
from misheard.soak.reading import ReadTrace, read_trace
from misheard.soak.verdict import judge_trace

CANARY = "zanzibarcanary said the speaker"

MAPPING: dict[str, Any] = {
    "format": "misheard-mapping/1",
    "event": "kind",
    "time": {"field": "at", "unit": "ms", "origin": "first"},
    "ids": "hashed",
    "events": {
        "vad.begin": "turn_opened",
        "vad.end": "turn_closed",
        "asr.partial": "transcript_partial",
        "asr.final": "transcript_final",
        "llm.cleaned": {"event": "corrected", "fields": {"seconds": {"field": "data.tookMs", "unit": "ms"}}},
        "llm.plan": "plan_accepted",
        "op.queued": "operation_accepted",
        "op.done": "operation_applied",
        "reply.done": "answer_finished",
        "canvas.idle": "board_ready",
        "mic.chunk": "audio_received",
        "mic.off": "microphone_stopped",
        "idle": "drained",
        "stats": "sample",
    },
    "fields": {
        "turn": "data.utterance",
        "words": "data.tokens",
        "words_rewritten": "data.replaced",
        "seconds": {"field": "data.latency", "unit": "ms"},
        "operation": "data.opId",
        "connection": "data.edge",
        "type": "data.op",
        "shapes": "data.visible",
        "audio_from": "data.from",
        "audio_to": "data.to",
        "speech_end": {"field": "data.silenceAt", "unit": "ms"},
        "memory_bytes": {"field": "data.rss", "unit": "MiB"},
        "queue_plan": "data.backlog",
        "queue_recognize": "data.pending",
    },
    "operations": {"node.create": "add_shape", "edge.create": "connect"},
}

_EVENTS = {(v if isinstance(v, str) else v["event"]): k for k, v in MAPPING["events"].items()}
_FIELDS = {k: (v if isinstance(v, str) else v["field"]) for k, v in MAPPING["fields"].items()}
_OPERATIONS = {ours: theirs for theirs, ours in MAPPING["operations"].items()}
EPOCH = 1_700_000_000_000


def theirs(row: Row) -> Row:
    """One of our events as the other product writes it, with text that nobody asked for."""
    data: Row = {"text": CANARY, "speaker": {"name": CANARY}}
    for key, value in row.items():
        if key in ("event", "t"):
            continue
        name = _FIELDS.get(key, f"x.{key}").removeprefix("data.")
        if key in ("turn", "operation", "connection"):
            value = f"{CANARY}/{value}"
        elif key == "type":
            value = _OPERATIONS[value]
        elif key == "speech_end":
            value = EPOCH + 1000 * value
        elif key == "seconds":
            value = 1000 * value
            name = "tookMs" if row["event"] == "corrected" else name
        elif key == "memory_bytes":
            value = value / 2**20
        data[name] = value
    return {"kind": _EVENTS[row["event"]], "at": EPOCH + 1000 * row["t"], "data": data}


def write_mapping(folder: Path, mapping: object = MAPPING) -> Path:
    path = folder / "mapping.yaml"
    path.write_text(yaml.safe_dump(mapping))
    return path


def read(folder: Path, rows: list[Row], mapping: object = MAPPING) -> ReadTrace:
    path = write(folder / "theirs.jsonl", rows, header=None)
    return read_trace(path, load_mapping(write_mapping(folder, mapping)))


def test_another_products_trace_has_the_verdict_of_its_own(tmp_path: Path) -> None:
    rows = healthy()
    lines = [{"kind": "hello", "text": CANARY}, *map(theirs, rows), {"kind": "asr.debug", "at": CANARY}]
    mapped = read(tmp_path, lines)
    assert mapped.left_out == 2
    own = judged(tmp_path, rows).verdict
    other = judge_trace(mapped, Limits(), "theirs", None).verdict
    assert [(c.id, c.status, c.n) for c in other.checks] == [(c.id, c.status, c.n) for c in own.checks]
    for ours, their in zip(own.checks, other.checks, strict=True):
        # a time of day in milliseconds has fewer digits left for parts of a second
        if ours.candidate is not None:
            assert their.candidate == pytest.approx(ours.candidate, rel=1e-3, abs=1e-3)
    assert "2 lines of events that the mapping does not name, left out" in other.notes
    assert CANARY not in repr(mapped)
    assert CANARY not in repr(other)


def test_ids_as_they_are_must_be_ids(tmp_path: Path) -> None:
    with pytest.raises(SoakError, match="turn is no id") as error:
        read(tmp_path, [theirs(row) for row in healthy(1)], MAPPING | {"ids": "as_written"})
    assert CANARY not in str(error.value)


def test_a_text_where_a_number_belongs_is_refused_and_not_repeated(tmp_path: Path) -> None:
    fields = MAPPING["fields"] | {"words": "data.text", "seconds": "data.speaker"}
    with pytest.raises(SoakError, match="words must be a whole number") as error:
        read(tmp_path, [theirs(row) for row in healthy(1)], MAPPING | {"fields": fields})
    assert CANARY not in str(error.value)


@pytest.mark.parametrize(
    "number", ["1e999", "-1e999", "1" + "0" * 400, "-1" + "0" * 400, "true", '"1"', "[]"]
)
@pytest.mark.parametrize("at", [0, 1])
def test_numbers_that_cannot_be_are_refused_with_their_line(tmp_path: Path, number: str, at: int) -> None:
    lines = ['{"kind": "idle", "at": 1700000000000}', '{"kind": "idle", "at": 1700000001000}']
    lines[at] = f'{{"kind": "idle", "at": {number}}}'
    path = tmp_path / "t.jsonl"
    path.write_text("\ufeff" + "\n".join(lines))
    with pytest.raises(SoakError) as error:
        read_trace(path, load_mapping(write_mapping(tmp_path)))
    assert [str(each) for each in error.value.problems] == [
        f"line {at + 1}: t must be seconds between 0 and 604800"
    ]


def test_an_operation_that_the_mapping_does_not_name_is_a_problem(tmp_path: Path) -> None:
    rows = [theirs(row) for row in healthy(1)]
    next(row for row in rows if row["kind"] == "op.done")["data"]["op"] = CANARY
    with pytest.raises(SoakError, match="operation type that operations of the mapping") as error:
        read(tmp_path, rows)
    assert CANARY not in str(error.value)


def test_the_name_of_an_event_may_say_its_type(tmp_path: Path) -> None:
    mapping = {
        "format": "misheard-mapping/1", "event": "kind", "time": "at", "fields": {"operation": "id"},
        "events": {"drawn": {"event": "operation_applied", "type": "connect"}},
    }  # fmt: skip
    trace = read(tmp_path, [{"kind": "drawn", "at": 1, "id": 7}], mapping).trace
    assert trace.id_names["operation"] == ("7",)


def test_the_name_of_an_event_or_a_field_may_say_the_fault(tmp_path: Path) -> None:
    mapping = {
        "format": "misheard-mapping/1", "event": "kind", "time": "at", "fields": {"fault": "what"},
        "events": {
            "killed": {"event": "fault_injected", "fault": "server_crash"}, "chaos": "fault_injected",
        },
    }  # fmt: skip
    lines = [{"kind": "killed", "at": 1, "what": CANARY}, {"kind": "chaos", "at": 2, "what": "disk_full"}]
    trace = read(tmp_path, lines, mapping).trace
    assert trace.faults == ((0, FaultKind.SERVER_CRASH), (1, FaultKind.DISK_FULL))
    with pytest.raises(SoakError, match="fault must be one of") as error:
        read(tmp_path, [{"kind": "chaos", "at": 2, "what": CANARY}], mapping)
    assert CANARY not in str(error.value)


def test_a_trace_without_a_mapped_event_is_none(tmp_path: Path) -> None:
    with pytest.raises(SoakError, match="no event is one that the mapping names"):
        read(tmp_path, [HEADER, *healthy(1)])


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "text": (MAPPING | {"fields": MAPPING["fields"] | {"text": "data.text"}},
             "fields: 'text' is no field of a trace, which has none for text"),
    "typo": (MAPPING | {"fields": MAPPING["fields"] | {"word": "data.n"}}, "did you mean 'words'?"),
    "time among fields": (MAPPING | {"fields": {"t": "at"}}, "'t' is no field of a trace"),
    "unit of time": (MAPPING | {"time": {"field": "at", "unit": "hours"}}, "t has the units s, ms, us, ns"),
    "unit of a count": (MAPPING | {"fields": MAPPING["fields"] | {"words": {"field": "n", "unit": "ms"}}},
                        "words has no unit"),
    "unit of memory": (
        MAPPING | {"fields": MAPPING["fields"] | {"memory_bytes": {"field": "n", "unit": "ms"}}},
        "memory_bytes has the units B, kB"),
    "no event of ours": (MAPPING | {"events": {"x": "transcript"}}, "events.x.event: must be 'turn_opened'"),
    "no events": (MAPPING | {"events": {}}, "events: must have at least 1 entry"),
    "operation": (MAPPING | {"operations": {"x": "draw"}}, "operations.x: must be 'add_shape'"),
    "required": (MAPPING | {"fields": {}}, "'vad.begin' is turn_opened, which needs turn"),
    "type of no operation": (
        MAPPING | {"events": {"x": {"event": "drained", "type": "remove"}}}, "drained is no operation"),
    "fault of no fault": (
        MAPPING | {"events": {"x": {"event": "drained", "fault": "disk_full"}}}, "drained has no fault"),
    "unknown fault": (
        MAPPING | {"events": {"x": {"event": "fault_injected", "fault": "fire"}}},
        "events.x.fault: must be 'recognizer_error'"),
    "unknown option": (MAPPING | {"event_field": "x"}, "event_field: unknown option (did you mean 'event'?)"),
    "path": (MAPPING | {"event": "a..b"}, "event: is no name of a field"),
    "ids": (MAPPING | {"ids": "plain"}, "ids: must be 'as_written' or 'hashed'"),
}  # fmt: skip


@pytest.mark.parametrize(("mapping", "problem"), WRONG.values(), ids=WRONG)
def test_a_wrong_mapping_says_what_is_wrong(tmp_path: Path, mapping: object, problem: str) -> None:
    with pytest.raises(SoakError) as error:
        load_mapping(write_mapping(tmp_path, mapping))
    assert problem in str(error.value)


LIMITS: dict[str, tuple[str, str]] = {
    "share": ("failed_share_at_most: 1.5", "failed_share_at_most: must be at most 1"),
    "truth": ("queue_depth: true", "queue_depth: must be a whole number"),
    "infinite": ("drift_seconds: .inf", "drift_seconds: must be"),
    "NaN": ("merge_seconds: .nan", "merge_seconds: must be"),
    "stage": ("latency_p95_seconds: {judge: 1.0}", "latency_p95_seconds.judge"),
    "check": ("require: [unresolve]", "'unresolve' is no check (did you mean 'unresolved'?)"),
    "waived": ("waived: {boards: none}", "'boards' is no check"),
    "reason": ('waived: {memory: "a\\nb"}', "a reason must be one line of text"),
    "both": ("require: [memory]\nwaived: {memory: x}", "memory: give require or waived, not both"),
    "option": ("memory_rise: 1", "memory_rise: unknown option (did you mean 'memory_rise_bytes'?)"),
}


@pytest.mark.parametrize(("line", "problem"), LIMITS.values(), ids=LIMITS)
def test_wrong_limits_say_what_is_wrong(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "limits.yaml"
    path.write_text(f"format: misheard-soak/1\n{line}\n")
    with pytest.raises(SoakError) as error:
        load_limits(path)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "format: misheard-gate/1", "format: !!python/name:os.system misheard-soak/1",
     "format: misheard-soak/1\nformat: misheard-soak/1", "a: &x 1\nb: *x"],
)  # fmt: skip
def test_what_is_no_such_file_is_bad_input(tmp_path: Path, text: str) -> None:
    path = tmp_path / "some.yaml"
    path.write_text(text)
    for load in (load_limits, load_mapping):
        with pytest.raises(InputError):
            load(path)


def test_the_example_of_the_page_works(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "soak.md").read_text()
    blocks = [part.split("```")[0] for part in page.split("```yaml\n")[1:]]
    mapping, limits = (next(b for b in blocks if f"format: {name}" in b)
                       for name in ("misheard-mapping/1", "misheard-soak/1"))  # fmt: skip
    (tmp_path / "m.yaml").write_text(mapping)
    (tmp_path / "l.yaml").write_text(limits)
    assert load_limits(tmp_path / "l.yaml") == Limits(**yaml.safe_load(limits))
    lines = next(part.split("```")[0] for part in page.split("```json\n")[1:] if '"kind"' in part)
    path = tmp_path / "theirs.jsonl"
    path.write_text(lines)
    assert read_trace(path, load_mapping(tmp_path / "m.yaml")).trace.times.size == len(
        [json.loads(line) for line in lines.splitlines()]
    )
