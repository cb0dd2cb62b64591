#!/usr/bin/env python3
"""Recognition side by side: misheard's recognizers, faster-whisper's two pipelines and that of transformers.

The same weights in CTranslate2's and Hugging Face's form, one number format, beam 1, temperature 0, the same
languages and files, decoding included, model loading excluded. The contestants take turns, round after round;
the table shows medians, and ratios and texts against the first of them. Recordings are at most 30 s long.

    scripts/bench/recognize.py SUITE [--model NAME] [--dtype float32] [--device cpu] [--batch-size 4]
        [--rounds 3] [--vllm-python PATH]
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.audio.decode import decode
from misheard.errors import BackendError
from misheard.models import resolve_model
from misheard.recognizers.protocol import SAMPLE_RATE, WINDOW_SECONDS, AudioWindow, Recognizer
from misheard.recognizers.registry import make_recognizer
from misheard.recognizers.settings import CTranslate2Settings, TransformersSettings, VllmRecognizerSettings
from misheard.suite.items import Suite
from misheard.suite.manifest import load_suite

Texts = dict[str, str]
Contestant = Callable[[], Texts]

CONVERT = Path(__file__).resolve().parents[1] / "convert_whisper"


class LeftOutError(Exception):
    """Why a contestant cannot take part."""


@dataclass(frozen=True)
class Match:
    """What all contestants share; `folder` holds the Hugging Face form and log files."""

    suite: Suite
    model: str
    folder: Path
    dtype: str
    cpu: bool
    batch_size: int
    vllm_python: Path | None
    closing: contextlib.ExitStack

    @property
    def device(self) -> str:
        return "cpu" if self.cpu else "cuda"

    @property
    def hugging_face(self) -> Path:
        """The weights in Hugging Face form, converted when they are first asked for."""
        converted = self.folder / Path(self.model).name
        if not converted.is_dir():
            subprocess.run([sys.executable, str(CONVERT), self.model, str(converted)], check=True)
        return converted

    def check_torch_format(self) -> None:
        """Raise LeftOutError for a format that torch does not infer Whisper in here."""
        if self.dtype not in ("float32", "bfloat16") and (self.cpu or self.dtype != "float16"):
            raise LeftOutError(f"torch has no {self.dtype} on {self.device}")


def our_ctranslate2(match: Match) -> Contestant:
    """Return a function for misheard's recognizer on CTranslate2."""
    return ours(match, CTranslate2Settings(**ctranslate2_options(match)), match.batch_size)


def our_transformers(match: Match) -> Contestant:
    """Return a function for misheard's recognizer in torch."""
    match.check_torch_format()
    number_format = {"cpu_dtype" if match.cpu else "dtype": match.dtype}
    settings = TransformersSettings.model_validate(
        {"model": str(match.hugging_face), "batch_size": match.batch_size, **number_format}
    )
    return ours(match, settings, match.batch_size)


def our_vllm(match: Match) -> Contestant:
    """Return a function for a vLLM server, with as many requests in flight as others have windows at once."""
    if match.vllm_python is None:
        raise LeftOutError("say with --vllm-python which interpreter has vLLM")
    match.check_torch_format()
    settings = VllmRecognizerSettings.model_validate(
        {
            "model": str(match.hugging_face), "python": match.vllm_python, "dtype": match.dtype,
            "concurrency": match.batch_size, "batch_size": len(match.suite.items),
            "extra_args": ["--enforce-eager"] if match.cpu else [],
        }
    )  # fmt: skip
    return ours(match, settings, settings.batch_size)


def ctranslate2_options(match: Match) -> dict[str, Any]:
    """Return options of CTranslate2Settings. Raises LeftOutError for a format that it has not here."""
    if match.cpu and match.dtype not in ("int8", "float32"):
        raise LeftOutError(f"CTranslate2 has no {match.dtype} on a CPU")
    number_format = {"cpu_compute_type" if match.cpu else "compute_type": match.dtype}
    return {"model": match.model, "batch_size": match.batch_size, **number_format}


def ours(match: Match, settings: Any, batch_size: int) -> Contestant:
    """Return a function that recognizes the suite with one of misheard's recognizers, across files."""
    recognizer: Recognizer = make_recognizer(settings, cpu=match.cpu, logs=match.folder)
    match.closing.callback(recognizer.close)
    try:
        recognizer.load()
        recognizer.warm_up()
    except BackendError as error:
        raise LeftOutError(str(error)) from error

    def recognize() -> Texts:
        texts: Texts = {}
        decoded = longest_first(match.suite)
        for start in range(0, len(decoded), batch_size):
            batch = decoded[start : start + batch_size]
            windows = [AudioWindow(samples, item.language) for item, samples in batch]
            found = recognizer.recognize(windows).windows
            texts.update((item.id, window.text) for (item, _), window in zip(batch, found, strict=True))
        return texts

    return recognize


def longest_first(suite: Suite) -> list[tuple[Any, Any]]:
    """Return items with their samples, decoded, in the order of a batch plan."""
    decoded = [(item, decode(suite.audio_path(item)).samples) for item in suite.items]
    return sorted(decoded, key=lambda pair: -len(pair[1]))


def faster_whisper_sequential(match: Match) -> Contestant:
    """Return a function for faster-whisper, one window at a time."""
    return faster_whisper(match, batched=False)


