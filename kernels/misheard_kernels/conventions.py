"""What an edit costs, and which of several equally good alignments is taken.

`costs="unit"` with `ties="canonical"`: the fewest errors, then the fewest substitutions. Of the alignments
left, the one found by walking from the start of both sequences and taking, of the steps that lose nothing, a
match or substitution before a deletion before an insertion.

`costs="unit"` with `ties="rapidfuzz"`: the fewest errors, and the path that rapidfuzz traces back. jiwer
takes its alignments from rapidfuzz, so that `ties="jiwer"` is the same.

`costs="sclite"`: a substitution costs 4, a deletion or insertion 3, and at equal cost the path that NIST's
sclite traces back from the end: a match or substitution, then an insertion, then a deletion.
"""

MATCH, SUBSTITUTION, DELETION, INSERTION = range(4)

COSTS = ("unit", "sclite")
TIES = ("canonical", "jiwer", "rapidfuzz")

SCLITE_SUBSTITUTION = 4
SCLITE_GAP = 3

RAPIDFUZZ_SPLIT_BYTES = 1 << 20
"""rapidfuzz divides a pair (Hirschberg 1975) whose bit matrices, without common ends, need this much."""


def check_convention(costs: str, ties: str) -> str:
    """Return the convention that costs and ties name together: `canonical`, `rapidfuzz` or `sclite`.

    Raises ValueError where they name none.
    """
    if costs not in COSTS:
        raise ValueError(f"costs must be one of {', '.join(COSTS)}, not {costs!r}")
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(TIES)}, not {ties!r}")
    if costs == "sclite":
        if ties != "canonical":
            raise ValueError(f'costs="sclite" breaks ties as sclite does; leave out ties={ties!r}')
        return "sclite"
    return "canonical" if ties == "canonical" else "rapidfuzz"
