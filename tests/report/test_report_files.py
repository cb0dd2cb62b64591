import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from made_up_tables import AXES, CER, FAMILIES, WER, make_table
from misheard.errors import IncompleteRunError, InputError
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, Counts
from misheard.metrics.table import TIMING_COLUMNS, ArmTable, CountTable, ItemInfo
from misheard.report.build import build_report
from misheard.report.files import read_items_parquet, read_report, write_report_files
from misheard.report.items_parquet import read_scorer_sha256, write_items_parquet
from misheard.report.tables import FAILURE_COLUMNS, MATRIX_COLUMNS, failures_csv, matrix_csv, safe_text
from misheard.suite.items import ItemKind

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
identifiers = st.text("abcXYZ019_-", min_size=1, max_size=80)
SETTINGS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def tables(draw: st.DrawFn) -> CountTable:
    ids = draw(st.lists(identifiers, min_size=1, max_size=6, unique=True))
    n = len(ids)
    items = tuple(
        ItemInfo(
            id=identifier,
            kind=draw(st.sampled_from(ItemKind)),
            session=(session := draw(st.none() | texts)),
            resampling_unit=f"item:{identifier}" if session is None else f"session:{session}",
            conditions=draw(st.dictionaries(st.sampled_from(["noise", "mic", "a.b"]), texts)),
            sha256=draw(st.text("0123456789abcdef", min_size=64, max_size=64)),
        )
        for identifier in ids
    )
    arms = draw(st.lists(st.sampled_from(Arm), min_size=1, unique=True))
    return CountTable(items, {arm: draw(arm_tables(arm, n)) for arm in arms})


@st.composite
def arm_tables(draw: st.DrawFn, arm: Arm, n: int) -> ArmTable:
    failures = st.builds(
        Failure, st.sampled_from(["recognize", "respond"]), st.sampled_from(FailureKind), texts
    )
    booleans = hnp.arrays(bool, n)
    counts = {}
    for family in draw(st.lists(st.sampled_from([WER, CER]), unique_by=lambda family: family.name)):
        present = draw(booleans)
        values = draw(hnp.arrays(float, (n, len(family.columns)), elements=st.floats(0, 2**53)))
        counts[family.name] = Counts(np.where(present[:, None], values, 0.0), present)
    return ArmTable(
        arm=arm,
        failures=tuple(draw(st.lists(st.none() | failures, min_size=n, max_size=n))),
        counts=counts,
        timings={name: draw(hnp.arrays(float, n)) for name in draw(st.sets(st.sampled_from(TIMING_COLUMNS)))},
        flags={
            name: draw(booleans) for name in draw(st.sets(st.sampled_from(["token_limit", "repetition"])))
        },
    )


def assert_same(a: CountTable, b: CountTable) -> None:
    assert a.items == b.items
    assert list(a.arms) == list(b.arms)
    for arm, one in a.arms.items():
        other = b.arms[arm]
        assert (one.arm, one.failures) == (other.arm, other.failures)
        assert list(one.counts) == list(other.counts)
        for name, counts in one.counts.items():
            np.testing.assert_array_equal(counts.values, other.counts[name].values, strict=True)
            np.testing.assert_array_equal(counts.present, other.counts[name].present, strict=True)
        for mine, theirs in ((one.timings, other.timings), (one.flags, other.flags)):
            assert set(mine) == set(theirs)
            for name in mine:
                np.testing.assert_array_equal(mine[name], theirs[name], strict=True)


