"""The command `misheard`: from arguments to a command, and from errors to exit codes.

`score` is parsed without the library that parses the other commands, which takes longer to import than a few
thousand utterances take to score.
"""

import atexit
import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from misheard import standard_output
from misheard.errors import InputError, MisheardError

INTERRUPTED = 130


def _run(arguments: Sequence[str]) -> None:
    if arguments[:1] == ["score"]:
        from misheard.cli_score import score

        score(arguments[1:])
    else:
        from misheard.commands import app

        app()


def _say(message: str) -> None:
    """Print a message. File names may hold anything, so what controls a terminal is shown, not sent."""
    shown = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in message)
    print(shown, file=sys.stderr)  # noqa: T201


def _terminate(*_: object) -> NoReturn:
    """Treat SIGTERM, and a terminal that is closed, like Ctrl-C, so that servers and locks are given back."""
    raise KeyboardInterrupt


def _end_at_once(*_: object) -> NoReturn:
    """End a process that was interrupted and has given everything back."""
    os._exit(INTERRUPTED)


def _hear(answer: Callable[..., Any] | signal.Handlers) -> None:
    """Answer what ends a process in this way from now on; what is ignored stays so."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, answer)


def main() -> NoReturn:
    """Run the command line and end the process with one of the documented exit codes."""
    # Registered first, so called last: what Python takes down then must not change the exit code, and its own
    # handlers are gone before it is done.
    atexit.register(_hear, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup ignores it
        signal.signal(signal.SIGHUP, _terminate)
    # Idle OpenMP threads sleep instead of spinning: on shared cores, and where two libraries bring threads of
    # their own, spinning was measured to cost several times the work. It is read when a library loads.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    standard_output.watch()
    code = _exit_code(sys.argv[1:])
    if (why := standard_output.refusal()) is not None:
        _say(f"misheard: standard output: {why}; not everything was printed")
        code = code or InputError.exit_code
    sys.exit(code)


def _exit_code(arguments: Sequence[str]) -> str | int | None:
    """Run a command, say what went wrong, and return what the process ends with."""
    try:
        _run(arguments)
    except MisheardError as error:
        _say(f"misheard: {error}")
        return error.exit_code
    except BrokenPipeError:
        return 0
    except OSError as error:
        # A full disk, a file without permission: whatever the system refused, without a stack of our own.
        name = f"{error.filename}: " if error.filename else ""
        resumed = " (a run goes on with --resume)" if arguments[:1] == ["run"] else ""
        advice = f"; free some space{resumed}" if error.errno == errno.ENOSPC else ""
        _say(f"misheard: {name}{error.strerror or error}{advice}")
        return InputError.exit_code
    except KeyboardInterrupt:
        _hear(_end_at_once)
        _say("misheard: interrupted")
        return INTERRUPTED
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            _hear(_end_at_once)
            advice = "; go on with --out DIR --resume" if arguments[:1] == ["run"] else ""
            _say(f"misheard: interrupted{advice}")
        return ended.code
    return 0
