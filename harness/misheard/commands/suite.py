"""`misheard suite …`: look after suites."""

from pathlib import Path
from typing import Annotated

import typer

from misheard.commands.suite_diff import diff
from misheard.commands.suite_import import import_source
from misheard.commands.suite_init import init
from misheard.commands.suite_lock import lock
from misheard.commands.suite_mix import mix
from misheard.commands.suite_open import open_holdout
from misheard.commands.suite_rotate import rotate
from misheard.commands.suite_show import show
from misheard.commands.suite_split import split
from misheard.errors import count_of, counted

suite_app = typer.Typer(no_args_is_help=True, help="Look after suites: recordings with their truth.")

suite_app.command(short_help="Start a suite: files to fill in.")(init)


@suite_app.command(short_help="Check a suite, recordings included.")
def validate(
    path: Annotated[Path, typer.Argument(metavar="SUITE", help="Suite folder, suite.yaml or items JSON.")],
) -> None:
    """Check a suite, recordings included, and list every problem at once."""
    from misheard.console import TerminalProgress
    from misheard.suite.manifest import validate_suite
    from misheard.suite.primary import without_language

    with TerminalProgress() as progress:
        suite = validate_suite(path, progress)
    speech = sum(item.is_speech for item in suite.items)
    sessions = len({item.session for item in suite.items if item.session is not None})
    typer.echo(
        f"{suite.name} {suite.version}: {counted(len(suite.items), 'item is', 'items are')} fine "
        f"({speech} speech, {len(suite.items) - speech} non-speech, {count_of(sessions, 'session')})"
    )
    if nameless := len(without_language(suite.items)):
        typer.echo(
            f"note: {counted(nameless, 'speech item has', 'speech items have')} no language; misheard suite "
            "show says what goes by it"
        )
    if suite.selection is not None and suite.selection.sealed:
        typer.echo(f"{suite.selection.note()}: recordings not checked")


suite_app.command(short_help="Print what a suite holds, and probable mistakes.")(show)
suite_app.command("import")(import_source)
suite_app.command(short_help="Derive tiers of noise and simulated microphones.")(mix)
suite_app.command(short_help="Divide a suite: holdout, regression set, rolling rest.")(split)
suite_app.command(short_help="Renew a share of the rolling set.")(rotate)
suite_app.command("open", short_help="Open the sealed holdout for one run.")(open_holdout)
suite_app.command(short_help="Write fingerprints of all items, so that edits show.")(lock)
suite_app.command(short_help="Say what changed between two states of a suite.")(diff)
