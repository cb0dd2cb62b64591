"""The blocks of a plan on a terminal: what the pilot's suite can show, and what more would."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.report.labels import (
    Marks,
    count_of,
    format_difference,
    format_value,
    label,
    plain,
    unit_noun,
)
from misheard.report.terminal_cells import Grid, dim, fitting, heading, joined, sized, suite_line
from misheard.report.terminal_differences import format_amount
from misheard.report.terminal_legend import legend_block
from misheard.report.values import Document

_CONTRASTS = {
    "arms": "Audio {minus} transcript",
    "systems": "Two systems, paired",
    "systems_bound": "Two systems, bound",
}
_REASONS = {
    "no_items": "no items",
    "undefined": "undefined",
    "undefined_without_one_unit": "one {noun} carries it",
    "no_spread": "every {noun} alike",
}
_FEW_SIZES = (6, 10, 20, 40, 80, 160, 320)


def blocks(plan: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the blocks from top to bottom."""
    yield _header(plan, width, marks)
    noun = unit_noun(plan)
    plan, left_out = _with_items(plan)
    yield Group(
        heading("What this suite can show", _note(plan, noun), width),
        fitting(width, *(_sizes_now(plan, marks, noun, is_wide=wide) for wide in (True, False))),
    )
    if any(one["sizes"] for one in plan["plans"]):
        note = f"smallest effect by number of {noun}s; rates in points"
        yield Group(
            heading("What others would show", note, width),
            fitting(width, *(_sizes_other(plan, marks, is_wide=wide) for wide in (True, False))),
        )
    if left_out:
        names = ", ".join(map(label, left_out))
        yield dim(joined([f"left out, because the run has no items for them: {names}"], width, marks))
    yield legend_block([_signs(plan, marks, noun)], width, marks)


def _with_items(plan: Document) -> tuple[Document, list[str]]:
    """Return a plan without the metrics that no item counts in, and those; all stay where none has items."""
    has_items = {one["metric"] for one in plan["plans"] if one["reason"] != "no_items"}
    left_out = dict.fromkeys(one["metric"] for one in plan["plans"] if one["metric"] not in has_items)
    if not has_items or not left_out:
        return plan, []
    return {**plan, "plans": [one for one in plan["plans"] if one["metric"] in has_items]}, list(left_out)


def _header(plan: Document, width: int, marks: Marks) -> RenderableType:
    suite = plan["suite"]
    name = plain(" ".join(str(suite[key]) for key in ("name", "version") if key in suite))
    parts = [f"power {100 * plan['power']:.0f}%", f"two-sided {100 * plan['confidence']:.0f}% interval"]
    return suite_line(name, parts, width, marks)


def _note(plan: Document, noun: str) -> str:
    if plan["effect"] is None:
        return ""
    return f"needed: {noun}s and items for an effect of {100 * plan['effect']:g} points ({plan['effect']:g})"


def _sizes_now(plan: Document, marks: Marks, noun: str, *, is_wide: bool) -> Grid:
    columns = ["pilot", "n", f"{noun}s", "std. error", "smallest effect"]
    if not is_wide:
        columns[3:] = ["SE", "smallest"]
    if plan["effect"] is not None:
        columns += [f"{noun}s needed", "items needed"] if is_wide else ["needed", "items"]
    grid = Grid([("", "left"), *((column, "right") for column in columns)])
    for one, is_first in _with_groups(plan["plans"]):
        if is_first:
            _add_group(grid, one, marks)
        metric = one["metric"]
        figures = [_pilot_value(one, marks), sized(one), str(one["units"])]
        figures += [format_amount(metric, one["standard_error"], marks), _smallest(one, marks, noun)]
        if plan["effect"] is not None:
            figures += _needed(one, marks)
        grid.add(f"  {label(metric)}", *figures)
    return grid


