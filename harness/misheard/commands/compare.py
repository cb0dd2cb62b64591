"""`misheard compare`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from misheard.errors import InputError

if TYPE_CHECKING:
    from misheard.metrics.base import Arm


def compare(
    baseline: Annotated[Path, typer.Argument(metavar="RUN_A", help="Directory of the run to compare with.")],
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN_B", help="Directories of the runs to judge, each for itself."),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="NAME", help="Only this metric (docs/metrics.md); may be given again."
        ),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            metavar="ARM",
            help="Only this arm: audio, uncorrected, transcript, plan, control; may be given again.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="AXIS,AXIS",
            help="A slice per combination of these conditions, in place of one per value.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="AXIS=VALUE",
            help="Only items with this value; also != and a|b; may be given again.",
        ),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            "--margin",
            metavar="METRIC=SIZE",
            help="Differences up to this size do not matter: wer=0.01 is one point; may be given again.",
        ),
    ] = None,
    rescore: Annotated[
        bool,
        typer.Option("--rescore", help="Count all journals again, as RUN_A's config says; writes to no run."),
    ] = False,
    resamples: Annotated[int, typer.Option(min=100, max=1_000_000, help="Bootstrap resamples.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the bootstrap.")] = 1,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Also write the comparison to this file.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write it as one HTML file with forest plots.")
    ] = None,
    verdict: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Show this verdict's tolerances in --html: what gate --json wrote."
        ),
    ] = None,
) -> None:
    """Compare runs over the same suite, item by item, and say what is better or worse than in RUN_A.

    Exit code 0: compared; 4: the runs do not belong together, with the ids that differ.
    """
    from misheard.report.files import damaged_report
    from misheard.report.html.writing import refuse_data
    from misheard.run.comparison import compare_runs
    from misheard.stats.compare import Selection
    from misheard.stats.selection import parse_by, parse_where

    if verdict is not None and html is None:
        raise InputError("--verdict: is shown by --html; add it")
    refuse_data(json_path, html)
    selection = Selection(
        metrics=tuple(dict.fromkeys(metric or ())),
        arms=tuple(dict.fromkeys(map(_parse_arm, arm or ()))),
        by=tuple(dict.fromkeys(map(parse_by, by or ()))),
        where=tuple(condition for text in where or () for condition in parse_where(text)),
        margins=dict(_parse_margin(text) for text in margin or ()),
    )
    with damaged_report(baseline, *runs):
        comparison = compare_runs(baseline, runs, selection, resamples=resamples, seed=seed, rescore=rescore)
    if json_path is not None:
        from misheard.canonical import write_json

        write_json(json_path, comparison)
    if html is not None:
        _write_page(html, comparison, baseline, runs, verdict)
    from misheard.console import stdout
    from misheard.report.terminal import render_comparison

    stdout.print(render_comparison(comparison))
    if html is not None:
        typer.echo(f"\npage: {html}")


def _write_page(
    path: Path, comparison: dict[str, Any], baseline: Path, runs: list[Path], verdict: Path | None
) -> None:
    from misheard.report.files import damaged_report
    from misheard.report.html.comparison_documents import read_comparison_documents
    from misheard.report.html.comparison_page import comparison_page
    from misheard.report.html.writing import write_page

    with damaged_report(baseline, *runs):
        documents = read_comparison_documents(comparison, baseline, runs, path, verdict)
        write_page(path, comparison_page(documents))


def _parse_arm(name: str) -> "Arm":
    from misheard.metrics.base import Arm

    try:
        return Arm(name)
    except ValueError:
        raise InputError(f"--arm {name[:60]!a}: choose one of {', '.join(Arm)}") from None


def _parse_margin(text: str) -> tuple[str, float]:
    name, sign, number = text.partition("=")
    try:
        size = float(number)
    except ValueError:
        size = math.nan
    if not name or not sign or not 0 < size <= 1:
        raise InputError(
            f"--margin {text[:60]!a}: write METRIC=SIZE with a size over 0 and at most 1; wer=0.01 is 1 point"
        )
    return name, size
