"""`misheard gate`."""

import os
from pathlib import Path
from typing import Annotated

import typer


def gate(
    gate_file: Annotated[Path, typer.Argument(metavar="GATE", help="Gate file, YAML; see docs/gate.md.")],
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of the run that may ship.")],
    baseline: Annotated[
        str | None,
        typer.Option(metavar="RUN|promoted", help="Run to compare with, or the promoted one of the suite."),
    ] = None,
    soak: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|TRACE", help="Folder of a soak, or a trace: what the section soak of GATE is about."
        ),
    ] = None,
    baselines: Annotated[Path, typer.Option(help="Folder of the log of promotions.")] = Path("baselines"),
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the verdict as JSON.")] = None,
    junit_path: Annotated[Path | None, typer.Option("--junit", help="Write it as JUnit XML.")] = None,
    github: Annotated[
        bool | None,
        typer.Option(
            help="Annotate a GitHub Actions run and add to its step summary.",
            show_default="on in GitHub Actions",
        ),
    ] = None,
) -> None:
    """Decide whether a run may ship, by a file of claims and tolerances.

    Exit code 0: ship; 1: do not; 2: bad gate file or usage; 3: inconclusive; 4: no evidence, or runs that
    do not belong together.
    """
    from misheard.gate.command import GateOutputs, publish
    from misheard.gate.decide import decide_gate

    on_github = os.environ.get("GITHUB_ACTIONS") == "true" if github is None else github
    summary = os.environ.get("GITHUB_STEP_SUMMARY") if on_github else None
    outputs = GateOutputs(json_path, junit_path, Path(summary) if summary else None, github=on_github)
    outputs.clear(gate_file, soak)
    verdict = decide_gate(gate_file, run, baseline, baselines, soak)
    publish(verdict, outputs)
    raise typer.Exit(verdict.exit_code)
