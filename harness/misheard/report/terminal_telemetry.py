"""What the machine did while the run worked, stage by stage, in a few lines."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType

from misheard.report.labels import Marks, count_of, plain
from misheard.report.terminal_cells import Grid, dim, fitting, heading, joined
from misheard.telemetry.readings import SENTENCES, Reason

_GIB = 1024**3

_SHOWN_SECONDS = 0.005
"""A stage that took less is one that had nothing to do."""

_SMALL_MONEY = 0.001

_MONEY = {"run": "device time", "tokens": "tokens"}
_PARTS = {"devices": "devices", "cpu": "processor"}
_ENERGY = {"devices": "energy", "cpu": "cpu energy"}


def telemetry_block(telemetry: Mapping[str, Any] | None, width: int, marks: Marks) -> RenderableType | None:
    """Return devices, processes and energy per stage; None where nothing was measured.

    Args:
        telemetry: the document of a `TelemetryResult`.
        width: of the terminal.
        marks: its signs.
    """
    if not telemetry or not telemetry.get("enabled") or not telemetry["stages"]:
        return None
    listed = telemetry["devices"]["listed"]
    names = ", ".join(dict.fromkeys(plain(device["name"]) for device in listed if device["counted"]))
    note = f"{count_of(telemetry['price']['devices'], 'device')}: {names}" if names else ""
    layouts = [_grid(telemetry, marks, has_detail=detail) for detail in (True, False)]
    return Group(
        heading("Machine", note, width),
        fitting(width, *layouts),
        *(dim(joined([line], width, marks)) for line in machine_sentences(telemetry, marks)),
    )


def _grid(telemetry: Mapping[str, Any], marks: Marks, *, has_detail: bool) -> Grid:
    """Return a row per stage; without detail, energy and the peaks of memory alone."""
    titles, rows = machine_rows(telemetry, marks, has_detail=has_detail)
    grid = Grid([("stage", "left"), *((title, "right") for title in titles)])
    for name, cells in rows:
        grid.add(name, *cells)
    return grid


def machine_rows(
    telemetry: Mapping[str, Any], marks: Marks, *, has_detail: bool = True
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return titles, and per stage that took time its name and its figures under them."""
    titles = ["time"]
    titles += ["cores"] if has_detail else []
    titles += ["memory"]
    if telemetry["devices"]["listed"]:
        titles += ["busy", "device memory", "power"] if has_detail else ["device memory"]
    stages = telemetry["stages"].values()
    titles += [title for part, title in _ENERGY.items() if any(_net(stage, part) for stage in stages)]
    rows = []
    for name, stage in telemetry["stages"].items():
        if stage["seconds"] < _SHOWN_SECONDS:
            continue
        cells = {
            "time": f"{stage['seconds']:.2f} s",
            "cores": _number(stage["cpu_cores"]["mean"], "{:.1f}", marks),
            "memory": _bytes(stage["resident_bytes"]["peak"], marks),
            **_device_cells(stage["devices"], marks),
            **{title: _joules(_net(stage, part), marks) for part, title in _ENERGY.items()},
        }
        rows.append((plain(name.replace(":", " ")), [cells[title] for title in titles]))
    return titles, rows


def _device_cells(devices: list[Mapping[str, Any]], marks: Marks) -> dict[str, str]:
    """Return what the devices that count did together: mean of utilisation, sums of memory and power."""
    counted = [device for device in devices if device["counted"]]
    busy = [device["utilization_percent"]["mean"] for device in counted]
    memory = [device["memory_used_bytes"]["peak"] for device in counted]
    power = [device["power_watts"]["mean"] for device in counted]
    mean = None if None in busy or not busy else sum(busy) / len(busy)
    return {
        "busy": _number(mean, "{:.0f}%", marks),
        "device memory": _bytes(_sum(memory), marks),
        "power": _number(_sum(power), "{:.0f} W", marks),
    }


def machine_sentences(telemetry: Mapping[str, Any], marks: Marks) -> Iterator[str]:
    """Yield the figures per hour and answer, and why others are missing."""
    per_hour = [
        f"{_joules(telemetry['total'][part]['net_joules_per_audio_hour'], marks)} {title}"
        for part, title in _PARTS.items()
        if telemetry["total"][part]["net_joules_per_audio_hour"]["value"] is not None
    ]
    per_hour += _money(telemetry["price"], "_per_audio_hour")
    if per_hour:
        yield f"per hour of audio: {f' {marks.dot} '.join(per_hour)}"
    yield from _money_lines(telemetry["price"], marks)
    if any(figure["value"] is not None for figure in telemetry["idle_watts"].values()):
        yield "energy is what is left after the idle baseline"
    for part, title in _PARTS.items():
        missing = telemetry["total"][part]["net_joules"]
        if missing.get("reason") == Reason.NOT_USED:
            continue
        if missing["value"] is None:
            yield f"no energy of the {title}: {SENTENCES[Reason(missing['reason'])]}"
        elif missing.get("reason"):
            yield f"energy of the {title}: {SENTENCES[Reason(missing['reason'])]}"
    sampler = telemetry["sampler"]
    if sampler["ended"]:
        yield f"sampling ended before the run did ({plain(sampler['ended'])})"


def _money_lines(price: Mapping[str, Any], marks: Marks) -> Iterator[str]:
    """Yield what the run cost, and why what has a price named cost nothing that could be told."""
    if of_run := _money(price):
        yield f"this run: {f' {marks.dot} '.join(of_run)}"
    for name, title in _MONEY.items():
        reason = price[name].get("reason")
        if price[name]["value"] is None and reason != Reason.NO_PRICE:
            yield f"no money for {title}: {SENTENCES[Reason(reason)]}"


def _money(price: Mapping[str, Any], suffix: str = "") -> list[str]:
    return [
        f"{_amount(price[name + suffix]['value'])} {plain(price['currency'])} {title}"
        for name, title in _MONEY.items()
        if price[name + suffix]["value"] is not None
    ]


def _amount(value: float) -> str:
    """Return four decimals, and more of a small amount, which would round to nothing."""
    decimals = 4 if value == 0 or value >= _SMALL_MONEY else 1 - math.floor(math.log10(value))
    return f"{value:.{decimals}f}"


def _net(stage: Mapping[str, Any], part: str) -> Mapping[str, Any] | None:
    """Return a stage's energy after the baseline, where there is a value."""
    found: Mapping[str, Any] = stage["energy"][part]["net_joules"]
    return None if found["value"] is None else found


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _number(value: float | None, form: str, marks: Marks) -> str:
    return marks.missing if value is None else form.format(value).replace("-", marks.minus)


def _bytes(value: float | None, marks: Marks) -> str:
    return _number(None if value is None else value / _GIB, "{:.2f} GiB", marks)


def _joules(reading: Mapping[str, Any] | None, marks: Marks) -> str:
    value = None if reading is None else reading["value"]
    if value is None or abs(value) < 10_000:
        return _number(value, "{:.1f} J", marks)
    return _number(value / 1000, "{:.1f} kJ", marks)
