"""What no trace could hold is said before it is played."""

import pytest

from misheard.errors import InputError
from misheard.soak.replay.faults import parse_fault
from misheard.soak.replay.length import check_length

DAY = 1440


@pytest.mark.parametrize(
    ("minutes", "speed", "sample_seconds", "faults", "says"),
    [
        (DAY, 1.0, 0.1, [], None),
        (DAY, None, 0.1, ["stalled_audio@1+86400", "clock_jump@1-86400"], None),
        (DAY, 0.2, 1.0, ["clock_jump@1+86400"], None),
        (DAY, 0.1, 60.0, [], "--minutes 1440: takes 864000 seconds .* a trace goes up to 604800"),
        (1, None, 1.0, ["clock_jump@1+86400"] * 8, "--minutes 1: takes 691200 seconds"),
        (1, 1.0, 60.0, ["stalled_audio@1+86400"] * 7, "--minutes 1: takes 604860 seconds"),
        (DAY, 0.2, 0.1, [], "soak.sample_seconds: .* 4406400 events; a trace has at most 2000000"),
    ],
)  # fmt: skip
def test_what_no_trace_could_hold_is_refused(
    minutes: int, speed: float | None, sample_seconds: float, faults: list[str], says: str | None
) -> None:
    parsed = [parse_fault(name) for name in faults]
    if says is None:
        check_length(minutes, speed, sample_seconds, parsed)
        return
    with pytest.raises(InputError, match=says):
        check_length(minutes, speed, sample_seconds, parsed)
