"""What the page of a run is made of: its report, run.json, counts and samples, and a verdict."""

from dataclasses import dataclass

from misheard.metrics.base import Family
from misheard.metrics.table import CountTable
from misheard.report.html.samples import Samples
from misheard.report.values import Document


@dataclass(frozen=True, slots=True)
class RunDocuments:
    """One finished run.

    Attributes:
        name: of its directory.
        report: report.json.
        run: run.json.
        table, families: the counts of items.parquet.
        samples: of telemetry.parquet; None where nothing was sampled.
        verdict: what `misheard gate --json` wrote of it; None where no gate was asked.
    """

    name: str
    report: Document
    run: Document
    table: CountTable
    families: tuple[Family, ...]
    samples: Samples | None = None
    verdict: Document | None = None

    @property
    def latency_budgets(self) -> dict[str, float]:
        """The greatest allowed p95 in seconds per timing, as the gate of the verdict has it."""
        checks = [] if self.verdict is None else self.verdict["checks"]
        return {
            str(check["metric"]): float(check["limit"])
            for check in checks
            if check["role"] == "latency" and check["limit"] is not None
        }
