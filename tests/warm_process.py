"""A process that has imported misheard and forks for each command that it is sent, by command_line.py.

Usage: warm_process.py SOCKET [MODULE ...]      (the number of an open socket of packets; what else to import)

It says when it is ready. A request is the arguments, the folder and the environment of a command, with its
three standard files; the answers are its process, once that is a session of its own, and in the end its
status. A fork ends as any process does: threads are waited for, exit functions run and buffers are written.
"""

import atexit
import gc
import importlib
import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import NoReturn

import misheard
from misheard.cli import main

# What a whole run and its reports import; not the console, which reads the terminal's width when imported.
USED = (
    "misheard.cli_score", "misheard.commands", "misheard.run.runner", "misheard.report.terminal",
    "misheard.report.files", "misheard.gate.decide", "misheard.suite.holdout", "misheard.suite.openings",
    "pyarrow.parquet", "pandas", "soundfile", "psutil", "rich.progress", "rich.table",
)  # fmt: skip


def import_used(more: list[str]) -> None:
    """Import what commands use; a base install lacks some of it, and then commands do without."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as `main` does before it imports
    for name in (*USED, *more):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("misheard"):
                raise


def serve(requests: socket.socket) -> None:
    """Answer requests until the other side is gone. Returns in each fork, with its process set up."""
    requests.send(str(os.getpid()).encode())  # ready
    while True:
        request, files, _, _ = socket.recv_fds(requests, 1 << 18, 3)
        if not request:
            os._exit(0)
        child = os.fork()
        if child == 0:
            os.setsid()
            requests.send(str(os.getpid()).encode())
            requests.close()
            become(json.loads(request), files)
            return
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        requests.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(request: dict[str, object], files: list[int]) -> None:
    """Give this fork the arguments, folder, environment and files of a request."""
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    for target, name in enumerate(("stdin", "stdout", "stderr")):
        was = getattr(sys, name)  # it has noted what kind of file it was opened for
        now = os.fdopen(
            target, "w" if target else "r", encoding=was.encoding, errors=was.errors, closefd=False
        )
        now.reconfigure(line_buffering=was.line_buffering, write_through=was.write_through)
        setattr(sys, name, now)
        setattr(sys, f"__{name}__", now)
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    # as `python -m misheard` has them
    sys.argv = [str(Path(misheard.__file__).with_name("__main__.py")), *request["arguments"]]  # type: ignore[misc]
    sys.modules["__main__"].__package__ = "misheard"
    sys.path[0] = str(Path.cwd())


def end(status: object) -> NoReturn:
    """End this fork as an interpreter ends; only modules are not taken down, which would take longest."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    assert status is None or isinstance(status, int)
    os._exit(status or 0)


if __name__ == "__main__":
    import_used(sys.argv[2:])
    gc.collect()
    gc.freeze()  # what collections do not touch stays shared with the forks
    serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        main()
    except SystemExit as ended:
        end(ended.code)
