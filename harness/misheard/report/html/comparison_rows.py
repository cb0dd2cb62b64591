"""Paired differences as rows of tables and forests, with what a gate accepts of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from misheard.gate.sentences import rule_words
from misheard.report.html.charts.axis import difference_axis_value
from misheard.report.html.charts.forest import Forest, ForestRow, forest
from misheard.report.html.page import Cell, Column, Figure, Mark, Row, Table
from misheard.report.html.run_costs import TONES, change_cell
from misheard.report.labels import UNICODE, count_of, difference_interval, format_p, format_value
from misheard.report.terminal_cells import sized
from misheard.report.terminal_differences import verdict_word
from misheard.report.values import Document
from misheard.stats.gate import ABSOLUTE, Rule

SIGNS = {"better": "✓", "worse": "✗", "changed": "≠", "equivalent": "≈", "same": "="}
"""What stands before the word of a verdict; one that shows nothing has none."""

_MOST_DRAWN = 80


@dataclass(frozen=True, slots=True)
class Named:
    """A difference with what its row is called; `heading` is the axis, empty over all items."""

    label: str
    difference: Document
    heading: str = ""
    slice: tuple[tuple[str, str | None], ...] = ()
    is_worst: bool = False


class Tolerances:
    """What the gate of a verdict accepts, per metric, arm and slice."""

    def __init__(self, verdict: Document | None) -> None:
        self._checks: dict[tuple[object, ...], Document] = {}
        for check in [] if verdict is None else verdict["checks"]:
            if check["metric"] is not None and check["rule"] is not None and check["arm"] is not None:
                key = (check["metric"], check["arm"], tuple(sorted(check["slice"].items(), key=str)))
                self._checks.setdefault(key, check)

    def check(self, named: Named) -> Document | None:
        """Return the check of a row; None where the gate asks nothing of it."""
        one = named.difference
        return self._checks.get((one["metric"], one["arm"], tuple(sorted(named.slice, key=str))))

    def allowed(self, named: Named) -> tuple[float | None, float | None] | None:
        """Return the differences that the gate accepts, low and high; None where it says nothing of them."""
        check = self.check(named)
        if check is None or Rule(check["rule"]) in ABSOLUTE:
            return None
        limit = float(check["limit"] or 0.0)
        rule = Rule(check["rule"])
        if rule is Rule.MUST_IMPROVE:
            return (None, 0.0) if named.difference["better"] == "lower" else (0.0, None)
        return {
            Rule.MAY_RISE: (None, limit),
            Rule.MUST_FALL: (None, -limit),
            Rule.MAY_FALL: (-limit, None),
            Rule.MUST_RISE: (limit, None),
        }[rule]


def difference_table(
    name: str,
    caption: str,
    rows: Sequence[Named],
    tolerances: Tolerances,
    noun: str,
    notes: tuple[str, ...] = (),
) -> Table:
    """Return a table with everything that the verdicts rest on."""
    gated = any(tolerances.check(row) is not None for row in rows)
    columns = [
        Column("verdict", is_text=True),
        Column("n", note="pairs of items that count on both sides"),
        Column(f"{noun}s"),
        Column("A"),
        Column("B"),
        Column(f"B {UNICODE.minus} A", note="with its 95% interval"),
        Column("p", note="sign-flip test"),
        Column("adjusted", note="p for all tests of this kind together"),
        *([Column("gate", is_text=True)] if gated else []),
    ]
    found = tuple(
        Row(
            row.label,
            tuple(_cells(row, tolerances, gated)),
            prefix=row.heading if row.slice else "",
            below="" if row.slice else row.heading,
        )
        for row in rows
    )
    head = "slice" if any(row.slice for row in rows) else "metric"
    return Table(name, caption, head, tuple(columns), found, notes=notes)


def _cells(row: Named, tolerances: Tolerances, gated: bool) -> Iterator[Cell]:
    one = row.difference
    metric = one["metric"]
    yield _verdict_cell(one)
    yield Cell(sized(one), sizes=_failed(one), sort=one["n"])
    yield Cell(str(one["units"]), sort=one["units"])
    for side in ("a", "b"):
        yield Cell(format_value(metric, one[side], UNICODE), sort=one[side])
    change = change_cell(metric, one)
    worst = (Mark(UNICODE.worst, "worst slice"),) if row.is_worst else ()
    yield Cell(
        change.text, below=change.below, sort=change.sort, tone=change.tone, tip=change.tip, marks=worst
    )
    for found in (one["sign_flip"], one["adjusted"]):
        p = None if found is None else found["p"]
        yield Cell(format_p(p, UNICODE), sort=p)
    if gated:
        yield _gate_cell(metric, tolerances.check(row))


def _verdict_cell(one: Document) -> Cell:
    verdict = one["verdict"]
    sign = SIGNS.get(verdict)
    return Cell(
        f"{sign} {verdict_word(verdict)}" if sign else verdict_word(verdict),
        sort=verdict_word(verdict),
        tone=TONES.get(verdict, ""),
    )


def _failed(one: Document) -> str:
    counts = [f"{one[f'failed_{side}']} in {side.upper()}" for side in ("a", "b") if one[f"failed_{side}"]]
    return f"failed: {', '.join(counts)}" if counts else ""


def _gate_cell(metric: str, check: Document | None) -> Cell:
    if check is None:
        return Cell(UNICODE.missing, tone="quiet")
    status = check["status"].replace("_", " ")
    tone = {"pass": "good", "fail": "bad", "no_evidence": "bad"}.get(check["status"], "quiet")
    return Cell(status, below=rule_words(Rule(check["rule"]), check["limit"], metric), sort=status, tone=tone)


def difference_forest(
    name: str,
    caption: str,
    rows: Sequence[Named],
    tolerances: Tolerances,
    margins: Mapping[str, float],
    note: str = "",
) -> Figure:
    """Return the forest of differences that have an axis in common."""
    shown = [row for row in rows if row.difference["n"]][:_MOST_DRAWN]
    metric = shown[0].difference["metric"]
    better = {row.difference["better"] for row in shown}
    margin = {margins.get(row.difference["metric"]) for row in shown}
    drawn, heading = [], ""
    for row in shown:
        drawn.append(_forest_row(row, tolerances, "" if row.heading == heading else row.heading))
        heading = row.heading
    chart = Forest(
        name=name,
        title=caption,
        description="; ".join(map(_told, shown)),
        rows=tuple(drawn),
        show=lambda value: difference_axis_value(metric, value),
        margin=next(iter(margin)) if len(margin) == 1 else None,
        sides=_sides(better),
    )
    left_out = sum(1 for row in rows if row.difference["n"]) - len(shown)
    parts = [note] if note else []
    if chart.margin is not None:
        parts.append("shaded: the margin inside which a difference is none")
    if any(row.allowed for row in drawn):
        parts.append("upright bars: how far the gate lets a difference go")
    if left_out > 0:
        parts.append(f"{left_out} more in the table")
    return Figure(forest(chart), caption, "; ".join(parts), is_wide=True)


def _sides(better: set[str | None]) -> tuple[str, str] | None:
    if better == {"lower"}:
        return ("B is better", "B is worse")
    return ("B is worse", "B is better") if better == {"higher"} else None


def _forest_row(row: Named, tolerances: Tolerances, heading: str) -> ForestRow:
    one = row.difference
    ends = difference_interval(one["metric"], one)
    return ForestRow(
        label=row.label,
        value=one["difference"],
        interval=None if ends is None else (ends[0], ends[1]),
        verdict=one["verdict"],
        word=verdict_word(one["verdict"]),
        heading=heading,
        allowed=tolerances.allowed(row),
    )


def _told(row: Named) -> str:
    one = row.difference
    change = change_cell(one["metric"], one)
    name = f"{row.heading} {row.label}" if row.slice else row.label
    sizes = f"{count_of(one['n'], 'pair')}"
    return f"{name} {change.text}, {change.below}, {sizes}, {verdict_word(one['verdict'])}"
