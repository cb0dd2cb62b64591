"""A calibration on a terminal: agreement per language and question, then drift."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.judge.agreement import Agreement, worst_agreement
from misheard.judge.calibration import Calibration
from misheard.judge.drift import MAX_DRIFT
from misheard.report.labels import Marks, plain
from misheard.report.terminal import Sized
from misheard.report.terminal_cells import Grid, fitting, heading

_COLUMNS = ("n", "higher by", "95% interval", "apart by", "rank corr.", "invalid", "flips")


def render_calibration(found: Sequence[Agreement], calibration: Calibration, notes: Sequence[str]) -> Sized:
    """Return a calibration for a rich console; `notes` are further lines."""
    return Sized(lambda width, marks: _blocks(found, calibration, notes, width, marks))


def _blocks(
    found: Sequence[Agreement], calibration: Calibration, notes: Sequence[str], width: int, marks: Marks
) -> Iterator[RenderableType]:
    grid = Grid([("", "left"), *((column, "right") for column in _COLUMNS)])
    for one in found:
        grid.add(*_row(one, marks))
    note = (
        "points; higher by: mean of judge - human, with its interval from 6 items on; apart by: mean distance"
    )
    yield Group(heading("The judge against people", note, width), fitting(width, grid))
    worst = worst_agreement(found)
    if worst is not None:
        yield Text(f"Farthest from people: {worst.language}, {worst.question}, by {worst.error:.1f} points.")
    yield Text("\n".join([*(plain(note) for note in notes), *_drift_lines(calibration)]))


def _row(one: Agreement, marks: Marks) -> tuple[str, ...]:
    interval = marks.missing
    if one.interval is not None:
        interval = f"{one.interval.low:+.1f}{marks.to}{one.interval.high:+.1f}".replace("-", marks.minus)
    return (
        ", ".join(part for part in (one.language, one.question) if part),
        str(one.n),
        _number(one.difference, "+.1f", marks),
        interval,
        _number(one.error, ".1f", marks),
        _number(one.rank_correlation, ".2f", marks),
        f"{one.invalid}/{one.items}",
        f"{one.flips}/{one.pairs}" if one.pairs else marks.missing,
    )


def _number(value: float | None, form: str, marks: Marks) -> str:
    return marks.missing if value is None else format(value, form).replace("-", marks.minus)


def _drift_lines(calibration: Calibration) -> Iterator[str]:
    drift = calibration.drift
    if drift is None:
        yield "Drift: none to tell; there are no scores over this set to compare with."
    else:
        overall = "not defined" if drift.overall is None else f"{drift.overall:+.2f}"
        groups = {**drift.languages, **drift.questions}
        parts = ", ".join(f"{name} {value:+.2f}" for name, value in groups.items())
        yield f"Drift in points, at most {MAX_DRIFT:g} each: all items {overall}; {parts or 'no items'}."
        if drift.unpaired:
            yield f"Scored on one side only: {', '.join(drift.unpaired[:20])}."
    yield f"Status: {calibration.status}."
