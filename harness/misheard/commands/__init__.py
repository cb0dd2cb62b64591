"""The commands but `score`: parse, call, print. What they do lives elsewhere, and is imported when needed."""

from typing import Annotated

import typer

from misheard.commands.baseline import baseline_app
from misheard.commands.clips import clips
from misheard.commands.compare import compare
from misheard.commands.doctor import doctor
from misheard.commands.gate import gate
from misheard.commands.import_outputs import import_outputs
from misheard.commands.judge import judge_app
from misheard.commands.power import power
from misheard.commands.report import ReportCommand, report
from misheard.commands.run import run
from misheard.commands.score import score
from misheard.commands.soak import soak_app
from misheard.commands.suite import suite_app

app = typer.Typer(
    name="misheard",
    help="How much does mishearing cost? Which stage of a voice pipeline loses how much, and where.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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


app.command()(run)
app.command(
    add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)(score)
app.command("import", short_help="Make a run of outputs that were made elsewhere.")(import_outputs)
app.command(cls=ReportCommand, short_help="Print the report of a run, any matrix of it, or pages.")(report)
app.command(short_help="Print a run recording by recording.")(clips)
app.command(short_help="Compare runs item by item: what is better or worse.")(compare)
app.command(short_help="Say which effect a suite can show, and how large it must be.")(power)
app.command(short_help="Decide whether a run may ship.")(gate)
app.command(short_help="Say what this machine can run, and what to install.")(doctor)
app.add_typer(baseline_app, name="baseline")
app.add_typer(judge_app, name="judge")
app.add_typer(soak_app, name="soak", short_help="Play a long session and check its mechanism.")
app.add_typer(suite_app, name="suite")