def _with_groups(plans: Sequence[Document]) -> Iterator[tuple[Document, bool]]:
    """Yield plans by contrast within each cell, each with whether it begins a group."""
    groups: dict[tuple[object, ...], list[Document]] = {}
    cells = [one["conditions"] for one in plans]
    order = list(_CONTRASTS)
    for one in sorted(plans, key=lambda one: (cells.index(one["conditions"]), order.index(one["contrast"]))):
        groups.setdefault((*one["conditions"].items(), one["contrast"]), []).append(one)
    for group in groups.values():
        for place, one in enumerate(group):
            yield one, place == 0


def _add_group(grid: Grid, one: Document, marks: Marks) -> None:
    if grid.rows:
        grid.add("")
    values = ["(none)" if value is None else plain(value) for value in one["conditions"].values()]
    cell = ", ".join(f"{plain(axis)}={value}" for axis, value in zip(one["conditions"], values, strict=True))
    title = _CONTRASTS[one["contrast"]].format(minus=marks.minus)
    grid.add(Text(f"{cell}\n{title}" if cell else title, style="bold"))


def _pilot_value(one: Document, marks: Marks) -> str:
    if one["contrast"] == "systems_bound":
        return format_value(one["metric"], one["value"], marks)
    return format_difference(one["metric"], one["value"], marks)


def _smallest(one: Document, marks: Marks, noun: str) -> str:
    reason = one["reason"]
    if reason is None:
        return format_amount(one["metric"], one["smallest_effect"], marks)
    return _REASONS.get(reason, f"{reason.removesuffix('_units').replace('_', ' ')} {{noun}}s").format(
        noun=noun
    )


def _needed(one: Document, marks: Marks) -> list[str]:
    if one["reason"] is not None:
        return [marks.missing] * 2
    needed = one["needed"]
    return (
        ["over 1,000,000", marks.missing]
        if needed is None
        else [f"{needed[k]:,}" for k in ("units", "items")]
    )


def _sizes_other(plan: Document, marks: Marks, *, is_wide: bool) -> Grid:
    sizes = sorted({size["units"] for one in plan["plans"] for size in one["sizes"]})
    own = {one["units"] for one in plan["plans"]}
    shown = sizes if is_wide else [size for size in sizes if size in _FEW_SIZES or size in own]
    grid = Grid([("", "left"), *((str(size), "right") for size in shown)])
    for one, is_first in _with_groups([one for one in plan["plans"] if one["sizes"]]):
        if is_first:
            _add_group(grid, one, marks)
        found = {size["units"]: size["smallest_effect"] for size in one["sizes"]}
        cells = [format_amount(one["metric"], found.get(units), marks) for units in shown]
        grid.add(f"  {label(one['metric'])}", *(dim(c) if c == marks.missing else c for c in cells))
    return grid


def _signs(plan: Document, marks: Marks, noun: str) -> Iterator[str]:
    contrasts = {one["contrast"] for one in plan["plans"]}
    yield f"* under {plan['min_items']} items or {plan['min_units']} {noun}s"
    yield f"effects of rates are in points, SE: standard error, jackknife over {noun}s"
    yield f"{noun}s of the pilot's mean size ({_mean_sizes(plan)}), from the same people, rooms and devices"
    if "systems_bound" in contrasts:
        yield "bound: the most, if the other system varies as much and is not worse where this one is better"
        yield "a second run tells: --against RUN"


def _mean_sizes(plan: Document) -> str:
    sizes = sorted({round(one["n"] / one["units"], 1) for one in plan["plans"] if one["units"]})
    if not sizes:
        return "0"
    ends = " to ".join(f"{size:g}" for size in dict.fromkeys((sizes[0], sizes[-1])))
    return f"{ends} item" if ends == "1" else f"{ends} items"


def nothing_planned(plan: Document) -> str:
    """Return why a pilot tells nothing at all."""
    units = max((one["units"] for one in plan["plans"]), default=0)
    noun = unit_noun(plan)
    if units < plan["min_units"]:
        return (
            f"nothing can be planned: {count_of(units, noun)}, and under {plan['min_units']} none is trusted"
        )
    return f"nothing can be planned: no metric varies between the {noun}s of this pilot"
