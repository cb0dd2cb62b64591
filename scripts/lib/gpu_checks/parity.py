"""The same words on a GPU as on a CPU, whatever the batch; in lower precision, how many differ."""

import importlib.util
from collections.abc import Iterator
from typing import Any

from gpu_checks.bench import Bench, compare, heard, texts
from gpu_checks.lines import Line, judged, skipped

_CHECK = "parity"

MOST_WRONG = 0.5
"""Word error rate above which the model itself must be broken."""

MOST_UNLIKE = 0.2
"""Share of words above which lower precision is more than lower precision."""


def check(bench: Bench) -> Iterator[Line]:
    reference = _hear(bench, cpu=True, batch_size=len(bench.clips))
    said = compare([found.reference for found in bench.recordings], reference)
    figure = f"{len(bench.clips)} recordings, word error rate {100 * said.rate:.1f} %"
    name = "CPU float32 against what was said"
    yield judged(_CHECK, name, said.rate <= MOST_WRONG, figure, "too many errors", wer=said.rate)
    device = "CPU" if bench.cpu else "GPU"
    for what, options in _equal(bench):
        yield _line(f"{device} float32, {what}", reference, _hear(bench, **options), must_equal=True)
    for dtype in ("bfloat16",) if bench.cpu else ("float16", "bfloat16"):
        found = _hear(bench, dtype=dtype, batch_size=len(bench.clips))
        yield _line(f"{device} {dtype}", reference, found, must_equal=False)
    yield from _ctranslate2(bench, device, reference)


def _equal(bench: Bench) -> Iterator[tuple[str, dict[str, Any]]]:
    if not bench.cpu:
        yield "one batch", {"batch_size": len(bench.clips)}
    yield "batches of 3", {"batch_size": 3}
    yield "compile", {"batch_size": 4, "compile": True}


def _hear(bench: Bench, **options: Any) -> list[str]:
    recognizer = bench.recognizer(**options)
    try:
        return texts(heard(recognizer, bench.clips, options["batch_size"]))
    finally:
        recognizer.close()


def _line(name: str, reference: list[str], found: list[str], *, must_equal: bool) -> Line:
    difference = compare(reference, found)
    is_right = not difference.texts if must_equal else difference.rate <= MOST_UNLIKE
    reason = "must be equal" if must_equal else f"more than {100 * MOST_UNLIKE:.0f} % of words"
    numbers = {"texts": difference.texts, "of": difference.total, "word_rate": difference.rate}
    return judged(_CHECK, name, is_right, str(difference), reason, **numbers)


def _ctranslate2(bench: Bench, device: str, reference: list[str]) -> Iterator[Line]:
    name = f"{device} float32, ctranslate2"
    if bench.ctranslate2_model is None:
        yield skipped(_CHECK, name, "its model and its wheel are too large to travel")
        return
    if importlib.util.find_spec("ctranslate2") is None:
        yield skipped(_CHECK, name, "ctranslate2 is not installed")
        return
    from misheard.recognizers.ctranslate2 import CTranslate2Recognizer
    from misheard.recognizers.settings import CTranslate2Settings

    settings = CTranslate2Settings(
        model=str(bench.ctranslate2_model), compute_type="float32", cpu_compute_type="float32"
    )
    recognizer = CTranslate2Recognizer(settings, cpu=bench.cpu)
    recognizer.load()
    yield _line(name, reference, texts(heard(recognizer, bench.clips, len(bench.clips))), must_equal=True)
