#!/usr/bin/env python3
"""Score two lists of texts: the rate, what it is made of, and the worst pair with its alignment."""

import misheard

REFERENCES = ["the cat sat on the mat", "no chest pain today", "he lives nearby"]
HYPOTHESES = ["the bat sat on mat", "chest pain today", "he lives nearby"]


def main() -> None:
    """Print the score."""
    found = misheard.score(REFERENCES, HYPOTHESES, profile="plain")
    print(f"{found.errors} errors in {found.reference_units} words: {found.rate:.1%}")
    print(f"{found.substitutions} substituted, {found.deletions} deleted, {found.insertions} inserted")

    worst = int(found.item_errors.argmax())
    print(f"worst is pair {worst}:")
    for operation, reference, hypothesis in found.alignments[worst]:
        if operation != "match":
            print(f"  {operation}: {reference} -> {hypothesis}")


if __name__ == "__main__":
    main()
