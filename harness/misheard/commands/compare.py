"""`misheard compare`."""

from pathlib import Path
from typing import Annotated

import typer


def compare(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="Directory of the run to compare with.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="Directory of the run to judge.")],
    resamples: Annotated[int, typer.Option(min=100, max=1_000_000, help="Bootstrap resamples.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the bootstrap.")] = 1,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Also write the comparison to this file.")
    ] = None,
) -> None:
    """Compare two runs over the same suite, item by item, and say what is better or worse in B.

    Exit code 0: compared; 4: the runs do not belong together, with the ids that differ.
    """
    from misheard.report.files import damaged_report
    from misheard.run.comparison import compare_runs

    with damaged_report(run_a, run_b):
        comparison = compare_runs(run_a, run_b, resamples, seed)
    if json_path is not None:
        from misheard.canonical import write_json

        write_json(json_path, comparison)
    from misheard.console import stdout
    from misheard.report.terminal import render_comparison

    stdout.print(render_comparison(comparison))
