"""`misheard score`, as the other commands list it; `misheard.cli_score` is what runs."""

import typer


def score(context: typer.Context) -> None:
    """Score a run again from its journal, or files: --ref R --hyp H."""
    from misheard.cli_score import score as score_command

    score_command(context.args)
