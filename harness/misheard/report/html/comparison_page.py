"""The page of a comparison: what is better or worse in B, slice by slice, and what differs in it."""

from collections.abc import Iterator, Sequence

from misheard.report.html.comparison_documents import ComparisonDocuments
from misheard.report.html.comparison_rows import Named, Tolerances, difference_forest, difference_table
from misheard.report.html.comparison_sides import (
    heard_highlight,
    heard_section,
    reproduce_section,
    sides_section,
)
from misheard.report.html.page import (
    Block,
    Highlight,
    Page,
    Panel,
    Panels,
    Prose,
    Section,
)
from misheard.report.html.run_highlights import named_cells
from misheard.report.html.run_verdict import banner, verdict_section
from misheard.report.labels import (
    UNICODE,
    count_of,
    difference_interval,
    difference_unit,
    format_difference,
    format_difference_interval,
    is_detail,
    is_in_points,
    is_score,
    is_shown_by_condition,
    label,
    profile_sentence,
    section,
    unit_noun,
)
from misheard.report.takeaway_stages import LEADING
from misheard.report.terminal_differences import verdict_word
from misheard.report.terminal_report import suite_title
from misheard.report.values import Document

_ARMS = ("audio", "transcript")
_MOST_PANELS, _MOST_SLICES = 40, 240
_MOST_ROWS = 2_400
"""Rows of all views of single metrics together, over all runs."""

_KINDS = (
    ("shares", "in percentage points"),
    ("scores", "scores from 0 to 1"),
    ("points", "scores from 0 to 100"),
)


def comparison_page(documents: ComparisonDocuments) -> Page:
    """Return the page of a comparison of runs with a baseline."""
    document = documents.document
    first, *others = document["comparisons"]
    a, others_called = documents.a.called, [other.called for other in documents.others]
    sizes = [count_of(first["items"], "item"), count_of(first["units"], unit_noun(first))]
    where = document["selection"]["where"]
    return Page(
        title=f"{' and '.join(others_called)} against {a}",
        label="Comparison",
        facts=(
            f"A {a}",
            *(f"B {called}" for called in others_called),
            suite_title(document),
            *sizes,
            *([f"only items with {', '.join(where)}"] if where else []),
            *(["journals counted again"] if document["rescored"] else []),
        ),
        banner=banner(documents.verdict),
        highlights=() if others else tuple(_highlights(document, first)),
        sections=tuple(_sections(documents)),
    )


def _sections(documents: ComparisonDocuments) -> Iterator[Section]:
    document = documents.document
    yield from verdict_section(documents.verdict)
    for place, comparison in enumerate(document["comparisons"]):
        name = documents.others[place].name
        several = len(documents.others) > 1
        suffix, behind = (f"-{place + 1}", f": {name}") if several else ("", "")
        of_this = documents.verdict is not None and documents.verdict["candidate"] == name
        tolerances = Tolerances(documents.verdict if of_this else None)
        yield _whole(document, comparison, tolerances, suffix, behind)
        yield from _slices(document, comparison, tolerances, suffix, behind)
        yield from heard_section(comparison, suffix, behind)
    yield from sides_section(documents)
    yield reproduce_section(documents)


def _highlights(document: Document, comparison: Document) -> Iterator[Highlight]:
    """Yield the metrics that decide with their verdicts, the worst slice, and what was heard differently."""
    deciding = _deciding(document, comparison)
    for difference in deciding:
        yield _difference_highlight(difference, comparison)
    for difference in deciding[:1]:
        yield from _worst_highlight(difference, comparison)
    yield from heard_highlight(comparison)


def _deciding(document: Document, comparison: Document) -> list[Document]:
    primary = list(dict.fromkeys(document["primary_metrics"].values())) or ["wer"]
    found = {one["metric"]: one for one in _of_arms(comparison["differences"], ["audio"]) if _has_value(one)}
    lead = next((metric for metric in LEADING if metric in found), None)
    chosen = document["selection"]["metrics"] or [*primary, *([] if lead is None else [lead])]
    return [found[metric] for metric in dict.fromkeys(chosen) if metric in found][:3]


_WORD_TONES = {"worse": "bad", "too_few_items": "quiet", "inconclusive": "quiet"}


