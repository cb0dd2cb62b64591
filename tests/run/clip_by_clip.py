"""Word error rates exact and normalised, written down a second time with the standard library: the oracle."""

import unicodedata
from typing import Any


def plain(text: str) -> list[str]:
    """NFKC, case folded, apostrophes inside words kept, other punctuation and symbols to separators."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("’", "'")
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" or c == "'" else " " for c in text)
    return [word.strip("'") for word in kept.split() if word.strip("'")]


def edits(reference: list[str], hypothesis: list[str]) -> tuple[int, int, int]:
    """Substitutions, deletions, insertions: fewest edits, then fewest substitutions."""
    row = [(j, 0, 0, j) for j in range(len(hypothesis) + 1)]
    for i, expected in enumerate(reference, 1):
        above, row = row, [(i, 0, i, 0)]
        for j, heard in enumerate(hypothesis, 1):
            cost, subs, dels, ins = above[j - 1]
            wrong = int(expected != heard)
            row.append(
                min(
                    (cost + wrong, subs + wrong, dels, ins),
                    (above[j][0] + 1, above[j][1], above[j][2] + 1, above[j][3]),
                    (row[j - 1][0] + 1, row[j - 1][1], row[j - 1][2], row[j - 1][3] + 1),
                )
            )
    return row[-1][1:]


def rates(pairs: list[tuple[list[str], list[str]]]) -> dict[str, Any]:
    counts = [edits(reference, hypothesis) for reference, hypothesis in pairs]
    subs, dels, ins = (sum(count[n] for count in counts) for n in range(3))
    words = sum(len(reference) for reference, _ in pairs)
    return {
        "reference_words": words,
        "hypothesis_words": sum(len(hypothesis) for _, hypothesis in pairs),
        "substitutions": subs,
        "deletions": dels,
        "insertions": ins,
        "hits": words - subs - dels,
        "wer": (subs + dels + ins) / words if words else None,
    }


def word_rates(clips: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "exact": rates([(c["reference"].split(), c["hypothesis"].split()) for c in clips]),
        "plain": rates([(plain(c["reference"]), plain(c["hypothesis"])) for c in clips]),
    }
