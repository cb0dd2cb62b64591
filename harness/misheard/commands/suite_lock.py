"""`misheard suite lock`."""

import typer

from misheard.commands.suite_split import SuitePath
from misheard.errors import count_of


def lock(suite: SuitePath) -> None:
    """Write the fingerprints of all items, the header and the sets beside the manifest, and say what changed.

    misheard run refuses a suite that was edited since; items may be added.
    """
    from misheard.commands.suite_diff import print_changes
    from misheard.errors import SuiteError
    from misheard.suite.changes import changes_between
    from misheard.suite.lock import make_lock, read_lock, write_lock
    from misheard.suite.sidecars import is_there, sidecars

    path = sidecars(suite).lock
    made = make_lock(suite)
    if is_there(path):
        try:
            print_changes(changes_between(read_lock(path), made))
        except SuiteError as error:
            # After a merge git may have left its marks in it, and this is the command that mends it.
            if not path.is_file():
                raise
            typer.echo(f"{error}\nwhat changed since cannot be told", err=True)
    write_lock(path, made)
    typer.echo(f"{count_of(len(made.items), 'item')} locked: {path} ({made.sha256()[:12]})")
