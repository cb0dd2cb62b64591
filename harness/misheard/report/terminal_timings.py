"""Where the time of a run went, in a few lines."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.report.labels import Marks
from misheard.report.terminal_cells import heading, joined

_FACTORS = "real-time factor"
_LINES: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "audio",
        (
            ("audio_seconds", ""),
            ("plan_seconds", "batch plan"),
            ("decode_seconds", "decoding"),
        ),
    ),
    (
        "recognition",
        (
            ("inference_seconds", ""),
            ("features_seconds", "features"),
            ("program_seconds", "programs"),
            ("program_load_seconds", "their loading"),
            ("recognizer_load_seconds", "loading"),
            ("recognizer_warm_up_seconds", "warm-up"),
        ),
    ),
    (
        "llm, by arm",
        (
            ("llm_seconds", "audio"),
            ("clean_llm_seconds", "transcript"),
            ("uncorrected_llm_seconds", "uncorrected"),
            ("control_llm_seconds", "control"),
        ),
    ),
    (
        "audio arm",
        (
            ("correction_seconds", "correcting"),
            ("planning_seconds", "scene plans"),
            ("rendering_seconds", "rendering"),
        ),
    ),
    (
        "llm start",
        (("language_model_load_seconds", "loading"), ("language_model_warm_up_seconds", "warm-up")),
    ),
    (_FACTORS, (("rtf_inference", "recognition"), ("rtf_end_to_end", "end to end"))),
)
_LABEL_WIDTH = max(len(title) for title, _ in _LINES) + 2


def timings_block(timings: Mapping[str, Any], width: int, marks: Marks) -> RenderableType | None:
    """Return the times that were measured, or None: what took no time, or did not run, is left out."""
    lines = []
    for title, shown in time_lines(timings):
        text = joined(shown, width, marks, indent=_LABEL_WIDTH, start=_LABEL_WIDTH)
        lines.append(Text(f"{title:<{_LABEL_WIDTH}}{text}"))
    return Group(heading("Time", "", width), *lines) if lines else None


def time_lines(timings: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield what took time, with its parts; what took none, or did not run, is left out."""
    for title, figures in _LINES:
        shown = [
            f"{what} {amount}".lstrip()
            for name, what in figures
            if _has_digits(amount := _amount(name, timings.get(name)))
        ]
        if title == _FACTORS and timings.get("rtf_reason"):
            shown = [f"not published: {timings['rtf_reason']}"]
        if shown:
            yield title, shown


def _amount(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f} s" if name.endswith("_seconds") else f"{value:.3f}"


def _has_digits(amount: str) -> bool:
    return any(digit in amount for digit in "123456789")
