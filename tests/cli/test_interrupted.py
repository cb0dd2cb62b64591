"""A process that ends because it was interrupted ends with 130, however often it is interrupted."""

import signal
import subprocess
import sys

import pytest

ENDING = """
import atexit, os, sys, time
import misheard.cli

def wait():
    os.write(1, b"ending\\n")
    time.sleep(60)

class Late:
    def __del__(self):
        os.write(1, b"ending\\n")
        os.read(0, 1)

def run(arguments):
    if sys.argv[1] == "handlers":
        atexit.register(wait)
    else:
        sys.modules["late"] = Late()
    {ends}

misheard.cli._run = run
misheard.cli.main()
"""


@pytest.mark.parametrize("ends", ["raise KeyboardInterrupt", "sys.exit(130)"])
@pytest.mark.parametrize("phase", ["handlers", "modules"])
def test_a_second_signal_does_not_change_how_it_ends(phase: str, ends: str) -> None:
    command = [sys.executable, "-c", ENDING.format(ends=ends), phase]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ending\n"
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
        _, said = process.communicate(b"x")
    assert process.returncode == 130
    assert said == b"misheard: interrupted\n"
