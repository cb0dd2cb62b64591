"""A batch that does not fit into the memory of the device: halved until it does, with the same words."""

from collections.abc import Iterator, Sequence
from typing import Any

from gpu_checks.bench import Bench, compare, heard, texts
from gpu_checks.lines import Line, judged
from misheard.recognizers.protocol import AudioWindow, OutOfMemoryError, RecognizedBatch
from misheard.stages.recognize import recognize_within_memory

_CHECK = "oom"
_WINDOWS, _FITTING = 256, 32
"""Windows of the batch that does not fit, and of the one that room is left for."""


class Cramped:
    """A recognizer that has room for `room` windows, whatever the device says."""

    def __init__(self, recognizer: Any, room: int) -> None:
        self._recognizer = recognizer
        self._room = room

    def recognize(self, batch: Sequence[AudioWindow], features: Any = None) -> RecognizedBatch:
        if len(batch) > self._room:
            raise OutOfMemoryError(f"{len(batch)} windows, and room for {self._room}")
        found: RecognizedBatch = self._recognizer.recognize(batch, features)
        return found


def check(bench: Bench) -> Iterator[Line]:
    if bench.cpu:
        recognizer = bench.recognizer(batch_size=8)
        windows = bench.repeated(3)
        reference = texts(heard(recognizer, windows, len(windows)))
        yield _halved("3 windows, room for 2 (injected)", Cramped(recognizer, 2), windows, reference, 2)
    else:
        yield _filled(bench)


def _filled(bench: Bench) -> Line:
    import torch

    recognizer = bench.recognizer(batch_size=_WINDOWS)
    windows = bench.repeated(_WINDOWS)
    reference = texts(heard(recognizer, windows, len(windows)))
    whole = torch.cuda.max_memory_allocated()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    heard(recognizer, windows[:_FITTING], _FITTING)
    part = torch.cuda.max_memory_allocated() - before
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    # more than the small batch takes, less than the one twice its size; the driver needs some for itself
    room = round(1.5 * part) + 256 * 2**20
    if before + room >= whole:
        raise RuntimeError("the batch is too small to run out of memory")
    filler = torch.empty(free - room, dtype=torch.uint8, device="cuda")
    try:
        name = f"{_WINDOWS} windows, {room / 2**30:.1f} of {total / 2**30:.0f} GiB left"
        return _halved(name, recognizer, windows, reference, None)
    finally:
        del filler


def _halved(
    name: str, recognizer: Any, windows: Sequence[AudioWindow], reference: Sequence[str], expected: int | None
) -> Line:
    outcome, cap = recognize_within_memory(recognizer, windows)
    found = ["" if one.transcript is None else one.transcript.text for one in outcome.windows]
    difference = compare(reference, found)
    if cap is None:
        reason = "the batch was not halved"
    elif expected is not None and cap != expected:
        reason = f"the cap must be {expected}"
    else:
        reason = "must be equal to the whole batch's"
    is_right = cap is not None and expected in (None, cap) and not difference.texts
    figure = f"cap {cap}, {difference}"
    return judged(_CHECK, name, is_right, figure, reason, cap=cap, windows=len(windows))
