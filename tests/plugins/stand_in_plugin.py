"""A planner program that behaves as it is told: python stand_in_plugin.py HOW [ARGUMENT ...]."""

import json
import os
import signal
import sys
import time
from pathlib import Path


def note(pids: str) -> None:
    with Path(pids).open("a") as file:
        file.write(f"{os.getpid()}\n")


def hang(pids: str, *, deaf: bool) -> None:
    """Leave a child and a daemon in a session of its own, and wait with them."""
    if deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0 and os.fork() == 0:
        os.setsid()
    note(pids)
    while True:
        time.sleep(60)


def main(how: str, *arguments: str) -> None:
    out = sys.stdout.buffer
    if how == "echo":
        out.write(sys.stdin.buffer.read())
    elif how == "print":
        out.write(Path(arguments[0]).read_bytes())
    elif how == "exit":
        sys.stderr.write("canary")
        sys.exit(int(arguments[0]))
    elif how == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "flood":
        for _ in range(160):
            out.write(b" " * 65_536)
    elif how == "deaf flood":
        sys.stderr.write("x" * 10_000_000)
        out.write(b"{}")
    elif how == "hang":
        hang(arguments[0], deaf="deaf" in arguments)
    elif how == "environment":
        names = ("TMPDIR", "HTTPS_PROXY", "KEPT", "GIVEN")
        out.write(json.dumps({name: os.environ.get(name) for name in names}).encode())
    elif how == "litter":
        seen = sorted(os.listdir())  # noqa: PTH208 - the working folder
        Path("left behind").write_text("canary")
        out.write(json.dumps({"seen": seen}).encode())
    out.flush()


main(*sys.argv[1:])
