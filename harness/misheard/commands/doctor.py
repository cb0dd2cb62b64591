"""`misheard doctor`."""

import typer


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
