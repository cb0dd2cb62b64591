"""How busy the device is kept: share of the wall time that is inference, with and without reading ahead."""

import itertools
import time
from collections.abc import Iterator

from gpu_checks.bench import Bench, compare, planned
from gpu_checks.lines import Line, judged, skipped
from misheard.audio.decode import decode
from misheard.recognizers.protocol import AudioWindow
from misheard.run.executors.local import LocalExecutor
from misheard.run.plan import PlannedWindow

_CHECK = "read-ahead"


def check(bench: Bench) -> Iterator[Line]:
    size, batches, dtype = (4, 2, "float32") if bench.cpu else (32, 16, "float16")
    recognizer = bench.recognizer(dtype=dtype, batch_size=size)
    files = list(itertools.islice(itertools.cycle(bench.recordings), size * batches))
    plan = planned(bench.repeated(size * batches), size)

    def read(window: PlannedWindow) -> AudioWindow:
        return AudioWindow(decode(files[int(window.item)].file).samples, "en")

    list(LocalExecutor(recognizer, 0).recognize(plan[:1], read))
    reference: list[str] = []
    for ahead in (0, 2):
        name = f"read_ahead {ahead}, {batches} batches of {size}"
        if bench.cpu and ahead:
            yield skipped(_CHECK, name, "on a CPU nothing is read ahead")
            continue
        started = time.perf_counter()
        done = list(LocalExecutor(recognizer, ahead).recognize(plan, read))
        wall = time.perf_counter() - started
        outcomes = [batch.outcome for batch in done]
        texts = ["" if o.transcript is None else o.transcript.text for b in outcomes for o in b.windows]
        reference = reference or texts
        share = sum(outcome.inference_seconds or 0.0 for outcome in outcomes) / wall
        decoding = sum(batch.decode_seconds for batch in done)
        features = sum(outcome.features_seconds for outcome in outcomes)
        times = f"decode {decoding:.2f} s, features {features:.2f} s"
        figure = f"inference {100 * share:.0f} % of {wall:.2f} s, {times}"
        unlike = compare(reference, texts)
        is_right = all(texts) and not unlike.texts
        reason = "the words must not depend on reading ahead"
        yield judged(_CHECK, name, is_right, figure, reason, share=share, wall_seconds=wall)
