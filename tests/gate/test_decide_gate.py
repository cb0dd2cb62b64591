"""Gates over whole run directories: what ships, what does not, what nobody can say, and what is refused."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from made_up_runs import AXES, MadeUpRun, edit_json

from misheard.gate.baseline import promote
from misheard.gate.decide import decide_gate
from misheard.gate.verdict import Check, GateVerdict, Outcome
from misheard.metrics.base import Arm
from misheard.run.comparison import compare_runs
from misheard.stats.gate import Status

BASE = MadeUpRun(wrong=lambda number: 3, system="base")
BETTER = MadeUpRun(wrong=lambda number: 1 + number % 2, system="better")
WORSE = MadeUpRun(wrong=lambda number: 4 + number % 2, system="worse")
UNSURE = MadeUpRun(wrong=lambda number: 1 + number % 12 // 2, system="unsure")

IMPROVE = {"primary": {"metric": "wer", "must": "improve"}}
NOT_WORSE = {"guards": [{"metric": "wer", "may_rise_by_at_most": 0.02}]}


def judge(
    folder: Path, gate: Mapping[str, Any], candidate: MadeUpRun, baseline: MadeUpRun | None = BASE
) -> GateVerdict:
    file = folder / "gate.yaml"
    file.write_text(yaml.safe_dump({"format": "misheard-gate/1", **gate}))
    run = candidate.write(folder / "candidate")
    other = None if baseline is None else str(baseline.write(folder / "baseline"))
    return decide_gate(file, run, other, folder / "baselines")


def only(verdict: GateVerdict, role: str) -> Check:
    (found,) = [check for check in verdict.checks if check.role == role]
    return found


BY_NOISE = {"metric": "wer", "may_rise_by_at_most": 0.02, "by": ["noise"]}
LARGE = replace(BASE, items=120)
SHIP, NO_SHIP, UNDECIDED, INCOMPLETE = (
    Outcome.SHIP, Outcome.NO_SHIP, Outcome.INCONCLUSIVE, Outcome.INCOMPLETE,
)  # fmt: skip

OUTCOMES: dict[str, tuple[Mapping[str, Any], MadeUpRun, MadeUpRun | None, Outcome]] = {
    "improved": (IMPROVE, BETTER, BASE, SHIP),
    "worse": (IMPROVE, WORSE, BASE, NO_SHIP),
    "not sure": (IMPROVE, UNSURE, BASE, UNDECIDED),
    "unchanged is not improved": (IMPROVE, replace(BASE, system="b"), BASE, NO_SHIP),
    "unchanged is not worse": (NOT_WORSE, replace(BASE, system="b"), BASE, SHIP),
    "improved by enough": (
        {"primary": {"metric": "wer", "must_fall_by_at_least": 0.1}}, BETTER, BASE, SHIP),
    "not improved by enough": (
        {"primary": {"metric": "wer", "must_fall_by_at_least": 0.3}}, BETTER, BASE, NO_SHIP),
    "better but a guard fails": (
        IMPROVE | {"guards": [{"metric": "correct_rate", "may_fall_by_at_most": 0.02}]},
        replace(BETTER, right=lambda number: number % 2 == 0), BASE, NO_SHIP),
    "better but a guard is not sure": (
        IMPROVE | {"guards": [{"metric": "correct_rate", "may_fall_by_at_most": 0.1}]},
        replace(BETTER, right=lambda number: number > 5), BASE, UNDECIDED),
    "a failed guard outweighs an unsure primary": (
        IMPROVE | {"guards": [{"metric": "correct_rate", "may_fall_by_at_most": 0.02}]},
        replace(UNSURE, right=lambda number: False), BASE, NO_SHIP),
    "missing evidence outweighs a failed guard": (
        NOT_WORSE | {"latency": [{"stage": "first_token", "p95_seconds_at_most": 1}]},
        WORSE, BASE, INCOMPLETE),
    "under 50 pairs": (IMPROVE, replace(BETTER, items=49), replace(BASE, items=49), UNDECIDED),
    "under 6 sessions": (IMPROVE, replace(BETTER, sessions=5), replace(BASE, sessions=5), UNDECIDED),
    "the worst items failed": (IMPROVE, replace(BETTER, failed=[3, 5]), BASE, NO_SHIP),
    "failures within a budget": (
        IMPROVE | {"failures": {"count_at_most": 2}}, replace(BETTER, failed=[3, 5]), BASE, SHIP),
    "failures over a share": (
        IMPROVE | {"failures": {"rate_at_most": 0.01}}, replace(BETTER, failed=[3]), BASE, NO_SHIP),
    "every slice is fine": (
        {"guards": [BY_NOISE]}, replace(BETTER, items=120), LARGE, SHIP),
    "one slice hides in the average": (
        {"guards": [BY_NOISE]},
        replace(LARGE, wrong=lambda number: 0 if number % 2 == 0 else 5), LARGE, NO_SHIP),
    "slices under 50 items": ({"guards": [BY_NOISE]}, BETTER, BASE, UNDECIDED),
    "a declared slice is empty": (
        {"guards": [BY_NOISE]},
        replace(BETTER, items=120, conditions=lambda number: {"language": "en", "noise": "clean"}),
        replace(LARGE, conditions=lambda number: {"language": "en", "noise": "clean"}), INCOMPLETE),
    "a filter leaves nothing": (
        {"guards": [{"metric": "wer", "may_rise_by_at_most": 0.02, "where": "noise=5dB"}]},
        replace(BETTER, conditions=lambda number: {"language": "en", "noise": "clean"}),
        replace(BASE, conditions=lambda number: {"language": "en", "noise": "clean"}), INCOMPLETE),
    "a filter leaves no slice": (
        {"guards": [BY_NOISE | {"where": "noise!=5dB|clean"}]},
        replace(BETTER, items=120), LARGE, INCOMPLETE),
    "a filter chooses a slice": (
        {"guards": [BY_NOISE | {"where": "noise=clean"}]},
        replace(LARGE, wrong=lambda number: 0 if number % 2 == 0 else 5), LARGE, SHIP),
    "good enough": ({"guards": [{"metric": "wer", "at_most": 0.3}]}, BETTER, None, SHIP),
    "not good enough": ({"guards": [{"metric": "wer", "at_most": 0.3}]}, WORSE, None, NO_SHIP),
    "perhaps good enough": ({"guards": [{"metric": "wer", "at_most": 0.35}]}, UNSURE, None, UNDECIDED),
    "never in few sessions is not never": (
        {"guards": [{"metric": "hallucination_rate", "at_most": 0.02}]}, BETTER, None, UNDECIDED),
    "fast enough": (
        NOT_WORSE | {"latency": [{"stage": "recognize", "p95_seconds_at_most": 1}]}, BETTER, BASE, SHIP),
    "too slow": (
        NOT_WORSE | {"latency": [{"stage": "recognize", "p95_seconds_at_most": 0.4}]}, BETTER, BASE, NO_SHIP),
    "answered fast enough, silent clips aside": (
        NOT_WORSE | {"latency": [{"stage": "llm", "p95_seconds_at_most": 0.2}]},
        replace(BETTER, silent=3), replace(BASE, silent=3), SHIP),
    "a time is missing": (
        NOT_WORSE | {"latency": [{"stage": "recognize", "p95_seconds_at_most": 1}]},
        replace(BETTER, seconds=lambda number: None if number == 7 else 0.1), BASE, INCOMPLETE),
    "a time that cannot be": (
        NOT_WORSE | {"latency": [{"stage": "recognize", "p95_seconds_at_most": 1}]},
        replace(BETTER, seconds=lambda number: -1.0 if number == 7 else 0.1), BASE, INCOMPLETE),
    "no answer was timed": (
        NOT_WORSE | {"latency": [{"stage": "first_token", "p95_seconds_at_most": 1}]},
        BETTER, BASE, INCOMPLETE),
    "nothing was planned": (
        NOT_WORSE | {"latency": [{"stage": "plan", "p95_seconds_at_most": 1}]}, BETTER, BASE, INCOMPLETE),
    "an arm was not run": (
        {"guards": [{"metric": "correct_rate", "arm": "control", "may_fall_by_at_most": 0.1}]},
        replace(BETTER, arms=[Arm.AUDIO, Arm.TRANSCRIPT]), BASE, INCOMPLETE),
    "the baseline lacks the arm": (
        {"guards": [{"metric": "correct_rate", "arm": "control", "may_fall_by_at_most": 0.1}]},
        BETTER, replace(BASE, arms=[Arm.AUDIO, Arm.TRANSCRIPT]), INCOMPLETE),
    "the candidate lacks the arm of a bound": (
        {"guards": [{"metric": "correct_rate", "arm": "control", "at_least": 0.1}]},
        replace(BETTER, arms=[Arm.AUDIO]), None, INCOMPLETE),
    "required and there": (
        NOT_WORSE | {"required_slices": [{"by": ["language"]}]}, BETTER, BASE, SHIP),
    "required and too small": (
        NOT_WORSE | {"required_slices": [{"by": ["noise"]}]}, BETTER, BASE, UNDECIDED),
    "required and empty": (
        NOT_WORSE | {"required_slices": [{"by": ["noise"], "items_at_least": 1, "sessions_at_least": 1}]},
        replace(BETTER, axes=AXES | {"noise": ("clean", "5dB", "15dB")}), BASE, INCOMPLETE),
    "any of two, the other unchanged": (
        {"primary_any_of": [{"metric": m, "must": "improve"} for m in ("wer", "correct_rate")]},
        BETTER, BASE, SHIP),
    "any of two, the other worse": (
        {"primary_any_of": [{"metric": m, "must": "improve"} for m in ("wer", "correct_rate")]},
        replace(BETTER, right=lambda number: number % 2 == 0), BASE, NO_SHIP),
    "any of two, neither sure": (
        {"primary_any_of": [{"metric": m, "must": "improve"} for m in ("wer", "cer")]},
        UNSURE, BASE, UNDECIDED),
    "any of two, the other not sure": (
        {"primary_any_of": [{"metric": m, "must": "improve"} for m in ("wer", "correct_rate")]},
        replace(BETTER, right=lambda number: number > 2),
        replace(BASE, right=lambda number: number > 1), SHIP),
    "a gate axis nobody looks at": (
        NOT_WORSE, replace(BETTER, gate_axes=["noise"]), replace(BASE, gate_axes=["noise"]), INCOMPLETE),
    "a gate axis that a guard looks at": (
        {"guards": [BY_NOISE]},
        replace(BETTER, items=120, gate_axes=["noise"]), replace(LARGE, gate_axes=["noise"]), SHIP),
    "a waived gate axis": (
        NOT_WORSE | {"waived_axes": {"noise": "60 items are too few"}},
        replace(BETTER, gate_axes=["noise"]), replace(BASE, gate_axes=["noise"]), SHIP),
    "the suite's primary metric": (
        {"primary": {"metric": "primary", "must": "improve"}},
        replace(BETTER, gate_axes=["language"]), replace(BASE, gate_axes=["language"]), SHIP),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes(tmp_path: Path, name: str) -> None:
    gate, candidate, baseline, expected = OUTCOMES[name]
    verdict = judge(tmp_path, gate, candidate, baseline)
    reasons = [(check.id, str(check.status), check.reason) for check in verdict.checks]
    assert verdict.outcome is expected, (verdict.refusals, reasons)


def state(**changes: Any) -> dict[str, Any]:
    return changes


REFUSALS: dict[str, tuple[MadeUpRun, MadeUpRun | None, tuple[str, ...]]] = {
    "no baseline": (BETTER, None, ("none is given", "--baseline")),
    "limited candidate": (replace(BETTER, limit=60), BASE, ("candidate: was run with --limit 60",)),
    "limited baseline": (BETTER, replace(BASE, limit=60), ("baseline: was run with --limit 60",)),
    "incomplete candidate": (replace(BETTER, status="running"), BASE, ("not complete", "--resume")),
    "incomplete baseline": (BETTER, replace(BASE, status="running"), ("not complete", "--resume")),
    "another suite": (BETTER, replace(BASE, name="other"), ("another suite", "'other'", "'made up'")),
    "items edited": (replace(BETTER, edited=[7]), BASE, ("other audio or truth (1): q007",)),
    "items taken out": (replace(BETTER, items=58), BASE, ("lacks (2): q058, q059",)),
    "another normaliser": (
        replace(BETTER, profile="plain"), BASE, ("scored differently", "profile", "misheard score")),
    "other abstentions": (
        replace(BETTER, abstentions={"en": ("no idea",)}), replace(BASE, abstentions={"en": ("dunno",)}),
        ("abstentions of en",)),
    "another primary metric": (
        replace(BETTER, primary={"en": "cer"}), BASE, ("primary metric changed: en",)),
    "a gate axis dropped": (BETTER, replace(BASE, gate_axes=["noise"]), ("dropped the gate axes noise",)),
    "a declared value dropped": (
        BETTER, replace(BASE, axes=AXES | {"noise": ("clean", "5dB", "15dB")}), ("fewer values", "noise")),
    "another set of a split suite": (
        replace(BETTER, suite_facts={"subset": "open"}), replace(BASE, suite_facts={"subset": "regression"}),
        ("the baseline ran over the set regression, the candidate over the set open",)),
    "another judge": (
        replace(BETTER, state={"judge": {"model": "a"}}), replace(BASE, state={"judge": {"model": "b"}}),
        ("the judge changed: run.json, judge",)),
    "several at once": (
        replace(BETTER, edited=[7], profile="plain", items=59), BASE, ("q007", "q059", "profile")),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_runs_that_do_not_belong_together_are_refused_by_name(tmp_path: Path, name: str) -> None:
    candidate, baseline, words = REFUSALS[name]
    verdict = judge(tmp_path, IMPROVE, candidate, baseline)
    assert (verdict.outcome, verdict.exit_code, verdict.checks) == (Outcome.NOT_COMPARABLE, 4, ())
    text = "\n".join(verdict.refusals)
    for word in words:
        assert word in text


def test_the_lock_of_the_suite_stands_in_the_verdict(tmp_path: Path) -> None:
    locked = replace(BETTER, suite_facts={"lock": {"sha256": "ab" * 32, "matches": True}})
    for name, candidate, expected in (("locked", locked, "ab" * 32), ("open", BETTER, None)):
        (tmp_path / name).mkdir()
        assert judge(tmp_path / name, IMPROVE, candidate, BASE).suite_lock == expected


def test_a_run_is_no_baseline_of_itself_nor_is_its_copy(tmp_path: Path) -> None:
    assert judge(tmp_path, IMPROVE, BETTER).outcome is Outcome.SHIP
    candidate, link, copy = (tmp_path / name for name in ("candidate", "link", "copy"))
    link.symlink_to(candidate)
    shutil.copytree(candidate, copy)
    for other in (candidate, link, copy):
        verdict = decide_gate(tmp_path / "gate.yaml", candidate, str(other), tmp_path)
        assert verdict.outcome is Outcome.NOT_COMPARABLE
        assert "is the run itself" in verdict.refusals[0]


def test_added_items_are_counted_and_left_out_of_pairs_alone(tmp_path: Path) -> None:
    gate = IMPROVE | {"guards": [{"metric": "wer", "at_most": 0.3}]}
    candidate = replace(BETTER, items=80)
    verdict = judge(tmp_path, gate, candidate)
    assert verdict.outcome is Outcome.SHIP
    assert [check.n for check in verdict.checks[:2]] == [60, 80]
    assert verdict.notes == (
        "profile nfc: case and punctuation count as errors",
        "20 items of the candidate are new; compared over the 60 items of both",
    )


def test_added_items_may_bring_metrics_and_scripts_that_were_not_there(tmp_path: Path) -> None:
    judge(tmp_path, IMPROVE, replace(BETTER, items=70))

    def add_scripts(report: dict[str, Any]) -> None:
        report["scorer"]["content"] |= {"entities": True}

    edit_json(tmp_path / "candidate" / "report.json", add_scripts)
    grown = decide_gate(tmp_path / "gate.yaml", tmp_path / "candidate", str(tmp_path / "baseline"), tmp_path)
    assert grown.outcome is Outcome.SHIP
    same_items = BETTER.write(tmp_path / "same")
    edit_json(same_items / "report.json", add_scripts)
    refused = decide_gate(tmp_path / "gate.yaml", same_items, str(tmp_path / "baseline"), tmp_path)
    assert "content (entities)" in refused.refusals[0]


def test_figures_are_those_of_compare(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {"guards": [BY_NOISE]} | IMPROVE, replace(UNSURE, items=120), LARGE)
    compared = compare_runs(tmp_path / "baseline", [tmp_path / "candidate"], resamples=10_000, seed=1)[
        "comparisons"
    ][0]
    expected = [compared["differences"], *(cell["differences"] for cell in compared["cells"][1:])]
    checks = [check for check in verdict.checks if check.metric == "wer"]
    assert len(checks) == 3
    for check, differences in zip(checks, expected, strict=True):
        found = next(d for d in differences if (d["metric"], d["arm"]) == ("wer", "audio"))
        assert (check.baseline, check.candidate, check.n) == (found["a"], found["b"], found["n"])
        assert check.interval is not None
        assert [check.interval.low, check.interval.high] == found["intervals"]["deciding"]


def test_failures_of_both_sides_stand_in_the_check(tmp_path: Path) -> None:
    verdict = judge(tmp_path, NOT_WORSE, replace(BETTER, failed=[1, 2]), replace(BASE, failed=[3]))
    guard = only(verdict, "guard")
    assert (guard.n, guard.failed_baseline, guard.failed_candidate) == (57, 1, 2)
    assert "1 failed in the baseline, 2 failed in the candidate" in guard.why
    assert only(verdict, "failures").status is Status.FAIL
    assert "1 item failed in the baseline and is in no pair of what it lacks" in verdict.notes


@pytest.mark.parametrize(
    ("holdout", "note"),
    [
        (None, None),
        ({"sealed": 0, "opened": False, "openings": 0}, None),
        ({"sealed": 1, "opened": False, "openings": 0}, "1 item is sealed and not judged"),
        ({"sealed": 6, "opened": False, "openings": 0}, "6 items are sealed and not judged"),
        ({"sealed": 60, "opened": True, "openings": 1}, "60 items are judged by this opening"),
    ],
)
def test_sealed_items_are_said(tmp_path: Path, holdout: dict[str, Any] | None, note: str | None) -> None:
    facts = {} if holdout is None else {"holdout": holdout}
    verdict = judge(tmp_path, IMPROVE, replace(BETTER, suite_facts=facts), replace(BASE, suite_facts=facts))
    assert verdict.outcome is Outcome.SHIP
    assert verdict.notes[1:] == (() if note is None else (note,))


def test_a_holdout_that_is_none_is_a_damaged_report(tmp_path: Path) -> None:
    verdict = judge(tmp_path, IMPROVE, replace(BETTER, suite_facts={"holdout": ["sealed"]}))
    assert verdict.outcome is Outcome.NOT_COMPARABLE
    assert "is not as it was written" in verdict.refusals[0]


def test_a_rate_that_never_varies_says_that_units_were_counted(tmp_path: Path) -> None:
    (tmp_path / "varied").mkdir()
    gate = {"guards": [{"metric": "wer", "at_most": 0.5}]}
    check = only(judge(tmp_path, gate, replace(BASE, wrong=lambda _: 0)), "guard")
    assert check.by_unit
    assert "0.0%, exact 95% interval with each unit as one trial 0.0…26.5, 60 items" in check.why
    assert not only(judge(tmp_path / "varied", gate, BETTER), "guard").by_unit


def test_clips_without_a_condition_are_no_slice_of_their_own(tmp_path: Path) -> None:
    verdict = judge(
        tmp_path, {"guards": [BY_NOISE]}, replace(BETTER, items=120, silent=4), replace(LARGE, silent=4)
    )
    assert [check.slice for check in verdict.checks if check.role == "guard"] == [
        (("noise", "clean"),), (("noise", "5dB"),),
    ]  # fmt: skip


def test_speech_without_a_condition_is_looked_at(tmp_path: Path) -> None:
    def conditions(number: int) -> dict[str, str]:
        return {"language": "en"} if number % 2 else {"language": "en", "noise": "clean"}

    axes = {"language": ("en",), "noise": ("clean",)}
    verdict = judge(
        tmp_path, {"guards": [BY_NOISE]},
        replace(LARGE, conditions=conditions, axes=axes, wrong=lambda number: 3 + 2 * (number % 2)),
        replace(LARGE, conditions=conditions, axes=axes),
    )  # fmt: skip
    statuses = {check.slice: check.status for check in verdict.checks if check.role == "guard"}
    assert statuses == {(("noise", "clean"),): Status.PASS, (("noise", None),): Status.FAIL}


def flip(raw: bytes) -> bytes:
    """Return bytes of which some in the first half are others: more than one column takes."""
    start, end = len(raw) // 4, len(raw) // 4 + 300
    return raw[:start] + bytes(byte ^ 0x55 for byte in raw[start:end]) + raw[end:]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no report": lambda run: (run / "report.json").unlink(),
    "no items": lambda run: (run / "items.parquet").unlink(),
    "no run.json": lambda run: (run / "run.json").unlink(),
    "report is no JSON": lambda run: (run / "report.json").write_text("{"),
    "report is a list": lambda run: (run / "report.json").write_text("[]"),
    "report without a scorer": lambda run: edit_json(run / "report.json", lambda d: d.pop("scorer")),
    "report with axes that are none": lambda run: edit_json(
        run / "report.json", lambda d: d.update(axes={"noise": 7})
    ),
    "report without axes": lambda run: edit_json(run / "report.json", lambda d: d.pop("axes")),
    "report of another version": lambda run: edit_json(
        run / "report.json", lambda d: d["scorer"].update(version=0)
    ),
    "report of another run": lambda run: edit_json(
        run / "report.json", lambda d: d["suite"].update(sha256="0")
    ),
    "report before gate axes": lambda run: edit_json(
        run / "report.json", lambda d: d["suite"].pop("gate_axes")
    ),
    "report of another scoring": lambda run: edit_json(
        run / "report.json", lambda d: d["scorer"].update(sha256="0" * 64)
    ),
    "Parquet is text": lambda run: (run / "items.parquet").write_text("no Parquet"),
    "Parquet is cut": lambda run: (run / "items.parquet").write_bytes(
        (run / "items.parquet").read_bytes()[:-200]
    ),
    "Parquet has holes": lambda run: (run / "items.parquet").write_bytes(
        flip((run / "items.parquet").read_bytes())
    ),
    "a file": lambda run: (shutil.rmtree(run), run.write_text("")),
    "nothing": lambda run: shutil.rmtree(run),
}


@pytest.mark.parametrize("side", ["candidate", "baseline"])
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_is_named_and_never_passes(tmp_path: Path, name: str, side: str) -> None:
    assert judge(tmp_path, IMPROVE, BETTER).outcome is Outcome.SHIP
    DAMAGES[name](tmp_path / side)
    verdict = decide_gate(
        tmp_path / "gate.yaml", tmp_path / "candidate", str(tmp_path / "baseline"), tmp_path
    )
    assert verdict.exit_code == 4
    assert side in "\n".join([*verdict.refusals, *(check.why for check in verdict.checks)])


def test_a_promoted_baseline_is_found_by_the_name_of_the_suite(tmp_path: Path) -> None:
    judge(tmp_path, IMPROVE, BETTER)
    gate, candidate, log = tmp_path / "gate.yaml", tmp_path / "candidate", tmp_path / "baselines"
    none = decide_gate(gate, candidate, "promoted", log)
    assert (none.exit_code, "misheard baseline promote" in none.refusals[0]) == (4, True)
    promote(log, replace(WORSE, name="another").write(tmp_path / "another"))
    assert decide_gate(gate, candidate, "promoted", log).exit_code == 4
    promote(log, tmp_path / "baseline")
    found = decide_gate(gate, candidate, "promoted", log)
    assert (found.outcome, found.baseline) == (Outcome.SHIP, "baseline")
    promote(log, candidate)
    assert "is the run itself" in decide_gate(gate, candidate, "promoted", log).refusals[0]


def test_a_promoted_directory_with_another_run_in_it_is_refused(tmp_path: Path) -> None:
    judge(tmp_path, IMPROVE, BETTER)
    promote(tmp_path / "baselines", tmp_path / "baseline")
    shutil.rmtree(tmp_path / "baseline")
    gate, candidate = tmp_path / "gate.yaml", tmp_path / "candidate"
    gone = decide_gate(gate, candidate, "promoted", tmp_path / "baselines")
    assert (gone.exit_code, "not a run directory" in gone.refusals[0]) == (4, True)
    WORSE.write(tmp_path / "baseline")
    changed = decide_gate(gate, candidate, "promoted", tmp_path / "baselines")
    assert "no longer the run that was promoted" in changed.refusals[0]


def test_the_same_gate_over_the_same_runs_gives_the_same_verdict(tmp_path: Path) -> None:
    first = judge(tmp_path, IMPROVE | {"guards": [BY_NOISE]}, UNSURE)
    again = decide_gate(tmp_path / "gate.yaml", tmp_path / "candidate", str(tmp_path / "baseline"), tmp_path)
    assert first == again


def test_no_text_of_an_item_is_in_a_verdict(tmp_path: Path) -> None:
    verdict = judge(tmp_path, IMPROVE | {"guards": [BY_NOISE]}, replace(BETTER, edited=[1]))
    assert "canary" not in repr(verdict)
    assert "canary" not in json.dumps(verdict.refusals)
