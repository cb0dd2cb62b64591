"""From folders to the entries of an index: report.json and run.json, or soak.json."""

import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from misheard.canonical import sha256_json
from misheard.errors import MisheardError
from misheard.report.files import damaged_report, read_report
from misheard.report.html.index_documents import Entry, Figure, Index, Key, Problem
from misheard.report.html.links import link_to_report
from misheard.report.html.loading import MAX_VERDICT_BYTES
from misheard.report.html.run_page import system_names
from misheard.report.labels import rate_interval
from misheard.report.terminal_report import suite_title
from misheard.report.values import Document
from misheard.run.directory import RunDirectory
from misheard.run.finished import check_report_of_run
from misheard.soak.finished import is_soak_folder, read_facts
from misheard.soak.replay.folder import SoakFolder

VERDICT = "verdict.json"
"""What `misheard gate --json` wrote of a run, where it lies in its directory; a soak has one anyway."""

_NAMED_TIME = re.compile(r"(?<!\d)(\d{8}-\d{6})(?!\d)")
_FORMATS = ("misheard-verdict", "misheard-soak-verdict")
_TONES = {"ship": "good", "inconclusive": "quiet"}
_NOT_THE_SCORER = ("sha256", "system", "judge")


def read_index(folders: Iterable[Path], page: Path) -> Index:
    """Return what a page of several folders is made of, each folder once, in the order of time.

    What cannot be read becomes a problem and not an error. An earlier `page` among the folders, as `runs/*`
    names it, is passed over.
    """
    entries: list[Entry] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for folder in folders:
        place = os.path.realpath(folder)
        if place in seen or folder.absolute() == page.absolute():
            continue
        seen.add(place)
        try:
            read = _soak if is_soak_folder(folder) else _run
            entry, notes = read(folder, page)
        except (MisheardError, OSError) as error:
            why = str(error) if isinstance(error, MisheardError) else f"{folder}: {error.strerror}"
            problems.append(Problem(str(folder), why))
            continue
        entries.append(entry)
        problems += notes
    # the order on the command line decides between equal times
    return Index(tuple(sorted(entries, key=lambda entry: entry.when)), tuple(problems))


def _run(folder: Path, page: Path) -> tuple[Entry, list[Problem]]:
    directory = RunDirectory.open(folder)
    run, report = directory.read_run(), read_report(folder)
    check_report_of_run(folder, run, report)
    verdict, tone, problems = _verdict(folder)
    with damaged_report(folder):
        when, day, dated_by = _time(folder, directory.plan)
        scorer = {
            key: sha256_json(value) for key, value in report["scorer"].items() if key not in _NOT_THE_SCORER
        }
        entry = Entry(
            name=folder.resolve().name,
            kind="run",
            when=when,
            day=day,
            dated_by=dated_by,
            suite=suite_title(report),
            system=", ".join(system_names(run["config"])),
            items=str(report["items"]["total"]),
            failed=int(report["failures"]["samples_failed"]),
            figures=dict(_figures(report)),
            verdict=verdict,
            verdict_tone=tone,
            href=link_to_report(page, folder),
            suite_name=str(report["suite"].get("name", "")),
            suite_sha256=str(report["suite"].get("sha256", "")),
            scorer=scorer,
            judge=sha256_json(report["scorer"].get("judge")),
        )
    return entry, problems


def _figures(report: Document) -> Iterator[tuple[Key, Figure]]:
    """Yield each language's primary metric over its own items; the word error rate where none is named."""
    for language, metric in report["primary_metrics"].items() or [("", "wer")]:
        cells = [c for c in report["matrix"] if (c["axis"], c["value"]) == ("language", language)]
        estimates = cells[0]["estimates"] if cells else [
            {**one, "metric": name, "arm": "audio"} for name, one in report["arms"]["audio"].items()
        ]  # fmt: skip
        for one in estimates:
            if (one["metric"], one["arm"]) == (metric, "audio"):
                ends = rate_interval(metric, one)
                yield (
                    (str(language), str(metric)),
                    Figure(
                        value=None if one["value"] is None else float(one["value"]),
                        interval=None if ends is None else (float(ends[0]), float(ends[1])),
                        n=int(one["n"]),
                        units=int(one["units"]),
                        failed=int(one["failed"]),
                        is_weak=bool(one["flags"]),
                    ),
                )


def _soak(folder: Path, page: Path) -> tuple[Entry, list[Problem]]:
    place = SoakFolder(folder)
    facts = read_facts(folder)
    verdict, tone, problems = _verdict(folder)
    when, day, dated_by = _time(folder, place.session)
    entry = Entry(
        name=folder.resolve().name,
        kind="soak",
        when=when,
        day=day,
        dated_by=dated_by,
        suite="",
        system=facts.sentence,
        items="",
        failed=None,
        figures={},
        verdict=verdict,
        verdict_tone=tone,
        href=link_to_report(page, folder),
    )
    return entry, problems


def _time(folder: Path, first: Path) -> tuple[float, str, str]:
    """Return when a run began: as its name says, else when the first file of it was written.

    Folders hold no time of day in their files. Times are those of this machine's clock and zone, as in names.
    """
    if found := _NAMED_TIME.search(folder.resolve().name):
        try:
            named = time.strptime(found[1], "%Y%m%d-%H%M%S")
            return time.mktime(named), time.strftime("%Y-%m-%d %H:%M", named), "its name"
        except (ValueError, OverflowError):
            pass
    for path in (first, folder):
        try:
            when = path.stat().st_mtime
            return when, time.strftime("%Y-%m-%d %H:%M", time.localtime(when)), f"the date of {path.name}"
        except OSError:
            continue
    return 0.0, "", "nothing"


def _verdict(folder: Path) -> tuple[str, str, list[Problem]]:
    """Return the outcome of a verdict.json, its tone, and what is wrong with it; empty without one."""
    path = folder / VERDICT
    if not path.is_file():
        return "", "", []
    try:
        document = json.loads(path.read_bytes()) if path.stat().st_size <= MAX_VERDICT_BYTES else None
    except (OSError, ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("format") not in _FORMATS:
        return "", "", [Problem(str(path), f"{path}: is no verdict of misheard; it is not shown")]
    name = folder.resolve().name
    if document["format"] == _FORMATS[0] and document.get("candidate") != name:
        return "", "", [Problem(str(path), f"{path}: is the verdict of another run; it is not shown")]
    outcome = str(document.get("outcome", ""))[:40]
    return outcome.replace("_", " "), _TONES.get(outcome, "bad"), []
