"""Runs side by side: machines, times and versions, and which items were heard differently. No text of any."""

import io
import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console
from test_damage import run_here
from test_runs import perfect_transcripts

from misheard.report.labels import ASCII
from misheard.report.terminal import render_comparison
from misheard.report.terminal_side_by_side import side_by_side_blocks
from misheard.run.comparison import compare_runs
from misheard.run.importing import ImportOptions, import_outputs
from misheard.run.side_by_side import TIMINGS, Side, compare_machines, compare_transcripts
from misheard.stats.compare import Selection
from misheard.stats.exact import clopper_pearson
from misheard.stats.selection import parse_where
from misheard.suite.items import Item, ItemKind, Suite

MakePath = Callable[..., Path]


def item(name: str, reference: str, language: str = "en") -> Item:
    kind = ItemKind.SPEECH if reference else ItemKind.NON_SPEECH
    return Item(id=name, audio=f"{name}.flac", reference=reference, kind=kind, language=language)


ITEMS = [
    item("same", "one two three"),
    item("marks", "yes it is"),
    item("words", "a b c d"),
    item("han", "五十", "zh"),
    item("noise", ""),
    item("a-failed", "x"),
    item("b-failed", "x"),
    item("both-failed", "x"),
]
A = {
    "same": "one two three", "marks": "Yes, it is.", "words": "a b c d", "han": "五十", "noise": "",
    "a-failed": None, "b-failed": "x", "both-failed": None,
}  # fmt: skip
B = {
    "same": "one two three", "marks": "yes it is", "words": "a x d d e", "han": "五十二", "noise": "uh huh",
    "a-failed": "x", "b-failed": None, "both-failed": None,
}  # fmt: skip
ALL = {one.id for one in ITEMS}


def side(
    heard: dict[str, str | None] | None = None,
    *,
    timings: dict[str, float | None] | None = None,
    recognizer: dict[str, str] | None = None,
    **run: Any,
) -> Side:
    suite = Suite(
        name="s", version="1", root=Path(), axes={}, items=tuple(ITEMS), primary_metrics={}, abstentions={}
    )
    known: dict[str, Any] = {
        "config": {"language_model": {"kind": "fake"}},
        "system": {"recognizer": recognizer or {"backend": "fake"}},
        **run,
    }
    return Side(known, timings or {}, None if heard is None else suite, heard)


def test_items_that_were_heard_differently() -> None:
    assert compare_transcripts(side(A), side(B), ALL, "nfc") == {
        "items": 5,
        "differ": 4,
        "share": 0.8,
        "interval": list(clopper_pearson(4, 5)),
        "formatting_only": 1,
        "edits": 2 + 3 + 1 + 2,
        "failed_in_a_only": 1,
        "failed_in_b_only": 1,
        "failed_in_both": 1,
        "differing": [
            {"id": "han", "edits": 1, "reference_words": 2, "formatting_only": False},
            {"id": "marks", "edits": 2, "reference_words": 3, "formatting_only": True},
            {"id": "noise", "edits": 2, "reference_words": 0, "formatting_only": False},
            {"id": "words", "edits": 3, "reference_words": 4, "formatting_only": False},
        ],
    }


@pytest.mark.parametrize(
    ("a", "b", "ids", "profile", "expected"),
    [
        (A, B, ALL, "plain", {"differ": 4, "edits": 6, "formatting_only": 1}),
        (A, A, ALL, "nfc", {"items": 6, "differ": 0, "share": 0.0, "edits": 0, "differing": []}),
        (A, B, {"same", "b-failed"}, "nfc", {"items": 1, "differ": 0, "failed_in_b_only": 1}),
        (A, B, {"a-failed"}, "nfc", {"items": 0, "share": None, "interval": None}),
        (A, None, ALL, "nfc", {"not_compared": ["b"]}),
        (None, None, ALL, "nfc", {"not_compared": ["a", "b"]}),
    ],
)  # fmt: skip
def test_what_is_compared(a: Any, b: Any, ids: set[str], profile: str, expected: dict[str, Any]) -> None:
    found = compare_transcripts(side(a), side(b), ids, profile)
    assert {name: found[name] for name in expected} == expected


