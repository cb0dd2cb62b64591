"""The log of promoted baselines: append-only, one JSON object a line, safe under kills and side by side."""

import contextlib
import fcntl
import json
import os
import pwd
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from misheard.canonical import canonical_json, sha256_json
from misheard.errors import IncompleteRunError, InputError, NotComparableError, count_of
from misheard.gate.comparable import RunFacts, read_facts, unfit
from misheard.report.files import damaged_report
from misheard.report.labels import plain
from misheard.run.directory import RunDirectory
from misheard.run.finished import read_finished_run

LOG = "promotions.jsonl"
FORMAT = "misheard-promotion/1"

_MAX_BYTES = 64 * 1024**2
_MAX_REASON = 500


@dataclass(frozen=True, slots=True)
class Promotion:
    """One line of the log.

    Attributes:
        when: UTC, `2026-01-31T12:00:00Z`.
        run: path of the run directory, relative to the log's folder.
        suite: name of the suite that it ran over.
        suite_sha256, system_sha256: fingerprints of suite and system, by which the run is known again.
        reason: why it was promoted; empty where nobody said.
        who: the user of the operating system.
    """

    when: str
    run: str
    suite: str
    suite_sha256: str
    system_sha256: str
    reason: str
    who: str


def promote(folder: Path, run: Path, reason: str = "") -> Promotion:
    """Append a promotion to the log in `folder`, which is made where it is missing.

    Raises IncompleteRunError for a run that is not complete, was limited, has failed items or cannot be read,
    InputError for a reason that is not one line and for a log that was damaged.
    """
    if not reason.isprintable() or len(reason) > _MAX_REASON:
        raise InputError(f"--reason: must be one line of at most {_MAX_REASON} characters")
    with damaged_report(run):
        facts = read_facts(read_finished_run(run))
        _check_promotable(facts)
    read_promotions(folder)
    folder.mkdir(parents=True, exist_ok=True)
    promotion = Promotion(
        when=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        run=os.path.relpath(run.resolve(), folder.resolve()),
        reason=reason,
        who=_user(),
        **_identity(facts.state),
    )
    _append(folder / LOG, canonical_json({"format": FORMAT, **asdict(promotion)}))
    return promotion


def _check_promotable(facts: RunFacts) -> None:
    problems = unfit(facts)
    failed = facts.run.report["failures"]["samples_failed"]
    if failed:
        problems.append(f"{facts.name}: {count_of(failed, 'item')} failed; a baseline must have every item")
    if problems:
        raise IncompleteRunError("cannot be a baseline: " + "; ".join(problems))


def _identity(state: dict[str, Any]) -> dict[str, str]:
    """Return what a run is known by, from its run.json."""
    suite = state["suite"]
    return {
        "suite": str(suite.get("name")),
        "suite_sha256": str(suite.get("sha256")),
        "system_sha256": sha256_json(state["system"]),
    }


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def _append(path: Path, line: str) -> None:
    """Add a line in one write, under a lock; the rest of a line that a kill cut off is dropped first."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        raw = f"{line}\n".encode("ascii")
        size = os.fstat(descriptor).st_size
        rest = _rest(descriptor, size)
        if _parse(rest) is not None:
            raw = b"\n" + raw
        elif rest:
            os.ftruncate(descriptor, size - len(rest))
        while raw:
            raw = raw[os.write(descriptor, raw) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _rest(descriptor: int, size: int) -> bytes:
    """Return what stands behind the last line end."""
    if size > _MAX_BYTES:
        raise InputError(f"{LOG}: over {_MAX_BYTES} bytes; this is no log of promotions")
    return os.pread(descriptor, size, 0).rpartition(b"\n")[2]


def read_promotions(folder: Path) -> list[Promotion]:
    """Return the log, oldest first; empty where there is none.

    A last line without its end is an entry where it is whole, as when an editor took the end away; what a
    kill left of one is none.

    Raises InputError, naming the line, for a log that was damaged.
    """
    path = folder / LOG
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path}: over {_MAX_BYTES} bytes; this is no log of promotions")
        *lines, rest = path.read_bytes().split(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return []
    if _parse(rest) is not None:
        lines.append(rest)
    found = []
    for number, line in enumerate(lines, start=1):
        promotion = _parse(line)
        if promotion is None:
            raise InputError(f"{path}:{number}: is no promotion; put the line back as it was, or take it out")
        found.append(promotion)
    return found


def _parse(line: bytes) -> Promotion | None:
    """Return the promotion that a line is; None for anything else."""
    names = [field.name for field in fields(Promotion)]
    values: Any = None
    with contextlib.suppress(ValueError, RecursionError):
        values = json.loads(line)
    if (
        not isinstance(values, dict)
        or values.get("format") != FORMAT
        or not all(isinstance(values.get(name), str) for name in names)
    ):
        return None
    return Promotion(**{name: values[name] for name in names})


def promoted_run(folder: Path, suite: str) -> Path:
    """Return the directory of the run that was last promoted for a suite.

    Raises NotComparableError where none was, and where the directory now holds another run.
    """
    found = [promotion for promotion in read_promotions(folder) if promotion.suite == suite]
    if not found:
        raise NotComparableError(
            f"no run was promoted for the suite {suite!r} in {folder}; use misheard baseline promote RUN"
        )
    promotion = found[-1]
    path = _place(folder, promotion)
    state = RunDirectory.open(path).read_run()
    if any(getattr(promotion, name) != value for name, value in _identity(state).items()):
        raise NotComparableError(
            f"{path}: is no longer the run that was promoted on {promotion.when}; put it back, or "
            "promote another"
        )
    return path


def _place(folder: Path, promotion: Promotion) -> Path:
    """Return where a promoted run lies, from the current folder."""
    return Path(os.path.relpath(folder.resolve() / promotion.run))


def describe_promotions(folder: Path, suite: str | None = None) -> Iterator[str]:
    """Yield the log as lines, oldest first; `*` marks the baseline of each suite."""
    promotions = [one for one in read_promotions(folder) if suite in (None, one.suite)]
    if not promotions:
        yield f"no promotion in {folder / LOG}" + ("" if suite is None else f" for {plain(suite)}")
    last = {promotion.suite: number for number, promotion in enumerate(promotions)}
    for number, one in enumerate(promotions):
        mark = "*" if last[one.suite] == number else " "
        parts = [mark, one.when, one.suite, str(_place(folder, one)), f"by {one.who}"]
        yield plain("  ".join([*parts, one.reason] if one.reason else parts))
