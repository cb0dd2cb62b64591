"""Matrices of chosen items: combinations of conditions, filters, metrics."""

import csv
import io
import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from rich.console import Console

from made_up_tables import AXES, FAMILIES, make_table
from misheard.canonical import canonical_json
from misheard.errors import InputError
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.report.build import build_report
from misheard.report.selection import MatrixChoice, build_matrix
from misheard.report.tables import MATRIX_COLUMNS, matrix_csv, selection_csv
from misheard.report.terminal import render_selection
from misheard.stats.selection import parse_where


def report_of(table: CountTable) -> dict[str, Any]:
    return build_report(
        table,
        FAMILIES,
        suite={"name": "made-up", "version": "1"},
        system={},
        scorer={"sha256": "0" * 64},
        timings=None,
        axes=AXES,
        primary_metrics={"en": "wer"},
        resamples=300,
    )


TABLE = make_table()
REPORT = report_of(TABLE)


def matrix_of(by: str = "", where: str = "", metrics: str = "", table: CountTable = TABLE) -> dict[str, Any]:
    selection = MatrixChoice(
        by=tuple(tuple(one.split(",")) for one in by.split(";")) if by else (),
        where=parse_where(where) if where else (),
        metrics=tuple(metrics.split(",")) if metrics else (),
    )
    return build_matrix(table, FAMILIES, REPORT if table is TABLE else report_of(table), selection)


def conditions(matrix: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [tuple(cell["conditions"].values()) for cell in matrix["matrix"]]


def estimate(cell: dict[str, Any], metric: str, arm: str = "audio") -> dict[str, Any]:
    (found,) = [e for e in cell["estimates"] if (e["metric"], e["arm"]) == (metric, arm)]
    return dict(found)


def shown(matrix: dict[str, Any], width: int, encoding: str = "utf-8") -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    Console(file=out, width=width, highlight=False).print(render_selection(matrix))
    return out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined, no-any-return]


def test_matrix_follows_its_schema() -> None:
    schemas = [
        json.loads((files("misheard.report") / f"{name}.schema.json").read_text())
        for name in ("report", "matrix")
    ]
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas
    )
    Draft202012Validator.check_schema(schemas[1])
    validator = Draft202012Validator(schemas[1], registry=registry)
    for matrix in (matrix_of(), matrix_of("noise,mic"), matrix_of("mic", "noise=15dB", "wer,correct_rate")):
        validator.validate(matrix)
    assert not validator.is_valid({**matrix_of(), "score": 1})
    assert not validator.is_valid({**matrix_of(), "matrix": [{"conditions": {}}]})


def test_without_a_choice_it_is_the_matrix_of_the_report() -> None:
    cells = [{k: v for k, v in cell.items() if k != "conditions"} for cell in matrix_of()["matrix"]]
    # all items share a language, so that its primary metric is marked on the other axes as well
    for cell in (*cells, *(dict(cell) for cell in REPORT["matrix"])):
        for one in cell["estimates"]:
            one["flags"] = [flag for flag in one["flags"] if flag != "primary"]
    assert canonical_json(cells) == canonical_json(report_of(TABLE)["matrix"]).replace(',"primary"', "")
    assert matrix_of()["worst_cells"] == REPORT["worst_cells"]


def test_every_declared_combination_has_a_cell_also_without_items() -> None:
    found = matrix_of("noise,mic")
    assert conditions(found) == [
        ("clean", "laptop"),
        ("clean", "phone"),
        ("clean", None),
        ("15dB", "laptop"),
        ("15dB", "phone"),
        ("5dB", "laptop"),
        ("5dB", "phone"),
    ]
    assert [cell["items"] for cell in found["matrix"]] == [12, 12, 6, 12, 12, 0, 0]
    assert found["matrix"][-1]["flags"] == ["empty"]
    assert sum(cell["items"] for cell in found["matrix"]) == found["items"]["total"] == 54


def test_several_combinations_follow_each_other() -> None:
    both = matrix_of("noise;mic,language")
    assert both["by"] == [["noise"], ["mic", "language"]]
    alone = [*matrix_of("noise")["matrix"], *matrix_of("mic,language")["matrix"]]
    assert both["matrix"] == alone
    assert selection_csv(both).startswith("axis,value,family")
    assert "By noise; mic, language" in shown(both, 80)


def test_a_combination_holds_the_counts_of_its_items() -> None:
    cell = next(
        c for c in matrix_of("noise,mic")["matrix"] if c["conditions"] == {"noise": "15dB", "mic": "phone"}
    )
    rows = [i.conditions.get("noise") == "15dB" and i.conditions.get("mic") == "phone" for i in TABLE.items]
    counts = TABLE.arms[Arm.AUDIO].counts["wer"]
    chosen = counts.values[rows & counts.present]
    assert estimate(cell, "wer")["value"] == chosen[:, :3].sum() / chosen[:, 4].sum()
    assert (cell["units"], estimate(cell, "wer")["n"]) == (3, len(chosen))
    assert set(estimate(cell, "wer")["flags"]) >= {"under_50", "under_6_units"}


def test_cells_say_how_many_items_of_theirs_failed() -> None:
    failed = {tuple(c["conditions"].values()): c["samples_failed"] for c in matrix_of("noise,mic")["matrix"]}
    assert {cell for cell, count in failed.items() if count} == {("15dB", "laptop")}
    assert matrix_of(where="noise=15dB")["samples_failed"] == 1
    assert matrix_of(where="noise=clean")["samples_failed"] == 0


