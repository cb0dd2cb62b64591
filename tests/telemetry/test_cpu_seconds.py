"""Processor seconds of processes that end: none is lost, none counts twice."""

import pytest

from misheard.telemetry.cpu_seconds import CpuSeconds, CpuTimes

Sample = dict[str, tuple[float, float]]
"""Seconds of its own and of children that it waited for, by process."""

PIDS = {"run": 1, "ray": 2, "worker": 3, "other": 4}


def totals(samples: list[Sample]) -> list[float]:
    """Processes count in full from the sample in which they appear, and end where they are missing."""
    seconds, known, found = CpuSeconds(), set[str](), []
    for sample in samples:
        for name in known - sample.keys():
            seconds.end(PIDS[name])
        for name in sample.keys() - known:
            seconds.add(PIDS[name], CpuTimes(0.0, 0.0), is_new=True)
        known = set(sample)
        found.append(seconds.update({PIDS[name]: CpuTimes(*times) for name, times in sample.items()}))
    return found


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        pytest.param(
            [{"run": (1, 0), "worker": (8, 0)}, {"run": (1, 8)}, {"run": (2, 8)}, {"run": (3, 8)}],
            [9, 9, 10, 11], id="waited for",
        ),
        pytest.param(
            [{"run": (1, 0), "worker": (8, 0)}, {"run": (1, 0)}, {"run": (2, 9)}, {"run": (3, 9)}],
            [9, 9, 11, 12], id="the wait shows a sample later, with what came after the last sample",
        ),
        pytest.param(
            [{"run": (1, 0), "worker": (8, 0)}, {"run": (1, 0)}, {"run": (2, 0)}, {"run": (3, 0)}],
            [9, 9, 10, 11], id="nobody waited",
        ),
        pytest.param(
            [{"run": (1, 0), "ray": (2, 0), "worker": (8, 0)}, {"run": (1, 10)}, {"run": (2, 10)}],
            [11, 11, 12], id="waited for by one that ended and was waited for",
        ),
        pytest.param(
            [{"run": (1, 0), "ray": (2, 0), "worker": (8, 0)}, {"run": (1, 0), "ray": (2, 8)},
             {"run": (1, 10)}, {"run": (1, 10)}, {"run": (2, 10)}],
            [11, 11, 11, 11, 12], id="one after the other",
        ),
        pytest.param(
            [{"run": (1, 0), "ray": (2, 0), "worker": (8, 0)}, {"run": (1, 2)}, {"run": (2, 2)},
             {"run": (2, 2)}, {"run": (2, 9)}],
            [11, 11, 12, 12, 19], id="the parent waited for, its child not; another child later",
        ),
        pytest.param(
            [{"run": (1, 0), "worker": (8, 0), "other": (5, 0)}, {"run": (1, 5)}, {"run": (2, 5)},
             {"run": (3, 5)}],
            [14, 14, 15, 16], id="one of two waited for",
        ),
        pytest.param(
            [{"run": (1, 0)}, {"run": (1, 4)}], [1, 5], id="a child that was never seen",
        ),
        pytest.param(
            [{"run": (1.01, 0)}, {"run": (1.0, 0)}], [1.01, 1.01], id="rounding never makes it fall",
        ),
    ],
)  # fmt: skip
def test_seconds_of_what_ended_stay_and_the_rest_counts_on(
    samples: list[Sample], expected: list[float]
) -> None:
    assert totals(samples) == pytest.approx(expected)


@pytest.mark.parametrize("waited_for", [20.0, 0.0])
def test_what_came_before_a_process_was_known_does_not_count_when_it_ends(waited_for: float) -> None:
    seconds = CpuSeconds()
    seconds.add(1, CpuTimes(5.0, 0.0), is_new=False)
    seconds.add(2, CpuTimes(17.0, 0.0), is_new=False)
    assert seconds.update({1: CpuTimes(5.0, 0.0), 2: CpuTimes(20.0, 0.0)}) == 3.0
    seconds.end(2)
    for own in (5.0, 6.0):
        total = seconds.update({1: CpuTimes(own, waited_for)})
    assert total == 4.0
