"""Alignments as the item browser carries them: short, and what a script can lay out without splitting text.

A reference is sent once, as its tokens joined by a space, and as the lengths of its clusters where some are
longer than one unit. An alignment is a list of steps over the reference's tokens: a number above 0 is that
many matches, one below 0 that many deletions, `+text` is an insertion and `~text` a substitution of the next
token. Texts are those that are shown: what cannot be seen stands as escapes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from misheard.report.terminal_score import visible
from misheard.text.interning import token_pairs
from misheard.text.tokenisers import Tokeniser, graphemes
from misheard_kernels.alignment import DELETION, INSERTION, MATCH, SUBSTITUTION, Alignment, align_pairs

MOST_TOKENS = 4_000
"""A longer text, in words or in characters, is shown without an alignment."""

Steps = list[int | str]
Counts = tuple[int, int, int, int]
"""Substitutions, deletions, insertions, tokens of the reference."""

_BMP = 0xFFFF


@dataclass(frozen=True, slots=True)
class TextPair:
    """A reference and what an arm had instead, both under the normalisation profile."""

    reference: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class PairAlignment:
    """One pair by one kind of token: its steps and their counts; None where it is too long to be aligned."""

    steps: Steps
    counts: Counts


def word_alignments(pairs: Sequence[TextPair], words: Tokeniser) -> list[PairAlignment | None]:
    """Return the alignments of pairs word by word, which for some scripts is character by character."""
    return _aligned(pairs, words.split, lambda text: [""] * len(words.split(text)))


def character_alignments(pairs: Sequence[TextPair]) -> list[PairAlignment | None]:
    """Return the alignments of pairs by what a reader takes for one character; white space is none.

    An inserted character that begins a word has a space before it.
    """
    return _aligned(pairs, graphemes, word_starts)


def word_starts(text: str) -> list[str]:
    """Return a space for each cluster that begins a word, the first aside, and nothing for the others."""
    starts = [" " if place == 0 else "" for word in text.split() for place in range(len(graphemes(word)))]
    return ["", *starts[1:]]


def token_text(text: str, words: Tokeniser) -> str:
    """Return the words of a reference as they are sent: a script splits them at the spaces again."""
    return " ".join(map(visible, words.split(text)))


def cluster_lengths(text: str) -> list[int]:
    """Return the lengths of a text's clusters as shown, in UTF-16 units; nothing where each is one unit."""
    if text.isascii() and text.isprintable():
        return []
    lengths = [units(visible(cluster)) for cluster in graphemes(text)]
    return lengths if any(length != 1 for length in lengths) else []


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units, as a script counts it."""
    return len(text) + sum(ord(char) > _BMP for char in text)


def _aligned(
    pairs: Sequence[TextPair], split: Callable[[str], list[str]], before: Callable[[str], list[str]]
) -> list[PairAlignment | None]:
    tokens = [(split(pair.reference), split(pair.hypothesis)) for pair in pairs]
    fits = [max(map(len, both)) <= MOST_TOKENS for both in tokens]
    chosen = [both for both, is_short in zip(tokens, fits, strict=True) if is_short]
    ids = token_pairs([both[0] for both in chosen], [both[1] for both in chosen])
    found = align_pairs(ids.ref_flat, ids.ref_offsets, ids.hyp_flat, ids.hyp_offsets)
    places = iter(range(len(chosen)))
    result: list[PairAlignment | None] = []
    for pair, (reference, hypothesis), is_short in zip(pairs, tokens, fits, strict=True):
        if not is_short:
            result.append(None)
            continue
        one = found.pair(next(places))
        spaced = [space + visible(token) for space, token in zip(before(pair.hypothesis), hypothesis, strict=True)]
        substitutions, deletions, insertions, _ = one.counts()
        result.append(
            PairAlignment(
                list(_steps(one, hypothesis, spaced)),
                (substitutions, deletions, insertions, len(reference)),
            )
        )
    return result


def _steps(one: Alignment, hypothesis: Sequence[str], spaced: Sequence[str]) -> Iterator[int | str]:
    places = one.hypothesis_index.tolist()
    done = 0
    for code, run in groupby(one.operations.tolist()):
        count = sum(1 for _ in run)
        here, done = places[done : done + count], done + count
        if code == MATCH:
            yield count
        elif code == DELETION:
            yield -count
        elif code == INSERTION:
            yield from (f"+{spaced[place]}" for place in here)
        elif code == SUBSTITUTION:
            yield from (f"~{visible(hypothesis[place])}" for place in here)
