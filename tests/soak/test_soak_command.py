"""The command as a person or a CI job runs it, its documents, and what must not change a verdict."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from made_traces import Row, find, healthy, judged, without, write
from rich.console import Console
from scipy import stats
from typer.testing import CliRunner

import misheard.soak
from misheard.commands import app
from misheard.soak.checks.latency import STAGE_EVENTS, judge_times
from misheard.soak.checks.registry import CHECKS
from misheard.soak.document import soak_document
from misheard.soak.events import FIELDS, EventName, FaultKind, OperationType
from misheard.soak.limits import DEFAULT_LATENCY, STAGES, Limits
from misheard.soak.terminal import render_soak
from misheard.stats.gate import Status

SCHEMA = json.loads((Path(misheard.soak.__file__).parent / "soak-verdict.schema.json").read_bytes())


def misheard_command(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "misheard", "soak", "check", *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip


def inconclusive(rows: list[Row]) -> list[Row]:
    for turn in range(4):
        find(rows, "plan_accepted", turn)["seconds"] = 9.0
    return rows


def failing(rows: list[Row]) -> list[Row]:
    find(rows, "sample")["queue_plan"] = 65
    return rows


ENDS: dict[str, tuple[Callable[[list[Row]], list[Row]], int, str]] = {
    "kept": (lambda rows: rows, 0, "SHIP: 28 checks passed"),
    "broken": (failing, 1, "NO SHIP: of 28 checks 1 failed"),
    "unsure": (inconclusive, 3, "INCONCLUSIVE: of 28 checks 1 inconclusive"),
    "silent": (
        lambda rows: without(failing(rows), lambda row: row["event"] == "drained"), 4,
        "INCOMPLETE: of 28 checks 1 without evidence, 1 failed",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "code", "summary"), ENDS.values(), ids=ENDS)
def test_exit_code_terminal_and_json_agree(
    tmp_path: Path, changes: Callable[[list[Row]], list[Row]], code: int, summary: str
) -> None:
    trace, verdict = write(tmp_path / "t.jsonl", changes(healthy())), tmp_path / "v.json"
    done = CliRunner().invoke(app, ["soak", "check", str(trace), "--json", str(verdict)])
    assert done.exit_code == code
    document = json.loads(verdict.read_text())
    jsonschema.validate(document, SCHEMA)
    assert (document["exit_code"], document["summary"]) == (code, summary)
    first = verdict.read_bytes()
    CliRunner().invoke(app, ["soak", "check", str(trace), "--json", str(verdict)])
    assert verdict.read_bytes() == first


def test_a_broken_trace_of_the_command_names_its_events(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl", failing(healthy()))
    done = misheard_command(tmp_path, "t.jsonl")
    assert (done.returncode, done.stderr) == (1, "")
    assert "over the limit; sample in line" in " ".join(done.stdout.split())
    assert done.stdout.splitlines()[-1] == "NO SHIP: of 28 checks 1 failed"


def test_bad_input_ends_with_2_and_leaves_no_earlier_verdict(tmp_path: Path) -> None:
    verdict = tmp_path / "v.json"
    verdict.write_text('{"outcome": "ship"}')
    (tmp_path / "t.jsonl").write_text("no trace\n")
    done = misheard_command(tmp_path, "t.jsonl", "--json", "v.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("misheard: t.jsonl: 1 problem\n  line 1: must be ")
    assert "Traceback" not in done.stderr
    assert not verdict.exists()


def test_the_document_takes_no_place_of_what_is_read(tmp_path: Path) -> None:
    trace = write(tmp_path / "t.jsonl", healthy(1))
    before = trace.read_bytes()
    done = misheard_command(tmp_path, "t.jsonl", "--json", "t.jsonl")
    assert (done.returncode, trace.read_bytes()) == (2, before)
    assert "--json must not be the trace" in done.stderr


def test_limits_of_a_file_decide_and_are_named(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl", failing(healthy()))
    (tmp_path / "l.yaml").write_text("format: misheard-soak/1\nqueue_depth: 65\n")
    files = {name: str(tmp_path / name) for name in ("t.jsonl", "l.yaml", "v.json")}
    arguments = ["soak", "check", files["t.jsonl"], "--limits", files["l.yaml"], "--json", files["v.json"]]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert json.loads((tmp_path / "v.json").read_text())["limits"]["name"] == "l.yaml"


def test_the_page_lists_the_default_limits() -> None:
    page = (Path(__file__).parents[2] / "docs" / "soak.md").read_text()
    shown = next(
        p.split("```")[0] for p in page.split("```yaml\n") if p.startswith("format: misheard-soak/1")
    )
    given = Limits(**yaml.safe_load(shown))
    assert given.latency_p95_seconds == DEFAULT_LATENCY
    assert given.model_copy(update={"latency_p95_seconds": {}}) == Limits()


def test_the_trace_of_the_page_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "soak.md").read_text()
    (tmp_path / "t.jsonl").write_text(page.split("```jsonl\n")[1].split("```")[0])
    document = tmp_path / "v.json"
    done = CliRunner().invoke(app, ["soak", "check", str(tmp_path / "t.jsonl"), "--json", str(document)])
    assert done.exit_code == 4
    checks = json.loads(document.read_text())["checks"]
    assert not [check["id"] for check in checks if check["status"] == "fail"]


def test_the_page_names_every_check_event_and_field() -> None:
    page = (Path(__file__).parents[2] / "docs" / "soak.md").read_text()
    for name in (*(check.name for check in CHECKS), *EventName, *FIELDS, *OperationType, *FaultKind):
        assert f"`{name}`" in page, name


def test_the_check_loads_no_model_library(tmp_path: Path) -> None:
    trace = write(tmp_path / "t.jsonl", healthy(1))
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from misheard.soak.command import SoakCheckOptions, check_trace\n"
        "check_trace(SoakCheckOptions(Path(sys.argv[1])))\nprint(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(trace)], capture_output=True, text=True, check=True
    )  # fmt: skip
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"torch", "transformers", "ctranslate2", "av", "psutil", "httpx", "soundfile"}


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_terminal_has_every_check_and_no_line_ends_in_white_space(
    tmp_path: Path, width: int, encoding: str
) -> None:
    verdict = judged(tmp_path, failing(healthy(3)))
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=out, width=width).print(render_soak(verdict))
    out.flush()
    lines = raw.getvalue().decode(encoding).splitlines()
    assert all(line == line.rstrip() and len(line) <= width for line in lines)
    for check in verdict.verdict.checks:
        assert any(check.id in line for line in lines)


def statuses(document: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(check["id"], check["status"], check["breaches"]) for check in document["checks"]]


BROKEN = failing(inconclusive(without(healthy(), lambda row: row.get("connection") == "c7")))


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_other_ids_give_the_same_verdict(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names: dict[tuple[str, str], str] = {}
    numbers = iter(rng.permutation(100_000).tolist())
    rows = [
        {
            key: names.setdefault((key, value), f"turn-{next(numbers)}")
            if key in ("turn", "operation", "connection")
            else value
            for key, value in row.items()
        }
        for row in BROKEN
    ]
    folder = tmp_path_factory.mktemp("ids")
    before, after = (soak_document(judged(folder, each)) for each in (BROKEN, rows))
    assert statuses(after) == statuses(before)
    assert [c["value"] for c in after["checks"]] == [c["value"] for c in before["checks"]]


@settings(max_examples=6, deadline=None)
@given(power=st.integers(-3, 3))
def test_time_and_limits_scaled_together_give_the_same_verdict(
    tmp_path_factory: pytest.TempPathFactory, power: int
) -> None:
    # powers of two, so that no time is rounded
    factor = 2.0**power
    times = ("t", "seconds", "speech_end", "audio_from", "audio_to")
    rows = [{key: value * factor if key in times else value for key, value in row.items()} for row in BROKEN]
    scaled = {
        name: value * factor
        for name, value in Limits().model_dump().items()
        if name.endswith("seconds") and isinstance(value, float)
    }
    latency = {stage: DEFAULT_LATENCY[stage] * factor for stage in STAGES}
    folder = tmp_path_factory.mktemp("time")
    before = soak_document(judged(folder, BROKEN, Limits(latency_p95_seconds=DEFAULT_LATENCY)))
    after = soak_document(judged(folder, rows, Limits(**scaled, latency_p95_seconds=latency)))
    assert statuses(after) == statuses(before)


@pytest.mark.parametrize("n", [59, 93, 200, 1000])
def test_the_bound_of_a_percentile_is_the_order_statistic_of_the_binomial(n: int) -> None:
    seconds = np.random.default_rng(n).exponential(1.0, n)
    answer = judge_times(np.arange(n), seconds, 100.0, "plan")
    ranked = np.sort(seconds)
    rank = next(r for r in range(1, n + 1) if stats.binom.cdf(r - 1, n, 0.95) >= 0.95)
    assert answer.interval is not None
    assert answer.interval.high == ranked[rank - 1]
    assert answer.value == pytest.approx(np.quantile(seconds, 0.95))


@pytest.mark.parametrize("n", [5, 20, 58])
def test_few_times_fail_where_the_binomial_test_says_so(n: int) -> None:
    for over in range(1, n + 1):
        seconds = np.where(np.arange(n) < over, 5.0, 1.0)
        answer = judge_times(np.arange(n), seconds, 2.0, "plan")
        shown = stats.binomtest(over, n, 0.05, alternative="greater").pvalue < 0.05
        assert answer.status is (Status.FAIL if shown else Status.INCONCLUSIVE)


def test_every_stage_has_a_limit_and_events() -> None:
    assert set(STAGES) == set(DEFAULT_LATENCY) == set(STAGE_EVENTS)
