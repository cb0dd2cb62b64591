#!/usr/bin/env python3
"""Read a run's report.json into a Markdown table: a row per condition and metric, with n and interval.

    python3 examples/python/report_table.py RUN [METRIC ...]

Needs nothing but the standard library: report.json is described by its JSON schema (docs/formats.md). It has
intervals as they were computed; under 6 sessions none is to be trusted, and none is shown here either.
"""

import json
import sys
from pathlib import Path
from typing import Any


def percent(value: float | None) -> str:
    """Return a share as text; what is undefined is a dash, never a 0."""
    return "–" if value is None else f"{100 * value:.1f}%"


def interval(found: dict[str, Any]) -> str:
    """Return the interval that verdicts go by, within what a share can reach."""
    deciding = (found["intervals"] or {}).get("deciding")
    if deciding is None or "under_6_units" in found["flags"]:
        return "–"
    return f"{percent(max(0.0, deciding[0]))} to {percent(deciding[1])}"


def main(run: str, *metrics: str) -> None:
    """Print the table of the audio arm."""
    report = json.loads((Path(run) / "report.json").read_text("utf-8"))
    print("| condition | metric | value | 95% interval | n | sessions | failed | |")
    print("| --- | --- | ---: | --- | ---: | ---: | ---: | --- |")
    for cell in report["matrix"]:
        for found in cell["estimates"]:
            if found["arm"] != "audio" or found["metric"] not in (metrics or ("wer",)):
                continue
            figures = (found["metric"], percent(found["value"]), interval(found))
            counts = (found["n"], found["units"], found["failed"], ", ".join(found["flags"]))
            print("|", " | ".join(map(str, (f"{cell['axis']}={cell['value']}", *figures, *counts))), "|")


if __name__ == "__main__":
    main(*sys.argv[1:])
