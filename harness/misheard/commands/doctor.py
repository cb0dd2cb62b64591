"""`misheard doctor`."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer


def doctor(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="CONFIG", help="Run config: check what it needs, and nothing else."),
    ] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="Check what misheard run --cpu needs.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="a.b=VALUE", help="Change an option of the config; may be given again."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what this machine can run, or whether a config will run on it, and what to install.

    Exit code 0: nothing is broken, the config will run; 1: something is broken, or the config will not run;
    2: bad input. Model libraries and vLLM are started in processes of their own, which takes up to a minute.
    """
    from misheard.config import load_config
    from misheard.console import stdout
    from misheard.doctor import terminal
    from misheard.doctor.examine import examine
    from misheard.doctor.need import read_need
    from misheard.errors import InputError

    if config is None and (cpu or settings):
        raise InputError("doctor: --cpu and --set say how a config would be run; name the config")
    need = None if config is None else read_need(load_config(config, settings or ()), config.parent, cpu)
    checks = []
    with _progress() as begin:
        for group in examine(need, begin=begin):
            checks += group
            if not as_json:
                lines = terminal.render_group(group, stdout.width, with_extras=False)
                stdout.print(lines, soft_wrap=True, end="")
    if as_json:
        typer.echo(terminal.as_json(checks))
    else:
        if extras := terminal.extras_to_install(checks, stdout.width):
            stdout.print(extras, markup=False, soft_wrap=True)
        stdout.print(terminal.summary(checks, None if config is None else str(config)), markup=False)
    if not terminal.is_ok(checks):
        raise typer.Exit(1)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Yield what shows the step that is made, on a terminal alone."""
    from misheard.console import stderr

    with stderr.status("looking") as status:
        yield lambda title: status.update(f"looking at {title}")
