#!/usr/bin/env python3
"""Recognition side by side: misheard's cross-file batches and faster-whisper's two pipelines.

Same CTranslate2 model, compute type, beam (1), temperature (0), language and files, decoding included, model
loading excluded. The contestants take turns, round after round; the table shows medians and ratios.

    scripts/bench/recognize.py SUITE [--model NAME] [--compute-type int8] [--batch-size 4] [--rounds 3]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from misheard.audio.decode import decode
from misheard.models import resolve_model
from misheard.recognizers.ctranslate2 import CTranslate2Recognizer
from misheard.recognizers.protocol import AudioWindow
from misheard.recognizers.settings import CTranslate2Settings
from misheard.suite.items import Suite
from misheard.suite.manifest import load_suite

Texts = dict[str, str]


def misheard_batches(suite: Suite, model: str, compute_type: str, batch_size: int) -> Callable[[], Texts]:
    """Return a function that recognizes the suite with misheard's recognizer in batches across files."""
    settings = CTranslate2Settings(model=model, cpu_compute_type=compute_type, batch_size=batch_size)
    recognizer = CTranslate2Recognizer(settings, cpu=True)
    recognizer.load()

    def recognize() -> Texts:
        texts: Texts = {}
        decoded = [(item, decode(suite.audio_path(item))) for item in suite.items]
        decoded.sort(key=lambda pair: -len(pair[1].samples))
        for start in range(0, len(decoded), batch_size):
            batch = decoded[start : start + batch_size]
            windows = [AudioWindow(audio.samples, item.language) for item, audio in batch]
            result = recognizer.recognize(windows)
            texts.update((i.id, w.text) for (i, _), w in zip(batch, result.windows, strict=True))
        return texts

    return recognize


def faster_whisper(
    suite: Suite, model: str, compute_type: str, batch_size: int | None
) -> Callable[[], Texts]:
    """Return a function that recognizes the suite with faster-whisper; `batch_size` None is sequential."""
    from faster_whisper import BatchedInferencePipeline, WhisperModel

    whisper = WhisperModel(model, device="cpu", compute_type=compute_type)
    pipeline = whisper if batch_size is None else BatchedInferencePipeline(whisper)
    options = {} if batch_size is None else {"batch_size": batch_size}

    def recognize() -> Texts:
        texts: Texts = {}
        for item in suite.items:
            segments, _ = pipeline.transcribe(
                str(suite.audio_path(item)),
                language=item.language,
                beam_size=1,
                temperature=0.0,
                without_timestamps=True,
                condition_on_previous_text=False,
                vad_filter=False,
                no_speech_threshold=None,
                log_prob_threshold=None,
                compression_ratio_threshold=None,
                **options,
            )
            texts[item.id] = " ".join(segment.text.strip() for segment in segments)
        return texts

    return recognize


def main() -> None:
    """Run the contestants in turns and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--model", default="whisper-base")
    parser.add_argument("--compute-type", default="int8")
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    suite = load_suite(args.suite)
    model = resolve_model("--model", args.model, None, Path())
    contestants = {
        "misheard, batches across files": misheard_batches(suite, model, args.compute_type, args.batch_size),
        "faster-whisper, sequential": faster_whisper(suite, model, args.compute_type, None),
        "faster-whisper, batched": faster_whisper(suite, model, args.compute_type, args.batch_size),
    }
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    texts: dict[str, Texts] = {}
    for _ in range(args.rounds):
        for name, recognize in contestants.items():
            started = time.perf_counter()
            texts[name] = recognize()
            seconds[name].append(time.perf_counter() - started)
    ours = next(iter(contestants))
    audio = sum(decode(suite.audio_path(item)).info.seconds for item in suite.items)
    print(f"{len(suite.items)} recordings, {audio:.1f} s of audio, {args.model}, {args.compute_type}, beam 1")
    print(f"{'':34}{'median s':>9}{'min s':>8}{'RTF':>7}{'ratio':>7}  texts unlike ours")
    base = statistics.median(seconds[ours])
    for name, measured in seconds.items():
        median = statistics.median(measured)
        unlike = sum(texts[name][item.id] != texts[ours][item.id] for item in suite.items)
        print(
            f"{name:34}{median:9.2f}{min(measured):8.2f}{median / audio:7.3f}{median / base:7.2f}  {unlike}"
        )


if __name__ == "__main__":
    main()