def timing(name: str, a: Side, b: Side) -> tuple[Any, ...]:
    (found,) = [one for one in compare_machines(a, b)["timings"] if one["name"] == name]
    return found["a"], found["b"], found["ratio"], found["reason_a"], found["reason_b"]


RAY = {
    "config": {"execution": {"executor": "ray"}},
    "execution": {"recognition": {"executor": "ray", "workers": 2}},
}
OVERLAP = {"config": {"language_model": None, "execution": {"schedule": "overlap"}}}


def timed(name: str, seconds: float, **run: Any) -> Side:
    return side(timings={name: seconds}, **run)


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("rtf_inference", timed("rtf_inference", 0.02), timed("rtf_inference", 0.05),
         (0.02, 0.05, 2.5, None, None)),
        ("rtf_inference", timed("rtf_inference", 0.02), timed("rtf_inference", 0.05, **OVERLAP),
         (0.02, None, None, None, "overlap")),
        ("inference_seconds", timed("inference_seconds", 2, **OVERLAP), timed("inference_seconds", 1),
         (2.0, 1.0, 0.5, None, None)),
        ("inference_seconds", timed("inference_seconds", 0), timed("inference_seconds", 1),
         (0.0, 1.0, None, None, None)),
        ("rtf_end_to_end", side(recognizer={"kind": "imported"}), side(),
         (None, None, None, "imported", "not_measured")),
        ("llm_seconds", side(config={"language_model": None}), timed("llm_seconds", 3),
         (None, 3.0, None, "no_language_model", None)),
        ("recognizer_warm_up_seconds", timed("recognizer_warm_up_seconds", 33.29),
         timed("recognizer_warm_up_seconds", 1.9e-06, **RAY), (33.29, None, None, None, "in_loading")),
        ("recognizer_load_seconds", timed("recognizer_load_seconds", 2),
         timed("recognizer_load_seconds", 8, **RAY), (2.0, 8.0, 4.0, None, None)),
        ("llm_seconds", side(config={}), side(system={}, config={}),
         (None, None, None, "not_measured", "not_measured")),
    ],
)  # fmt: skip
def test_a_time_that_is_not_known_has_a_reason(
    name: str, a: Side, b: Side, expected: tuple[Any, ...]
) -> None:
    assert timing(name, a, b) == expected


def test_machines_and_versions() -> None:
    gpu = side(
        recognizer={"backend": "transformers", "dtype": "bfloat16", "device": "cuda"},
        machine={"device": "cuda", "device_name": "Made-up GPU", "python": "3.11.7"},
        versions={"torch": "2.8", "numba": "1", "numpy": "2"},
        misheard="0.1.0",
        cpu=False,
    )
    cpu = side(
        recognizer={"backend": "ctranslate2", "compute_type": "int8", "device": "cpu"},
        machine={"device": "cpu", "device_name": "Made-up CPU", "python": "3.12.1"},
        versions={"torch": "2.7", "numpy": "2"},
        misheard="0.1.0",
        cpu=True,
    )
    found = compare_machines(gpu, cpu)
    assert found["a"] == {
        "cpu_option": False, "device": "cuda", "device_name": "Made-up GPU", "backend": "transformers",
        "recognizer_model": None, "compute_type": "bfloat16", "language_model": "fake", "mode": "fast",
        "schedule": "serial", "executor": "local", "workers": None,
    }  # fmt: skip
    assert (found["b"]["compute_type"], found["b"]["cpu_option"]) == ("int8", True)
    assert found["versions"] == [
        {"name": "python", "a": "3.11.7", "b": "3.12.1"}, {"name": "torch", "a": "2.8", "b": "2.7"},
    ]  # fmt: skip


