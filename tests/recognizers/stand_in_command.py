"""A recognizer program that makes trouble on purpose.

    python stand_in_command.py HOW [PIDS] [ARGUMENT ...]

It prints a row for the behaviour HOW; PIDS is a file that processes of it note their ids in.
"""

import json
import os
import signal
import subprocess
import sys
import time
import wave
from pathlib import Path
from typing import Any


def row(**fields: Any) -> str:
    return json.dumps({"text": "canary", "audio_ms": 1000, "load_ms": 20.5, "transcribe_ms": 250, **fields})


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def wait_forever() -> None:
    while True:
        time.sleep(60)


def note(pids: Path) -> None:
    with pids.open("a") as file:
        file.write(f"{os.getpid()}\n")


def leave_children(pids: Path, *, deaf: bool) -> None:
    """Start a child, a grandchild and a daemon in a session of its own, which all outlive this process."""
    if deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for session in (False, True):
        if os.fork() == 0:
            if session:
                os.setsid()
            if os.fork() == 0:
                note(pids)
                wait_forever()
            if session:
                os._exit(0)
            note(pids)
            wait_forever()
    while len(pids.read_text().splitlines() if pids.exists() else []) < 3:
        time.sleep(0.01)


def misbehave(how: str, pids: Path, arguments: list[str]) -> None:
    if how == "children":
        leave_children(pids, deaf=True)
        say(row())
    elif how == "hang":
        leave_children(pids, deaf="deaf" in arguments)
        note(pids)
        wait_forever()
    elif how == "closed":
        os.close(1)
        os.close(2)
        note(pids)
        wait_forever()
    elif how == "flood":
        subprocess.run(["cat", "/dev/zero"], check=False)
    elif how == "flood stderr":
        for _ in range(10_000):
            sys.stderr.write("CANARY of the error stream " * 40 + "\n")
        say(row())
    elif how == "arguments":
        say(row(text=json.dumps(arguments)))
    elif how == "environment":
        names = ("http_proxy", "HTTPS_PROXY", "No_Proxy", "KEPT", "GIVEN", "TMPDIR")
        say(row(text=json.dumps({name: os.environ.get(name) for name in names})))
    elif how == "litter":
        Path("here.txt").write_text("x")
        (Path(os.environ["TMPDIR"]) / "there").mkdir()
        say(row(text=json.dumps([str(Path.cwd()), sorted(path.name for path in Path.cwd().iterdir())])))
    elif how == "wav":
        with wave.open(arguments[-1], "rb") as file:
            shape = [file.getframerate(), file.getsampwidth(), file.getnchannels(), file.getnframes()]
        say(row(text=json.dumps(shape)))
    elif how == "exit":
        sys.stderr.write("CANARY: cannot\n")
        sys.exit(int(arguments[0]))
    elif how == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "sleep":
        time.sleep(float(arguments[0]))
        say(row())
    elif how == "raw":
        sys.stdout.buffer.write(Path(arguments[0]).read_bytes())
    else:
        raise SystemExit(f"unknown behaviour {how}")


if __name__ == "__main__":
    misbehave(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