def faster_whisper_batched(match: Match) -> Contestant:
    """Return a function for faster-whisper's batched pipeline, whose batches are of one file."""
    return faster_whisper(match, batched=True)


def faster_whisper(match: Match, *, batched: bool) -> Contestant:
    """Return a function that recognizes the suite with faster-whisper."""
    from faster_whisper import BatchedInferencePipeline, WhisperModel

    ctranslate2_options(match)
    whisper = WhisperModel(match.model, device=match.device, compute_type=match.dtype)
    pipeline = BatchedInferencePipeline(whisper) if batched else whisper
    options = {"batch_size": match.batch_size} if batched else {}

    def recognize() -> Texts:
        texts: Texts = {}
        for item in match.suite.items:
            segments, _ = pipeline.transcribe(
                str(match.suite.audio_path(item)),
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


def stock_pipeline(match: Match) -> Contestant:
    """Return a function for the pipeline of transformers, in batches across files, decoded by misheard."""
    match.check_torch_format()
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    pipeline = transformers.pipeline(
        "automatic-speech-recognition",
        model=str(match.hugging_face),
        dtype=getattr(torch, match.dtype),
        device=match.device,
    )
    multilingual = pipeline.model.generation_config.is_multilingual

    def recognize() -> Texts:
        texts: Texts = {}
        decoded = longest_first(match.suite)
        # one call has one language
        for language in dict.fromkeys(item.language for item, _ in decoded):
            part = [(item, samples) for item, samples in decoded if item.language == language]
            generate = {"num_beams": 1, "do_sample": False}
            if multilingual and language is not None:
                generate |= {"language": language, "task": "transcribe"}
            found = pipeline(
                [{"raw": samples, "sampling_rate": SAMPLE_RATE} for _, samples in part],
                batch_size=match.batch_size,
                generate_kwargs=generate,
            )
            texts.update((item.id, one["text"].strip()) for (item, _), one in zip(part, found, strict=True))
        return texts

    return recognize


CONTESTANTS: dict[str, Callable[[Match], Contestant]] = {
    "misheard, ctranslate2": our_ctranslate2,
    "misheard, transformers": our_transformers,
    "misheard, vLLM server": our_vllm,
    "faster-whisper, sequential": faster_whisper_sequential,
    "faster-whisper, batched": faster_whisper_batched,
    "transformers, its own pipeline": stock_pipeline,
}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--model", default="whisper-base", help="in CTranslate2 form: a folder, or a name")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float16", "bfloat16", "int8"])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--vllm-python", type=Path, help="interpreter of an environment with vllm[audio]")
    return parser.parse_args()


def main() -> None:
    """Run the contestants in turns and print the table."""
    args = arguments()
    # threads that spin while they wait take the cores from the contestant whose turn it is
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    suite = load_suite(args.suite)
    lengths = [decode(suite.audio_path(item)).info.seconds for item in suite.items]
    if max(lengths) > WINDOW_SECONDS:
        sys.exit(f"{args.suite}: recordings of more than {WINDOW_SECONDS:.0f} s are cut differently by each")
    with contextlib.ExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="bench-recognize-")))
        match = Match(
            suite=suite,
            model=resolve_model("--model", args.model, None, Path()),
            folder=folder,
            dtype=args.dtype,
            cpu=args.device == "cpu",
            batch_size=args.batch_size,
            vllm_python=args.vllm_python,
            closing=closing,
        )
        contestants: dict[str, Contestant] = {}
        left_out: dict[str, str] = {}
        for name, make in CONTESTANTS.items():
            try:
                contestants[name] = make(match)
            except LeftOutError as error:
                left_out[name] = str(error)
        seconds, texts = take_turns(contestants, args.rounds)
    audio = sum(lengths)
    print(
        f"{len(suite.items)} recordings, {audio:.1f} s of audio, {args.model}, "
        f"{args.dtype} on {args.device}, beam 1, batches of {args.batch_size}"
    )
    show(suite, seconds, texts, audio)
    for name, reason in left_out.items():
        print(f"{name:34}left out: {reason}")


def take_turns(
    contestants: dict[str, Contestant], rounds: int
) -> tuple[dict[str, list[float]], dict[str, Texts]]:
    """Return the seconds of every round and the last texts, by contestant."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    texts: dict[str, Texts] = {}
    for _ in range(rounds):
        for name, recognize in contestants.items():
            started = time.perf_counter()
            texts[name] = recognize()
            seconds[name].append(time.perf_counter() - started)
    return seconds, texts


def show(suite: Suite, seconds: dict[str, list[float]], texts: dict[str, Texts], audio: float) -> None:
    """Print a line per contestant."""
    first = next(iter(seconds))
    base = statistics.median(seconds[first])
    print(f"{'':34}{'median s':>9}{'min s':>8}{'RTF':>7}{'ratio':>7}  texts unlike the first")
    for name, measured in seconds.items():
        median = statistics.median(measured)
        unlike = sum(texts[name][item.id] != texts[first][item.id] for item in suite.items)
        print(
            f"{name:34}{median:9.2f}{min(measured):8.2f}{median / audio:7.3f}{median / base:7.2f}  {unlike}"
        )


if __name__ == "__main__":
    main()
