"""Two runs side by side on a terminal: machines and times, and the items that were heard differently."""

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.report.labels import Marks, count_of, plain
from misheard.report.terminal_cells import Grid, dim, heading, joined
from misheard.report.values import Document

_MOST_ITEMS = 20
_RATIO_WIDTH = 10
_LABEL_WIDTH = 24

_MACHINE = (
    ("device", "device"),
    ("device_name", ""),
    ("backend", "recognizer"),
    ("recognizer_model", "  model"),
    ("compute_type", "  number format"),
    ("language_model", "language model"),
    ("mode", "mode"),
    ("schedule", "schedule"),
    ("executor", "executor"),
)
_USUAL = {"mode": "fast", "schedule": "serial", "executor": "local"}
TIMING_LABELS = {
    "rtf_inference": "real-time factor",
    "rtf_end_to_end": "  end to end",
    "recognizer_load_seconds": "recognizer, loading",
    "recognizer_warm_up_seconds": "  warm-up",
    "inference_seconds": "  inference",
    "program_seconds": "  programs",
    "language_model_load_seconds": "llm, loading",
    "llm_seconds": "  audio arm",
    "clean_llm_seconds": "  transcript arm",
}
TIMING_REASONS = {
    "imported": "imported",
    "no_language_model": "none",
    "overlap": "not with overlap",
    "in_loading": "in loading",
    "not_measured": "not measured",
}


def side_by_side_blocks(comparison: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the blocks of one comparison; none where its sides are no runs."""
    if comparison["runs"] is not None:
        yield _runs(comparison["runs"], width, marks)
    if comparison["transcripts"] is not None:
        yield _transcripts(comparison["transcripts"], width, marks)


def _runs(runs: Document, width: int, marks: Marks) -> RenderableType:
    grid = Grid([("", "left"), ("A", "right"), ("B", "right"), ("B / A", "right")])
    column = (width - _LABEL_WIDTH - _RATIO_WIDTH) // 2
    for name, title in _MACHINE:
        values = [_value(name, runs[side]) for side in ("a", "b")]
        if any(value not in (None, _USUAL.get(name)) for value in values):
            grid.add(title, *(_wrapped(value, column, marks) for value in values))
    for version in runs["versions"]:
        grid.add(plain(version["name"]), *(_wrapped(version[side], column, marks) for side in ("a", "b")))
    for timing in runs["timings"]:
        if timing["a"] is not None or timing["b"] is not None:
            grid.add(TIMING_LABELS[timing["name"]], *_figures(timing, marks), _ratio(timing["ratio"], marks))
    return Group(heading("Machines and times", "versions where they differ", width), grid.table())


def _value(name: str, machine: Document) -> str | None:
    value: str | None = machine[name]
    if name == "executor" and machine["workers"] is not None:
        return f"{value}, {count_of(machine['workers'], 'worker')}"
    return value


def _wrapped(value: str | None, width: int, marks: Marks) -> str:
    return marks.missing if value is None else textwrap.fill(plain(value), width)


def _figures(timing: Document, marks: Marks) -> Iterator[Text]:
    for side in ("a", "b"):
        value, reason = timing[side], timing[f"reason_{side}"]
        if value is None:
            yield dim(TIMING_REASONS.get(reason, marks.missing))
        else:
            yield Text(f"{value:.2f} s" if timing["name"].endswith("_seconds") else f"{value:.4f}")


def _ratio(ratio: float | None, marks: Marks) -> str:
    return marks.missing if ratio is None else f"{ratio:.3g}{marks.times}"


def _transcripts(found: Document, width: int, marks: Marks) -> RenderableType:
    title = "Transcripts that differ"
    if "not_compared" in found:
        sides = " and ".join(side.upper() for side in found["not_compared"])
        return Group(heading(title, "", width), dim(f"not compared: no whole journal in {sides}"))
    parts = [_share(found, marks)]
    if found["differ"]:
        parts.append(f"{found['formatting_only']} of them in punctuation or case alone")
        parts.append(count_of(found["edits"], "word edit"))
    failed = {name: found[f"failed_in_{name}"] for name in ("a_only", "b_only", "both")}
    wordings = {"a_only": "in A alone", "b_only": "in B alone", "both": "in both"}
    parts += [f"{count} failed {wordings[name]}" for name, count in failed.items() if count]
    lines: list[RenderableType] = [Text(joined(parts, width, marks))]
    if found["differing"]:
        lines += _items(found["differing"], width)
    return Group(heading(title, "A against B, item by item", width), *lines)


def _share(found: Document, marks: Marks) -> str:
    of = f"{found['differ']} of {count_of(found['items'], 'item')}"
    if not found["items"]:
        return of
    low, high = found["interval"]
    return f"{of}, {100 * found['share']:.1f}% ({100 * low:.1f}{marks.to}{100 * high:.1f})"


def _items(differing: Sequence[Document], width: int) -> list[RenderableType]:
    """Return the table of the items with the most edits, and how many are left out."""
    ranked = sorted(differing, key=lambda one: (-one["edits"], one["id"]))
    grid = Grid([("", "left"), ("edits", "right"), ("reference words", "right")])
    for one in ranked[:_MOST_ITEMS]:
        grid.add(f"  {plain(one['id'])}", str(one["edits"]), str(one["reference_words"]))
    left_out = len(ranked) - _MOST_ITEMS
    rest = [dim(textwrap.fill(f"and {left_out} more with as many edits or fewer; --json has all", width))]
    return [grid.table(), *(rest if left_out > 0 else [])]
