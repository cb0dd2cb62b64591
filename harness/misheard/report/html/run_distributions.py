"""How the items' own values are spread, per metric, from the counts of items.parquet."""

from collections.abc import Iterator, Sequence

import numpy as np

from misheard.metrics.base import Arm, Family, FloatArray, Rate
from misheard.metrics.table import CountTable
from misheard.report.html.charts.axis import axis_value
from misheard.report.html.charts.histogram import Histogram, Spread, histogram
from misheard.report.html.page import Block, Cell, Column, Figure, Prose, Row, Section, Side, Table
from misheard.report.html.run_documents import RunDocuments
from misheard.report.labels import UNICODE, format_value, is_detail, is_shown_by_condition, label
from misheard.report.terminal_cells import sized
from misheard.report.terminal_report import EDITS, SPREAD, whole_distributions
from misheard.report.values import Document

_BINS = 20
_MOST = 1.5
"""Shares above this lie in the last bin: an error rate has no upper end."""

_MOST_FIGURES = 24

_LEAST_VALUES = 4
"""Values that items must take: what takes fewer, such as right or wrong, is told by its rate."""

_ARMS = (Arm.AUDIO, Arm.TRANSCRIPT)


def distributions_section(documents: RunDocuments) -> Iterator[Section]:
    """Yield the spread of each metric that single items have; nothing where none has."""
    report = documents.report
    spread = list(_spread(documents.table, documents.families))
    figures = tuple(_figure(rate, spreads) for rate, spreads in spread[:_MOST_FIGURES])
    blocks: list[Block] = [Side(figures)] if figures else []
    if more := len(spread) - len(figures):
        blocks.append(Prose((f"the items' values of {more} more metrics are in items.parquet",), "quiet"))
    if whole := whole_distributions(report):
        blocks.append(_errors(report, whole))
    if blocks:
        note = "each item's own value, bars count items; the corpus rate is made of sums, not of these"
        yield Section("distributions", "Spread over the items", tuple(blocks), note)


def _spread(table: CountTable, families: Sequence[Family]) -> Iterator[tuple[Rate, dict[Arm, FloatArray]]]:
    """Yield the metrics that are drawn, with the values of single items per arm."""
    for family in families:
        for rate in family.rates:
            if is_detail(rate.name) or not is_shown_by_condition(rate.name):
                continue
            spreads = {arm: values for arm in _ARMS if (values := _values(table, family, rate, arm)).size}
            if Arm.AUDIO in spreads and np.unique(spreads[Arm.AUDIO]).size >= _LEAST_VALUES:
                yield rate, spreads


def _values(table: CountTable, family: Family, rate: Rate, arm: Arm) -> FloatArray:
    """Return the rates of single items: float64[m], without those that have none."""
    found = table.arms.get(arm)
    counts = None if found is None else found.counts.get(family.name)
    if counts is None or arm not in family.arms:
        return np.empty(0)
    values = rate.compute(counts.values[counts.present])
    return values[np.isfinite(values)]


def _figure(rate: Rate, spreads: dict[Arm, FloatArray]) -> Figure:
    everything = np.concatenate(list(spreads.values()))
    low, high = min(0.0, float(everything.min())), float(everything.max())
    is_share = high <= 1.0 and low >= 0.0
    is_open = high > _MOST and rate.better == "lower"
    top = 1.0 if is_share else (_MOST if is_open else high)
    edges = np.linspace(low, top if top > low else low + 1.0, _BINS + 1)
    audio = spreads[Arm.AUDIO]
    p50, p95 = np.percentile(audio, [50, 95])
    chart = Histogram(
        name=f"spread-{rate.name.replace('_', '-')}",
        title=f"{label(rate.name)}, item by item",
        description=_told(rate.name, spreads),
        edges=tuple(edges.tolist()),
        spreads=tuple(
            Spread(
                str(arm), tuple(np.histogram(np.clip(v, edges[0], edges[-1]), edges)[0].tolist()), str(arm)
            )
            for arm, v in spreads.items()
        ),
        marks=(("p50", float(p50)), ("p95", float(p95))) if p95 > p50 else (("p50, p95", float(p50)),),
        show=lambda value: axis_value(rate.name, value),
        is_open=is_open,
    )
    quantiles = ", ".join(
        f"{n} {format_value(rate.name, float(v), UNICODE)}" for n, v in (("p50", p50), ("p95", p95))
    )
    return Figure(histogram(chart), label(rate.name), f"audio arm: {quantiles}; {audio.size} items")


def _told(metric: str, spreads: dict[Arm, FloatArray]) -> str:
    parts = []
    for arm, values in spreads.items():
        ends = [format_value(metric, float(v), UNICODE) for v in np.percentile(values, [5, 50, 95])]
        parts.append(
            f"{arm} arm, {values.size} items: 5th percentile {ends[0]}, median {ends[1]}, 95th {ends[2]}"
        )
    return "; ".join(parts)


def _errors(report: Document, whole: Sequence[Document]) -> Table:
    """Return how the errors divide and how they are spread over the items."""
    rows = []
    for entry in whole:
        metric = entry["metric"]
        estimate = report["arms"][entry["arm"]][metric]
        cells = [
            Cell(
                format_value(metric, estimate["value"], UNICODE),
                sizes=f"n {sized(estimate)}",
                sort=estimate["value"],
            )
        ]
        for column in EDITS.values():
            count = estimate["counts"].get(column)
            cells.append(Cell(UNICODE.missing if count is None else f"{count:,}", sort=count))
        cells += [Cell(format_value(metric, entry[name], UNICODE), sort=entry[name]) for name in SPREAD]
        rows.append(Row(label(metric), tuple(cells)))
    columns = (Column("corpus"), *map(Column, EDITS), *map(Column, SPREAD))
    return Table(
        "errors", "Errors of recognition", "", columns, tuple(rows),
        notes=("mean, p50 and p95 are of the items' own rates",),
    )  # fmt: skip
