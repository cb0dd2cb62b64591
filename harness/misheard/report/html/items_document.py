"""What the item browser shows of a run, as JSON values: texts of its journal, figures of its report.

What is empty is left out, as there may be very many items, and so is the `text` of an arm where it is the
reference. See `items_alignment` for alignments.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import Arm, ArmOutput, Judgement
from misheard.metrics.table import ArmTable, CountTable
from misheard.report.html.items_alignment import (
    MOST_CHARACTERS,
    PairAlignment,
    Splitter,
    TextPair,
    character_alignments,
    cluster_lengths,
    word_alignments,
    word_splitter,
)
from misheard.report.html.items_losses import ItemLosses
from misheard.report.html.items_text import shown_text
from misheard.report.terminal_score import visible
from misheard.report.values import Document
from misheard.run.arms import HEARD
from misheard.scenes.scene import Scene
from misheard.stats.slices import KIND_AXIS
from misheard.suite.items import Item
from misheard.text.profiles import profile_named
from misheard.text.tokenisers import DEFAULT_CHAR_SCRIPTS

CLASSES = ("correct", "abstained", "hallucinated")
MOST_BYTES = 32 * 1024**2
"""Of all items together; of more, those with the fewest errors are left out."""

Axes = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class ItemSources:
    """What the items of a page are made of, all in suite order.

    Attributes:
        items, table, outputs: of the same run.
        axes: the values of each condition axis, as the matrix has them.
        profile: under which texts are compared.
        char_scripts: whose characters count as words; None for the usual ones.
        recordings: addresses by item.
        drawings: addresses by arm and item.
        judge: what the report says of the judge; its scores are shown where it is trusted.
        losses: what mishearing costs each item; None where the report leads with nothing that is lost.
    """

    items: Sequence[Item]
    table: CountTable
    outputs: Mapping[Arm, Sequence[ArmOutput]]
    axes: Axes
    profile: str
    char_scripts: Sequence[str] | None
    recordings: Mapping[str, str]
    drawings: Mapping[tuple[str, str], str]
    judge: Document | None = None
    losses: ItemLosses | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the judge's scores may be shown: what the report withholds, its items withhold too."""
        return self.judge is not None and self.judge["status"] == "trusted"


@dataclass(frozen=True, slots=True)
class _Text:
    """One text that an arm had, to be compared with the reference of an item by its place."""

    place: int
    arm: Arm
    what: str
    text: str


def items_document(sources: ItemSources) -> Document:
    """Return the document of all items, in suite order; of too many, those with the most errors."""
    rows = _rows(sources)
    kept = _within(rows, MOST_BYTES)
    withheld = "" if sources.judge is None or sources.is_judged else str(sources.judge["reason"])
    return {
        "profile": sources.profile,
        "axes": [[axis, list(values)] for axis, values in sources.axes.items()],
        "arms": [str(arm) for arm in sources.outputs],
        "classes": list(CLASSES) if _has_classes(sources.table) else [],
        "withheld": withheld,
        "loses": "" if sources.losses is None else sources.losses.what,
        "all": len(rows),
        "items": kept,
    }


def _within(rows: list[Document], most: int) -> list[Document]:
    sizes = [len(json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode("utf-8")) for row in rows]
    if sum(sizes) <= most:
        return rows
    worst_first = sorted(range(len(rows)), key=lambda place: (-_weight(rows[place]), place))
    kept, left = set(), most
    for place in worst_first:
        if sizes[place] <= left:
            left -= sizes[place]
            kept.add(place)
    return [row for place, row in enumerate(rows) if place in kept]


def _weight(row: Document) -> float:
    return float("inf") if "failed" in row else float(row.get("errors", -1))


def _has_classes(table: CountTable) -> bool:
    return any("answer_class" in arm.counts for arm in table.arms.values())


def _rows(sources: ItemSources) -> list[Document]:
    profile = profile_named(sources.profile)
    texts = [text for place in range(len(sources.items)) for text in _texts(sources, place)]
    normalised = [profile.apply(item.reference, item.language) for item in sources.items]
    split = word_splitter(DEFAULT_CHAR_SCRIPTS if sources.char_scripts is None else sources.char_scripts)
    pairs = [
        TextPair(normalised[text.place], profile.apply(text.text, sources.items[text.place].language))
        for text in texts
    ]
    words, characters = word_alignments(pairs, split), character_alignments(pairs)
    by_arm: dict[tuple[int, Arm], list[Document]] = {}
    errors: dict[int, int] = {}
    for text, word, character in zip(texts, words, characters, strict=True):
        document = _text(text, sources.items[text.place].reference, word, character)
        by_arm.setdefault((text.place, text.arm), []).append(document)
        if text.arm is Arm.AUDIO and text.what == "heard" and word is not None:
            errors[text.place] = sum(word.counts[:3])
    rows = []
    for place, item in enumerate(sources.items):
        row = _item(sources, place, item, normalised[place], split)
        if place in errors:
            row["errors"] = errors[place]
        if sources.losses is not None and np.isfinite(lost := sources.losses.amounts[place]):
            row["lost"] = round(float(lost), 3)
        row["arms"] = [
            _arm(sources, place, arm, outputs[place], by_arm.get((place, arm), []))
            for arm, outputs in sources.outputs.items()
        ]
        if any("failure" in arm for arm in row["arms"]):
            row["failed"] = 1
        rows.append(row)
    return rows


