"""Quantiles of the times per item, and what a terminal shows of them."""

import io

import numpy as np
import pytest
from rich.console import Console

from misheard.metrics.base import Arm
from misheard.metrics.table import TIMING_COLUMNS
from misheard.report.labels import ASCII, UNICODE
from misheard.report.terminal_latencies import latencies_block
from misheard.run.latencies import summarise_latencies


def columns(n: int, **given: list[float]) -> dict[str, np.ndarray]:
    found = {name: np.full(n, np.nan) for name in TIMING_COLUMNS}
    for name, values in given.items():
        found[name][: len(values)] = values
    return found


def shown(timings: dict | None, marks=UNICODE, system: dict | None = None, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    for block in latencies_block({"timings": timings, "system": system or {}}, width, marks):
        console.print(block)
    return console.file.getvalue()


def test_quantiles_are_of_what_was_measured_and_the_bound_takes_59_items() -> None:
    seconds = [float(second) for second in range(1, 101)]
    found = summarise_latencies(
        {Arm.AUDIO: columns(120, recognize_seconds=seconds, plan_seconds=seconds[:58])}
    )
    times = found["audio"]["recognize_seconds"]
    assert (times["n"], times["p50"]) == (100, 50.5)
    assert (times["p95"], times["p99"]) == (pytest.approx(95.05), pytest.approx(99.01))
    # Conover's order statistic: P(Bin(100, 0.95) < 99) = 0.963 >= 0.95, and < 98 it is 0.882
    assert times["p95_upper_bound"] == 99.0
    assert found["audio"]["plan_seconds"]["p95_upper_bound"] is None


def test_tokens_are_summed_and_what_no_item_has_is_left_out() -> None:
    found = summarise_latencies(
        {
            Arm.AUDIO: columns(3, prompt_tokens=[10, 20]),
            Arm.PLAN: columns(3),
            Arm.CONTROL: columns(3, llm_seconds=[1.0]),
        }
    )
    assert found == {
        "audio": {"prompt_tokens": {"n": 2, "sum": 30}},
        "control": {"llm_seconds": {"n": 1, "p50": 1.0, "p95": 1.0, "p99": 1.0, "p95_upper_bound": None}},
    }


def test_a_terminal_shows_stages_in_order_and_nothing_without_times() -> None:
    found = summarise_latencies(
        {Arm.AUDIO: columns(3, recognize_seconds=[0.5], plan_seconds=[1.25], completion_tokens=[7])}
    )
    text = shown({"per_item": found}, ASCII)
    assert text.index("recognition") < text.index("scene plan")
    assert "1.250" in text and "tokens: written 7" in text and text.isascii()
    assert shown(None) == shown({}) == shown({"per_item": {}}) == ""


SECONDS = {"recognize_seconds": [0.5], "llm_seconds": [1.5], "first_token_seconds": [3.4]}


@pytest.mark.parametrize(
    ("backend", "kind", "expected"),
    [
        (
            "ctranslate2", "embedded",
            {"recognition": ", share of batch", "answer": ", share of batch",
             "first token": ", wait in batch"},
        ),
        ("transformers", "vllm", {"recognition": ", share of batch", "answer": "", "first token": ""}),
        ("openai_api", "openai_api", {"recognition": "", "answer": "", "first token": ""}),
        ("command", "embedded",
         {"recognition": "", "answer": ", share of batch", "first token": ", wait in batch"}),
    ],
)  # fmt: skip
def test_times_of_a_batch_say_what_they_are_of_it(backend: str, kind: str, expected: dict[str, str]) -> None:
    found = summarise_latencies({Arm.AUDIO: columns(3, **SECONDS)})
    system = {"recognizer": {"backend": backend}, "respond": {"engine": {"kind": kind}}}
    lines = shown({"per_item": found}, system=system).splitlines()
    for name, which in expected.items():
        assert any(line.startswith(f"{name}{which}  ") for line in lines)
    for term in ("share of batch", "wait in batch"):
        assert any(line.startswith(f"{term}: ") for line in lines) == any(
            term in s for s in expected.values()
        )
    narrow = shown({"per_item": found}, ASCII, system, 60)
    assert narrow.isascii() and max(map(len, narrow.splitlines())) <= 60
