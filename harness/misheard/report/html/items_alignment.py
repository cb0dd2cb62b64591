"""Alignments as the item browser carries them: short, and what a script can lay out without splitting text.

A reference is sent once, with a space between its words, and with the lengths of its clusters where some are
longer than one unit. An alignment is a list of steps over the reference's tokens: a number above 0 is that
many matches, one below 0 that many deletions, `+text` is an insertion and `~text` a substitution of the next
token. Texts are those that are shown: what cannot be seen stands as escapes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from misheard.report.terminal_score import visible
from misheard.text.interning import token_pairs
from misheard.text.tokenisers import graphemes, mixed_tokeniser
from misheard_kernels.alignment import DELETION, INSERTION, MATCH, SUBSTITUTION, Alignment, align_pairs

MOST_TOKENS = 4_000
MOST_CHARACTERS = 20_000
"""Longer texts are shown without an alignment: the one bounds the work of showing one, the other the page."""

Steps = list[int | str]
Splitter = Callable[[str], list[str]]
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


def word_splitter(char_scripts: Sequence[str]) -> Splitter:
    """Return the split into words: white space, and single characters of scripts that set no spaces.

    Where a character of those is more than one code point, it stays whole.
    """
    tokeniser = mixed_tokeniser(char_scripts)

    def split(text: str) -> list[str]:
        if (words := text.split()) == tokeniser.split(text):
            return words
        return [part for word in words for part in _whole_clusters(word, tokeniser.split(word))]

    return split


def _whole_clusters(word: str, tokens: list[str]) -> list[str]:
    if len(tokens) < 2:
        return tokens
    ends = set(accumulate(map(len, graphemes(word))))
    parts, start = [], 0
    for end in accumulate(map(len, tokens)):
        if end in ends:
            parts.append(word[start:end])
            start = end
    return parts


def word_alignments(pairs: Sequence[TextPair], words: Splitter) -> list[PairAlignment | None]:
    """Return the alignments of pairs word by word."""
    return _aligned(pairs, words, lambda text: [""] * len(words(text)))


def character_alignments(pairs: Sequence[TextPair]) -> list[PairAlignment | None]:
    """Return the alignments of pairs by what a reader takes for one character; white space is none.

    An inserted character that begins a word has a space before it.
    """
    return _aligned(pairs, graphemes, _word_starts)


def _word_starts(text: str) -> list[str]:
    starts = [" " if place == 0 else "" for word in text.split() for place in range(len(graphemes(word)))]
    return ["", *starts[1:]] if starts else []


def cluster_lengths(text: str) -> list[int]:
    """Return the lengths of a text's clusters as shown, in UTF-16 units; nothing where each is one unit."""
    if text.isascii() and text.isprintable():
        return []
    lengths = [_units(visible(cluster)) for cluster in graphemes(text)]
    return lengths if any(length != 1 for length in lengths) else []


def _units(text: str) -> int:
    """Return the length of a text in UTF-16 units, as a script counts it."""
    return len(text) + sum(ord(char) > _BMP for char in text)


def _aligned(pairs: Sequence[TextPair], split: Splitter, before: Splitter) -> list[PairAlignment | None]:
    tokens = [_tokens(pair, split) for pair in pairs]
    chosen = [both for both in tokens if both is not None]
    ids = token_pairs([both[0] for both in chosen], [both[1] for both in chosen])
    found = align_pairs(ids.ref_flat, ids.ref_offsets, ids.hyp_flat, ids.hyp_offsets)
    places = iter(range(len(chosen)))
    result: list[PairAlignment | None] = []
    for pair, both in zip(pairs, tokens, strict=True):
        if both is None:
            result.append(None)
            continue
        reference, hypothesis = both
        one = found.pair(next(places))
        spaced = [
            space + visible(token) for space, token in zip(before(pair.hypothesis), hypothesis, strict=True)
        ]
        substitutions, deletions, insertions, _ = one.counts()
        result.append(
            PairAlignment(
                list(_steps(one, hypothesis, spaced)),
                (substitutions, deletions, insertions, len(reference)),
            )
        )
    return result


def _tokens(pair: TextPair, split: Splitter) -> tuple[list[str], list[str]] | None:
    """Return the tokens of both sides; None where they are too many, or too long."""
    if max(len(pair.reference), len(pair.hypothesis)) > MOST_CHARACTERS:
        return None
    both = split(pair.reference), split(pair.hypothesis)
    return both if max(map(len, both)) <= MOST_TOKENS else None


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