def _texts(sources: ItemSources, place: int) -> Iterator[_Text]:
    """Yield the texts of an item that need not be the reference; none twice."""
    for arm, outputs in sources.outputs.items():
        output = outputs[place]
        if output.transcript is None:
            continue
        if arm is Arm.AUDIO or (arm in HEARD and Arm.AUDIO not in sources.outputs):
            yield _Text(place, arm, "heard", output.transcript)
        if output.correction is not None:
            yield _Text(place, arm, "corrected", output.correction.text)


def _text(
    text: _Text, reference: str, word: PairAlignment | None, character: PairAlignment | None
) -> Document:
    found: Document = {"what": text.what}
    if text.text != reference:
        found["text"] = shown_text(text.text)
    for name, one in (("words", word), ("characters", character)):
        if one is not None:
            found[name] = [one.steps, *one.counts]
    return found


def _item(sources: ItemSources, place: int, item: Item, normalised: str, split: Splitter) -> Document:
    info = sources.table.items[place]
    conditions = {**info.conditions} if info.conditions else {KIND_AXIS: str(info.kind)}
    values = [conditions.get(axis) for axis in sources.axes]
    row: Document = {
        "id": item.id,
        "where": [
            choices.index(value) if value in choices else -1
            for choices, value in zip(sources.axes.values(), values, strict=True)
        ],
        "text": shown_text(item.reference),
    }
    if len(normalised) <= MOST_CHARACTERS:
        plain = visible(" ".join(normalised.split()))
        words = " ".join(map(visible, split(normalised)))
        row["plain"] = None if plain == row["text"] else plain
        row["words"] = None if words == plain else words
        row["clusters"] = cluster_lengths(normalised)
    row["language"] = item.language
    row["session"] = item.session
    row["kind"] = None if item.is_speech else "non_speech"
    row["audio"] = sources.recordings.get(item.id)
    row["fact"] = [shown_text(form) for form in item.fact]
    row["answer"] = None if item.reference_answer is None else shown_text(item.reference_answer)
    row["plan"] = None if item.plan is None else _scene(item.plan)
    return {
        name: value
        for name, value in row.items()
        if value or (name in ("text", "where", "plain", "words") and value is not None)
    }


def _arm(sources: ItemSources, place: int, arm: Arm, output: ArmOutput, texts: list[Document]) -> Document:
    table, item = sources.table.arms[arm], sources.items[place]
    failure = table.failures[place]
    row: Document = {
        "texts": texts,
        "answer": None if output.answer is None else shown_text(output.answer),
        "class": _class(table, place),
        "quality": _figure(table, "response", place),
        "judge": {
            question: _judged(judgement)
            for question, judgement in (output.judgements if sources.is_judged else {}).items()
        },
        "failure": None
        if failure is None
        else [failure.stage, str(failure.kind), shown_text(failure.detail or "")],
        "unused": None if output.correction is None else output.correction.problem,
        "times": {
            name: round(float(values[place]), 3)
            for name, values in table.timings.items()
            if np.isfinite(values[place])
        },
        "flags": [name for name, values in table.flags.items() if values[place]],
        "plan": _other_scene(output.plan, item.plan),
        "board": _other_scene(output.board, item.plan),
        "refused": output.refused,
        "drawing": sources.drawings.get((str(arm), item.id)),
    }
    return {
        name: value
        for name, value in row.items()
        if value or (name in ("quality", "answer") and value is not None)
    }


def _judged(one: Judgement) -> list[float | str | None]:
    """Return a score and what a reader must know of it: `identical` was not asked, `flipped` is undecided."""
    if one.score is None:
        return [None]
    sort = "identical" if one.identical else "flipped" if one.flipped else ""
    return [round(one.score, 1), sort] if sort else [round(one.score, 1)]


def _class(table: ArmTable, place: int) -> str | None:
    counts = table.counts.get("answer_class")
    if counts is None or not counts.present[place]:
        return None
    return CLASSES[int(np.argmax(counts.values[place, : len(CLASSES)]))]


def _figure(table: ArmTable, family: str, place: int) -> float | None:
    counts = table.counts.get(family)
    if counts is None or not counts.present[place]:
        return None
    return round(float(counts.values[place, 0]), 3)


def _other_scene(scene: Scene | None, golden: Scene | None) -> Document | str | None:
    """Return a scene; `same` where it is the golden plan."""
    if scene is None:
        return None
    return "same" if scene == golden else _scene(scene)


def _scene(scene: Scene) -> Document:
    labels = {shape.id: shape.label for shape in scene.shapes}
    return {
        "shapes": [[visible(shape.kind), shown_text(shape.label)] for shape in scene.shapes],
        "arrows": [
            [shown_text(labels.get(one.source, one.source)), shown_text(labels.get(one.target, one.target)),
             shown_text(one.label)]
            for one in scene.connections
        ],
    }  # fmt: skip
