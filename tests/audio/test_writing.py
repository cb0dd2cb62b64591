"""Writing recordings: what is written is what was given, and what the system refuses is said in its words."""

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from misheard.audio.writing import SoundWriter

PROGRAM = """
import resource, sys
from pathlib import Path
import numpy as np
from misheard.audio.writing import SoundWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
noise = np.random.default_rng(0).integers(-9_000, 9_000, 4_000).astype(np.int16)
try:
    with SoundWriter(Path(sys.argv[1]), 16_000, 1, sys.argv[3], sys.argv[4]) as file:
        for _ in range(10):
            file.write(noise)
except OSError as error:
    print(error.errno, error.filename)
"""


def test_integers_are_taken_as_they_are(tmp_path: Path) -> None:
    samples = np.array([[-32_768, 1], [32_767, -1], [0, 12_345]], np.int16)
    with SoundWriter(tmp_path / "a.flac", 16_000, 2, "FLAC", "PCM_16") as file:
        file.write(samples[:1])
        file.write(samples[1:])
    file.close()
    read, rate = soundfile.read(tmp_path / "a.flac", dtype="int16")
    assert rate == 16_000 and np.array_equal(read, samples)


@pytest.mark.parametrize(("form", "subtype"), [("FLAC", "PCM_16"), ("FLAC", "PCM_24"), ("WAV", "ULAW")])
@pytest.mark.parametrize("limit", [0, 1, 20, 100, 8_192, 39_000])
def test_a_system_that_takes_no_more_is_an_error(tmp_path: Path, form: str, subtype: str, limit: int) -> None:
    # A limit on the size of files refuses like a full disk, and needs no disk.
    path = tmp_path / "a"
    command = [sys.executable, "-c", PROGRAM, str(path), str(limit), form, subtype]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == f"{errno.EFBIG} {path}"


def test_what_the_system_says_of_a_file_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        SoundWriter(tmp_path / "none" / "a.flac", 16_000, 1, "FLAC", "PCM_16")
    assert caught.value.filename == str(tmp_path / "none" / "a.flac")