REVISION = "0123456789" * 4


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"recognizer": {"kind": "ctranslate2", "model": "/models/whisper-base", "revision": None}},
         ("whisper-base", None)),
        ({"recognizer": {"kind": "transformers", "model": "openai/whisper-tiny", "revision": REVISION},
          "language_model": {"kind": "embedded", "model": "/models/smollm2"}},
         ("openai/whisper-tiny @ 01234567", "smollm2")),
        ({"recognizer": {"kind": "command", "model": None},
          "language_model": {"kind": "openai_api", "model": "Qwen/Qwen3-8B"}}, (None, "Qwen/Qwen3-8B")),
        ({"recognizer": {"kind": "fake"}, "language_model": {"kind": "fake"}}, (None, "fake")),
        ({"recognizer": {"kind": "fake"}, "language_model": None}, (None, None)),
    ],
)  # fmt: skip
def test_models_have_their_short_names(
    config: dict[str, Any], expected: tuple[str | None, str | None]
) -> None:
    found = compare_machines(side(config=config), side())["a"]
    assert (found["recognizer_model"], found["language_model"]) == expected


def test_the_terminal_names_models_mode_and_workers() -> None:
    a, b = (
        side(
            {"same": "one"},
            timings={"recognizer_warm_up_seconds": 1.0},
            config={
                "recognizer": {"model": f"/models/{model}"},
                "language_model": {"model": "smollm2"},
                "execution": {"executor": executor, "mode": mode},
            },
            execution={"recognition": {"executor": executor, **workers}},
        )
        for model, executor, mode, workers in (
            ("whisper-base", "local", "fast", {}),
            ("whisper-tiny", "ray", "audit", {"workers": 2}),
        )
    )
    comparison = {
        "runs": compare_machines(a, b),
        "transcripts": compare_transcripts(a, b, {"same"}, "nfc"),
    }
    lines = written(*side_by_side_blocks(comparison, 100, ASCII), width=100).splitlines()
    cells = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]
    for row in (
        ["model", "whisper-base", "whisper-tiny"],
        ["language model", "smollm2", "smollm2"],
        ["mode", "fast", "audit"],
        ["executor", "local", "ray, 2 workers"],
        ["warm-up", "1.00 s", "in loading", "-"],
        ["0 of 1 item, 0.0% (0.0..97.5)"],
    ):
        assert row in cells, lines


def written(*blocks: Any, width: int = 80, encoding: str = "utf-8") -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    console = Console(file=out, width=width, highlight=False)
    for block in blocks:
        console.print(block)
    return out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [80, 160])
def test_the_terminal_shows_the_items_with_the_most_edits(width: int) -> None:
    several = [item(f"i{number:02d}", "a") for number in range(25)]
    suite = Suite(
        name="s", version="1", root=Path(), axes={}, items=tuple(several), primary_metrics={}, abstentions={}
    )
    heard = ({one.id: "x" for one in several}, {one.id: f"x{' y' * n}" for n, one in enumerate(several)})
    a, b = (
        Side(
            side(machine={"device_name": "A very long name of a processor" * 2}).run,
            {"rtf_inference": 0.5},
            suite,
            texts,
        )
        for texts in heard
    )
    runs, transcripts = compare_machines(a, b), compare_transcripts(a, b, {one.id for one in several}, "nfc")
    comparison = {"runs": runs, "transcripts": transcripts}
    text = written(*side_by_side_blocks(comparison, width, ASCII), width=width, encoding="ascii")
    assert max(map(len, text.splitlines())) <= width
    assert "24 of 25 items, 96.0% (79.6..99.9)" in text and "300 word edits" in text
    assert [line.split() for line in text.splitlines() if line.startswith("  i")][:2] == [
        ["i24", "24", "1"], ["i23", "23", "1"],
    ]  # fmt: skip
    assert "i05 " in text and "i04 " not in text and "and 4 more" in text
    assert "1x" in text and "not measured" not in text


