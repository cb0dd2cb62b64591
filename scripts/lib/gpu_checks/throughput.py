"""Batches across files against the stock pipeline of transformers: same model, audio, dtype and batch size.

Both decode greedily to the same limit, start from samples in memory, compute their own features and count
everything from the first sample to the last text. Loading and one batch to warm up are excluded. The
contestants take turns; the table has the best round of each.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_checks.bench import Bench, compare, hours, planned
from gpu_checks.lines import Line, judged
from gpu_checks.shapes import LARGE, SMALL, make_random
from misheard.recognizers.protocol import AudioWindow
from misheard.recognizers.whisper_tokens import longest_answer
from misheard.run.executors.local import LocalExecutor

MOST_UNLIKE = 0.2
"""Share of words above which two contestants do not do the same."""

_PROMPT = 2
"""Tokens before the text, of an English-only model without timestamps."""


@dataclass(frozen=True)
class Race:
    """One comparison on one model."""

    check: str
    model: Path
    name: str
    dtype: str
    windows: Sequence[AudioWindow]
    batch: int
    rounds: int


def check_tiny(bench: Bench) -> Iterator[Line]:
    """Measure tiny.en over short recordings, whose words are real."""
    if bench.cpu:
        race = Race("throughput", bench.model, "tiny.en", "float32", bench.repeated(8), 4, 1)
    else:
        seconds = sum(clip.seconds for clip in bench.clips) / len(bench.clips)
        windows = bench.repeated(round(1800 / seconds))
        race = Race("throughput", bench.model, "tiny.en", "float16", windows, 64, 3)
    yield from _run(bench, race)


def check_large(bench: Bench) -> Iterator[Line]:
    """Measure a large model over full windows, each with the same number of tokens."""
    shape, dtype, device = (SMALL, "float32", "cpu") if bench.cpu else (LARGE, "float16", "cuda")
    model = make_random(shape, bench.model, bench.scratch / "random", device, dtype)
    windows = bench.full_windows(4 if bench.cpu else 64)
    yield from _run(bench, Race("large", model, shape.name, dtype, windows, 2 if bench.cpu else 32, 1))


def _run(bench: Bench, race: Race) -> Iterator[Line]:
    contestants: dict[str, Callable[[Sequence[AudioWindow]], list[str]]] = {
        "stock pipeline": _stock(bench, race),
        "misheard": _misheard(bench, race, compile_steps=False),
        "misheard, compile": _misheard(bench, race, compile_steps=True),
    }
    best: dict[str, float] = {}
    found: dict[str, list[str]] = {}
    for recognize in contestants.values():
        recognize(race.windows[: race.batch])
    for number in range(race.rounds):
        names = list(contestants)
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            started = time.perf_counter()
            found[name] = contestants[name](race.windows)
            best[name] = min(best.get(name, float("inf")), time.perf_counter() - started)
    audio = hours(race.windows) * 3600
    for name, seconds in best.items():
        ratio = best["stock pipeline"] / seconds
        difference = compare(found["stock pipeline"], found[name])
        # random weights have no words: their texts hang on the last bit
        is_right = race.check == "large" or difference.rate <= MOST_UNLIKE
        yield judged(
            race.check,
            f"{race.name} {race.dtype}, {name}",
            is_right,
            f"{seconds:.2f} s for {audio / 60:.1f} min, RTF {seconds / audio:.5f}, {ratio:.2f} x stock"
            + (f", {difference.texts} texts unlike stock" if race.check != "large" else ""),
            f"more than {100 * MOST_UNLIKE:.0f} % of words unlike the stock pipeline's",
            seconds=seconds,
            audio_seconds=audio,
            ratio=ratio,
            unlike=difference.texts,
            batch=race.batch,
        )


def _misheard(
    bench: Bench, race: Race, *, compile_steps: bool
) -> Callable[[Sequence[AudioWindow]], list[str]]:
    recognizer = bench.recognizer(race.model, dtype=race.dtype, batch_size=race.batch, compile=compile_steps)

    def recognize(windows: Sequence[AudioWindow]) -> list[str]:
        executor = LocalExecutor(recognizer, read_ahead=2)
        done = executor.recognize(planned(windows, race.batch), lambda window: windows[int(window.item)])
        outcomes = [outcome for batch in done for outcome in batch.outcome.windows]
        _check_lengths(race, [outcome.transcript for outcome in outcomes])
        return [outcome.transcript.text for outcome in outcomes if outcome.transcript is not None]

    return recognize


def _check_lengths(race: Race, transcripts: Sequence[Any]) -> None:
    if None in transcripts:
        raise RuntimeError("a window has no transcript")
    if race.check == "large" and {found.tokens for found in transcripts} != {longest_answer(_PROMPT)}:
        raise RuntimeError("random weights were not decoded to the limit")


def _stock(bench: Bench, race: Race) -> Callable[[Sequence[AudioWindow]], list[str]]:
    import torch
    from transformers import pipeline

    stock = pipeline(
        "automatic-speech-recognition",
        model=str(race.model),
        device="cpu" if bench.cpu else "cuda",
        dtype=getattr(torch, race.dtype),
    )
    limit = longest_answer(_PROMPT)
    generate = {"num_beams": 1, "do_sample": False, "max_new_tokens": limit}
    lengths: list[int] = []
    stock.model.generate = _counting(stock.model.generate, lengths)

    def recognize(windows: Sequence[AudioWindow]) -> list[str]:
        inputs = [{"raw": window.samples, "sampling_rate": 16_000} for window in windows]
        found = stock(inputs, batch_size=race.batch, generate_kwargs=generate)
        if race.check == "large" and min(lengths) < limit:
            raise RuntimeError(f"the stock pipeline decoded {min(lengths)} tokens, not {limit}")
        return [one["text"].strip() for one in found]

    return recognize


def _counting(generate: Callable[..., Any], lengths: list[int]) -> Callable[..., Any]:
    """Return the model's `generate` that notes how many tokens it gave."""

    def counted(*arguments: Any, **options: Any) -> Any:
        tokens = generate(*arguments, **options)
        lengths.append(int(tokens.shape[-1]))
        return tokens

    return counted
