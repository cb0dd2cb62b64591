"""Whether the trace of a session can hold all of it, said before a day has been played."""

from collections.abc import Iterable

from misheard.errors import InputError
from misheard.soak.events import MAX_SECONDS, FaultKind
from misheard.soak.reading import MAX_EVENTS
from misheard.soak.replay.faults import Fault


def check_length(minutes: int, speed: float | None, sample_seconds: float, faults: Iterable[Fault]) -> None:
    """Check that a session fits into a trace.

    Args:
        minutes: of audio.
        speed: times as fast as it was spoken; None as fast as the stages take it, which takes unknown time.
        sample_seconds: between two samples.
        faults: of which some take time.

    Raises InputError that names the option.
    """
    lengths = [(fault.kind, fault.seconds or 0.0) for fault in faults]
    stalled = sum(seconds for kind, seconds in lengths if kind is FaultKind.STALLED_AUDIO)
    jumped = sum(max(0.0, seconds) for kind, seconds in lengths if kind is FaultKind.CLOCK_JUMP)
    passing = stalled + (0.0 if speed is None else 60.0 * minutes / speed)
    if passing + jumped > MAX_SECONDS:
        raise InputError(
            f"--minutes {minutes}: takes {passing + jumped:.0f} seconds at this --speed and with these "
            f"faults; a trace goes up to {MAX_SECONDS:.0f}"
        )
    events = 60.0 * minutes + passing / sample_seconds
    if events > MAX_EVENTS:
        raise InputError(
            f"soak.sample_seconds: the samples and the audio of {passing:.0f} seconds would be "
            f"{events:.0f} events; a trace has at most {MAX_EVENTS}, so take samples less often"
        )