@pytest.fixture
def runs(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> tuple[Path, Path]:
    """A run that mishears and one that does not."""
    suite = make_suite()
    run_here(make_config(), suite, tmp_path / "a")
    heard = perfect_transcripts(suite)
    run_here(make_config(recognizer={"kind": "fake", "transcripts": heard}), suite, tmp_path / "b")
    return tmp_path / "a", tmp_path / "b"


def compared(*paths: Path, where: str = "", rescore: bool = False) -> dict[str, Any]:
    selection = Selection(where=parse_where(where) if where else ())
    document = compare_runs(paths[0], paths[1:], selection, resamples=100, seed=1, rescore=rescore)
    schema = json.loads((files("misheard.report") / "comparison.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(document)))
    return document


def test_real_runs_side_by_side_without_any_text(runs: tuple[Path, Path]) -> None:
    a, b = runs
    document = compared(a, b, a)
    first, second = document["comparisons"]
    for text in (json.dumps(document), written(render_comparison(document))):
        assert "canary" not in text and "question number" not in text
    assert (first["transcripts"]["items"], second["transcripts"]["differ"]) == (7, 0)
    assert {one["id"] for one in first["transcripts"]["differing"]} >= {f"q{n:02d}" for n in range(6)}
    assert [one["name"] for one in first["runs"]["timings"]] == list(TIMINGS)
    (rtf,) = [one for one in first["runs"]["timings"] if one["name"] == "rtf_inference"]
    reports = [json.loads((path / "report.json").read_bytes())["timings"]["rtf_inference"] for path in runs]
    assert [rtf["a"], rtf["b"]] == reports and rtf["ratio"] == reports[1] / reports[0]
    (again,) = compared(a, b, rescore=True)["comparisons"]
    assert (again["runs"], again["transcripts"]) == (first["runs"], first["transcripts"])
    (some,) = compared(a, b, where="session=s0")["comparisons"]
    assert some["transcripts"]["items"] == some["items"] == 2


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no journal": lambda run: shutil.rmtree(run / "journal"),
    "nothing recognized": lambda run: (run / "journal" / "recognize.jsonl").write_text(""),
    "no plan": lambda run: (run / "plan.jsonl").unlink(),
}


def test_a_run_without_its_whole_journal_is_compared_without_transcripts(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    a, b = runs
    whole = compared(a, b)["comparisons"][0]
    for name, damage in DAMAGES.items():
        damaged = tmp_path / name / "b"
        shutil.copytree(b, damaged)
        damage(damaged)
        document = compared(a, damaged)
        (comparison,) = document["comparisons"]
        assert comparison["transcripts"] == {"not_compared": ["b"]}, name
        assert {**comparison, "transcripts": None} == {**whole, "transcripts": None}, name
        assert "not compared: no whole journal in B" in written(render_comparison(document)), name


def test_an_imported_run_beside_one_that_was_run_here(runs: tuple[Path, Path], tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    rows = [json.loads(line) for line in (tmp_path / "suite" / "items.jsonl").read_text().splitlines()]
    outputs.write_text(
        "".join(json.dumps({"id": r["id"], "transcript": r["reference"]}) + "\n" for r in rows)
    )
    import_outputs(ImportOptions(outputs, tmp_path / "suite", tmp_path / "imported"), lambda _: None)
    (comparison,) = compared(runs[1], tmp_path / "imported")["comparisons"]
    assert comparison["transcripts"]["items"] == 7 and comparison["transcripts"]["differ"] == 0
    assert comparison["runs"]["b"]["backend"] == "imported" and comparison["runs"]["b"]["device"] is None
    assert {one["reason_b"] for one in comparison["runs"]["timings"]} == {"imported"}
    assert comparison["runs"]["versions"] == []