def test_a_filter_leaves_the_cells_that_it_allows() -> None:
    assert conditions(matrix_of("noise,mic", "noise=15dB")) == [("15dB", "laptop"), ("15dB", "phone")]
    assert conditions(matrix_of("noise", "noise!=clean")) == [("15dB",), ("5dB",)]
    assert conditions(matrix_of("noise", "mic=phone")) == [("clean",), ("15dB",), ("5dB",)]
    filtered = matrix_of("noise", "mic=phone")
    assert [cell["items"] for cell in filtered["matrix"]] == [12, 12, 0]
    assert filtered["items"] == {
        "total": 24, "speech": 24, "non_speech": 0, "sessions": 3, "without_session": 0, "units": 3,
    }  # fmt: skip


def test_cells_of_no_declared_value_are_there_only_with_items() -> None:
    assert ("clean", None) in conditions(matrix_of("noise,mic"))
    assert ("clean", None) not in conditions(matrix_of("noise,mic", "kind=speech"))
    assert conditions(matrix_of("kind", "mic=phone")) == [("speech",), ("non_speech",)]
    assert conditions(matrix_of("session", "mic=phone")) == [("s1",), ("s3",), ("s5",)]


def test_filtered_cell_has_the_numbers_of_the_same_items_chosen_otherwise() -> None:
    (one,) = [c for c in matrix_of("noise", "mic=phone")["matrix"] if c["value"] == "15dB"]
    (other,) = [c for c in matrix_of("mic", "noise=15dB")["matrix"] if c["value"] == "phone"]
    assert one["items_sha256"] == other["items_sha256"]
    assert one["estimates"] == other["estimates"]


def test_chosen_metrics_are_shown_alone_with_their_worst_cells() -> None:
    found = matrix_of("noise", metrics="correct_rate,wer_mean")
    assert {e["metric"] for c in found["matrix"] for e in c["estimates"]} == {"wer_mean", "correct_rate"}
    assert {e["metric"] for e in found["worst_cells"]} == {"wer_mean", "correct_rate"}
    assert [metric["metric"] for metric in found["metrics"]] == ["wer_mean", "correct_rate"]
    text = shown(found, 100)
    assert "wer mean" in text and "correct" in text and "word error rate" not in text
    assert "hallucinated:" not in text and "noise floor" not in text


def test_primary_metric_is_marked_where_the_items_share_a_language() -> None:
    for cell in matrix_of("mic", "language=en")["matrix"]:
        assert "primary" in estimate(cell, "wer")["flags"]
        assert "primary" not in estimate(cell, "cer")["flags"]
    items = tuple(
        replace(item, conditions={**item.conditions, "language": ("en", "ta")[n % 2]})
        for n, item in enumerate(TABLE.items)
    )
    mixed = matrix_of("language,mic", table=replace(TABLE, items=items))
    marked = [
        c["conditions"]["language"] for c in mixed["matrix"] if "primary" in estimate(c, "wer")["flags"]
    ]
    assert set(marked) == {"en"}
    assert not any(
        "primary" in estimate(cell, "wer")["flags"]
        for cell in matrix_of("mic", table=replace(TABLE, items=items))["matrix"]
    )


@pytest.mark.parametrize(
    ("by", "where", "metrics", "expected"),
    [
        ("nois", "", "", r"unknown axis 'nois' \(did you mean 'noise'\?\)"),
        ("", "nois=clean", "", r"unknown axis 'nois' \(did you mean 'noise'\?\)"),
        ("", "noise=20dB", "", r"no value '20dB' on the axis noise"),
        ("", "noise=5dB", "", r"--where noise=5dB: no item has these conditions"),
        ("", "mic=phone,session=s0", "", r"no item has these conditions"),
        ("noise", "", "we", r"--metric 'we': the run has no such metric \(did you mean 'wer'\?\)"),
        ("noise", "", "", None),
    ],
)
def test_what_is_not_there_is_named(by: str, where: str, metrics: str, expected: str | None) -> None:
    if expected is None:
        matrix_of(by, where, metrics)
        return
    with pytest.raises(InputError, match=expected):
        matrix_of(by, where, metrics)


@pytest.mark.parametrize("changes", [{"resamples": 10**12}, {"resamples": 0}, {"seed": -1}])
def test_settings_that_no_run_has_are_refused(changes: dict[str, int]) -> None:
    report = {**REPORT, "statistics": {**REPORT["statistics"], **changes}}
    with pytest.raises(ValueError, match="none that a run can have"):
        build_matrix(TABLE, FAMILIES, report, MatrixChoice())


def test_table_has_a_column_per_axis() -> None:
    matrix = matrix_of("noise,mic", metrics="wer")
    rows = list(csv.DictReader(io.StringIO(selection_csv(matrix))))
    assert list(rows[0]) == ["condition.noise", "condition.mic", *MATRIX_COLUMNS[2:]]
    assert [(row["condition.noise"], row["condition.mic"], row["n"]) for row in rows][:3] == [
        ("clean", "laptop", "12"),
        ("clean", "phone", "12"),
        ("clean", "", "0"),
    ]
    assert selection_csv(matrix_of()) == matrix_csv(matrix_of())


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [80, 160])
def test_terminal_shows_every_combination_within_its_width(width: int, encoding: str) -> None:
    text = shown(matrix_of("noise,mic", "mic=laptop|phone"), width, encoding)
    assert max(len(line) for line in text.splitlines()) <= width
    assert text.isascii() == (encoding == "ascii")
    assert text.count("no items") == 2
    assert "1 failed" in text and "mic=laptop|phone" in text and "By noise, mic" in text
