"""What the page of a comparison is made of: comparison.json, both sides, and a verdict."""

from dataclasses import dataclass
from pathlib import Path

from misheard.errors import InputError
from misheard.report.html.links import link_to_report
from misheard.report.html.loading import read_verdict
from misheard.report.labels import system_name
from misheard.report.values import Document
from misheard.run.directory import RunDirectory


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One side.

    Attributes:
        name: of its directory.
        config: as it was resolved.
        href: address of its own page as seen from this one; empty where it has none.
    """

    name: str
    config: Document
    href: str = ""

    @property
    def called(self) -> str:
        """What a page calls the side: the name of its system, where it has one, with the directory's."""
        system = system_name(self.config)
        return self.name if system in (None, self.name) else f"{system} ({self.name})"


@dataclass(frozen=True, slots=True)
class ComparisonDocuments:
    """A comparison.

    Attributes:
        document: comparison.json.
        a: the run that the others are compared with.
        others: in the order of the document's `comparisons`.
        verdict: what `misheard gate --json` wrote of one of them against A; None where no gate was asked.
    """

    document: Document
    a: ComparedRun
    others: tuple[ComparedRun, ...]
    verdict: Document | None = None


def read_comparison_documents(
    document: Document, baseline: Path, others: list[Path], page: Path, verdict: Path | None = None
) -> ComparisonDocuments:
    """Return what the page of a comparison is made of.

    Args:
        document: what `misheard.run.comparison.compare_runs` returned for these runs.
        baseline: the directory of run A.
        others: the directories that are each B in turn.
        page: where the page goes, from which links lead to those of the runs.
        verdict: what `misheard gate --json` wrote, if any.

    Raises IncompleteRunError for a directory without run.json, InputError for a verdict on other runs.
    """
    a, rest = _side(baseline, page), tuple(_side(other, page) for other in others)
    return ComparisonDocuments(document, a, rest, None if verdict is None else _verdict(verdict, a, rest))


def _side(path: Path, page: Path) -> ComparedRun:
    run = RunDirectory.open(path).read_run()
    return ComparedRun(path.resolve().name, run["config"], link_to_report(page, path))


def _verdict(path: Path, a: ComparedRun, others: tuple[ComparedRun, ...]) -> Document:
    found = read_verdict(path, [other.name for other in others])
    if found["baseline"] not in (None, a.name):
        raise InputError(f"--verdict {path}: is against another baseline; name one against {a.name}")
    return found
