"""Runs checks one after the other, each in a process of its own, within the time that there is.

A check that crashes, even with the whole process, or hangs is one WRONG line beside the lines that it had
given before, and cannot spoil a device's state for the others.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from envs import say

from gpu_checks.lines import WRONG, Line, skipped
from gpu_checks.registry import CHECKS


@dataclass
class Budget:
    """Seconds until all must be done."""

    seconds: float
    began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        return self.began + self.seconds - time.monotonic()


def run_checks(
    names: Sequence[str],
    command: Callable[[str, Path], list[str]],
    scratch: Path,
    budget: Budget,
    patience: float = 1.0,
) -> Iterator[Line]:
    """Run the checks that are named; `command` gives the command of one that writes lines to a file.

    `patience` times its limit is when a check counts as hanging.
    """
    for name in names:
        check = CHECKS[name]
        if budget.left < check.expected:
            yield skipped(
                name, "all", f"needs about {check.expected:.0f} s, {max(0, budget.left):.0f} s are left"
            )
            continue
        say(f"{name} ...")
        results = scratch / f"{name}.jsonl"
        yield from _run(name, patience * check.limit, command(name, results), results, budget)


def _run(name: str, limit: float, command: list[str], results: Path, budget: Budget) -> Iterator[Line]:
    allowed = min(limit, budget.left)
    log = results.with_suffix(".log")
    with log.open("wb") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        try:
            code: int | None = child.wait(allowed)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(child)
    lines = list(_read(results))
    yield from lines
    if code is None and allowed < limit:
        yield skipped(name, "the rest", f"out of time after {allowed:.0f} s")
    elif code is None:
        yield Line(name, "the rest", WRONG, reason=f"not done after {allowed:.0f} s")
    elif code != 0:
        yield Line(name, "the rest", WRONG, reason=_how_it_ended(code))
    elif not lines:
        yield Line(name, "all", WRONG, reason="it gave no result")
    if code != 0:
        for line in log.read_text("utf-8", "replace").splitlines()[-25:]:
            say(f"  {line}")


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End a child with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _how_it_ended(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"


def _read(results: Path) -> Iterator[Line]:
    """Yield the lines that a child wrote; the last one may be cut off where it was killed."""
    if not results.is_file():
        return
    for row in results.read_text("utf-8").splitlines():
        try:
            yield Line(**json.loads(row))
        except (ValueError, TypeError):
            return


def be_child(name: str, folder: Path, results: Path, *, cpu: bool) -> int:
    """Run one check in this process and write its lines; one that raises becomes a WRONG line."""
    with results.open("w", encoding="utf-8", buffering=1) as out:
        try:
            from gpu_checks.bench import Bench

            scratch = results.with_suffix(".scratch")
            scratch.mkdir()
            for line in CHECKS[name].load()(Bench(folder, scratch, cpu)):
                out.write(json.dumps(asdict(line)) + "\n")
        except Exception as error:  # noqa: BLE001 - whatever a check raises, it is its result
            traceback.print_exc(file=sys.stderr)
            reason = f"{type(error).__name__}: {str(error)[:200]}"
            out.write(json.dumps(asdict(Line(name, "the rest", WRONG, reason=reason))) + "\n")
    sys.stderr.flush()
    return 0
