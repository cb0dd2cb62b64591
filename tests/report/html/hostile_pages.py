"""A comparison, a session and an index whose names are out to break the page."""

import functools
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hostile_run import AXIS, NAMES, QUOTED, SCRIPT, TURNED, hostile_table

from made_up_tables import CER, WER
from misheard.metrics.base import Arm
from misheard.report.comparison import ComparedPair, build_comparison
from misheard.report.html.comparison_documents import ComparedRun, ComparisonDocuments
from misheard.report.html.index_documents import Entry, Figure, Index, Problem
from misheard.report.html.soak_documents import SoakDocuments
from misheard.report.values import Document
from misheard.soak.limits import Limits
from misheard.soak.reading import read_trace
from misheard.soak.verdict import judge_trace
from misheard.stats.compare import Selection, compare_tables
from soak.made_traces import healthy, in_order, without, write

KEY = ("en", "wer")


def gate_check(**changes: Any) -> Document:
    """A check of a gate's verdict on the word error rate over all items."""
    return {
        "id": QUOTED, "role": "guard", "status": "fail", "decides": True, "why": SCRIPT, "metric": "wer",
        "arm": "audio", "slice": {}, "rule": "may_rise_by_at_most", "limit": 0.02, **changes,
    }  # fmt: skip


@functools.cache
def hostile_comparison(others: int = 1) -> ComparisonDocuments:
    """Return a comparison in which B hears every item worse; with a gate of A and the first B."""
    table = hostile_table()
    audio = table.arms[Arm.AUDIO]
    errors = audio.counts["wer"]
    values = errors.values.copy()
    values[:, 0] += 1
    worse = replace(audio, counts={**audio.counts, "wer": replace(errors, values=values)})
    other = replace(table, arms={**table.arms, Arm.AUDIO: worse})
    selection = Selection(margins={"wer": 0.05})
    found = compare_tables(
        table,
        other,
        (WER, CER),
        axes={AXIS: NAMES, "mic": ("a", "b")},
        selection=selection,
        resamples=200,
        seed=1,
    )
    differing = [{"id": f"{NAMES[0]}0", "edits": 3, "reference_words": 5, "formatting_only": False}]
    transcripts = {
        "items": 140, "differ": 1, "share": 1 / 140, "interval": [0.0, 0.05], "formatting_only": 0,
        "edits": 3, "failed_in_a_only": 1, "failed_in_b_only": 0, "failed_in_both": 0, "differing": differing,
    }  # fmt: skip
    a, b = ({"run": side, "system": {"recognizer": {"model.bin": side * 64}}} for side in ("a", "b"))
    pair = ComparedPair(found, a, b, None, transcripts)
    document = build_comparison(
        [pair] * others, suite={"name": f"s{SCRIPT}{TURNED}", "version": "1"}, scorer={"profile": "nfc"},
        primary_metrics={"en": "wer"}, selection=selection,
    )  # fmt: skip
    verdict = {
        "outcome": "no_ship", "summary": "NO SHIP: of 1 check 1 failed", "gate": {"name": "gate.yaml"},
        "baseline": QUOTED, "candidate": "b0", "refusals": [], "notes": [], "checks": [gate_check()],
    }  # fmt: skip
    runs = tuple(ComparedRun(f"b{n}", {"model": SCRIPT}, "b/report.html") for n in range(others))
    return ComparisonDocuments(document, ComparedRun(QUOTED, {"model": TURNED}), runs, verdict)


def hostile_soak(folder: Path, events: Iterable[dict[str, Any]] = ()) -> SoakDocuments:
    """Return a session with a fault, a restart, and an operation that was never applied."""
    rows = without(
        healthy(), lambda row: row.get("operation") == "op40" and row["event"] == "operation_applied"
    )
    rows += [{"event": "fault_injected", "t": 99.0, "fault": "server_crash"},
             {"event": "server_restarted", "t": 130.0, "seconds": 31.0}, *events]  # fmt: skip
    read = read_trace(write(folder / "trace.jsonl", in_order(rows)))
    state = {
        "misheard": "0.1.0", "status": "complete", "minutes": 7, "speed": "max", "cpu": True,
        "faults": ["server_crash@99"], "config": {"recognizer": {"model": SCRIPT}}, "system": {"a": TURNED},
        "suite": {"path": QUOTED}, "session": {"recordings": {QUOTED: "a" * 64}}, "versions": {"numpy": "2"},
        "machine": {"cpu": SCRIPT},
    }  # fmt: skip
    judged = judge_trace(read, Limits(), f"{SCRIPT}{TURNED}", None)
    return SoakDocuments(f"{SCRIPT}{TURNED}", read.trace, judged, Limits(), "complete, 7 minutes", state)


def entry(number: int, **changes: Any) -> Entry:
    """A run of an index."""
    return replace(
        Entry(
            name=f"{NAMES[number % len(NAMES)]}{number}", kind="run", when=float(number), day="a day",
            dated_by="its name", suite=f"s{SCRIPT} 1", system=QUOTED, items="60", failed=1,
            figures={KEY: Figure(0.2 + number / 100, (0.1, 0.4), 60, 8, 1, False)},
            href="a/report.html", suite_name=f"s{SCRIPT}", suite_sha256="a", scorer={"profile": "x"},
            judge="j",
        ),
        **changes,
    )  # fmt: skip


def hostile_index() -> Index:
    """Return eight runs and a soak, with a change of suite, of scorer, and of all three."""
    runs = [
        entry(0), entry(1), entry(2, suite_sha256="b"), entry(3, suite_sha256="b", figures={}),
        entry(4, suite_sha256="b"), entry(5, suite_sha256="b", scorer={"profile": "y"}),
        entry(6, suite_sha256="c", scorer={"profile": "z"}, judge="k"),
        entry(7, suite_sha256="c", scorer={"profile": "z"}, judge="k", verdict="no ship", verdict_tone="bad"),
    ]  # fmt: skip
    soak = entry(8, kind="soak", items="", failed=None, figures={}, suite="", href="")
    return Index((*runs, soak), (Problem(SCRIPT, f"{TURNED}: no run.json"),))
