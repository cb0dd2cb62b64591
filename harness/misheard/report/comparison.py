"""comparison.json: system B against system A, as one deterministic document."""

from collections.abc import Sequence

from misheard.report.values import Document, difference_document, statistics_document
from misheard.stats.compare import Comparison, Difference

FORMAT = "misheard-comparison"
FORMAT_VERSION = 2


def build_comparison(
    comparison: Comparison, *, suite: Document, scorer: Document, a: Document, b: Document
) -> Document:
    """Return a comparison as JSON values, described by `comparison.schema.json`.

    Args:
        comparison: what `misheard.stats.compare.compare_tables` found.
        suite: who the suite is, passed through.
        scorer: how both were scored, passed through.
        a: which run and system A is, passed through.
        b: which run and system B is, passed through.
    """
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "suite": suite,
        "scorer": scorer,
        "a": a,
        "b": b,
        "statistics": statistics_document(comparison.resamples, comparison.seed),
        "items": comparison.items,
        "units": comparison.units,
        "without_session": comparison.without_session,
        "differences": _difference_documents(comparison.differences),
        "cells": [
            {
                "axis": cell.axis,
                "value": cell.value,
                "items": cell.items,
                "items_sha256": cell.items_sha256,
                "differences": _difference_documents(cell.differences),
            }
            for cell in comparison.slices
        ],
        "not_compared": [{"family": family, "arm": str(arm)} for family, arm in comparison.not_compared],
    }


def _difference_documents(differences: Sequence[Difference]) -> list[Document]:
    return [
        {
            "family": difference.family,
            "metric": difference.metric,
            "arm": str(difference.arm),
            "better": difference.better,
            **difference_document(difference),
        }
        for difference in differences
    ]
