"""What the signs and the terms of a report mean, at its end."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from misheard.report.labels import Marks, label, profile_sentence
from misheard.report.terminal_cells import dim, joined
from misheard.report.values import Document

WORD_OVERLAP = "word_overlap_f1"


def shared_signs(statistics: Document, noun: str, cells: Sequence[Sequence[Document]]) -> Iterator[str]:
    """Yield what the signs mean that a report and a comparison have in common.

    Args:
        statistics: of the report or comparison.
        noun: what its units are called.
        cells: the condition cells, those with the same items together.
    """
    few = f"{statistics['min_units']} {noun}s"
    yield f"* under {statistics['min_items']} items or {few}: no verdict; under {few} no interval either"
    yield f"intervals: 95%, over {noun}s"
    if noun == "unit":
        yield "unit: a session, or an item without one"
    if any(len(same) > 1 for same in cells):
        yield "headings above each other: the very same items"


def terms(metrics: Iterable[str], scorer: Document) -> Iterator[str]:
    """Yield what metrics mean that need a word, as far as they are shown."""
    shown = set(metrics)
    if "pier_numbers" in shown and scorer.get("profile") not in (None, "spoken"):
        yield f"{label('pier_numbers')}: words and digits count as different, unless the profile is spoken"
    if "response_quality" in shown:
        name = scorer.get("response_scorer", WORD_OVERLAP)
        how = "word overlap with the human answer (F1)" if name == WORD_OVERLAP else f"scored by {name}"
        yield f"answer quality: {how}"
    if "hallucination_rate" in shown:
        yield "hallucinated: neither the fact nor an abstention"
    if "flip_rate" in shown:
        yield "answers changed in the control arm: the noise floor"


def legend_block(parts: Iterable[Iterable[str]], width: int, marks: Marks) -> RenderableType:
    """Return groups of explanations, each beginning a line of its own."""
    lines = [joined(group, width, marks) for group in parts]
    return dim("\n".join(line for line in lines if line))


def profile_line(scorer: Document) -> Text | None:
    """Return under which profile words were compared; None for a document that does not say."""
    sentence = profile_sentence(scorer)
    return None if sentence is None else dim(sentence)
