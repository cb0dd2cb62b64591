"""`misheard soak CONFIG` plays a session; `misheard soak check` judges the trace of any product."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from misheard.commands.soak_check import check
from misheard.errors import InputError

_PLAY = "play"
_HELP = """Play a long session to a live system and check its mechanism, or check a trace.

`misheard soak CONFIG --minutes 5` is short for `misheard soak play CONFIG --minutes 5`.
"""


class _PlaysByDefault(TyperGroup):
    """A group in which what is no command is the config of a session to play."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, "--help"}:
            args = [_PLAY, *args]
        return super().parse_args(ctx, args)


soak_app = typer.Typer(cls=_PlaysByDefault, no_args_is_help=True, help=_HELP)
soak_app.command(short_help="Check a trace of any product.")(check)


@soak_app.command(_PLAY, short_help="Play a session to a live system, and judge it.")
def play(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Run config, a YAML file; see configs/.")],
    minutes: Annotated[
        int,
        typer.Option(
            min=1, max=1440, help="Length of the session in minutes: 5 to try, 20 to endure, 60 to ship."
        ),
    ] = 5,
    speed: Annotated[
        str,
        typer.Option(
            metavar="X", help="Times as fast as it was spoken, or max: as fast as the stages take it."
        ),
    ] = "1",
    suite: Annotated[
        Path | None, typer.Option(help="Suite whose recordings are played, instead of the config's.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the soak, a new one.", show_default="runs/soak-SUITE-TIME")
    ] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="Run everything on the CPU.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="a.b=VALUE", help="Change an option of the config; may be given again."
        ),
    ] = None,
    limits: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What the session may do, YAML.", show_default="docs/soak.md"),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND@SECONDS[+DURATION]",
            help="Let something go wrong, such as server_crash@60 or stalled_audio@90+5; may be given again.",
        ),
    ] = None,
) -> None:
    """Play a session to the config's system while its microphone is on, write the trace and judge it.

    Exit code 0: every check passed; 1: one failed; 2: bad input; 3: inconclusive; 4: a check has no evidence,
    or a fault did not happen; 130: interrupted.
    """
    from misheard.config import load_config
    from misheard.console import TerminalProgress, stdout
    from misheard.run.resolve import resolve_config
    from misheard.soak.limits import Limits, load_limits
    from misheard.soak.replay.command import SoakOptions, soak
    from misheard.soak.replay.faults import parse_fault
    from misheard.soak.terminal import render_finished

    loaded = resolve_config(load_config(config, settings or []), config.parent)
    if suite is None and loaded.suite is None:
        raise InputError(f"{config}: names no suite; add suite: to it, or give --suite")
    chosen = suite if suite is not None else config.parent / str(loaded.suite)
    target = out or Path("runs") / f"soak-{chosen.resolve().stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    options = SoakOptions(
        target,
        chosen,
        minutes,
        speed=_speed(speed),
        cpu=cpu,
        limits=Limits() if limits is None else load_limits(limits),
        limits_name=None if limits is None else limits.name,
        faults=tuple(map(parse_fault, fault or ())),
        base=config.parent,
    )
    with TerminalProgress() as progress:
        played = soak(loaded, options, progress)
    stdout.print(render_finished(played))
    # as the verdict: whoever has stopped reading does not change the exit code
    stdout.print(f"\nFiles of this soak: {target}", markup=False, soft_wrap=True)
    raise typer.Exit(played.judged.exit_code)


def _speed(text: str) -> float | None:
    """Return how many times as fast; None for `max`. Raises InputError."""
    if text == "max":
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0.1 <= speed <= 1_000:
        raise InputError(f"--speed {text[:20]!a}: must be a number between 0.1 and 1000, or max")
    return speed
