"""Runs a server for a run and takes it down with it; a program of its own, standard library only.

    python supervisor.py --parent PID --grace SECONDS [--remove FOLDER] -- COMMAND [ARGUMENT ...]

It is started by `supervised.SupervisedServer`. Standard input is a pipe whose other end the run holds:
end-of-file means that the run is done, or dead, however it died. On that, on SIGTERM, SIGINT or SIGHUP, and
when its parent is another than PID, it ends the server: SIGTERM to it, then to every process below it, and
SIGKILL to what is left after the grace. Processes that the server started in sessions of their own are
found too, because this process adopts orphans (PR_SET_CHILD_SUBREAPER). It writes `started PID` to standard
output, `exited STATUS` as soon as the server has ended or shall end, and ends when nothing of it is left.
"""

import argparse
import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

sys.path.append(str(Path(__file__).parents[2]))  # the interpreter is isolated and may not know the package

from misheard.processes import tree


class _Stop:
    """Whether a signal has asked this process to end."""

    asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.asked = True


def _watch(server: subprocess.Popen[bytes], parent: int, stop: _Stop) -> None:
    """Return when the server has ended, the run is gone, or a signal asks for the end."""
    while server.poll() is None and not stop.asked and os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin.fileno()], [], [], tree.POLL_SECONDS)
        if readable and not os.read(sys.stdin.fileno(), 4096):
            return


def main(arguments: list[str]) -> int:
    """Supervise one command to its end and return 0, or 127 where it cannot be started."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--grace", type=float, required=True)
    parser.add_argument("--remove", type=Path)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)
    stop = _Stop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    # The run may die before it reads: writing must not end the supervisor before the server.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    tree.adopt_orphans()
    try:
        try:
            log = sys.stderr.fileno()
            server = tree.start(options.command, stdout=log, stderr=log)
        except OSError as error:
            sys.stderr.write(f"cannot start {options.command[0]}: {error.strerror}\n")
            return 127
        _tell(f"started {server.pid}")
        _watch(server, options.parent, stop)
        status = server.poll()
        _tell(f"exited {'by request' if status is None else status}")
        tree.end_descendants(server.pid if status is None else None, options.grace)
        return 0
    finally:
        if options.remove is not None:
            shutil.rmtree(options.remove, ignore_errors=True)


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), f"{line}\n".encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
