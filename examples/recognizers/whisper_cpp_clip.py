#!/usr/bin/env python3
"""One recording through whisper.cpp, as `misheard`'s recognizer `command` expects it.

    whisper_cpp_clip.py WAV --model MODEL.bin [--language CODE] [--cpu] [--program whisper-cli]

Prints one JSON row: the text, and the milliseconds of audio, of loading the model and of everything after
it, as whisper.cpp prints them on its standard error. Standard library only. WAV must be a 16 kHz WAV file,
which the recognizer's `audio: decoded` makes. Decoding is greedy, at temperature 0, with no fallback.
"""

import argparse
import json
import re
import subprocess
import sys
import wave

TIMING = re.compile(r"whisper_print_timings:\s+(load|total) time =\s*([0-9.]+) ms")


def main() -> None:
    """Transcribe one file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wav")
    parser.add_argument("--model", required=True)
    parser.add_argument("--language", default="auto")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--program", default="whisper-cli")
    options = parser.parse_args()

    command = [options.program, "-m", options.model, "-f", options.wav, "-l", options.language]
    command += [
        "--no-timestamps",
        "--beam-size",
        "1",
        "--best-of",
        "1",
        "--temperature",
        "0",
        "--no-fallback",
    ]
    command += ["--no-gpu"] if options.cpu else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr[-2000:])
        sys.exit(done.returncode if done.returncode > 0 else 1)
    times = {name: float(value) for name, value in TIMING.findall(done.stderr)}
    if times.keys() != {"load", "total"}:
        sys.exit(f"{options.program} printed no timings")
    with wave.open(options.wav, "rb") as file:
        seconds = file.getnframes() / file.getframerate()
    row = {
        "text": " ".join(done.stdout.split()),
        "audio_ms": 1000.0 * seconds,
        "load_ms": times["load"],
        "transcribe_ms": max(0.0, times["total"] - times["load"]),
    }
    sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
