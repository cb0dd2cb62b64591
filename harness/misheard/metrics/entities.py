"""Families `entities`: how many of an item's entities, numbers and terms survive, stage by stage.

An entity survives where its tokens follow each other in one text as whole tokens, in the way facts are found
(see `misheard.text.phrases`): case, punctuation and the form of numbers do not matter, `50` does not survive
in `150`. The text is a transcript or a corrected one; of a plan and a board each label of a shape or
connection is a text of its own. Each entry of the item's list counts once, however often it was said.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from misheard.metrics.base import Arm, ArmOutput, Counts, Rate, ScoredRow, divide
from misheard.metrics.scene_labels import label_tokens
from misheard.metrics.texts import CORRECTING_ARMS, corrected_text
from misheard.scenes.scene import Scene
from misheard.text.phrases import contains_phrase, phrase_tokens

_SURVIVING, _ENTITIES = range(2)

Tokens = tuple[str, ...]


def surviving_entities(entities: Sequence[str], text: str, language: str | None) -> list[bool]:
    """Return of each entity whether it survives in a text of that language (BCP-47, None if unknown)."""
    return _surviving(entities, [phrase_tokens(text, language)], language)


def _surviving(entities: Sequence[str], texts: Sequence[Tokens], language: str | None) -> list[bool]:
    """Return of each entity whether it survives in any of the texts, given as tokens."""
    wanted = [_entity_tokens(entity, language) for entity in entities]
    return [any(contains_phrase(tokens, phrase) for tokens in texts) for phrase in wanted]


class Entities:
    """Entities that survive in the texts of one stage: speech items with entities.

    Family and rate are called after the stage; `texts` are those of an output in a language, as tokens, None
    where it has none.
    """

    columns: tuple[str, ...] = ("surviving", "entities")
    relative_to: Arm | None = None

    def __init__(
        self,
        suffix: str,
        where: str,
        arms: tuple[Arm, ...],
        texts: Callable[[ArmOutput, str | None], Sequence[Tokens] | None],
    ) -> None:
        self.name = f"entities{suffix}"
        self.arms = arms
        self.rates: tuple[Rate, ...] = (
            Rate(
                f"entity_preservation{suffix}",
                f"share of entities, numbers and terms that survive {where}",
                "higher",
                lambda sums: divide(sums[..., _SURVIVING], sums[..., _ENTITIES]),
            ),
        )
        self._texts = texts

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has entities and a text."""
        values = np.zeros((len(rows), len(self.columns)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            item = row.item
            texts = self._texts(row.output, item.language) if item.is_speech and item.entities else None
            if texts is not None:
                present[index] = True
                values[index] = (sum(_surviving(item.entities, texts, item.language)), len(item.entities))
        return Counts(values, present)


def in_transcripts() -> Entities:
    """Return the family of entities that recognition keeps: audio arm."""
    return Entities(
        "", "in the transcript", (Arm.AUDIO,), lambda output, language: _one(output.transcript, language)
    )


def in_corrected_texts() -> Entities:
    """Return the family of entities that are in the corrected transcript, in the arms that correct."""
    return Entities(
        "_corrected",
        "in the corrected transcript",
        CORRECTING_ARMS,
        lambda output, language: _one(corrected_text(output), language),
    )


def in_plans() -> Entities:
    """Return the family of entities that are in a label of the plan; in the arm `plan`, of the golden one."""
    return Entities(
        "_plan", "in a label of the plan", tuple(Arm), lambda output, language: _labels(output.plan, language)
    )


def on_boards() -> Entities:
    """Return the family of entities that are in a label on the board."""
    return Entities(
        "_board",
        "in a label on the board",
        tuple(Arm),
        lambda output, language: _labels(output.board, language),
    )


def _one(text: str | None, language: str | None) -> list[Tokens] | None:
    return None if text is None else [phrase_tokens(text, language)]


def _labels(scene: Scene | None, language: str | None) -> list[Tokens] | None:
    if scene is None:
        return None
    labels = [*(shape.label for shape in scene.shapes), *(one.label for one in scene.connections)]
    return [label_tokens(label, language) for label in labels]


_entity_tokens = lru_cache(maxsize=65_536)(phrase_tokens)
