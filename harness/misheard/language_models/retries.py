"""When a request is tried again, and after how long."""

import email.utils
import math

RETRIED_STATUS = frozenset({408, 429})
"""Statuses below 500 that say `later`; every other 4xx says that the request itself is wrong."""

BASE_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 8.0
LONGEST_RETRY_AFTER_SECONDS = 60.0


def is_retried_status(status: int) -> bool:
    """Return whether a reply with this HTTP status is worth another attempt."""
    return status in RETRIED_STATUS or 500 <= status <= 599


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Return the seconds that a Retry-After header asks for, or None where it says nothing usable.

    The header holds seconds or an HTTP date (RFC 9110, 10.2.3); `now` is Unix time.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def backoff_seconds(attempt: int, retry_after: float | None) -> float:
    """Return the pause after failed attempt number `attempt` (from 1).

    It doubles from half a second up to 8; what the server asks for is honoured up to 60 seconds.
    """
    backoff = min(BASE_SECONDS * 2.0 ** (min(attempt, 32) - 1), LONGEST_BACKOFF_SECONDS)
    return max(backoff, min(retry_after or 0.0, LONGEST_RETRY_AFTER_SECONDS))
