"""What the command `misheard gate` leaves behind: documents and lines, all of one verdict."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from misheard.canonical import write_atomic, write_json
from misheard.errors import InputError
from misheard.gate.document import verdict_document
from misheard.gate.github import annotations, step_summary
from misheard.gate.junit import junit_xml
from misheard.gate.terminal import render_verdict
from misheard.gate.verdict import GateVerdict
from misheard.run.directory import refuse_own_files
from misheard.soak.finished import refuse_soak_files


@dataclass(frozen=True, slots=True)
class GateOutputs:
    """Where a verdict goes besides the terminal.

    Attributes:
        json, junit: files to write; None for none.
        summary: the step summary of GitHub Actions, which is added to.
        github: whether annotations are printed.
    """

    json: Path | None
    junit: Path | None
    summary: Path | None
    github: bool

    def clear(self, gate: Path, soak: Path | None) -> None:
        """Remove the documents of an earlier verdict: a gate that cannot be run leaves none that says ship.

        Raises InputError where two documents, or a document and the gate file or the trace of a session, are
        one file, and where a document would take the place of a run's or a soak's own file.
        """
        inputs = (gate,) if soak is None else (gate, soak)
        places = [path.resolve() for path in (*self._documents, *inputs)]
        if len(set(places)) < len(places):
            raise InputError("--json, --junit, the gate file and --soak must be different files")
        refuse_own_files(*self._documents)
        refuse_soak_files(*self._documents)
        self.remove()

    def remove(self) -> None:
        """Remove the documents that are there; what links lead to, such as /dev/stdout, stays."""
        for path in self._documents:
            if path.is_file() and not path.is_symlink():
                path.unlink()

    @property
    def _documents(self) -> list[Path]:
        return [path for path in (self.json, self.junit) if path is not None]


def publish(verdict: GateVerdict, outputs: GateOutputs) -> None:
    """Write the documents, then print.

    Raises OSError where one cannot be written; then none is left, and nothing is printed.
    """
    try:
        if outputs.json is not None:
            write_json(outputs.json, verdict_document(verdict))
        if outputs.junit is not None:
            write_atomic(outputs.junit, junit_xml(verdict))
        if outputs.summary is not None:
            with outputs.summary.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(step_summary(verdict))
    except OSError:
        outputs.remove()
        raise
    _print(verdict, github=outputs.github)


def _print(verdict: GateVerdict, *, github: bool) -> None:
    from misheard.console import stdout

    if not github:
        stdout.print(render_verdict(verdict))
        return
    # Names of runs and suites come from outside: between these two lines no text is taken for a command.
    token = secrets.token_hex(16)
    stdout.out(f"::stop-commands::{token}", highlight=False)
    stdout.print(render_verdict(verdict))
    stdout.out(f"::{token}::", highlight=False)
    for line in annotations(verdict):
        stdout.out(line, highlight=False)
