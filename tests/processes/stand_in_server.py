"""A server process that makes trouble on purpose: prints the ids of all its processes, then waits.

    python stand_in_server.py PIDS [deaf] [exit STATUS]

It starts a child in its own group, a grandchild, and a daemon in a session of its own whose parent has ended.
`deaf` makes all of them ignore SIGTERM; `exit` ends the server, and leaves the others, when all have started.
"""

import os
import signal
import sys
import time
from pathlib import Path


def wait_forever() -> None:
    while True:
        time.sleep(60)


def note(pids: Path, name: str) -> None:
    with pids.open("a") as file:
        file.write(f"{name} {os.getpid()}\n")


def main() -> None:
    pids, options = Path(sys.argv[1]), sys.argv[2:]
    if "deaf" in options:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note(pids, "server")
    if os.fork() == 0:
        note(pids, "child")
        if os.fork() == 0:
            note(pids, "grandchild")
        wait_forever()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note(pids, "daemon")
            wait_forever()
        os._exit(0)
    os.wait()
    while len(pids.read_text().splitlines()) < 4:
        time.sleep(0.01)
    os.write(1, b"CANARY\x1b[31m started\n")
    if "exit" in options:
        os._exit(int(options[options.index("exit") + 1]))
    wait_forever()


if __name__ == "__main__":
    main()
