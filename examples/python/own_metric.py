#!/usr/bin/env python3
"""A metric of your own with the intervals of the others: the share of utterances that are unusable.

    python3 examples/python/own_metric.py REFERENCE A B

A metric is a vector of counts per utterance and a rate that is made of sums of them, nothing else, so that
whatever resamples, slices or compares needs to know no metric. This one counts utterances with over a quarter
of their words wrong.
"""

import sys

import numpy as np
import numpy.typing as npt

import misheard
from misheard.stats.resampling import draw_sample, estimate_intervals, unit_totals
from misheard.transcripts.formats import read_transcripts

FloatArray = npt.NDArray[np.float64]
LIMIT = 0.25


def counts(references: list[str], hypotheses: list[str]) -> FloatArray:
    """Return unusable utterances and utterances, per utterance: float64[n, 2]."""
    rates = misheard.score(references, hypotheses, profile="plain").item_rates
    return np.stack([rates > LIMIT, ~np.isnan(rates)], axis=1).astype(np.float64)


def rate(sums: FloatArray) -> FloatArray:
    """Return the share from sums of counts: float64[..., 2] to float64[...]."""
    share: FloatArray = sums[..., 0] / sums[..., 1]
    return share


def main(reference: str, a: str, b: str) -> None:
    """Print the share of both systems, and their paired difference with its interval."""
    truth = read_transcripts(reference)
    sessions = truth.sessions or truth.ids or ()
    units = np.unique(np.array(sessions), return_inverse=True)[1]

    columns = []
    for place in (a, b):
        heard = read_transcripts(place, role="hypothesis")
        by_id = dict(zip(heard.ids or (), heard.texts, strict=True))
        columns.append(counts(list(truth.texts), [by_id[identifier] for identifier in truth.ids or ()]))
        print(f"{place}: {rate(columns[-1].sum(axis=0)):.1%} of utterances are unusable")

    # both systems in one sample, so that every resample draws the same sessions of both
    sample = draw_sample(unit_totals(np.concatenate(columns, axis=1), units, int(units.max()) + 1))
    found = estimate_intervals(sample, lambda sums: rate(sums[..., 2:]) - rate(sums[..., :2]))
    if found.deciding is not None:
        low, high = 100 * found.deciding.low, 100 * found.deciding.high
        print(f"difference, B - A: {low:+.1f} to {high:+.1f} points (95%, {found.units} sessions)")


if __name__ == "__main__":
    main(*sys.argv[1:4])
