"""What the times of a recognizer's programs become in a report."""

from typing import Any

from misheard.run.journal import Batch
from misheard.run.plan import Plan, PlannedItem
from misheard.run.timings import summarise_timings

PLAN = Plan(
    "s", 1, tuple(PlannedItem(name, name, name, seconds) for name, seconds in (("a", 4.0), ("b", 6.0))), ()
)


def clip(item: str, *, failed: bool = False, **note: float) -> Batch:
    row: dict[str, Any] = {"item": item, "window": 0, "failure": ["timeout", "late"] if failed else None}
    return Batch(f"batch:{item}", {"decode_seconds": 0.5, "features_seconds": 0.0, **note}, (row,))


def test_inference_is_what_programs_say_and_the_rest_stands_apart() -> None:
    batches = [
        clip("a", inference_seconds=1.0, program_seconds=3.0, program_load_seconds=1.5),
        clip("b", inference_seconds=2.0, program_seconds=5.0, program_load_seconds=2.5),
    ]
    timings = summarise_timings(PLAN, batches, [])
    assert (timings["program_seconds"], timings["program_load_seconds"]) == (8.0, 4.0)
    assert (timings["rtf_inference"], timings["rtf_end_to_end"]) == (0.3, 0.4)


def test_a_failed_recording_is_in_no_factor() -> None:
    batches = [
        clip("a", inference_seconds=1.0, program_seconds=3.0, program_load_seconds=1.5),
        clip("b", failed=True, program_seconds=180.0, program_load_seconds=0.0),
    ]
    timings = summarise_timings(PLAN, batches, [])
    assert (timings["audio_seconds"], timings["program_seconds"]) == (10.0, 183.0)
    assert (timings["inference_seconds"], timings["rtf_inference"]) == (1.0, 0.25)


def test_inference_that_one_program_does_not_tell_is_not_known() -> None:
    batches = [clip("a", inference_seconds=1.0, program_seconds=3.0), clip("b", program_seconds=5.0)]
    timings = summarise_timings(PLAN, batches, [])
    names = ("inference_seconds", "rtf_inference", "rtf_end_to_end")
    assert [timings[name] for name in names] == [None, None, None]
    assert timings["program_seconds"] == 8.0


def test_other_recognizers_start_no_program() -> None:
    timings = summarise_timings(
        PLAN, [clip("a", inference_seconds=1.0), clip("b", inference_seconds=1.0)], []
    )
    assert (timings["program_seconds"], timings["program_load_seconds"]) == (None, None)
    assert timings["rtf_inference"] == 0.2
