"""From journal to outputs: windows joined, failures typed, times counted in the arm that spent them."""

from typing import Any

import numpy as np
import pytest

from misheard.errors import IncompleteRunError
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm
from misheard.run.journal import Batch
from misheard.run.outputs import Asked, Outputs, StageReplies, read_outputs
from misheard.run.plan import Plan, PlannedItem, PlannedWindow
from misheard.run.recognized import read_recognized
from misheard.run.replies import replies_of
from misheard.run.timings import summarise_timings
from misheard.suite.items import Item, ItemKind

ITEMS = (
    Item("a", "a.wav", "one two three", reference_answer="Four."),
    Item("b", "b.wav", "five", reference_answer="Six."),
    Item("n", "n.wav", "", ItemKind.NON_SPEECH),
)
ARMS = (Arm.AUDIO, Arm.TRANSCRIPT)


def window(item: str, index: int, speech: float = 1.0) -> PlannedWindow:
    return PlannedWindow(item, index, index, index + 1, f"{item}{index}", speech, 0)


PLAN = Plan(
    "s",
    4,
    tuple(PlannedItem(item.id, item.id, seconds=2.0) for item in ITEMS),
    (window("a", 1), window("a", 0), window("b", 0), window("n", 0)),
)


def row(item: str, index: int, text: str | None, **figures: Any) -> dict[str, Any]:
    transcript = None if text is None else {"text": text, **figures}
    failure = None if text is not None else ["asr_error", "broken"]
    return {
        "item": item,
        "window": index,
        "transcript": transcript,
        "failure": failure,
        "seconds": 0.5,
    }


def recognized(*rows: dict[str, Any]):  # type: ignore[no-untyped-def]
    return read_recognized(ITEMS, PLAN, [Batch("batch:0", {}, rows)])


def test_windows_are_joined_in_their_order() -> None:
    a, b, n = recognized(row("a", 1, "three"), row("a", 0, "one two"), row("b", 0, "five"), row("n", 0, ""))
    assert a is not None
    assert (a.transcript, a.seconds) == ("one two three", 1.0)
    assert b is not None
    assert b.failure is None
    assert n is not None
    assert (n.transcript, n.failure) == ("", None)


def test_an_item_whose_windows_are_not_all_there_is_not_recognized_yet() -> None:
    a, b, _ = recognized(row("a", 1, "three"), row("b", 0, "five"))
    assert a is None
    assert b is not None


def test_one_failed_window_fails_the_item_and_no_text_in_speech_is_a_failure() -> None:
    a, b, _ = recognized(row("a", 0, "one"), row("a", 1, None), row("b", 0, "  "), row("n", 0, "you"))
    assert a is not None
    assert a.failure == Failure("recognize", FailureKind.ASR_ERROR, "broken")
    assert b is not None
    assert b.failure is not None
    assert b.failure.kind is FailureKind.EMPTY_TRANSCRIPT
    assert b.transcript is None


def completion(key: str, text: str | None, **changes: Any) -> dict[str, Any]:
    base = {
        "key": key,
        "text": text,
        "failure": None if text is not None else "timeout",
        "detail": "",
        "finish_reason": "stop",
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "seconds": 0.25,
        "first_token_seconds": None,
        "attempts": 1,
    }
    return base | changes


def answer(item: str, arm: Arm, key: str) -> dict[str, Any]:
    return {"item": item, "arm": str(arm), "key": key}


def outputs(*batches: Batch) -> Outputs:
    heard = recognized(row("a", 0, "one two"), row("a", 1, "three"), row("b", 0, "hive"), row("n", 0, "you"))
    found = [one for one in heard if one is not None]
    return read_outputs(ITEMS, PLAN, found, ARMS, StageReplies(respond=replies_of(batches)), Asked())


def test_a_shared_completion_serves_both_arms_and_counts_its_time_once() -> None:
    heard = (completion("k1", "Four."), completion("k2", "Hm."))
    said = (completion("k3", "Six.", finish_reason="length"),)
    found = outputs(
        Batch("audio:batch:0", {"wall_seconds": 1.0}, heard),
        Batch("arm:audio", {}, (answer("a", Arm.AUDIO, "k1"), answer("b", Arm.AUDIO, "k2"))),
        Batch("transcript:batch:0", {"wall_seconds": 2.0}, said),
        Batch("arm:transcript", {}, (answer("a", Arm.TRANSCRIPT, "k1"), answer("b", Arm.TRANSCRIPT, "k3"))),
    )
    audio, transcript = found.arms[Arm.AUDIO], found.arms[Arm.TRANSCRIPT]
    assert [output.answer for output in audio] == ["Four.", "Hm.", None]
    assert [output.answer for output in transcript] == ["Four.", "Six.", None]
    assert [output.transcript for output in transcript] == ["one two three", "five", ""]
    np.testing.assert_array_equal(found.timings[Arm.AUDIO]["llm_seconds"], [0.25, 0.25, np.nan])
    np.testing.assert_array_equal(found.timings[Arm.TRANSCRIPT]["llm_seconds"], [np.nan, 0.25, np.nan])
    assert found.flags[Arm.TRANSCRIPT]["answer_truncated"].tolist() == [False, True, False]