@SETTINGS
@given(table=tables())
def test_items_parquet_gives_back_the_table(table: CountTable, tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    write_items_parquet(path, table, FAMILIES, "a" * 64)
    assert_same(read_items_parquet(path, FAMILIES), table)


def test_items_parquet_is_readable_by_anything(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    table = make_table()
    write_items_parquet(path, table, FAMILIES, "a" * 64)
    rows = pq.read_table(path).to_pylist()
    assert len(rows) == 3 * 54
    assert rows[0]["item"] == "q000" and rows[0]["condition.noise"] == "clean" and rows[0]["arm"] == "audio"
    assert rows[5]["failure_kind"] == "asr_error" and rows[5]["wer.substitutions"] is None
    assert rows[54]["wer.substitutions"] is None
    assert rows[0]["timings.llm_seconds"] is None and rows[0]["timings.audio_seconds"] > 0
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"
    assert read_scorer_sha256(path) == "a" * 64


def test_items_parquet_is_the_same_bytes_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_items_parquet(tmp_path / name, make_table(), FAMILIES, "a" * 64)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_foreign_or_damaged_items_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    write_items_parquet(path, make_table(), FAMILIES, "a" * 64)
    whole = path.read_bytes()
    foreign = pa.table({"item": ["a"]})
    bad_metadata = foreign.replace_schema_metadata({b"misheard": b"[1"})
    later = foreign.replace_schema_metadata({b"misheard": b'{"format":"misheard-items","format_version":9}'})
    for number, table in enumerate((foreign, bad_metadata, later)):
        pq.write_table(table, tmp_path / f"{number}.parquet")
    (tmp_path / "text.parquet").write_text("id,wer\n")
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "flipped.parquet").write_bytes(whole[:200] + bytes(len(whole) - 1200) + whole[-1000:])
    names = ["0", "1", "2", "text", "cut", "flipped", "missing"]
    for name in names:
        with pytest.raises(InputError, match=f"{name}.parquet"):
            read_items_parquet(tmp_path / f"{name}.parquet", FAMILIES)


def test_items_of_other_metrics_ask_for_a_rescore(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    write_items_parquet(path, make_table(), FAMILIES, "a" * 64)
    renamed = replace(WER, columns=("other", *WER.columns[1:]))
    for families in ((CER,), (renamed, *FAMILIES[1:])):
        with pytest.raises(InputError, match="score the run again"):
            read_items_parquet(path, families)


def test_arms_with_other_items_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    write_items_parquet(path, make_table(), FAMILIES, "a" * 64)
    rows = pq.read_table(path)
    order = np.arange(len(rows))
    order[[60, 61]] = [61, 60]
    pq.write_table(rows.take(pa.array(order)), path)
    with pytest.raises(InputError, match="columns are not those"):
        read_items_parquet(path, FAMILIES)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "  @"])
def test_text_that_a_spreadsheet_would_run_is_quoted(start: str) -> None:
    assert safe_text(f"{start}cmd|'/c calc'!A0") == f"'{start}cmd|'/c calc'!A0"


def test_failures_csv_is_safe_and_complete() -> None:
    table = make_table()
    nasty = '=HYPERLINK("http://x","y")\nsecond line, with comma'
    failures = list(table.arms[Arm.AUDIO].failures)
    failures[0] = Failure("recognize", FailureKind.TIMEOUT, nasty)
    failures[1] = Failure("recognize", FailureKind.TIMEOUT, "lone \ud800 surrogate")
    arm = replace(table.arms[Arm.AUDIO], failures=tuple(failures))
    text = failures_csv(replace(table, arms={**table.arms, Arm.AUDIO: arm}))
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == list(FAILURE_COLUMNS)
    assert rows[1] == ["q000", "audio", "recognize", "timeout", f"'{nasty}"]
    assert rows[2][4] == r"lone \ud800 surrogate"
    assert rows[3] == ["q005", "audio", "recognize", "asr_error", "the decoder stopped"]
    text.encode("utf-8")


def test_failures_csv_has_its_header_without_failures() -> None:
    table = make_table(1, 2, 0)
    assert failures_csv(table) == ",".join(FAILURE_COLUMNS) + "\n"


