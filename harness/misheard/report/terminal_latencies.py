"""How long each stage took per item, arm by arm, in a table."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType

from misheard.report.labels import Marks
from misheard.report.terminal_cells import Grid, dim, fitting, heading, joined

_STAGES = {
    "recognize_seconds": "recognition",
    "correct_seconds": "correction",
    "llm_seconds": "answer",
    "first_token_seconds": "first token",
    "plan_seconds": "scene plan",
    "render_seconds": "rendering",
}
_TOKENS = (
    ("prompt_tokens", "read"),
    ("completion_tokens", "written"),
    ("correct_prompt_tokens", "read to correct"),
    ("correct_completion_tokens", "written to correct"),
)
_ARM = "audio"


def latencies_block(timings: Mapping[str, Any], width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the quantiles of the audio arm's times per item and its tokens, where any were measured."""
    found = timings.get("per_item", {}).get(_ARM, {})
    stages = [name for name in _STAGES if name in found]
    if not stages:
        return
    grid = Grid([("", "left"), *((title, "right") for title in ("p50", "p95", "bound", "p99", "n"))])
    for name in stages:
        times = found[name]
        seconds = (times[key] for key in ("p50", "p95", "p95_upper_bound", "p99"))
        grid.add(_STAGES[name], *(_seconds(value, marks) for value in seconds), str(times["n"]))
    tokens = [f"{what} {found[name]['sum']}" for name, what in _TOKENS if name in found]
    yield Group(
        heading("Seconds per item", "audio arm; bound: of p95 at 95%, from 59 items on", width),
        fitting(width, grid),
        *([dim(joined([f"tokens: {tokens[0]}", *tokens[1:]], width, marks))] if tokens else []),
    )


def _seconds(value: float | None, marks: Marks) -> str:
    return marks.missing if value is None else f"{value:.3f}"
