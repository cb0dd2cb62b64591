"""report.json: everything that a run's counts say, as one deterministic document."""

from collections.abc import Mapping, Sequence

import numpy as np

from misheard.metrics.base import Arm, BoolArray, Counts, Family, FloatArray
from misheard.metrics.table import CountTable
from misheard.report.attribution import attribution_documents
from misheard.report.failures import failures_document
from misheard.report.items import items_document
from misheard.report.matrix import matrix_documents, worst_cells
from misheard.report.takeaway import takeaway
from misheard.report.values import (
    Document,
    difference_document,
    distribution_document,
    estimate_document,
    statistics_document,
)
from misheard.stats.attribution import CORRECTION, Attributor
from misheard.stats.compare import compare_arms
from misheard.stats.estimates import Estimator, family_arms
from misheard.stats.resampling import RESAMPLES, SEED
from misheard.stats.slices import Slice, slice_items

FORMAT = "misheard-report"
FORMAT_VERSION = 5

LOST_TO_RECOGNITION = (Arm.TRANSCRIPT, Arm.AUDIO)
"""The arm with the human transcript, and the one without."""

_ITEM_RATES, _ITEMS_WITH_RATE = "item_rates", "items_with_rate"


def build_report(
    table: CountTable,
    families: Sequence[Family],
    *,
    suite: Document,
    system: Document,
    scorer: Document,
    timings: Document | None,
    run: Document | None = None,
    axes: Mapping[str, Sequence[str]],
    primary_metrics: Mapping[str, str],
    judge: Document | None = None,
    determinism: Document | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Document:
    """Return report.json as JSON values, described by `report.schema.json`.

    Equal arguments give equal documents. No text of an item is in it, and no NaN: a missing value is null
    with a reason beside it.

    Args:
        table: the run's counts.
        families: the metric families that were counted.
        suite: who the suite is (name, version, fingerprint), passed through.
        system: what was under test, passed through.
        scorer: how it was scored, passed through.
        timings: measured times, passed through; the one block in which two equal runs differ.
        run: which run it was, passed through, where the caller says so.
        axes: the declared values of each condition axis; each gets a cell, with items or without.
        primary_metrics: the metric that decides, per language.
        judge: what the judge is and whether its numbers are trusted, passed through, where one was asked.
        determinism: how it was executed and what an audit counted, passed through.
        resamples: of the bootstrap.
        seed: of the bootstrap.
    """
    estimator = Estimator(table, families, resamples, seed)
    slices = slice_items(table.items, axes)
    report: Document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "suite": suite,
        "system": system,
        "scorer": scorer,
        "run": run,
        "statistics": statistics_document(resamples, seed),
        "items": items_document(table.items),
        "axes": {axis: list(values) for axis, values in axes.items()},
        "primary_metrics": dict(primary_metrics),
        "metrics": _metrics_documents(families),
        "matrix": matrix_documents(table, estimator, slices, primary_metrics),
        "worst_cells": worst_cells(estimator, slices),
        "arms": _arms_document(table, families, estimator),
        "propagation": _propagation_document(table, families, estimator, resamples, seed),
        "attribution": attribution_documents(
            Attributor(table, families, resamples, seed), estimator, _everything(table), slices
        ),
        "distributions": _distributions(table, families, slices),
        "judge": judge,
        "determinism": determinism,
        "failures": failures_document(table),
        "timings": timings,
    }
    return {**report, "takeaway": takeaway(report)}


def _metrics_documents(families: Sequence[Family]) -> list[Document]:
    return [
        {
            "family": family.name,
            "metric": rate.name,
            "description": rate.description,
            "better": rate.better,
            "arms": [str(arm) for arm in family.arms],
            "relative_to": None if family.relative_to is None else str(family.relative_to),
        }
        for family in families
        for rate in family.rates
    ]


def _arms_document(table: CountTable, families: Sequence[Family], estimator: Estimator) -> Document:
    """Return, per arm, the metrics that stand for themselves, each over all items that count in it."""
    relative = {family.name for family in families if family.relative_to is not None}
    arms: Document = {str(arm): {} for arm in table.arms}
    for estimate in estimator.estimate(_everything(table)):
        if estimate.family not in relative:
            arms[str(estimate.arm)][estimate.metric] = estimate_document(estimate)
    return arms


def _propagation_document(
    table: CountTable, families: Sequence[Family], estimator: Estimator, resamples: int, seed: int
) -> Document:
    """Return, per arm, the metrics that compare it with the transcript arm, item by item.

    `control` is the noise floor of `audio`, and `uncorrected` what it would be without the corrector.
    `lost_to_recognition` are the differences of all other metrics, audio minus transcript, over the items
    that both arms have; `correction` are those of audio minus uncorrected, what the corrector wins or harms.
    """
    relative = {family.name for family in families if family.relative_to is not None}
    document: Document = {str(Arm.AUDIO): {}, str(Arm.UNCORRECTED): {}, str(Arm.CONTROL): {}}
    for estimate in estimator.estimate(_everything(table)):
        if estimate.family in relative:
            name = _published_name(estimate.metric, estimate.arm)
            document[str(estimate.arm)][name] = estimate_document(estimate)
    for name, contrast in (("lost_to_recognition", LOST_TO_RECOGNITION), ("correction", CORRECTION)):
        document[name] = {
            difference.metric: difference_document(difference)
            for difference in compare_arms(table, families, *contrast, resamples=resamples, seed=seed)
        }
    return document


def _published_name(metric: str, arm: Arm) -> str:
    """Return what reports call a metric of pairs; the arms audio and transcript are `asr` and `clean`."""
    if metric == "baseline_quality":
        return "clean_response_quality"
    if metric == "arm_quality":
        return "asr_response_quality" if arm is Arm.AUDIO else f"{arm}_response_quality"
    return metric


def _distributions(table: CountTable, families: Sequence[Family], slices: Sequence[Slice]) -> list[Document]:
    """Return how the items' own rates are spread, over all items (axis and value null) and per slice."""
    whole = [(None, None, _everything(table))]
    places = [*whole, *((cell.axis, cell.value, cell.rows) for cell in slices)]
    return [
        {
            "family": family.name,
            "metric": family.rates[0].name,
            "arm": str(arm),
            "axis": axis,
            "value": value,
            **distribution_document(_item_rates(family, counts)[rows]),
        }
        for family, arm, counts in family_arms(table, families)
        if {_ITEM_RATES, _ITEMS_WITH_RATE} <= set(family.columns)
        for axis, value, rows in places
    ]


def _item_rates(family: Family, counts: Counts) -> FloatArray:
    """Return each row's own rate: float64[n], NaN where it has none."""
    rates = counts.values[:, family.columns.index(_ITEM_RATES)]
    has_rate = counts.values[:, family.columns.index(_ITEMS_WITH_RATE)] > 0
    return np.where(counts.present & has_rate, rates, np.nan)


def _everything(table: CountTable) -> BoolArray:
    return np.ones(len(table.items), dtype=np.bool_)