def test_matrix_csv_has_a_row_per_cell_metric_and_arm() -> None:
    report = report_of(make_table(), {**AXES, "=danger": ("@x",)})
    rows = list(csv.DictReader(io.StringIO(matrix_csv(report))))
    assert list(rows[0]) == list(MATRIX_COLUMNS)
    assert len(rows) == sum(len(cell["estimates"]) for cell in report["matrix"])
    assert {row["axis"] for row in rows} == {"language", "noise", "mic", "'=danger"}
    (wer,) = [row for row in rows if (row["value"], row["metric"], row["arm"]) == ("15dB", "wer", "audio")]
    (cell,) = [c for c in report["matrix"] if c["value"] == "15dB"]
    (estimate,) = [e for e in cell["estimates"] if e["metric"] == "wer"]
    assert float(wer["rate"]) == estimate["value"]
    assert [float(wer["low"]), float(wer["high"])] == estimate["intervals"]["deciding"]
    assert (wer["n"], wer["units"], wer["failed"], wer["flags"]) == ("23", "6", "1", "under_50")


def test_matrix_csv_has_the_counts_of_every_rate() -> None:
    report = build_report(make_table(), FAMILIES, suite={}, system={}, scorer={}, timings={}, axes=AXES,
                          primary_metrics={}, resamples=20)  # fmt: skip
    rows = csv.DictReader(io.StringIO(matrix_csv(report)))
    estimates = [estimate for cell in report["matrix"] for estimate in cell["estimates"]]
    for row, estimate in zip(rows, estimates, strict=True):
        pairs = dict(pair.split("=") for pair in row["counts"].split())
        assert {name: float(value) for name, value in pairs.items()} == estimate["counts"]


def test_matrix_csv_has_the_intervals_that_the_terminal_shows() -> None:
    report = report_of(make_table(12, 1, 0, error=0.02), dict(AXES))
    rows = list(csv.DictReader(io.StringIO(matrix_csv(report))))
    estimates = [estimate for cell in report["matrix"] for estimate in cell["estimates"]]
    few = below = 0
    for row, estimate in zip(rows, estimates, strict=True):
        deciding = (estimate["intervals"] or {"deciding": None})["deciding"]
        if deciding is None or estimate["units"] < 6:
            assert (row["low"], row["high"]) == ("", "")
            few += deciding is not None
        elif row["metric"] == "wer":
            assert [float(row["low"]), float(row["high"])] == [max(deciding[0], 0.0), deciding[1]]
            below += deciding[0] < 0
    assert few and below


def report_of(table: CountTable, axes: dict[str, tuple[str, ...]]) -> dict[str, object]:
    return build_report(
        table,
        FAMILIES,
        suite={"name": "made-up"},
        system={},
        scorer={"sha256": "b" * 64},
        timings=None,
        axes=axes,
        primary_metrics={},
        resamples=100,
    )


def test_report_files_are_written_and_read_back(tmp_path: Path) -> None:
    table = make_table()
    report = report_of(table, dict(AXES))
    write_report_files(tmp_path, table, FAMILIES, report)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "failures.csv",
        "items.parquet",
        "matrix.csv",
        "report.json",
    ]
    assert read_report(tmp_path) == report
    assert_same(read_items_parquet(tmp_path / "items.parquet", FAMILIES), table)
    assert read_scorer_sha256(tmp_path / "items.parquet") == "b" * 64


def test_missing_report_says_how_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "run.json").touch()
    with pytest.raises(IncompleteRunError, match="finish the run, or score it with misheard score"):
        read_report(tmp_path)


def test_a_folder_that_is_no_run_is_called_that(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(IncompleteRunError, match=r"no run\.json; this is not a run directory"):
            read_report(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format":"other"}', "[" * 100_000])
def test_file_that_is_no_report_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(InputError, match=r"report\.json"):
        read_report(tmp_path)


def test_report_of_another_version_is_refused(tmp_path: Path) -> None:
    report = {**report_of(make_table(1, 2, 0), dict(AXES)), "format_version": 99}
    (tmp_path / "report.json").write_text(json.dumps(report))
    with pytest.raises(InputError, match="misheard score"):
        read_report(tmp_path)
