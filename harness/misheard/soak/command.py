"""What the command `misheard soak check` does: read, judge, write, print; and the report of a soak."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from misheard.canonical import write_json
from misheard.errors import InputError
from misheard.report.html.soak_documents import SoakDocuments, soak_documents
from misheard.run.directory import refuse_own_files
from misheard.soak.document import soak_document
from misheard.soak.finished import is_soak_folder, read_soak, refuse_soak_files
from misheard.soak.limits import Limits, load_limits
from misheard.soak.mapping import load_mapping
from misheard.soak.reading import read_trace
from misheard.soak.terminal import render_finished, render_soak
from misheard.soak.terminal_timeline import render_timeline
from misheard.soak.verdict import judge_trace


@dataclass(frozen=True, slots=True)
class SoakCheckOptions:
    """What the command is asked; None for no file.

    Attributes:
        trace: JSONL, or the folder of a soak.
        mapping: YAML, for a trace of another product.
        limits: YAML, in place of the defaults, or of those of the folder.
        json: where the verdict goes besides the terminal.
        timeline: whether the session is also shown over its time.
        html: where its page goes.
    """

    trace: Path
    mapping: Path | None = None
    limits: Path | None = None
    json: Path | None = None
    timeline: bool = False
    html: Path | None = None

    @property
    def inputs(self) -> Iterator[Path]:
        """The files that are read."""
        yield from (path for path in (self.trace, self.mapping, self.limits) if path is not None)


def check_trace(options: SoakCheckOptions) -> int:
    """Judge a trace and print the verdict; return the exit code.

    An earlier verdict or page at the path of the new one is removed first, so that none is left where there
    is no verdict. Raises SoakError, InputError and IncompleteRunError for files that cannot be used.
    """
    _clear(options)
    documents = _judge(options)
    judged = documents.judged
    if options.html is not None:
        from misheard.report.html.soak_page import soak_page
        from misheard.report.html.writing import write_page

        write_page(options.html, soak_page(documents))
    # last, so that there is no verdict where the page could not be written
    if options.json is not None:
        write_json(options.json, soak_document(judged))

    from misheard.console import stdout

    if options.timeline:
        stdout.print(render_timeline(documents.trace, judged))
        stdout.print()
    stdout.print(render_soak(judged))
    return judged.exit_code


def _judge(options: SoakCheckOptions) -> SoakDocuments:
    limits = None if options.limits is None else load_limits(options.limits)
    limits_name = None if options.limits is None else options.limits.name
    mapping = None if options.mapping is None else load_mapping(options.mapping)
    if is_soak_folder(options.trace):
        if mapping is not None:
            raise InputError(
                "--mapping is for the trace of another product, and not for the folder of a soak"
            )
        soak = read_soak(options.trace, limits, limits_name)
        return soak_documents(options.trace, soak, limits or soak.facts.limits)
    read, limits = read_trace(options.trace, mapping), limits or Limits()
    judged = judge_trace(read, limits, options.trace.name, limits_name)
    return SoakDocuments(judged.verdict.candidate, read.trace, judged, limits)


def _clear(options: SoakCheckOptions) -> None:
    outputs = [path.resolve() for path in (options.json, options.html) if path is not None]
    if len(set(outputs)) < len(outputs):
        raise InputError("--json and --html must be different files")
    inputs = {path.resolve() for path in options.inputs}
    for name, target in (("--json", options.json), ("--html", options.html)):
        if target is None:
            continue
        if target.resolve() in inputs:
            raise InputError(f"{name} must not be the trace, the mapping or the limits")
        refuse_own_files(target)
        refuse_soak_files(target)
    for target in (options.json, options.html):
        if target is not None and target.is_file() and not target.is_symlink():
            target.unlink()


def report_soak(folder: Path) -> None:
    """Print the folder of a soak: the session over its time, then the verdict on its trace.

    Raises IncompleteRunError, SoakError and InputError for a folder that cannot be read.
    """
    soak = read_soak(folder)

    from misheard.console import stdout

    stdout.print(render_finished(soak))
