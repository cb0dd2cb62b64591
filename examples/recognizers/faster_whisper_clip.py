#!/usr/bin/env python3
"""One recording through faster-whisper, as `misheard`'s recognizer `command` expects it.

    faster_whisper_clip.py WAV --model MODEL [--language CODE] [--device auto|cpu|cuda] [--cpu]

Prints one JSON row: the text, and the milliseconds of audio, of loading the model and of inference. Needs
`pip install faster-whisper`. Decoding is greedy, at temperature 0, with no fallback and no conditioning on
earlier text.
"""

import argparse
import json
import sys
import time

from faster_whisper import WhisperModel


def main() -> None:
    """Transcribe one file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wav")
    parser.add_argument("--model", required=True, help="a folder, or a name that faster-whisper knows")
    parser.add_argument("--language", default="auto")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--compute-type", default="default")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()

    started = time.perf_counter()
    device = "cpu" if options.cpu else options.device
    model = WhisperModel(options.model, device=device, compute_type=options.compute_type)
    loaded = time.perf_counter()
    segments, info = model.transcribe(
        options.wav,
        language=None if options.language == "auto" else options.language,
        beam_size=1,
        temperature=0.0,
        condition_on_previous_text=False,
        without_timestamps=True,
    )
    texts = [segment.text for segment in segments]
    ended = time.perf_counter()
    row = {
        "text": "".join(texts).strip(),
        "segments": len(texts),
        "audio_ms": 1000.0 * info.duration,
        "load_ms": 1000.0 * (loaded - started),
        "transcribe_ms": 1000.0 * (ended - loaded),
    }
    sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
