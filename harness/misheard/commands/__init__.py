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
app.command("import")(import_outputs)
app.command(cls=ReportCommand)(report)
app.command()(clips)
app.command()(compare)
app.command()(power)
app.command()(gate)
app.command()(doctor)
app.add_typer(baseline_app, name="baseline")
app.add_typer(judge_app, name="judge")
app.add_typer(soak_app, name="soak")
app.add_typer(suite_app, name="suite")