def test_a_failed_completion_is_a_failure_of_the_respond_stage() -> None:
    found = outputs(
        Batch("audio:batch:0", {}, (completion("k1", None),)),
        Batch("arm:audio", {}, (answer("a", Arm.AUDIO, "k1"),)),
    )
    output = found.arms[Arm.AUDIO][0]
    assert output.failure == Failure("respond", FailureKind.TIMEOUT, "")
    assert output.answer is None
    assert output.transcript == "one two three"


def test_timings_add_up_over_invocations() -> None:
    recognize = [
        Batch(
            "start:0",
            {"load_seconds": 1.0, "warm_up_seconds": 0.5, "plan_seconds": 0.1, "decode_seconds": 0.2},
            (),
        ),
        Batch("batch:0", {"decode_seconds": 0.0, "features_seconds": 0.25, "inference_seconds": 1.5}, ()),
        Batch("start:2", {"load_seconds": 1.0}, ()),
        Batch("batch:1", {"decode_seconds": 0.3, "features_seconds": 0.25, "inference_seconds": 1.5}, ()),
    ]
    respond = [
        Batch("start:0", {"load_seconds": 4.0, "warm_up_seconds": 0.25}, ()),
        Batch("audio:batch:0", {"wall_seconds": 3.0}, ()),
        Batch("arm:audio", {}, ()),
        Batch("transcript:request:k", {"wall_seconds": 2.0}, ()),
        Batch("control:batch:0", {"wall_seconds": 5.0}, ()),
    ]
    found = summarise_timings(PLAN, recognize, respond)
    assert found["audio_seconds"] == 6.0
    assert found["recognizer_load_seconds"] == 2.0
    assert found["inference_seconds"] == 3.0
    assert (found["llm_seconds"], found["clean_llm_seconds"], found["control_llm_seconds"]) == (3.0, 2.0, 5.0)
    assert found["rtf_inference"] == pytest.approx(0.5)
    assert found["rtf_end_to_end"] == pytest.approx((0.5 + 0.5 + 3.0 + 3.0) / 6.0)


def test_what_happens_at_the_same_time_counts_once_in_the_whole() -> None:
    """A batch is decoded while another is inferred: the wall time of the batches has both once."""
    recognize = [
        Batch("start:0", {"load_seconds": 1.0, "decode_seconds": 0.25}, ()),
        Batch("batch:0", {"decode_seconds": 2.0, "inference_seconds": 1.5, "wall_seconds": 2.0}, ()),
        Batch("batch:1", {"decode_seconds": 2.0, "inference_seconds": 1.5, "wall_seconds": 1.75}, ()),
    ]
    found = summarise_timings(PLAN, [*recognize], [])
    assert (found["decode_seconds"], found["inference_seconds"]) == (4.25, 3.0)
    assert found["rtf_inference"] == pytest.approx(3.0 / 6.0)
    # without features there is no sum of all parts, and no factor of the whole
    assert found["rtf_end_to_end"] is None
    featured = [*recognize, Batch("batch:2", {"features_seconds": 0.5, "wall_seconds": 0.5}, ())]
    assert summarise_timings(PLAN, featured, [])["rtf_end_to_end"] == pytest.approx(4.5 / 6.0)


def test_without_audio_there_is_no_real_time_factor() -> None:
    empty = Plan(
        "s", 1, (PlannedItem("a", "a", failure=Failure("recognize", FailureKind.AUDIO_MISSING, "")),), ()
    )
    found = summarise_timings(empty, [], [])
    assert found["rtf_inference"] is None
    assert found["rtf_end_to_end"] is None


def test_a_question_without_an_answer_is_never_left_out_in_silence() -> None:
    heard = recognized(row("a", 0, "one two"), row("a", 1, "three"), row("b", 0, "hive"), row("n", 0, ""))
    found = [one for one in heard if one is not None]
    with pytest.raises(IncompleteRunError, match="item a"):
        read_outputs(ITEMS, PLAN, found, ARMS, StageReplies(), Asked(answers=frozenset({"a", "b"})))
