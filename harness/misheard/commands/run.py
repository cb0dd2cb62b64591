"""`misheard run`."""

import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from misheard.commands.report import print_report
from misheard.errors import InputError


def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Run config, a YAML file; see configs/.")],
    suite: Annotated[Path | None, typer.Option(help="Suite to run over, instead of the config's.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Directory of the run.", show_default="runs/SUITE-TIME")
    ] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="Run everything on the CPU.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many items of the suite.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, which was interrupted.")
    ] = False,
    subset: Annotated[
        Literal["open", "regression", "rolling"],
        typer.Option(
            help="Which items of a split suite: open are the regression and the rolling set together."
        ),
    ] = "open",
    holdout: Annotated[
        bool, typer.Option("--holdout", help="Only the sealed holdout, after misheard suite open.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="a.b=VALUE", help="Change an option of the config; may be given again."
        ),
    ] = None,
    on_failure: Annotated[
        Literal["exclude", "worst", "abort"] | None,
        typer.Option(
            help="Failed items: leave them out, score them as all wrong, or write no report.",
            show_default="the config's",
        ),
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first failed item.")] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            help="Of the recognizer: seconds for one recording of a program, or one attempt of a server.",
            show_default="the config's",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            help="Seconds for all programs of a recognizer of kind command together.",
            show_default="the config's",
        ),
    ] = None,
    max_items: Annotated[
        int | None,
        typer.Option(
            help="Most items that a recognizer of kind command begins.", show_default="the config's"
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check config and suite and say what would run.")
    ] = False,
) -> None:
    """Run a system over a suite and report which stage loses how much.

    Exit code 0: every item ran; 1: some items failed; 2: bad input; 4: a run that was another one, or a suite
    that was edited since its lock; 130: interrupted (go on with --resume).
    """
    from misheard.config import load_config
    from misheard.console import TerminalProgress
    from misheard.run.clock import Clock
    from misheard.run.context import RunOptions
    from misheard.run.resolve import resolve_config
    from misheard.run.runner import run as run_system

    clock = Clock()
    given = {
        "on_failure": on_failure,
        "recognizer.timeout_seconds": timeout,
        "recognizer.budget_seconds": budget,
        "recognizer.max_items": max_items,
    }
    overrides = [
        *(settings or []),
        *(f"{name}={value}" for name, value in given.items() if value is not None),
    ]
    loaded = resolve_config(load_config(config, overrides), config.parent)
    if suite is None and loaded.suite is None:
        raise InputError(f"{config}: names no suite; add suite: to it, or give --suite")
    chosen = suite if suite is not None else config.parent / str(loaded.suite)
    if holdout and subset != "open":
        raise InputError("--holdout: is a set of its own; leave --subset out")
    if dry_run:
        from misheard.run.preview import preview

        typer.echo(
            preview(
                loaded, chosen, limit, cpu=cpu, subset="holdout" if holdout else subset, base=config.parent
            )
        )
        return
    if resume and out is None:
        raise InputError("--resume: say which run with --out")
    target = out or Path("runs") / f"{chosen.resolve().stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    options = RunOptions(
        target,
        chosen,
        cpu=cpu,
        limit=limit,
        resume=resume,
        fail_fast=fail_fast,
        subset="holdout" if holdout else subset,
        base=config.parent,
    )
    with TerminalProgress() as progress:
        scored = run_system(loaded, options, progress, clock)
    print_report(scored.report)
    typer.echo(f"\nFiles of this run: {target}")
    if scored.report["failures"]["samples_failed"]:
        raise typer.Exit(1)
