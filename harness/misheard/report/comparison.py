"""comparison.json: systems against a baseline, as one deterministic document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from misheard.report.values import Document, difference_document, size_flags, statistics_document
from misheard.stats.compare import (
    EVERYTHING,
    Comparison,
    Difference,
    Selection,
    SliceComparison,
    worst_slices,
)

FORMAT = "misheard-comparison"
FORMAT_VERSION = 4


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """A comparison with which run and system A and B are, which is passed through.

    Where both are runs, `runs` has their machines and times, `transcripts` what they heard differently, as
    `misheard.run.side_by_side` makes them.
    """

    comparison: Comparison
    a: Document
    b: Document
    runs: Document | None = None
    transcripts: Document | None = None


def build_comparison(
    pairs: Sequence[ComparedPair],
    *,
    suite: Document,
    scorer: Document,
    primary_metrics: Mapping[str, str] | None = None,
    selection: Selection = EVERYTHING,
    rescored: bool = False,
) -> Document:
    """Return comparisons as JSON values, described by `comparison.schema.json`.

    Args:
        pairs: what `misheard.stats.compare.compare_tables` found, per system that is compared with the
            baseline; at least one, all with the same resamples and seed.
        suite: who the suite is, passed through.
        scorer: how all were scored, passed through.
        primary_metrics: the metric that decides, per language.
        selection: what was compared.
        rescored: whether the counts were made for this comparison, and not read.
    """
    first = pairs[0].comparison
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "suite": suite,
        "scorer": scorer,
        "rescored": rescored,
        "statistics": statistics_document(first.resamples, first.seed),
        "primary_metrics": dict(primary_metrics or {}),
        "selection": {
            "metrics": list(selection.metrics),
            "arms": [str(arm) for arm in selection.arms],
            "by": [list(by) for by in selection.by],
            "where": [str(condition) for condition in selection.where],
            "margins": dict(selection.margins),
        },
        "comparisons": [_pair_document(pair) for pair in pairs],
    }


def _pair_document(pair: ComparedPair) -> Document:
    comparison = pair.comparison
    return {
        "a": pair.a,
        "b": pair.b,
        "runs": pair.runs,
        "transcripts": pair.transcripts,
        "items": comparison.items,
        "units": comparison.units,
        "without_session": comparison.without_session,
        "differences": _difference_documents(comparison.differences),
        "cells": [
            {
                "axis": cell.axis,
                "value": cell.value,
                "conditions": dict(cell.conditions),
                "items": cell.items,
                "items_sha256": cell.items_sha256,
                "differences": _difference_documents(cell.differences),
            }
            for cell in comparison.slices
        ],
        "worst_cells": [_worst_document(cell, difference) for cell, difference in worst_slices(comparison)],
        "not_compared": [{"family": family, "arm": str(arm)} for family, arm in comparison.not_compared],
    }


def _worst_document(cell: SliceComparison, worst: Difference) -> Document:
    return {
        **_name_document(worst),
        "axis": cell.axis,
        "value": cell.value,
        "difference": worst.difference,
        "n": worst.n,
        "units": worst.units,
        "flags": size_flags(worst.n, worst.units),
        "verdict": str(worst.verdict),
    }


def _difference_documents(differences: Sequence[Difference]) -> list[Document]:
    return [
        {
            **_name_document(difference),
            "better": difference.better,
            **difference_document(difference),
        }
        for difference in differences
    ]


def _name_document(difference: Difference) -> Document:
    return {"family": difference.family, "metric": difference.metric, "arm": str(difference.arm)}
