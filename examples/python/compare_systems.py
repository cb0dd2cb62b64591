#!/usr/bin/env python3
"""Compare two systems' outputs over one reference: by how much they differ, and whether that is real.

    python3 examples/python/compare_systems.py REFERENCE A B

Files are anything that `misheard score` reads. Sessions are resampled where the reference has them.
"""

import sys

from misheard.scoring.files import FilesRequest, score_files
from misheard.scoring.intervals import file_intervals
from misheard.scoring.texts import TextSettings


def main(reference: str, a: str, b: str) -> None:
    """Print the rates, the difference and its interval, and the utterances that only B gets wrong."""
    settings = TextSettings(profile="plain", unit="words", language="en", costs="unit", annotations="keep")
    scored = score_files(FilesRequest(reference, (a, b), settings))
    for system in scored.systems:
        print(f"{system.name}: {system.score.rate:.1%}")

    statistics = file_intervals(scored, resamples=10_000, seed=1)
    (found,) = statistics.differences
    unit = "sessions" if statistics.by_session else "utterances"
    interval = found.intervals.deciding if found.intervals else None
    print(f"difference, B - A: {100 * found.difference:+.1f} points over {statistics.units} {unit}")
    if interval is not None:
        print(f"95% interval: {100 * interval.low:+.1f} to {100 * interval.high:+.1f}")
    print(f"verdict: {found.verdict}")

    wrong = [set(system.with_errors) for system in scored.systems]
    only_b = [scored.pairs.ids[place] for place in sorted(wrong[1] - wrong[0])]
    print(f"wrong in B alone: {', '.join(only_b) or 'none'}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
