"""`misheard suite mix`: derive noise and microphone tiers."""

from pathlib import Path
from typing import Annotated

import typer

from misheard.errors import count_of, counted


def mix(
    suite: Annotated[Path, typer.Argument(metavar="SUITE", help="Suite folder, suite.yaml or items JSON.")],
    destination: Annotated[Path, typer.Argument(metavar="DST", help="Folder of the new suite.")],
    snr: Annotated[
        str,
        typer.Option(
            help="Tiers by signal-to-noise ratio in dB: clean,15,5 has the suite's own recordings too."
        ),
    ] = "clean",
    noise: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="white, pink, hum, babble, a recording, or a folder of recordings; of several, each item "
            "gets one. Pink where none is named.",
        ),
    ] = None,
    mic: Annotated[
        str | None,
        typer.Option(help="Tiers by simulated microphone: telephone, far-field, or both with a comma."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn.")] = 0,
    name: Annotated[
        str | None, typer.Option(help="Name of the new suite.", show_default="the new folder's")
    ] = None,
) -> None:
    """Derive a suite with tiers of noise and simulated microphones; every tier keeps the truth."""
    from misheard.console import TerminalProgress
    from misheard.suite.mixing.derive import mix_suite
    from misheard.suite.mixing.tiers import read_tiers

    tiers = read_tiers(snr, mic)
    with TerminalProgress() as progress:
        made = mix_suite(suite, destination, tiers, noise or ["pink"], seed, progress, name)
    counts = ", ".join(f"{count} {tier}" for tier, count in made.per_tier.items())
    typer.echo(f"{destination}: {count_of(made.items, 'item')} ({counts})")
    if made.worst_snr_error_db is not None:
        typer.echo(f"ratios are within {made.worst_snr_error_db:.2f} dB of what was asked for")
    if made.scaled:
        were = counted(made.scaled, "recording was", "recordings were")
        typer.echo(f"{were} scaled down so as not to clip (gain_db in mix.json)")
    if made.left_out:
        typer.echo(
            f"left out: {made.left_out}\nnote: {suite} is split, and {destination} is not: it lacks what was "
            "left out, and no set of it is fixed or sealed; to have tiers in every set, mix the suite before "
            "it is split, and split the tiers"
        )
    else:
        typer.echo(f"note: for a holdout, split and lock {destination}, not {suite}: tiers stay together")
    if made.named_as_source is not None:
        typer.echo(
            f"note: both suites are called {made.named_as_source}, and baselines go by the name; "
            "--name gives another"
        )
    if made.already_noisy:
        have = counted(made.already_noisy, "item has", "items have")
        typer.echo(f"{have} noise already and got no further noise tier")
