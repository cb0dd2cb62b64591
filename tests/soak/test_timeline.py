"""A session over its time, and the folders of soaks that are read back."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from made_traces import Row, find, healthy, in_order, judged, soak_folder
from rich.console import Console
from typer.testing import CliRunner

import misheard.soak
from misheard.canonical import sha256_file
from misheard.commands import app
from misheard.errors import IncompleteRunError, SoakError
from misheard.soak.finished import read_soak
from misheard.soak.limits import Limits
from misheard.soak.reading import read_trace
from misheard.soak.table import Trace
from misheard.soak.terminal_timeline import render_timeline
from misheard.soak.timeline import Moment, build_timeline
from misheard.soak.verdict import SoakVerdict

VERDICT_SCHEMA = json.loads((Path(misheard.soak.__file__).parent / "soak-verdict.schema.json").read_bytes())
FAULTS: list[Row] = [
    {"event": "fault_injected", "t": 101.0, "fault": "slow_server"},
    {"event": "fault_injected", "t": 202.0, "fault": "server_crash"},
    {"event": "server_restarted", "t": 210.0, "seconds": 6.5},
    {"event": "server_restarted", "t": 330.0},
]


def hard_session() -> list[Row]:
    """A session with faults, of which one turn fails, one is empty, and one has no plan."""
    rows = healthy()
    for turn, event, becomes in (
        (40, "transcript_final", "transcript_failed"),
        (50, "transcript_final", "transcript_empty"),
        (60, "plan_accepted", "plan_rejected"),
    ):
        row = find(rows, event, turn)
        row["event"] = becomes
        for name in ("words", "words_rewritten", "audio_from", "audio_to", "operations"):
            row.pop(name, None)
    find(rows, "transcript_final", 70).update(words=0, words_rewritten=6)
    find(rows, "plan_accepted", 41)["seconds"] = 3.5
    find(rows, "sample", nth=40)["queue_plan"] = 70
    return in_order([*rows, *FAULTS])


Session = tuple[Trace, SoakVerdict]


def session(folder: Path, rows: list[Row]) -> Session:
    verdict = judged(folder, rows)
    return read_trace(folder / "trace.jsonl").trace, verdict


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return session(tmp_path_factory.mktemp("hard"), hard_session())


@pytest.mark.parametrize("parts", [1, 7, 40, 500])
def test_every_event_is_in_one_part(hard: Session, parts: int) -> None:
    found = build_timeline(*hard, parts)
    assert {name: sum(counts) for name, counts in found.counts.items()} == {
        "opened": 80, "closed": 80, "finals": 77, "empty": 2, "failed": 1, "rejected": 1,
    }  # fmt: skip
    lanes = [*found.counts.values(), found.queue, found.memory, found.shapes,
             *(lane for stage in found.stages.values() for lane in (stage.p50, stage.worst))]  # fmt: skip
    assert {len(lane) for lane in lanes} == {parts}
    assert max(depth for depth in found.queue if depth is not None) == 70
    assert max(shapes for shapes in found.shapes if shapes is not None) == 80


def test_a_part_holds_what_happened_in_it(hard: Session) -> None:
    # 406 seconds in parts of 101.5, which hold 20 turns each and a little more
    found = build_timeline(*hard, 4)
    assert found.seconds == 406.0
    at = find(hard_session(), "transcript_failed")["t"]
    assert found.counts["failed"].index(1) == int(at / 101.5)
    assert found.stages["plan"].worst[int(find(hard_session(), "plan_accepted", 41)["t"] / 101.5)] == 3.5
    assert found.stages["plan"].worst_of_all == 3.5
    assert found.stages["plan"].p50_of_all == pytest.approx(0.35)
    assert found.shapes == (20.0, 40.0, 60.0, 80.0)


def test_a_part_without_a_sample_has_no_figure(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"event": "sample", "t": 1.0, "memory_bytes": 5},
        {"event": "sample", "t": 9.0, "memory_bytes": 7, "queue_plan": 0},
    ]
    found = build_timeline(*session(tmp_path, rows), 3)
    assert (found.memory, found.queue, found.shapes) == ((5.0, None, 7.0), (None, None, 0.0), (None,) * 3)
    assert found.stages == {}


def test_faults_restarts_and_breaches_have_their_time_and_line(tmp_path: Path) -> None:
    rows = hard_session()
    for turn in range(4):
        # so that the budget of plans is neither kept nor broken
        find(rows, "plan_accepted", turn)["seconds"] = 9.0
    trace, verdict = session(tmp_path, rows)
    found = build_timeline(trace, verdict, 10)
    lines = {id(row): number for number, row in enumerate(rows, start=2)}
    assert [(m.t, m.what, m.seconds) for m in (*found.faults, *found.restarts)] == [
        (101.0, "slow_server", None), (202.0, "server_crash", None),
        (210.0, "server_restarted", 6.5), (330.0, "server_restarted", None),
    ]  # fmt: skip
    failed, deep = find(rows, "transcript_failed"), find(rows, "sample", nth=40)
    assert found.breaches == (
        Moment(failed["t"], lines[id(failed)], "failed_transcripts"),
        Moment(deep["t"], lines[id(deep)], "queue_depth/plan"),
    )
    assert build_timeline(trace, None, 10).breaches == ()


def printed(shown: Session, width: int, encoding: str = "utf-8") -> list[str]:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=out, width=width).print(render_timeline(*shown))
    out.flush()
    return raw.getvalue().decode(encoding).splitlines()


@pytest.mark.parametrize("width", [40, 60, 200])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_terminal_has_every_lane_and_signs_where_they_belong(
    hard: Session, width: int, encoding: str
) -> None:
    lines = printed(hard, width, encoding)
    assert all(line == line.rstrip() and len(line) <= width for line in lines)
    rows = {line[:17].strip(): line[17:] for line in lines[1:23]}
    assert rows.keys() >= {
        "turns opened", "finals", "empty", "failed", "replies failed", "recognize p50", "plan worst",
        "deepest queue", "memory", "shapes", "faults", "restarts", "checks broken",
    }  # fmt: skip
    assert rows["memory"].endswith("500 MiB")
    assert [rows[name].split()[-2:] for name in ("render p50", "recognize p50")] == [
        ["10.0", "ms"], ["0.45", "s"],
    ]  # fmt: skip
    assert (rows["failed"].split()[-1], rows["empty"].split()[-1]) == ("1", "2")
    parts = min(width - 29, 120)
    signs = [place for place, sign in enumerate(rows["faults"]) if sign == "!"]
    assert signs == [int(parts * t / 406.0) for t in (101.0, 202.0)]
    assert [line.split("  ", 1)[1] for line in lines if "server restarted in 6.50 s" in line]
    assert any("breaks queue_depth/plan" in line for line in lines)


@pytest.mark.parametrize("seconds", [0.0, 0.5, 59.0, 61.0, 300.0, 3600.0, 40_000.0, 604_800.0])
def test_the_axis_names_times_where_they_are(tmp_path: Path, seconds: float) -> None:
    shown = session(tmp_path, [{"event": "drained", "t": seconds}])
    for width in (40, 60, 120):
        axis = printed(shown, width)[0].removesuffix("session").rstrip()[17:]
        names, parts = axis.split(), width - 29
        assert names or seconds > 3600
        assert len(names) > 1 or width < 60 or seconds < 59
        for name in names:
            *hours, minutes, second = map(int, name.split(":"))
            t = 3600 * (hours[0] if hours else 0) + 60 * minutes + second
            assert axis.index(name) == (min(int(parts * t / seconds), parts - 1) if seconds else 0)


def test_many_faults_are_counted_and_the_first_are_listed(tmp_path: Path) -> None:
    rows: list[Row] = [{"event": "fault_injected", "t": float(t), "fault": "disk_full"} for t in range(50)]
    lines = printed(session(tmp_path, rows), 80)
    assert sum("fault disk_full" in line for line in lines) == 20
    assert lines[-1].strip() == "and 30 more"


def command(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.output, str(done.exception or "")


def test_the_report_of_a_soak_is_its_time_and_its_verdict(tmp_path: Path) -> None:
    soak = soak_folder(tmp_path / "s1", hard_session())
    before = {path.name: path.read_bytes() for path in soak.iterdir()}
    code, text, _ = command("report", soak)
    assert code == 0
    said = " ".join(text.split())
    assert "s1: complete, 5 minutes at speed max, at most 1.5 s behind the microphone, 2 restarts" in said
    assert "recognize worst" in text
    assert "fault server_crash" in text
    assert text.rstrip().splitlines()[-1] == "NO SHIP: of 30 checks 2 failed"
    assert {path.name: path.read_bytes() for path in soak.iterdir()} == before
    code, _, error = command("report", soak, "--by", "noise")
    assert (code, "is a soak, which has no conditions" in error) == (1, True)


def test_a_soak_is_judged_by_its_own_limits_unless_others_are_given(tmp_path: Path) -> None:
    lax = Limits(failed_share_at_most=0.5, queue_depth=100).model_dump(mode="json")
    soak = soak_folder(tmp_path / "s1", hard_session(), limits=lax, limits_name="lax.yaml")
    verdict = tmp_path / "v.json"
    code, text, _ = command("soak", "check", soak, "--timeline", "--json", verdict)
    assert (code, "replies failed" in text, "limits   lax.yaml" in text) == (0, True, True)
    document = json.loads(verdict.read_text())
    assert (document["trace"], document["limits"]["name"]) == ("s1/trace.jsonl", "lax.yaml")
    strict = tmp_path / "strict.yaml"
    strict.write_text("format: misheard-soak/1\n")
    code, text, _ = command("soak", "check", soak, "--limits", strict)
    assert (code, "replies failed" in text, "limits   strict.yaml" in text) == (1, False, True)
    assert command("soak", "check", soak / "trace.jsonl")[0] == 1


DAMAGES: dict[str, dict[str, Any]] = {
    "no status": {"status": ...},
    "another status": {"status": "zanzibarcanary"},
    "another format": {"schema": "misheard/soak/2"},
    "speed": {"speed": "fast"},
    "minutes": {"minutes": -1},
    "restarts": {"restarts": 1.5},
    "no limits": {"limits": ...},
    "wrong limits": {"limits": {"queue_depth": "zanzibarcanary"}},
    "unknown limits": {"limits": {"zanzibarcanary": 1}},
}


@pytest.mark.parametrize("changes", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_soak_is_named(tmp_path: Path, changes: dict[str, Any]) -> None:
    soak = soak_folder(tmp_path / "s1", healthy(1), **changes)
    for arguments in (("report", soak), ("soak", "check", soak)):
        code, _, error = command(*arguments)
        assert (code, "soak.json: not as misheard soak writes it" in error) == (1, True)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000])
def test_what_is_no_soak_json_is_named(tmp_path: Path, text: str) -> None:
    soak = soak_folder(tmp_path / "s1", healthy(1))
    (soak / "soak.json").write_text(text)
    code, _, error = command("report", soak)
    assert (code, "soak.json: " in error) == (1, True)


def test_a_soak_that_ended_before_its_trace_began_says_so(tmp_path: Path) -> None:
    soak = soak_folder(tmp_path / "s1", healthy(1), status="failed")
    code, text, _ = command("report", soak)
    assert (code, text.startswith("soak     s1: failed, 5 minutes at speed max")) == (0, True)
    header, first, *_ = (soak / "trace.jsonl").read_bytes().splitlines(keepends=True)
    for written in (b"", header, header + first[:-1], None):
        if written is None:
            (soak / "trace.jsonl").unlink()
        else:
            (soak / "trace.jsonl").write_bytes(written)
        _, _, error = command("report", soak)
        assert error.endswith("s1: is failed, and has no trace")


NOT_WHOLE: dict[str, tuple[dict[str, Any], str, str]] = {
    "failed": ({"status": "failed"}, "is failed; play a session to its end", "not_whole"),
    "a fault did not happen": (
        {"faults": ["disk_full@9+1", "server_crash@60"], "missed_faults": ["server_crash@60"]},
        "1 fault did not happen before the session ended: server_crash@60", "not_whole"),
    "every fault happened": (
        {"faults": ["disk_full@9+1"]}, "played to its end, with 1 fault", "kept"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said", "reason"), NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_what_was_asked_for_and_not_played_is_no_evidence_wherever_it_is_judged(
    tmp_path: Path, changes: dict[str, Any], said: str, reason: str
) -> None:
    soak = soak_folder(tmp_path / "s1", healthy(), **changes)
    code, summary = (0, "SHIP: 29 checks passed") if reason == "kept" else (4, "INCOMPLETE: of 29 checks 1 ")
    for arguments in (("soak", "check", soak, "--json", tmp_path / "v.json"), ("report", soak)):
        ended, text, _ = command(*arguments)
        assert ended == (0 if arguments[0] == "report" else code)
        assert said in " ".join(text.split())
        assert summary in text
    document = json.loads((tmp_path / "v.json").read_text())
    jsonschema.validate(document, VERDICT_SCHEMA)
    found = document["checks"][0]
    assert (document["exit_code"], found["id"], found["reason"]) == (code, "session", reason)
    assert command("soak", "check", soak / "trace.jsonl")[0] == 0


@pytest.mark.parametrize("status", ["running", "interrupted", "failed"])
def test_a_soak_that_was_broken_off_is_read_without_a_torn_last_line(tmp_path: Path, status: str) -> None:
    whole = soak_folder(tmp_path / "whole", healthy(1)[:-1])
    torn = soak_folder(tmp_path / "torn", healthy(1), status=status)
    text = (torn / "trace.jsonl").read_bytes()
    (torn / "trace.jsonl").write_bytes(text[:-1])
    assert read_soak(torn).judged.counts == read_soak(whole).judged.counts
    # a session that was played to its end has no torn line
    torn = soak_folder(tmp_path / "complete", healthy(1))
    (torn / "trace.jsonl").write_bytes(text[:-5])
    with pytest.raises(SoakError, match="is no JSON"):
        read_soak(torn)


def test_a_trace_that_was_changed_after_the_session_is_not_judged_as_its_own(tmp_path: Path) -> None:
    soak = soak_folder(tmp_path / "s1", healthy())
    trace = soak / "trace.jsonl"
    facts = json.loads((soak / "soak.json").read_bytes())
    (soak / "soak.json").write_text(json.dumps({**facts, "trace_sha256": sha256_file(trace)}))
    assert command("soak", "check", soak)[0] == 0
    lines = trace.read_text().splitlines(keepends=True)
    trace.write_text("".join(line for line in lines if '"t7"' not in line))
    for arguments in (("report", soak), ("soak", "check", soak)):
        assert "trace.jsonl: was changed after the session" in command(*arguments)[2]
    assert command("soak", "check", trace)[0] in (0, 1)


@pytest.mark.parametrize("status", ["running", "complete"])
@pytest.mark.parametrize("make", [Path.touch, os.mkfifo, Path.mkdir])
def test_what_is_no_trace_in_the_folder_of_a_soak_is_said(
    tmp_path: Path, status: str, make: Callable[[Path], None]
) -> None:
    soak = soak_folder(tmp_path / "s1", healthy(1), status=status)
    (soak / "trace.jsonl").unlink()
    make(soak / "trace.jsonl")
    with pytest.raises((IncompleteRunError, SoakError), match=r"has no trace|must be .*misheard-trace/1"):
        read_soak(soak)


@pytest.mark.parametrize("name", ["trace.jsonl", "soak.json", "verdict.json"])
def test_a_verdict_takes_the_place_of_no_file_of_a_soak(tmp_path: Path, name: str) -> None:
    soak = soak_folder(tmp_path / "s1", healthy(1))
    (soak / "verdict.json").write_text("{}")
    before = (soak / name).read_bytes()
    _, _, error = command("soak", "check", soak, "--json", soak / name)
    assert "is a file of a soak" in error
    assert (soak / name).read_bytes() == before


def test_a_mapping_is_not_for_a_soak(tmp_path: Path) -> None:
    soak = soak_folder(tmp_path / "s1", healthy(1))
    mapping = tmp_path / "m.yaml"
    mapping.write_text("format: misheard-mapping/1\nevent: kind\ntime: at\nevents: {idle: drained}\n")
    _, _, error = command("soak", "check", soak, "--mapping", mapping)
    assert "--mapping is for the trace of another product" in error