def _difference_highlight(difference: Document, comparison: Document) -> Highlight:
    metric = difference["metric"]
    ends = format_difference_interval(metric, difference_interval(metric, difference), UNICODE)
    parts = ["no interval" if ends == UNICODE.missing else f"95% interval {ends}"]
    parts += [count_of(difference["n"], "pair"), count_of(difference["units"], unit_noun(comparison))]
    name = label(metric)
    return Highlight(
        title=f"{name[0].upper()}{name[1:]}: {verdict_word(difference['verdict'])}",
        value=format_difference(metric, difference["difference"], UNICODE),
        what=f"{difference_unit(metric).strip()} B {UNICODE.minus} A".strip(),
        detail=f" {UNICODE.dot} ".join(parts),
        note="too few for a verdict" if difference["flags"] else "",
        link=f"metric={_key(difference)}",
        tone=_WORD_TONES.get(difference["verdict"], ""),
    )


def _worst_highlight(whole: Document, comparison: Document) -> Iterator[Highlight]:
    worst = [
        one
        for one in comparison["worst_cells"]
        if (one["metric"], one["arm"]) == (whole["metric"], whole["arm"])
    ]
    if worst:
        metric = whole["metric"]
        yield Highlight(
            title="Where B loses most or gains least",
            value=format_difference(metric, worst[0]["difference"], UNICODE),
            what=label(metric),
            where=named_cells(worst),
            detail=f"{count_of(worst[0]['n'], 'pair')} {UNICODE.dot} {verdict_word(worst[0]['verdict'])}",
            link=f"metric={_key(whole)}",
            tone="quiet" if worst[0]["flags"] else "bad",
        )


def _whole(
    document: Document, comparison: Document, tolerances: Tolerances, suffix: str, behind: str
) -> Section:
    chosen = bool(document["selection"]["metrics"] or document["selection"]["arms"])
    shown = [
        one
        for one in _of_arms(comparison["differences"], _arms(document))
        if _has_value(one) and (chosen or not is_detail(one["metric"]))
    ]
    title, note = f"Every item that both have{behind}", "paired item by item"
    if not shown:
        return Section(f"whole{suffix}", title, (Prose(("No pairs of these metrics and arms.",)),), note)
    rows = [Named(label(one["metric"]), one, heading=section(one["family"], one["arm"])) for one in shown]
    margins = document["selection"]["margins"]
    blocks: list[Block] = []
    for kind, unit in _KINDS:
        own = [row for row in rows if _kind(row.difference["metric"]) == kind]
        if own:
            title_of = f"B {UNICODE.minus} A, {unit}"
            blocks.append(difference_forest(f"whole-{kind}{suffix}", title_of, own, tolerances, margins))
    notes = tuple(filter(None, [profile_sentence(document["scorer"]), *_notes(document, comparison)]))
    blocks.append(
        difference_table(
            f"whole-table{suffix}", "All of it in figures", rows, tolerances, unit_noun(comparison)
        )
    )
    blocks.append(Prose(notes, "quiet"))
    return Section(f"whole{suffix}", title, tuple(blocks), note)


def _kind(metric: str) -> str:
    if is_in_points(metric):
        return "points"
    return "scores" if is_score(metric) else "shares"


def _notes(document: Document, comparison: Document) -> Iterator[str]:
    differences = [
        *comparison["differences"],
        *(d for cell in comparison["cells"] for d in cell["differences"]),
    ]
    tests = sum(one["verdict"] != "too_few_items" for one in differences)
    if tests:
        yield f"Of {count_of(tests, 'verdict')}, about 1 in 20 would see a change where there is none."
    for metric, size in document["selection"]["margins"].items():
        yield f"Equivalent: {metric} differs by less than {size:g}."
    left_out = [f"{one['family']} in the {one['arm']} arm" for one in comparison["not_compared"]]
    if left_out:
        yield f"Not compared, as one run has none: {', '.join(left_out)}."


