"""Queues between the stages: bounded, in order, and never a place where somebody waits for good."""

import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.soak.replay.queues import Inbox, StoppedError


def started(work: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    """Start a thread; what its work returns or raises is in the list once it has ended."""
    ended: list[object] = []

    def run() -> None:
        try:
            ended.append(work())
        except StoppedError as error:
            ended.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, ended


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(0, 60), st.integers(1, 7))
def test_everything_comes_once_and_in_order(capacity: int, count: int, most: int) -> None:
    inbox: Inbox[int] = Inbox("plan", capacity)

    def fill() -> None:
        for number in range(count):
            inbox.put(number)
        inbox.close()

    thread, _ = started(fill)
    taken: list[int] = []
    while some := inbox.take(most):
        assert len(some) <= min(most, capacity)
        taken += some
    thread.join(60)
    assert taken == list(range(count))
    assert inbox.take(most) == []


def test_who_would_overfill_it_waits_and_that_is_counted() -> None:
    inbox: Inbox[str] = Inbox("plan", 1)
    inbox.put("a")
    assert inbox.blocked_seconds == 0
    thread, ended = started(lambda: inbox.put("b"))
    thread.join(0.05)
    assert thread.is_alive() and inbox.depth == 1
    assert inbox.take(5) == ["a"]
    thread.join(60)
    assert ended == [None]
    assert inbox.blocked_seconds > 0
    assert inbox.take(5) == ["b"]


@pytest.mark.parametrize("fills", [True, False])
def test_stopping_ends_all_waiting(fills: bool) -> None:
    inbox: Inbox[str] = Inbox("plan", 1)
    if fills:
        inbox.put("a")
    waiting = [started(lambda: inbox.put("b") if fills else inbox.take(1)) for _ in range(3)]
    inbox.stop()
    for thread, ended in waiting:
        thread.join(60)
        assert [type(one) for one in ended] == [StoppedError]
    assert inbox.depth == 0
    with pytest.raises(StoppedError):
        inbox.take(1)
    with pytest.raises(StoppedError):
        inbox.put("c")


def test_closing_ends_the_wait_for_more_and_refuses_more() -> None:
    inbox: Inbox[str] = Inbox("plan", 2)
    thread, ended = started(lambda: inbox.take(1))
    inbox.close()
    thread.join(60)
    assert ended == [[]]
    with pytest.raises(ValueError, match="closed"):
        inbox.put("a")
