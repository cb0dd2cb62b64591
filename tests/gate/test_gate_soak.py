"""Gates that require checks of a long session, from the folder of a soak or from any product's trace."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from made_up_runs import MadeUpRun
from typer.testing import CliRunner

import misheard.gate
from misheard.commands import app
from misheard.errors import GateError, InputError
from misheard.gate.decide import decide_gate
from misheard.gate.gate_file import load_gate
from misheard.gate.verdict import GateVerdict, Outcome
from misheard.soak.checks.registry import CHECKS
from misheard.soak.limits import Limits
from soak.made_traces import Row, find, healthy, soak_folder, without, write

GUARD = {"metric": "wer", "at_most": 0.9}
GATE: dict[str, Any] = {"format": "misheard-gate/1", "guards": [GUARD]}
SHIP, NO_SHIP, UNSURE, INCOMPLETE = (
    Outcome.SHIP, Outcome.NO_SHIP, Outcome.INCONCLUSIVE, Outcome.INCOMPLETE,
)  # fmt: skip
Change = Callable[[list[Row]], list[Row]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return MadeUpRun().write(tmp_path_factory.mktemp("soaked") / "candidate")


def kept(rows: list[Row]) -> list[Row]:
    return rows


def deep(rows: list[Row]) -> list[Row]:
    find(rows, "sample")["queue_plan"] = 65
    return rows


def unsure(rows: list[Row]) -> list[Row]:
    for turn in range(4):
        find(rows, "plan_accepted", turn)["seconds"] = 9.0
    return rows


def unplanned(rows: list[Row]) -> list[Row]:
    return without(rows, lambda row: row["event"].startswith(("operation", "board")))


def session_of(run: Path, folder: Path, rows: list[Row], **changes: Any) -> Path:
    """The folder of a soak of the system and suite of a run."""
    state = json.loads((run / "run.json").read_bytes())
    return soak_folder(folder, rows, **{"suite": state["suite"], "system": state["system"], **changes})


TRACE = {"may_differ": {"system": "our own app", "suite": "people who called"}}
"""What a gate says that takes the trace of a product."""


def gate_file(folder: Path, soak: object) -> Path:
    path = folder / "gate.yaml"
    path.write_text(yaml.safe_dump(GATE if soak is None else {**GATE, "soak": soak}))
    return path


def judge(folder: Path, run: Path, soak: Mapping[str, Any], session: Path) -> GateVerdict:
    return decide_gate(gate_file(folder, soak), run, None, folder / "baselines", session)


BOARD = ("operation_order", "connections_drawn", "board_keeps_shapes", "ready_after_last_operation")
WAIVED = dict.fromkeys(BOARD, "draws nothing")
CASES: dict[str, tuple[Change, Limits | None, dict[str, Any], Outcome]] = {
    "kept": (kept, None, {"require": ["unresolved", "memory"]}, SHIP),
    "all kept": (kept, None, {"require": "all"}, SHIP),
    "broken": (deep, None, {"require": ["unresolved", "queue_depth"]}, NO_SHIP),
    "all with one broken": (deep, None, {"require": "all"}, NO_SHIP),
    "broken and not required": (deep, None, {"require": ["unresolved", "latency"]}, SHIP),
    "unsure": (unsure, None, {"require": ["latency"]}, UNSURE),
    "never happened and required": (kept, None, {"require": ["failed_blocks_nothing"]}, INCOMPLETE),
    "no evidence": (unplanned, None, {"require": ["operation_order"]}, INCOMPLETE),
    "played with other limits": (deep, Limits(queue_depth=65), {"require": ["queue_depth"]}, SHIP),
    "limits of the gate": (
        deep, Limits(queue_depth=65), {"require": ["queue_depth"], "limits": {"queue_depth": 64}}, NO_SHIP),
    "laxer limits of the gate": (deep, None, {"require": "all", "limits": {"queue_depth": 65}}, SHIP),
    "waived by the gate": (
        unplanned, None, {"require": "all", "limits": {"waived": WAIVED}}, SHIP),
    "waived by who played it": (
        unplanned, Limits(waived=WAIVED), {"require": "all"}, INCOMPLETE),
    "waived by who played it and required": (
        deep, Limits(waived={"queue_depth": "no time"}), {"require": ["queue_depth"]}, NO_SHIP),
    "required by who played it": (
        kept, Limits(require=("failed_blocks_nothing",)), {"require": "all"}, SHIP),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "limits", "section", "outcome"), CASES.values(), ids=CASES)
def test_the_required_checks_decide(
    tmp_path: Path, run: Path, changes: Change, limits: Limits | None, section: dict[str, Any],
    outcome: Outcome,
) -> None:  # fmt: skip
    played_with = (limits or Limits()).model_dump(mode="json")
    soak = session_of(run, tmp_path / "s1", changes(healthy()), limits=played_with)
    verdict = judge(tmp_path, run, section, soak)
    assert verdict.outcome is outcome
    assert verdict.soak == "s1"
    found = [check for check in verdict.checks if check.role == "mechanism"]
    names = {check.id.split("/")[1] for check in found}
    assert all(check.id.startswith("soak/") for check in found)
    assert names == ({c.name for c in CHECKS} if section["require"] == "all" else {*section["require"]})
    assert any(note.startswith("soak s1: complete, 5 minutes at speed max") for note in verdict.notes)


@pytest.mark.parametrize(
    ("least", "of_trace", "status", "outcome"),
    [(5, False, "pass", SHIP), (5.5, False, "inconclusive", UNSURE), (6, True, "pass", SHIP),
     (7, True, "inconclusive", UNSURE)],
)  # fmt: skip
def test_a_session_must_be_as_long_as_the_gate_asks(
    tmp_path: Path, run: Path, least: float, of_trace: bool, status: str, outcome: Outcome
) -> None:
    if of_trace:
        session = write(tmp_path / "theirs.jsonl", healthy())
    else:
        session = session_of(run, tmp_path / "s1", healthy())
    section = {"require": "all", "at_least_minutes": least, **(TRACE if of_trace else {})}
    verdict = judge(tmp_path, run, section, session)
    (length,) = [check for check in verdict.checks if check.id == "soak/length"]
    assert (length.status, length.limit, verdict.outcome) == (status, least, outcome)
    assert length.candidate == pytest.approx(406 / 60 if of_trace else 5, abs=0.01)


def test_a_trace_of_any_product_is_judged_by_the_limits_of_the_gate_or_the_defaults(
    tmp_path: Path, run: Path
) -> None:
    trace = write(tmp_path / "theirs.jsonl", deep(healthy()))
    verdict = judge(tmp_path, run, {"require": ["queue_depth"], **TRACE}, trace)
    assert (verdict.outcome, verdict.soak) == (NO_SHIP, "theirs.jsonl")
    assert "soak theirs.jsonl: 406 seconds of a trace; limits: default limits" in verdict.notes
    section = {"require": ["queue_depth"], "limits": {"queue_depth": 65}, **TRACE}
    assert judge(tmp_path, run, section, trace).outcome is SHIP


def test_every_document_has_the_checks_of_the_session(tmp_path: Path, run: Path) -> None:
    soak = session_of(run, tmp_path / "s1", deep(healthy()))
    gate = gate_file(tmp_path, {"require": "all"})
    files = {name: tmp_path / name for name in ("v.json", "v.xml")}
    done = CliRunner().invoke(
        app, ["gate", str(gate), str(run), "--soak", str(soak), "--json", str(files["v.json"]),
              "--junit", str(files["v.xml"]), "--github"],
    )  # fmt: skip
    assert done.exit_code == 1
    document = json.loads(files["v.json"].read_text())
    schema = json.loads((Path(misheard.gate.__file__).parent / "verdict.schema.json").read_bytes())
    jsonschema.validate(document, schema)
    assert (document["soak"], document["exit_code"]) == ("s1", 1)
    check = next(check for check in document["checks"] if check["id"] == "soak/queue_depth/plan")
    assert (check["status"], check["candidate"], check["limit"], check["n"]) == ("fail", 65.0, 64.0, 80)
    root = ElementTree.parse(files["v.xml"]).getroot()  # noqa: S314
    assert root.find("*/testcase[@name='soak/queue_depth/plan']/failure") is not None
    case = root.find("*/testcase[@name='soak/unresolved']")
    assert case is not None and case.get("classname") == "mechanism" and not len(case)
    assert root.find("*/testcase[@name='soak/failed_blocks_nothing']/skipped") is not None
    assert "::error title=misheard gate%3A soak/queue_depth/plan::at most 65 deep" in done.output
    assert "soak       s1" in done.output
    assert "soak/failed_blocks_nothing (decides only where required)" in " ".join(done.output.split())


def test_a_section_and_a_session_come_together(tmp_path: Path, run: Path) -> None:
    trace = write(tmp_path / "t.jsonl", healthy(1))
    with pytest.raises(InputError, match=r"gate\.yaml: has a section soak; give the session, with --soak"):
        decide_gate(gate_file(tmp_path, {"require": "all"}), run, None, tmp_path)
    with pytest.raises(InputError, match=r"--soak: gate\.yaml has no section soak"):
        decide_gate(gate_file(tmp_path, None), run, None, tmp_path, trace)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "running": ({"status": "running"}, "soak s1: is running; play a session to its end"),
    "interrupted": ({"status": "interrupted"}, "soak s1: is interrupted"),
    "failed": ({"status": "failed"}, "soak s1: is failed"),
    "a fault that did not happen": ({"missed_faults": ["server_crash@60"]}, "1 fault did not happen"),
    "a trace that was changed": ({"trace_sha256": "0" * 64}, "trace.jsonl: was changed after the session"),
    "damaged": ({"limits": {"queue_depth": -1}}, "soak.json: not as misheard soak writes it"),
}


@pytest.mark.parametrize(("changes", "problem"), REFUSED.values(), ids=REFUSED)
def test_a_session_that_shows_nothing_is_refused(
    tmp_path: Path, run: Path, changes: dict[str, Any], problem: str
) -> None:
    soak = soak_folder(tmp_path / "s1", healthy(), **changes)
    verdict = judge(tmp_path, run, {"require": ["unresolved"]}, soak)
    assert (verdict.outcome, verdict.exit_code, verdict.checks) == (Outcome.NOT_COMPARABLE, 4, ())
    assert problem in verdict.refusals[0]


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "another model": (
        {"system": {"recognizer": {"backend": "b"}}},
        "soak s1: is of another system: recognizer.backend differs; play a session of what was run"),
    "one more part": (
        {"system": {"recognizer": {"backend": "a"}, "plan": {"scope": "item"}}},
        "is of another system: plan differs"),
    "no word of its system": ({"system": ...}, "is of another system: recognizer differs"),
    "another suite": ({"suite": {"name": "b", "version": "1"}}, "plays another suite: name differs"),
    "a suite that was edited": (
        {"suite": {"name": "made up", "version": "1", "lock": {"sha256": "0" * 64}}},
        "plays another suite: lock differs; play a session of what was run, or say in the gate file why it "
        "need not be, with soak.may_differ: {suite: WHY}"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "problem"), OTHERS.values(), ids=OTHERS)
def test_a_session_of_something_else_is_refused_unless_the_gate_says_why(
    tmp_path: Path, run: Path, changes: dict[str, Any], problem: str
) -> None:
    soak = session_of(run, tmp_path / "s1", healthy(), **changes)
    verdict = judge(tmp_path, run, {"require": ["unresolved"]}, soak)
    assert (verdict.outcome, verdict.checks) == (Outcome.NOT_COMPARABLE, ())
    assert problem in verdict.refusals[0]
    what = next(iter(changes))
    other = {"system": "suite", "suite": "system"}[what]
    wrong = {"require": ["unresolved"], "may_differ": {other: "no reason for this"}}
    assert judge(tmp_path, run, wrong, soak).outcome is Outcome.NOT_COMPARABLE
    allowed = judge(tmp_path, run, {"require": ["unresolved"], "may_differ": {what: "it is slow"}}, soak)
    assert allowed.outcome is SHIP
    assert any(note.endswith("allowed: it is slow") for note in allowed.notes)


def test_a_trace_is_taken_for_nothing_that_it_does_not_say(tmp_path: Path, run: Path) -> None:
    trace = write(tmp_path / "t.jsonl", healthy())
    refused = judge(tmp_path, run, {"require": ["unresolved"]}, trace)
    assert refused.outcome is Outcome.NOT_COMPARABLE
    assert "a trace does not say which system it is of" in refused.refusals[0]
    assert "a trace does not say which suite it is of" in refused.refusals[0]


def test_what_is_no_session_is_refused(tmp_path: Path, run: Path) -> None:
    (tmp_path / "t.jsonl").write_text("zanzibarcanary\n")
    (tmp_path / "empty").mkdir()
    for name in ("t.jsonl", "empty", "missing"):
        verdict = judge(tmp_path, run, {"require": ["unresolved"]}, tmp_path / name)
        assert (verdict.outcome, verdict.exit_code) == (Outcome.NOT_COMPARABLE, 4)
        assert name in verdict.refusals[0]
        assert "zanzibarcanary" not in repr(verdict)


def test_no_document_takes_the_place_of_a_trace_or_a_file_of_a_soak(tmp_path: Path, run: Path) -> None:
    gate, trace = gate_file(tmp_path, {"require": "all"}), write(tmp_path / "t.jsonl", healthy(1))
    soak = soak_folder(tmp_path / "s1", healthy(1))
    for session, target in ((trace, trace), (soak, soak / "trace.jsonl"), (soak, soak / "soak.json")):
        before = target.read_bytes()
        done = CliRunner().invoke(
            app, ["gate", str(gate), str(run), "--soak", str(session), "--json", str(target)]
        )
        assert isinstance(done.exception, InputError)
        assert target.read_bytes() == before


PROBLEMS: dict[str, tuple[object, str]] = {
    "nothing required": ({"require": []}, "soak.require: must have at least 1 entry"),
    "no list": ({"require": "memory"}, "soak.require: must be a list"),
    "no require": ({}, "soak.require: is missing"),
    "no mapping": (["memory"], "soak: must be a mapping"),
    "unknown check": ({"require": ["memry"]}, "soak.require[0]: 'memry' is no check (did you mean"),
    "a part of a check": ({"require": ["latency/plan"]}, "'latency/plan' is no check"),
    "all and one": ({"require": ["all", "memory"]}, "soak: require: give all, or a list of checks"),
    "unknown option": ({"require": "all", "limit": {}}, "soak.limit: unknown option (did you mean"),
    "may differ in what nobody compares": (
        {"require": "all", "may_differ": {"model": "x"}}, "may_differ.model: must be 'system' or 'suite'"),
    "may differ for no reason": (
        {"require": "all", "may_differ": {"suite": " "}}, "may_differ.suite: a reason must be one line"),
    "unknown limit": (
        {"require": "all", "limits": {"queue_dept": 1}},
        "soak.limits.queue_dept: unknown option (did you mean 'queue_depth'?)"),
    "wrong limit": ({"require": "all", "limits": {"queue_depth": -1}}, "soak.limits.queue_depth: must be at"),
    "required in two places": (
        {"require": "all", "limits": {"require": ["memory"]}}, "name the checks under require"),
    "required and waived": (
        {"require": ["memory"], "limits": {"waived": {"memory": "x"}}},
        "memory: give require or limits.waived, not both"),
}  # fmt: skip


@pytest.mark.parametrize(("section", "problem"), PROBLEMS.values(), ids=PROBLEMS)
def test_a_wrong_section_says_what_is_wrong(tmp_path: Path, section: object, problem: str) -> None:
    with pytest.raises(GateError) as caught:
        load_gate(gate_file(tmp_path, section))
    assert problem in str(caught.value)


def test_a_gate_without_a_soak_has_the_fingerprint_that_it_always_had(tmp_path: Path) -> None:
    before = "f00e0e0b9d03652de6ef591110d7c93377d0a534720cd6b6bf2b3158cc34f6ed"
    assert load_gate(gate_file(tmp_path, None)).sha256 == before
    assert load_gate(gate_file(tmp_path, {"require": "all"})).sha256 != before
