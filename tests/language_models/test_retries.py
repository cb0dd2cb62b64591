import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.language_models.retries import backoff_seconds, is_retried_status, parse_retry_after


def test_only_later_and_server_errors_are_retried() -> None:
    retried = {status for status in range(100, 1000) if is_retried_status(status)}
    assert retried == {408, 429, *range(500, 600)}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("0.5", 0.5),
        ("-4", 0.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Thu, 99 Jan 1970 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, now=60.0) == seconds


def test_backoff_doubles_up_to_a_bound() -> None:
    assert [backoff_seconds(n, None) for n in range(1, 8)] == [0.5, 1, 2, 4, 8, 8, 8]
    assert backoff_seconds(1, 3.0) == 3.0
    assert backoff_seconds(4, 3.0) == 4.0


@given(st.integers(1, 10_000), st.none() | st.floats(0, 1e12))
def test_backoff_is_never_longer_than_a_minute(attempt: int, retry_after: float | None) -> None:
    assert 0.5 <= backoff_seconds(attempt, retry_after) <= 60.0
