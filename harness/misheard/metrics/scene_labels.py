"""Scenes as multisets of labels: what of a plan and of a board is compared.

Labels are compared as tokens that follow each other in the way facts are found (see `misheard.text.phrases`):
case, punctuation and the form of numbers do not matter, nor do spaces between characters of a script that
sets none. A label without any letter, mark or number, such as `?`, is compared as the characters that it has,
white space aside; an empty one is equal to another empty one alone.

Ids, kinds and order are not compared. A connection is the directed pair of its ends' labels: where several
shapes have one label, which of them an arrow touches does not matter.
"""

from collections import Counter
from functools import lru_cache
from typing import TypeVar

from misheard.scenes.scene import Scene
from misheard.text.folding import folded
from misheard.text.phrases import phrase_tokens

Connections = Counter[tuple[str, str, str]]
"""How many connections have each triple of source label, target label and own label."""

_Member = TypeVar("_Member")


label_tokens = lru_cache(maxsize=65_536)(phrase_tokens)
"""The tokens of a label of that language: labels come again and again, in every arm."""


@lru_cache(maxsize=65_536)
def label_key(label: str, language: str | None) -> str:
    """Return what a label of that language (BCP-47, None if unknown) is compared by."""
    # a key made of tokens holds a letter, mark or number, so it never equals one made of signs
    return " ".join(label_tokens(label, language)) or "".join(folded(label).split())


def label_counts(scene: Scene, language: str | None) -> Counter[str]:
    """Return how many shapes of a scene have each label."""
    return Counter(label_key(shape.label, language) for shape in scene.shapes)


def connection_counts(scene: Scene, language: str | None) -> Connections:
    """Return the connections of a scene by their labels.

    Only connections whose two ends are shapes of the scene count; of shapes with one id, the first is meant.
    """
    ends: dict[str, str] = {}
    for shape in scene.shapes:
        ends.setdefault(shape.id, label_key(shape.label, language))
    return Counter(
        (ends[one.source], ends[one.target], label_key(one.label, language))
        for one in scene.connections
        if one.source in ends and one.target in ends
    )


def pair_counts(connections: Connections) -> Counter[tuple[str, str]]:
    """Return how many connections have each directed pair of end labels, whatever their own label is."""
    pairs: Counter[tuple[str, str]] = Counter()
    for (source, target, _), count in connections.items():
        pairs[source, target] += count
    return pairs


def common(first: Counter[_Member], second: Counter[_Member]) -> int:
    """Return the size of the intersection of two multisets: the smaller count of each member, summed."""
    return (first & second).total()
