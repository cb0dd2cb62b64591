"""A made-up run whose every name is out to break the page: markup, quotes, other directions, long words."""

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from made_up_tables import FAMILIES, make_table
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.report.build import build_report
from misheard.report.html.run_documents import RunDocuments
from misheard.report.html.samples import Line, Samples, Span

SCRIPT = "<script>window.broken=1</script>"
TURNED = "txt.\u202egnp"
QUOTED = "\"'><img src=x onerror=window.broken=1>"
NAMES = (SCRIPT, TURNED, QUOTED, "നല്ല ശബ്ദം", "$x^2$ \\alpha", "a" * 120)
AXIS = "n<i>oise"
SECTIONS = (
    "verdict", "by-condition", "arms", "losses", "distributions", "latencies", "failures", "machine",
    "determinism", "suite", "configuration", "reproduce",
)  # fmt: skip


def hostile_table(sessions: int = 14, per_session: int = 10) -> CountTable:
    """Return a table whose items and conditions carry NAMES, and some of whose items failed."""
    table = make_table(sessions, per_session)
    items = tuple(
        replace(
            item,
            id=f"{NAMES[n % len(NAMES)]}{n}",
            conditions={AXIS: NAMES[n % len(NAMES)], "mic": ("a", "b")[n % 2]},
        )
        for n, item in enumerate(table.items)
    )
    audio = table.arms[Arm.AUDIO]
    failures = list(audio.failures)
    failures[5] = Failure("recognize", FailureKind.ASR_ERROR, f"it said {SCRIPT} {TURNED}")
    times = np.where(np.arange(len(items)) % 9 == 8, np.nan, 0.2 + np.arange(len(items)) % 13 / 10)
    audio = replace(audio, failures=tuple(failures), timings={**audio.timings, "recognize_seconds": times})
    return CountTable(items, {**table.arms, Arm.AUDIO: audio})


@functools.cache
def hostile_documents() -> RunDocuments:
    """Return everything that the page of such a run is made of, with samples and a verdict."""
    table = hostile_table()
    suite = {
        "name": f"s{SCRIPT}{TURNED}", "version": "1", "sha256": "a" * 64, "subset": "holdout",
        "lock": {"sha256": "b" * 64, "matches": True, "added_items": 1},
        "holdout": {
            "sealed": 4, "opened": True, "openings": 1,
            "log": [{"number": 1, "at": "day 1", "who": QUOTED, "reason": SCRIPT}],
        },
    }  # fmt: skip
    system = {"recognizer": {"backend": "fake", "content": {"model.bin": "c" * 64}}}
    times = {"n": 120, "p50": 0.8, "p95": 1.4, "p99": 1.4, "p95_upper_bound": 1.5}
    report = build_report(
        table, FAMILIES, suite=suite, system=system, scorer={"sha256": "d" * 64, "profile": "nfc"},
        timings={"audio_seconds": 60.0, "per_item": {"audio": {"recognize_seconds": times}}},
        axes={AXIS: NAMES, "mic": ("a", "b")}, primary_metrics={"en": "wer"}, resamples=200,
        determinism={"mode": "fast"},
    )  # fmt: skip
    return RunDocuments("run", report, run_json(), table, FAMILIES, samples(), verdict())


def run_json() -> dict[str, Any]:
    return {
        "misheard": "0.1.0",
        "config": {"recognizer": {"kind": "fake", "model": f"/models/{QUOTED}"}, "language_model": None},
        "suite": {"name": "s", "path": f"suite {SCRIPT}"},
        "versions": {"numpy": "2"},
        "machine": {"cpu": TURNED},
        "cpu": True,
    }


def samples() -> Samples:
    seconds = np.arange(20.0)
    line = Line("memory", "GiB", seconds, np.sqrt(seconds))
    return Samples(1, 1, (line,), (Span(f"respond:{SCRIPT}", 2.0, 9.0),))


def verdict() -> dict[str, Any]:
    check = {
        "id": QUOTED, "role": "latency", "status": "fail", "decides": True, "why": f"too slow {SCRIPT}",
        "metric": "recognize_seconds", "limit": 1.2,
    }  # fmt: skip
    return {
        "outcome": "no_ship", "summary": "NO SHIP: of 1 check 1 failed", "gate": {"name": f"{QUOTED}.yaml"},
        "baseline": None, "candidate": "run", "refusals": [], "notes": [], "checks": [check],
    }  # fmt: skip
