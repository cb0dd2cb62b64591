"""The wrappers under examples/recognizers: what they start, and the row that they print.

faster-whisper's is run for real in tests/run/test_command_exact.py.
"""

import json
import subprocess
import sys
import wave
from pathlib import Path

import pytest

WRAPPER = Path(__file__).parents[2] / "examples" / "recognizers" / "whisper_cpp_clip.py"

WHISPER_CLI = """#!/usr/bin/env python3
import pathlib, sys
pathlib.Path(sys.argv[0] + ".arguments").write_text("\\n".join(sys.argv[1:]))
if "broken.bin" in sys.argv:
    sys.stderr.write("error: failed to initialize whisper context\\n")
    sys.exit(3)
sys.stderr.write("main: processing 'a.wav' (24000 samples, 1.5 sec), 4 threads\\n")
print("\\n And so my fellow\\n Americans.\\n")
if "silent.bin" not in sys.argv:
    sys.stderr.write(
        "whisper_print_timings:     load time =    73.08 ms\\n"
        "whisper_print_timings:     fallbacks =   0 p /   0 h\\n"
        "whisper_print_timings:   encode time =    24.47 ms /     1 runs (    24.47 ms per run)\\n"
        "whisper_print_timings:    total time =   124.24 ms\\n"
    )
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A stand-in that prints what whisper-cli prints."""
    path = tmp_path / "whisper cli"
    path.write_text(WHISPER_CLI)
    path.chmod(0o700)
    with wave.open(str(tmp_path / "a clip.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(2 * 24_000))
    return path


def wrapped(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    clip = str(program.parent / "a clip.wav")
    return subprocess.run(
        [sys.executable, str(WRAPPER), clip, "--program", str(program), *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_whisper_cpp_becomes_a_row(program: Path) -> None:
    done = wrapped(program, "--model", "base.bin", "--language", "en", "--cpu")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row.pop("transcribe_ms") == pytest.approx(51.16)
    assert row == {"text": "And so my fellow Americans.", "audio_ms": 1500.0, "load_ms": 73.08}
    given = Path(f"{program}.arguments").read_text().splitlines()
    assert given[:6] == ["-m", "base.bin", "-f", str(program.parent / "a clip.wav"), "-l", "en"]
    assert "--no-gpu" in given
    wrapped(program, "--model", "base.bin")
    assert "--no-gpu" not in Path(f"{program}.arguments").read_text().splitlines()


@pytest.mark.parametrize(("model", "status"), [("broken.bin", 3), ("silent.bin", 1)])
def test_a_failure_of_whisper_cpp_is_one_of_the_wrapper(program: Path, model: str, status: int) -> None:
    done = wrapped(program, "--model", model)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr
