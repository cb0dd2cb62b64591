import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.telemetry.stages import Interval, StageMarks, overlapping


def test_stages_repeat_and_are_noted_where_they_fail() -> None:
    marks = StageMarks()
    for _ in range(2):
        with marks.mark("recognize"):
            pass
    with pytest.raises(KeyError), marks.mark("respond:audio"):
        raise KeyError
    found = marks.intervals()
    assert {name: len(intervals) for name, intervals in found.items()} == {"recognize": 2, "respond:audio": 1}
    assert overlapping(found) == frozenset()
    first, second = found["recognize"]
    assert first.start <= first.end <= second.start <= second.end


def test_stages_of_two_threads_overlap() -> None:
    marks = StageMarks()
    begun, go_on = threading.Event(), threading.Event()

    def recognize() -> None:
        with marks.mark("recognize"):
            begun.set()
            go_on.wait()

    thread = threading.Thread(target=recognize)
    thread.start()
    begun.wait()
    with marks.mark("respond:transcript"):
        go_on.set()
        thread.join()
    with marks.mark("judge"):
        pass
    assert overlapping(marks.intervals()) == {"recognize", "respond:transcript"}


INTERVALS = st.tuples(st.integers(0, 20), st.integers(0, 6)).map(
    lambda pair: Interval(float(pair[0]), float(pair[0] + pair[1]))
)
STAGES = st.dictionaries(st.sampled_from("abcd"), st.lists(INTERVALS, max_size=3).map(tuple), max_size=4)


@given(STAGES)
def test_overlaps_are_those_of_every_pair(stages: dict[str, tuple[Interval, ...]]) -> None:
    marks = [(name, interval) for name, intervals in stages.items() for interval in intervals]
    expected = {
        name
        for (a, first), (b, second) in itertools.combinations(marks, 2)
        if min(first.end, second.end) > max(first.start, second.start)
        for name in (a, b)
    }
    assert overlapping(stages) == expected
