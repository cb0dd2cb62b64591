"""The commands but `score`: parse, call, print. What they do lives elsewhere, and is imported when needed."""

import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from misheard.errors import InputError

app = typer.Typer(
    name="misheard",
    help="How much does mishearing cost? Which stage of a voice pipeline loses how much, and where.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
suite_app = typer.Typer(no_args_is_help=True, help="Look after suites: recordings with their truth.")
app.add_typer(suite_app, name="suite")

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")]


def _version(wanted: bool) -> None:
    if wanted:
        import misheard

        typer.echo(f"misheard {misheard.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """How much does mishearing cost? Which stage of a voice pipeline loses how much, and where."""


@app.command()
def run(
    config: Annotated[Path, typer.Argument(help="Run config, a YAML file; see configs/.")],
    suite: Annotated[Path | None, typer.Option(help="Suite to run over, instead of the config's.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Directory of the run.", show_default="runs/SUITE-TIME")
    ] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="Run everything on the CPU.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first items of the suite.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="a.b=VALUE", help="Change an option of the config.")
    ] = None,
    on_failure: Annotated[
        Literal["exclude", "worst", "abort"] | None,
        typer.Option(help="Failed items: leave them out, score them as all wrong, or write no report."),
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first failed item.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check config and suite and say what would run.")
    ] = False,
) -> None:
    """Run a system over a suite and report which stage loses how much.

    Exit code 0: every item ran; 1: some items failed; 2: bad input; 4: not the run it was; 130: interrupted
    (go on with --resume).
    """
    from misheard.config import load_config
    from misheard.console import TerminalProgress
    from misheard.run.context import RunOptions
    from misheard.run.resolve import resolve_config
    from misheard.run.runner import run as run_system
    from misheard.run.telemetry import Clock

    clock = Clock()
    overrides = [*(settings or []), *([f"on_failure={on_failure}"] if on_failure else [])]
    loaded = resolve_config(load_config(config, overrides), config.parent)
    if suite is None and loaded.suite is None:
        raise InputError(f"{config}: names no suite; add suite: to it, or give --suite")
    chosen = suite if suite is not None else config.parent / str(loaded.suite)
    if dry_run:
        from misheard.run.preview import preview

        typer.echo(preview(loaded, chosen, limit, cpu=cpu))
        return
    if resume and out is None:
        raise InputError("--resume: say which run with --out")
    target = out or Path("runs") / f"{chosen.resolve().stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    options = RunOptions(target, chosen, cpu=cpu, limit=limit, resume=resume, fail_fast=fail_fast)
    with TerminalProgress() as progress:
        scored = run_system(loaded, options, progress, clock)
    _print_report(scored.report)
    typer.echo(f"\nFiles of this run: {target}")
    if scored.report["failures"]["samples_failed"]:
        raise typer.Exit(1)


@app.command(
    add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def score(context: typer.Context) -> None:
    """Score a run again from its journal, or files: --ref R --hyp H."""
    from misheard.cli_score import score as score_command

    score_command(context.args)


@app.command("import")
def import_(
    outputs: Annotated[
        Path, typer.Argument(help="JSON Lines: id, transcript, answers, times; see docs/bring-your-own.md.")
    ],
    suite: Annotated[Path, typer.Option(help="Suite that the outputs were made from.")],
    out: Annotated[Path, typer.Option(help="Directory of the run to make.")],
    name: Annotated[
        str | None, typer.Option(help="What reports call the system.", show_default="the file's name")
    ] = None,
    missing: Annotated[
        Literal["error", "fail"], typer.Option(help="What an item or an answer that is not there is.")
    ] = "error",
    profile: Annotated[str, typer.Option(help="Normalisation profile of the scores.")] = "nfc",
    on_failure: Annotated[
        Literal["exclude", "worst"],
        typer.Option(help="Failed items: leave them out, or score them as all wrong."),
    ] = "exclude",
) -> None:
    """Make a run of transcripts and answers that were made elsewhere, and report on it.

    Exit code 0: imported; 1: some items failed; 2: bad input, such as ids that are not the suite's.
    """
    from misheard.console import TerminalProgress
    from misheard.run.importing import ImportOptions, import_outputs

    options = ImportOptions(outputs, suite, out, name, missing, profile, on_failure)
    with TerminalProgress() as progress:
        progress.begin("reading recordings", None)
        imported = import_outputs(options, progress.advance)
    _print_report(imported.scored.report)
    if imported.without_audio:
        note = "have no recording that can be decoded here; the run compares only with others without them"
        typer.echo(f"\n{imported.without_audio} items {note}")
    typer.echo(f"\nFiles of this run: {out}")
    if imported.scored.report["failures"]["samples_failed"]:
        raise typer.Exit(1)


@app.command()
def report(run: RunPath) -> None:
    """Print the report of a run."""
    from misheard.report.files import damaged_report, read_report

    document = read_report(run)
    with damaged_report(run):
        _print_report(document)


@app.command()
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


@app.command()
def doctor() -> None:
    """Say what this machine can run, and what to install for the rest."""
    from misheard.console import stdout
    from misheard.doctor import State, examine

    marks = {
        State.OK: "[green]ok[/]     ",
        State.MISSING: "[yellow]missing[/]",
        State.BROKEN: "[red]BROKEN[/] ",
    }
    broken = False
    for check in examine():
        broken |= check.state is State.BROKEN
        advice = f"\n{'':28}-> {check.advice}" if check.advice else ""
        stdout.print(f"{marks[check.state]}  {check.name:<17} ", end="")
        stdout.print(f"{check.found}{advice}", markup=False, soft_wrap=True)
    if broken:
        raise typer.Exit(1)


@suite_app.command()
def validate(path: Annotated[Path, typer.Argument(help="Suite folder, suite.yaml or items JSON.")]) -> None:
    """Check a suite, recordings included, and list every problem at once."""
    from misheard.console import TerminalProgress
    from misheard.suite.manifest import validate_suite

    with TerminalProgress() as progress:
        suite = validate_suite(path, progress)
    speech = sum(item.is_speech for item in suite.items)
    sessions = len({item.session for item in suite.items if item.session is not None})
    typer.echo(
        f"{suite.name} {suite.version}: {len(suite.items)} items are fine "
        f"({speech} speech, {len(suite.items) - speech} non-speech, {sessions} sessions)"
    )


def _print_report(report: dict[str, object]) -> None:
    from misheard.console import stdout
    from misheard.report.terminal import render_report

    stdout.print(render_report(report))
