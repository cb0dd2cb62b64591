"""What the command `misheard soak check` does: read, judge, write, print."""

from dataclasses import dataclass
from pathlib import Path

from misheard.canonical import write_json
from misheard.errors import InputError
from misheard.run.directory import refuse_own_files
from misheard.soak.document import soak_document
from misheard.soak.limits import Limits, load_limits
from misheard.soak.mapping import load_mapping
from misheard.soak.reading import read_trace
from misheard.soak.terminal import render_soak
from misheard.soak.verdict import judge_trace


@dataclass(frozen=True, slots=True)
class SoakCheckOptions:
    """Files of the command; None for none.

    Attributes:
        trace: JSONL.
        mapping: YAML, for a trace of another product.
        limits: YAML, in place of the defaults.
        json: where the verdict goes besides the terminal.
    """

    trace: Path
    mapping: Path | None
    limits: Path | None
    json: Path | None


def check_trace(options: SoakCheckOptions) -> int:
    """Judge a trace and print the verdict; return the exit code.

    An earlier verdict at the path of the new one is removed first, so that none is left where there is no
    verdict. Raises SoakError and InputError for files that cannot be used.
    """
    _clear(options)
    limits = Limits() if options.limits is None else load_limits(options.limits)
    mapping = None if options.mapping is None else load_mapping(options.mapping)
    read = read_trace(options.trace, mapping)
    limits_name = None if options.limits is None else options.limits.name
    judged = judge_trace(read, limits, options.trace.name, limits_name)
    if options.json is not None:
        write_json(options.json, soak_document(judged))

    from misheard.console import stdout

    stdout.print(render_soak(judged))
    return judged.exit_code


def _clear(options: SoakCheckOptions) -> None:
    target = options.json
    if target is None:
        return
    inputs = (options.trace, options.mapping, options.limits)
    if target.resolve() in {path.resolve() for path in inputs if path is not None}:
        raise InputError("--json must not be the trace, the mapping or the limits")
    refuse_own_files(target)
    if target.is_file() and not target.is_symlink():
        target.unlink()
