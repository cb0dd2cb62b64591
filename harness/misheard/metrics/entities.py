"""Family `entities`: how many of an item's entities, numbers and terms survive in its transcript.

An entity survives where its tokens follow each other in the text as whole tokens, in the way facts are found
(see `misheard.text.phrases`): case, punctuation and the form of numbers do not matter, `50` does not survive
in `150`. Each entry of the item's list counts once, however often it was said.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, divide
from misheard.metrics.texts import has_transcript
from misheard.text.phrases import contains_phrase, phrase_tokens

_SURVIVING, _ENTITIES = range(2)


def surviving_entities(entities: Sequence[str], text: str, language: str | None) -> list[bool]:
    """Return of each entity whether it survives in a text of that language (BCP-47, None if unknown)."""
    tokens = phrase_tokens(text, language)
    return [contains_phrase(tokens, _entity_tokens(entity, language)) for entity in entities]


class Entities:
    """Entities that survive recognition: speech items with entities, audio arm."""

    name = "entities"
    columns: tuple[str, ...] = ("surviving", "entities")
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        Rate(
            "entity_preservation",
            "share of entities, numbers and terms that survive in the transcript",
            "higher",
            lambda sums: divide(sums[..., _SURVIVING], sums[..., _ENTITIES]),
        ),
    )

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has entities and a transcript."""
        values = np.zeros((len(rows), len(self.columns)))
        present = has_transcript(rows) & np.array([bool(row.item.entities) for row in rows], dtype=bool)
        for index in np.flatnonzero(present).tolist():
            item, transcript = rows[index].item, rows[index].output.transcript or ""
            survived = surviving_entities(item.entities, transcript, item.language)
            values[index] = (sum(survived), len(survived))
        return Counts(values, present)


_entity_tokens = lru_cache(maxsize=65_536)(phrase_tokens)
