"""How long each stage took per item, arm by arm, in a table."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType

from misheard.report.labels import Marks
from misheard.report.terminal_cells import Grid, dim, fitting, heading, joined
from misheard.report.values import Document

STAGES = {
    "recognize_seconds": "recognition",
    "correct_seconds": "correction",
    "llm_seconds": "answer",
    "first_token_seconds": "first token",
    "plan_seconds": "scene plan",
    "render_seconds": "rendering",
}
TOKENS = (
    ("prompt_tokens", "read"),
    ("completion_tokens", "written"),
    ("correct_prompt_tokens", "read to correct"),
    ("correct_completion_tokens", "written to correct"),
)
ARM = "audio"

_PARTS = {
    "recognize_seconds": "recognizer",
    "correct_seconds": "correct",
    "llm_seconds": "respond",
    "first_token_seconds": "respond",
    "plan_seconds": "plan",
}
"""The part of the system that a time is of."""

_IN_BATCHES = ("ctranslate2", "transformers", "embedded")
"""What runs items as one batch, in which none has a time of its own."""

_SHARE, _WAIT = "share of batch", "wait in batch"
MEANINGS = {
    _SHARE: f"{_SHARE}: its time divided by its items",
    _WAIT: f"{_WAIT}: from its start on, the same for all its items",
}


def latencies_block(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the quantiles of the audio arm's times per item and its tokens, where any were measured.

    Where items run in batches it says so: there a first token, which is waited for, may come later than the
    share of the whole answer.
    """
    found = (report["timings"] or {}).get("per_item", {}).get(ARM, {})
    stages = [name for name in STAGES if name in found]
    if not stages:
        return
    grid = Grid([("", "left"), *((title, "right") for title in ("p50", "p95", "bound", "p99", "n"))])
    kinds = {name: kind_of(report["system"], name) for name in stages}
    for name in stages:
        times = found[name]
        seconds = (times[key] for key in ("p50", "p95", "p95_upper_bound", "p99"))
        title = ", ".join(part for part in (STAGES[name], kinds[name]) if part)
        grid.add(title, *(_seconds(value, marks) for value in seconds), str(times["n"]))
    tokens = [f"{what} {found[name]['sum']}" for name, what in TOKENS if name in found]
    meanings = [meaning for kind, meaning in MEANINGS.items() if kind in kinds.values()]
    yield Group(
        heading("Seconds per item", "audio arm; bound: of p95 at 95%, from 59 items on", width),
        fitting(width, grid),
        *([dim(joined(meanings, width, marks))] if meanings else []),
        *([dim(joined([f"tokens: {tokens[0]}", *tokens[1:]], width, marks))] if tokens else []),
    )


def kind_of(system: Mapping[str, Any], name: str) -> str | None:
    """Return what a time is of a batch; None where it is an item's own, or nothing tells."""
    part = system.get(_PARTS.get(name, ""), {})
    engine = part.get("engine", part)
    if engine.get("kind", engine.get("backend")) not in _IN_BATCHES:
        return None
    return _WAIT if name == "first_token_seconds" else _SHARE


def _seconds(value: float | None, marks: Marks) -> str:
    return marks.missing if value is None else f"{value:.3f}"