def _slices(
    document: Document, comparison: Document, tolerances: Tolerances, suffix: str, behind: str
) -> Iterator[Section]:
    """Yield a view per metric and arm, with every slice of it; nothing without slices."""
    if not comparison["cells"]:
        return
    chosen = document["selection"]["metrics"]
    panels: list[Panel] = []
    left_out = 0
    cells = _shown_cells(comparison)
    most = max(1, _MOST_ROWS // len(document["comparisons"]) // (len(cells) + 1))
    for place, whole in _ordered(document, comparison):
        if not _has_value(whole) or not (chosen or is_shown_by_condition(whole["metric"])):
            continue
        if len(panels) == min(_MOST_PANELS, most):
            left_out += 1
            continue
        panels.append(_panel(document, {**comparison, "cells": cells}, place, whole, tolerances, suffix))
    if not panels:
        return
    blocks: list[Block] = [Panels(f"metric{suffix}", "One metric, slice by slice:", tuple(panels))]
    more = [
        f"{number:,} more {what} are in the JSON of the comparison (--json){which}."
        for number, what, which in (
            (len(comparison["cells"]) - len(cells), "slices", "; those that are worst come first"),
            (left_out, "metrics", ""),
        )
        if number
    ]
    if more:
        blocks.append(Prose(tuple(more), "quiet"))
    note = (
        f"B {UNICODE.minus} A in every slice, pair by pair; {UNICODE.worst} where B loses most or gains least"
    )
    yield Section(f"slices{suffix}", f"By condition{behind}", tuple(blocks), note)


def _shown_cells(comparison: Document) -> list[Document]:
    """Return the slices of a comparison; of too many, those that are worst come before others."""
    cells: list[Document] = comparison["cells"]
    if len(cells) <= _MOST_SLICES:
        return cells
    worst = {(one["axis"], one["value"]) for one in comparison["worst_cells"]}
    is_other = [(cell["axis"], cell["value"]) not in worst for cell in cells]
    kept = sorted(range(len(cells)), key=lambda place: (is_other[place], place))[:_MOST_SLICES]
    return [cells[place] for place in sorted(kept)]


def _ordered(document: Document, comparison: Document) -> list[tuple[int, Document]]:
    """Return the differences of the arms with their places, what decides first."""
    places = {id(one): place for place, one in enumerate(comparison["differences"])}
    shown = _of_arms(comparison["differences"], _arms(document))
    first = {id(one) for one in _deciding(document, comparison)}
    shown.sort(key=lambda one: id(one) not in first)
    return [(places[id(one)], one) for one in shown]


def _panel(
    document: Document, comparison: Document, place: int, whole: Document, tolerances: Tolerances, suffix: str
) -> Panel:
    worst = {
        (one["axis"], one["value"])
        for one in comparison["worst_cells"]
        if all(one[key] == whole[key] for key in ("family", "metric", "arm"))
    }
    rows = [Named("all items", whole)]
    rows += [
        Named(
            "(none)" if cell["value"] is None else str(cell["value"]),
            cell["differences"][place],
            heading=str(cell["axis"]),
            slice=tuple(cell["conditions"].items()),
            is_worst=(cell["axis"], cell["value"]) in worst,
        )
        for cell in comparison["cells"]
    ]
    key = _key(whole)
    name, noun = label(whole["metric"]), unit_noun(comparison)
    margins = document["selection"]["margins"]
    figure = difference_forest(
        f"forest-{key}{suffix}".replace("_", "-").replace(".", "-"),
        f"B {UNICODE.minus} A: {name}, {whole['arm']} arm", rows, tolerances, margins,
    )  # fmt: skip
    table = difference_table(
        f"table-{key}{suffix}".replace(".", "-"), "In figures", rows, tolerances, noun,
        notes=tuple(_stability(whole, noun)),
    )  # fmt: skip
    return Panel(key, f"{name}, {whole['arm']} arm", section(whole["family"], whole["arm"]), (figure, table))


def _stability(whole: Document, noun: str) -> Iterator[str]:
    if whole["intervals"] is not None:
        yield f"all items: the largest {noun} has {whole['intervals']['largest_unit_share']:.0%} of the pairs"
    if whole["keeps_sign"] is not None and whole["difference"]:
        kept = "the same" if whole["keeps_sign"] else "not the same"
        yield f"the sign is {kept} whichever {noun} is left out"


def _key(difference: Document) -> str:
    return f"{difference['metric']}.{difference['arm']}"


def _arms(document: Document) -> Sequence[str]:
    return document["selection"]["arms"] or _ARMS


def _of_arms(differences: Sequence[Document], arms: Sequence[str]) -> list[Document]:
    return [one for arm in arms for one in differences if one["arm"] == arm]


def _has_value(difference: Document) -> bool:
    return difference["n"] > 0 and (difference["a"] is not None or difference["b"] is not None)
