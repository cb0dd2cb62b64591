"""Every check caught red-handed by a trace that breaks it, and silent on one that does not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_traces import Row, find, healthy, in_order, judged, without

from misheard.soak.checks.registry import CHECKS
from misheard.soak.limits import Limits
from misheard.soak.verdict import SoakVerdict
from misheard.stats.gate import Status

Break = Callable[[list[Row]], list[Row] | None]


def status(verdict: SoakVerdict, check: str) -> Status:
    return next(each.status for each in verdict.verdict.checks if each.id == check)


def test_a_healthy_session_passes_every_check(tmp_path: Path) -> None:
    verdict = judged(tmp_path, healthy())
    assert verdict.exit_code == 0
    statuses = {check.id: check.status for check in verdict.verdict.checks}
    assert statuses.pop("failed_blocks_nothing") is Status.NO_EVIDENCE
    assert set(statuses.values()) == {Status.PASS}
    assert {name.split("/")[0] for name in statuses} == {c.name for c in CHECKS} - {"failed_blocks_nothing"}


def less(rows: list[Row], event: str, turn: int) -> list[Row]:
    gone = find(rows, event, turn)
    return without(rows, lambda row: row is gone)


def applied_again(rows: list[Row]) -> list[Row]:
    return in_order([*rows, find(rows, "operation_applied", 40)])


def lost_turn(rows: list[Row]) -> list[Row]:
    return without(rows, lambda row: row.get("turn") == "t40" and row["event"].startswith("transcript"))


def failed(rows: list[Row], *turns: int, event: str = "transcript_failed") -> list[Row]:
    """The turns have only this outcome, and nothing after it."""
    kept = ("turn_opened", "turn_closed")
    names = {f"t{turn}" for turn in turns}
    left = without(rows, lambda row: row.get("turn") in names and row["event"] not in kept)
    for turn in turns:
        at = find(left, "turn_closed", turn)["t"] + 0.5
        left.append({"event": event, "t": at, "turn": f"t{turn}", "seconds": 0.5})
    return in_order(left)


def blocked(rows: list[Row]) -> list[Row]:
    """One turn fails, and the next waits for forty seconds."""
    rows = failed(rows, 40)
    later = ("transcript_final", "corrected", "plan_accepted", "answer_finished", "board_ready")
    for row in rows:
        if row.get("turn") == "t41" and (row["event"] in later or row["event"].startswith("operation")):
            row["t"] += 40.0
    return in_order(rows)


def unreplied(rows: list[Row], failure: str, success: str, turns: int = 10) -> list[Row]:
    """Of some turns no reply of one kind comes."""
    for turn in range(40, 40 + turns):
        row = find(rows, success, turn)
        row["event"] = failure
        for count in ("words", "words_changed", "operations", "shapes"):
            row.pop(count, None)
    return rows


def unanswered(rows: list[Row]) -> list[Row]:
    """Of one turn there is nothing but a failed answer."""
    rows = unreplied(rows, "answer_failed", "answer_finished", turns=1)
    return less(rows, "plan_accepted", 40)


def planned_again(rows: list[Row]) -> list[Row]:
    plans = [row for row in rows if row["event"] == "plan_accepted"]
    rejected = [
        {"event": "plan_rejected", "t": r["t"] - 0.1, "turn": r["turn"], "seconds": 0.2} for r in plans
    ]
    return in_order([*rows, *rejected])


def merged_by_audio(rows: list[Row]) -> None:
    find(rows, "transcript_final", 40)["audio_to"] += 4.0


def merged_without_audio(rows: list[Row]) -> list[Row]:
    """The final of one turn comes after the next has closed, which never gets one."""
    rows = failed(rows, 41)
    rows = without(rows, lambda row: row["event"] == "transcript_failed")
    final = find(rows, "transcript_final", 40)
    final["t"] = find(rows, "turn_closed", 41)["t"] + 0.2
    return in_order(rows)


def doubled(rows: list[Row]) -> list[Row]:
    return [copy for row in rows for copy in ([row, row] if row["event"] == "transcript_final" else [row])]


def out_of_order(rows: list[Row]) -> None:
    one, other = (find(rows, "operation_applied", 40, n) for n in (0, 1))
    for key in ("operation", "type", "connection"):
        mine, theirs = one.pop(key, None), other.pop(key, None)
        one |= {key: theirs} if theirs else {}
        other |= {key: mine} if mine else {}


def numbered(rows: list[Row], *, swap: bool) -> list[Row]:
    rows = without(rows, lambda row: row["event"] == "operation_accepted")
    applied = [row for row in rows if row["event"] == "operation_applied"]
    for number, row in enumerate(applied):
        row["order"] = number
    if swap:
        applied[7]["order"], applied[8]["order"] = 8, 7
    return rows


def undrawn(rows: list[Row]) -> list[Row]:
    return without(rows, lambda row: row["event"] == "operation_applied" and row.get("connection") == "c40")


def shrunk(rows: list[Row], *also: Row) -> list[Row]:
    """From turn 40 on, the board holds 37 shapes fewer, as if they had been put away."""
    for row in rows:
        if "shapes" in row and row["shapes"] > 40:
            row["shapes"] -= 37
    before = find(rows, "operation_applied", 40)["t"]
    turn = {"t": before - 0.05, "turn": "t40"}
    new = [{"event": f"operation_{step}", **turn, **row} for row in also for step in ("accepted", "applied")]
    for row in new:
        if row["event"] == "operation_accepted":
            row.pop("count", None)
            row["t"] = find(rows, "turn_opened", 40)["t"]
    return in_order([*rows, *new])


def ready_early(rows: list[Row]) -> list[Row]:
    find(rows, "board_ready", 40)["t"] -= 0.25
    return in_order(rows)


def never_ready(rows: list[Row]) -> list[Row]:
    return without(rows, lambda row: row["event"] == "board_ready" and row["turn"] == "t79")


def gap(rows: list[Row]) -> None:
    find(rows, "audio_received", nth=40)["audio_from"] += 1.0


def cut_short(rows: list[Row]) -> None:
    find(rows, "microphone_stopped")["audio_to"] += 3.0


def slow(rows: list[Row]) -> None:
    for turn in range(0, 80, 4):
        find(rows, "plan_accepted", turn)["seconds"] = 9.0


def slower(rows: list[Row]) -> None:
    for turn in range(80):
        find(rows, "transcript_final", turn)["seconds"] += 0.018 * turn


def leaking(rows: list[Row]) -> None:
    for turn in range(80):
        find(rows, "sample", nth=turn)["memory_bytes"] += turn * 2 * 2**20


def warming_up(rows: list[Row]) -> None:
    for turn in range(10):
        find(rows, "sample", nth=turn)["memory_bytes"] -= (10 - turn) * 40 * 2**20


def filling(rows: list[Row]) -> None:
    find(rows, "sample", nth=40)["queue_plan"] = 65


def late_partials(rows: list[Row]) -> list[Row]:
    for turn in range(80):
        for nth, seconds in ((1, 1.4), (0, 1.5)):
            find(rows, "transcript_partial", turn, nth)["t"] += seconds
    return in_order(rows)


def late_finals(rows: list[Row]) -> None:
    for turn in range(80):
        find(rows, "turn_closed", turn)["speech_end"] -= 2.5


def rewriting(rows: list[Row]) -> None:
    for turn in range(80):
        find(rows, "transcript_final", turn)["words_rewritten"] = 4


ONE, SLOW = ("transcript_final", "t40"), ("plan_accepted", "t0")

BROKEN: dict[str, tuple[str, Break, int, tuple[str, str | None]]] = {
    "lost": ("unresolved", lost_turn, 1, ("turn_closed", "t40")),
    "not closed": (
        "unresolved", lambda rows: less(rows, "turn_closed", 40), 1, ("turn_opened", "t40"),
    ),
    "not planned": (
        "unresolved",
        lambda rows: without(
            rows, lambda r: r.get("turn") == "t40" and r["event"] in ("plan_accepted", "answer_finished")
        ),
        1, ONE,
    ),
    "not planned, and not corrected": (
        "unresolved",
        lambda rows: less(
            unreplied(less(rows, "plan_accepted", 40), "correction_failed", "corrected", turns=1),
            "answer_finished", 40,
        ),
        1, ONE,
    ),
    "not applied": ("unresolved", undrawn, 1, ("operation_accepted", "op81")),
    "after drained": (
        "unresolved", lambda rows: [*rows, {"event": "answer_finished", "t": 500, "turn": "t40"}], 1,
        ("answer_finished", "t40"),
    ),
    "blocked": ("failed_blocks_nothing", blocked, 1, ("turn_closed", "t41")),
    "failed": ("failed_transcripts", lambda rows: failed(rows, 40), 1, ("transcript_failed", "t40")),
    "empty": (
        "empty_transcripts", lambda rows: failed(rows, *range(40, 50), event="transcript_empty"), 10,
        ("transcript_empty", "t40"),
    ),
    "no plans": (
        "failed_replies", lambda rows: unreplied(rows, "plan_rejected", "plan_accepted"), 10,
        ("plan_rejected", "t40"),
    ),
    "no answers": (
        "failed_replies", lambda rows: unreplied(rows, "answer_failed", "answer_finished"), 10,
        ("answer_failed", "t40"),
    ),
    "no corrections": (
        "failed_replies", lambda rows: unreplied(rows, "correction_failed", "corrected"), 10,
        ("correction_failed", "t40"),
    ),
    "no boards": (
        "failed_replies", lambda rows: unreplied(rows, "render_failed", "board_ready"), 10,
        ("render_failed", "t40"),
    ),
    "merged": ("merged_finals", merged_by_audio, 1, ONE),
    "swallowed": ("merged_finals", merged_without_audio, 1, ONE),
    "doubled": ("duplicate_finals", doubled, 80, ("transcript_final", "t0")),
    "out of order": ("operation_order", out_of_order, 1, ("operation_applied", "op80")),
    "numbers": ("operation_order", lambda rows: numbered(rows, swap=True), 1, ("operation_applied", "op8")),
    "applied again": ("operation_order", applied_again, 1, ("operation_applied", "op80")),
    "never accepted": (
        "operation_order", lambda rows: less(rows, "operation_accepted", 40), 1,
        ("operation_applied", "op80"),
    ),
    "undrawn": ("connections_drawn", undrawn, 1, ("operation_accepted", "op81")),
    "shrunk": ("board_keeps_shapes", shrunk, 1, ("operation_applied", "op80")),
    "removed one": (
        "board_keeps_shapes", lambda rows: shrunk(rows, {"operation": "op900", "type": "remove"}), 1,
        ("operation_applied", "op80"),
    ),
    "ready early": ("ready_after_last_operation", ready_early, 1, ("board_ready", "t40")),
    "never ready": ("ready_after_last_operation", never_ready, 1, ("operation_applied", "op159")),
    "gap": ("audio_coverage", gap, 1, ("audio_received", None)),
    "cut short": ("audio_coverage", cut_short, 1, ("microphone_stopped", None)),
    "slow": ("latency/plan", slow, 20, SLOW),
    "slower": ("latency_drift/recognize", slower, 1, ("transcript_final", "t79")),
    "leaking": ("memory", leaking, 1, ("sample", None)),
    "filling": ("queue_depth/plan", filling, 1, ("sample", None)),
    "late partials": ("streaming/first_partial", late_partials, 80, ("transcript_partial", "t0")),
    "late finals": ("streaming/end_of_speech_lag", late_finals, 80, ("transcript_final", "t0")),
    "rewriting": ("streaming/rewritten_words", rewriting, 160, ("transcript_partial", "t0")),
}  # fmt: skip


@pytest.mark.parametrize(("check", "breaks", "count", "first"), BROKEN.values(), ids=BROKEN)
def test_a_check_names_the_events_that_break_it(
    tmp_path: Path, check: str, breaks: Break, count: int, first: tuple[str, str | None]
) -> None:
    rows = healthy()
    verdict = judged(tmp_path, breaks(rows) or rows)
    assert status(verdict, check) is Status.FAIL
    found = verdict.breaches[check]
    assert (found.count, (found.first[0].event, found.first[0].id)) == (count, first)
    lines = (tmp_path / "trace.jsonl").read_text().splitlines()
    assert all(f'"{each.event}"' in lines[each.line - 1] for each in found.first)
    assert verdict.exit_code in (1, 4)


def test_every_check_is_caught(tmp_path: Path) -> None:
    assert {check.split("/")[0] for check, *_ in BROKEN.values()} == {check.name for check in CHECKS}


KEPT: dict[str, tuple[str, Break]] = {
    "a failure that blocks nothing": ("failed_blocks_nothing", lambda rows: failed(rows, 40)),
    "two failures in turn": ("failed_blocks_nothing", lambda rows: failed(rows, 40, 41)),
    "some empty": ("empty_transcripts", lambda rows: failed(rows, 40, event="transcript_empty")),
    "a failure before a final": (
        "failed_transcripts",
        lambda rows: in_order([*rows, {"event": "transcript_failed", "t": 203.6, "turn": "t40"}]),
    ),
    "failed is not unresolved": ("unresolved", lambda rows: failed(rows, 40)),
    "no plan is an outcome": ("unresolved", lambda rows: unreplied(rows, "plan_rejected", "plan_accepted")),
    "no answer is an outcome": ("unresolved", unanswered),
    "some plans rejected": (
        "failed_replies", lambda rows: unreplied(rows, "plan_rejected", "plan_accepted", turns=8),
    ),
    "three failures of one turn each": (
        "failed_replies",
        lambda rows: unreplied(
            unreplied(unreplied(rows, "plan_rejected", "plan_accepted", turns=8),
                      "answer_failed", "answer_finished", turns=8),
            "correction_failed", "corrected", turns=8),
    ),
    "plans rejected before others": ("failed_replies", planned_again),
    "numbered": ("operation_order", lambda rows: numbered(rows, swap=False)),
    "removed": (
        "board_keeps_shapes",
        lambda rows: shrunk(rows, {"operation": "op900", "type": "remove", "count": 37}),
    ),
    "new topic": ("board_keeps_shapes", lambda rows: shrunk(rows, {"operation": "op900", "type": "topic"})),
    "warming up": ("memory", warming_up),
    "a late lone failure": (
        "merged_finals", lambda rows: failed(rows, 41),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("check", "changes"), KEPT.values(), ids=KEPT)
def test_a_check_is_silent_on_what_only_looks_like_it(tmp_path: Path, check: str, changes: Break) -> None:
    rows = healthy()
    assert status(judged(tmp_path, changes(rows) or rows), check) is Status.PASS


def test_segments_of_a_turn_are_no_duplicates(tmp_path: Path) -> None:
    rows = healthy()
    for number, row in enumerate(row for row in rows if row["event"] == "transcript_final"):
        row["segment"] = number
    more = [{**row, "segment": row["segment"] + 1000} for row in rows if "segment" in row]
    assert status(judged(tmp_path, in_order([*rows, *more])), "duplicate_finals") is Status.PASS


NEEDS = {
    "unresolved": ("drained",),
    "failed_transcripts": ("transcript_final",),
    "empty_transcripts": ("transcript_final",),
    "failed_replies": ("plan_accepted", "answer_finished", "corrected", "board_ready"),
    "merged_finals": ("transcript_final",),
    "duplicate_finals": ("transcript_final",),
    "operation_order": ("operation_applied",),
    "connections_drawn": ("operation_accepted",),
    "board_keeps_shapes": ("operation_applied", "board_ready"),
    "ready_after_last_operation": ("operation_applied",),
    "audio_coverage": ("audio_received",),
    "memory": ("sample",),
    "queue_depth": ("sample",),
    "streaming": ("transcript_partial",),
    "failed_blocks_nothing": (),
}


@pytest.mark.parametrize(("check", "events"), NEEDS.items(), ids=NEEDS)
def test_without_its_events_a_check_has_no_evidence_and_can_be_waived_or_required(
    tmp_path: Path, check: str, events: tuple[str, ...]
) -> None:
    rows = without(healthy(), lambda row: row["event"] in events)
    verdict = judged(tmp_path, rows)
    assert status(verdict, check) is Status.NO_EVIDENCE
    decides = check not in ("streaming", "failed_blocks_nothing")
    assert next(each.decides for each in verdict.verdict.checks if each.id == check) is decides
    assert verdict.exit_code == (4 if decides else 0)
    required = judged(tmp_path, rows, Limits(require=(check,)))
    assert required.exit_code == 4
    waived = judged(tmp_path, rows, Limits(waived={check: "the product has none"}))
    assert status(waived, check) is Status.WAIVED


def test_finals_that_nothing_sets_apart_from_the_next_turn_are_no_evidence(tmp_path: Path) -> None:
    rows = without(healthy(), lambda row: row["event"] == "turn_closed")
    assert status(judged(tmp_path, rows), "merged_finals") is Status.PASS
    for row in rows:
        if row["event"] == "transcript_final":
            del row["audio_to"]
    assert status(judged(tmp_path, rows), "merged_finals") is Status.NO_EVIDENCE


def test_without_any_time_there_is_no_evidence_of_latency(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "seconds"} for row in healthy()]
    verdict = judged(tmp_path, rows)
    assert status(verdict, "latency") is status(verdict, "latency_drift") is Status.NO_EVIDENCE
    assert verdict.exit_code == 4


def test_a_budget_of_a_stage_without_times_is_no_evidence(tmp_path: Path) -> None:
    rows = without(healthy(), lambda row: row["event"] == "corrected")
    assert judged(tmp_path, rows).exit_code == 0
    verdict = judged(tmp_path, rows, Limits(latency_p95_seconds={"correct": 1.0}))
    assert (status(verdict, "latency/correct"), verdict.exit_code) == (Status.NO_EVIDENCE, 4)


def test_one_missing_time_is_no_evidence(tmp_path: Path) -> None:
    rows = healthy()
    del find(rows, "transcript_final", 40)["seconds"]
    verdict = judged(tmp_path, rows)
    assert (status(verdict, "latency/recognize"), verdict.exit_code) == (Status.NO_EVIDENCE, 4)
    assert verdict.breaches["latency/recognize"].first[0].id == "t40"


@pytest.mark.parametrize("ready_names_a_turn", [True, False])
@pytest.mark.parametrize("operations_name_a_turn", [True, False])
def test_ready_speaks_of_its_turn_or_of_the_whole_board(
    tmp_path: Path, ready_names_a_turn: bool, operations_name_a_turn: bool
) -> None:
    rows = healthy()
    # the last operation of turn 40 is drawn after turn 41 is ready
    find(rows, "operation_applied", 40, 1)["t"] = find(rows, "board_ready", 41)["t"] + 0.01
    find(rows, "board_ready", 40)["t"] = find(rows, "board_ready", 41)["t"] + 0.02
    for row in rows:
        named = ready_names_a_turn if row["event"] == "board_ready" else operations_name_a_turn
        if row["event"].startswith(("board", "operation")) and not named:
            del row["turn"]
    found = judged(tmp_path, in_order(rows)).breaches["ready_after_last_operation"].count
    assert found == (0 if ready_names_a_turn and operations_name_a_turn else 1)


@pytest.mark.parametrize(
    ("turns", "over", "expected"),
    [(20, 0, Status.PASS), (20, 1, Status.INCONCLUSIVE), (20, 6, Status.FAIL), (160, 1, Status.PASS),
     (80, 4, Status.INCONCLUSIVE), (80, 12, Status.FAIL)],
)  # fmt: skip
def test_a_budget_is_judged_by_what_the_times_can_say(
    tmp_path: Path, turns: int, over: int, expected: Status
) -> None:
    rows = healthy(turns)
    for turn in range(over):
        find(rows, "plan_accepted", turn)["seconds"] = 9.0
    verdict = judged(tmp_path, rows)
    assert status(verdict, "latency/plan") is expected


@pytest.mark.parametrize(
    ("limits", "check", "breaks"),
    [
        ({"failed_share_at_most": 0.05}, "failed_transcripts", lambda rows: failed(rows, 40)),
        ({"empty_share_at_most": 0.2}, "empty_transcripts",
         lambda rows: failed(rows, *range(40, 50), event="transcript_empty")),
        ({"failed_replies_at_most": 0.125}, "failed_replies",
         lambda rows: unreplied(rows, "plan_rejected", "plan_accepted")),
        ({"resolve_seconds": 60.0}, "failed_blocks_nothing", blocked),
        ({"merge_seconds": 5.0}, "merged_finals", merged_by_audio),
        ({"audio_gap_seconds": 1.5}, "audio_coverage", gap),
        ({"latency_p95_seconds": {"plan": 10.0}}, "latency/plan", slow),
        ({"drift_seconds": 2.0}, "latency_drift/recognize", slower),
        ({"memory_rise_bytes": 2**28}, "memory", leaking),
        ({"queue_depth": 65}, "queue_depth/plan", filling),
        ({"first_partial_p95_seconds": 4.0}, "streaming/first_partial", late_partials),
        ({"end_of_speech_lag_p95_seconds": 4.0}, "streaming/end_of_speech_lag", late_finals),
        ({"rewritten_share_at_most": 0.8}, "streaming/rewritten_words", rewriting),
    ],
)  # fmt: skip
def test_a_limit_decides(tmp_path: Path, limits: dict[str, Any], check: str, breaks: Break) -> None:
    rows = healthy()
    broken = breaks(rows) or rows
    assert status(judged(tmp_path, broken), check) is Status.FAIL
    assert status(judged(tmp_path, broken, Limits(**limits)), check) is Status.PASS


def test_counts_of_words_that_cannot_be_are_no_evidence(tmp_path: Path) -> None:
    rows = healthy()
    find(rows, "transcript_final", 40)["words_rewritten"] = 7
    verdict = judged(tmp_path, rows)
    assert status(verdict, "streaming/rewritten_words") is Status.NO_EVIDENCE
    assert (verdict.exit_code, verdict.breaches["streaming/rewritten_words"].count) == (4, 1)


@pytest.mark.parametrize(
    "failure", ["answer_failed", "correction_failed", "transcript_failed", "render_failed"]
)
def test_a_failure_need_not_say_how_long_it_took(tmp_path: Path, failure: str) -> None:
    rows = in_order([*healthy(), {"event": failure, "t": 204.9, "turn": "t40"}])
    assert judged(tmp_path, rows).exit_code == 0


def test_the_lag_after_the_end_of_speech_ends_with_the_last_segment(tmp_path: Path) -> None:
    rows = healthy()
    last = []
    for row in rows:
        if row["event"] == "transcript_final":
            # the first segment comes while the turn is spoken, the second 5 seconds after it
            last.append({**row, "segment": 1, "t": row["t"] + 4.0})
            row |= {"segment": 0, "t": row["t"] - 1.5}
    verdict = judged(tmp_path, in_order([*rows, *last]))
    assert status(verdict, "streaming/end_of_speech_lag") is Status.FAIL
    lag = next(c for c in verdict.verdict.checks if c.id == "streaming/end_of_speech_lag")
    assert lag.candidate == pytest.approx(5.0)
    first = next(c for c in verdict.verdict.checks if c.id == "streaming/first_final")
    assert first.candidate == pytest.approx(2.3)


def test_a_partial_without_a_word_is_no_first_partial(tmp_path: Path) -> None:
    rows = healthy()
    early = [
        {"event": "transcript_partial", "t": row["t"] + 0.1, "turn": row["turn"], "words": 0}
        for row in rows if row["event"] == "turn_opened"
    ]  # fmt: skip
    late_partials(rows)
    assert status(judged(tmp_path, in_order([*rows, *early])), "streaming/first_partial") is Status.FAIL


def rewritten(verdict: SoakVerdict) -> float | None:
    return next(c.candidate for c in verdict.verdict.checks if c.id == "streaming/rewritten_words")


def test_the_share_of_rewritten_words_is_of_all_words_that_were_shown(tmp_path: Path) -> None:
    # each turn shows 3 words, then 1 other in place of one of them and 3 new ones; the final changes none
    assert rewritten(judged(tmp_path, healthy())) == pytest.approx(80 / (80 * 7))


def test_partials_of_segments_are_compared_with_those_of_their_segment(tmp_path: Path) -> None:
    rows = []
    for row in healthy():
        rows.append(row)
        if row["event"] in ("transcript_partial", "transcript_final"):
            row["segment"] = 0
            rows.append({**row, "segment": 1, "t": row["t"] + 0.1})
    verdict = judged(tmp_path, in_order(rows))
    assert rewritten(verdict) == pytest.approx(1 / 7)


def test_an_empty_transcript_takes_back_what_partials_showed(tmp_path: Path) -> None:
    rows = healthy()
    for turn in range(40):
        row = find(rows, "transcript_final", turn)
        for name in ("words", "words_rewritten", "audio_from", "audio_to"):
            del row[name]
        row["event"] = "transcript_empty"
    again = [row for row in rows if row["event"] == "transcript_empty"]
    verdict = judged(tmp_path, in_order([*rows, *again]))
    assert rewritten(verdict) == pytest.approx((80 + 40 * 6) / (80 * 7))
    assert status(verdict, "streaming/rewritten_words") is Status.FAIL


def test_a_transcript_that_does_not_say_what_it_rewrote_is_no_evidence(tmp_path: Path) -> None:
    rows = healthy()
    del find(rows, "transcript_final", 40)["words_rewritten"]
    verdict = judged(tmp_path, rows)
    assert status(verdict, "streaming/rewritten_words") is Status.NO_EVIDENCE
    assert verdict.breaches["streaming/rewritten_words"].first[0].id == "t40"
    for row in rows:
        if row["event"] == "transcript_partial" and row["words"] == 3:
            del row["words_rewritten"]
    find(rows, "transcript_final", 40)["words_rewritten"] = 0
    assert status(judged(tmp_path, rows), "streaming/rewritten_words") is Status.PASS
