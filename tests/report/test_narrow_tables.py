"""Tables on a terminal of 80 columns: what fits, what is left out, and what is never cut."""

import copy
import io
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from made_up_tables import AXES, FAMILIES, make_table
from misheard.failures import FailureKind
from misheard.report.build import build_report
from misheard.report.clips import Clip, build_clips_comparison, build_clips_report
from misheard.report.terminal import render_report
from misheard.report.terminal_cells import Grid, fitting
from misheard.report.terminal_clips import render_clips, render_clips_comparison


def shown(renderable: Any, width: int = 80) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(renderable)
    return out.getvalue().splitlines()


def clips(count: int, name: str, seconds: float | None) -> list[Clip]:
    return [
        Clip(f"{name}{number:02d}", "one two", "en", "one to", None, 2.5, None, seconds, None)
        for number in range(count)
    ]


@pytest.mark.parametrize("profiles", [("exact",), ("exact", "plain")])
@pytest.mark.parametrize(
    "name", ["q", "a-recording-whose-id-is-longer-than-any-line-of-a-terminal-has-room-for-"]
)
@pytest.mark.parametrize("seconds", [None, 0.5])
def test_a_clip_has_one_line(profiles: tuple[str, ...], name: str, seconds: float | None) -> None:
    lines = shown(
        render_clips(build_clips_report(clips(3, name, seconds), profiles, run={}, with_text=False))
    )
    assert max(map(len, lines)) <= 80
    rows = [line for line in lines if line.startswith(name[:8])]
    assert len(rows) == 3
    assert all(row.count("50.0% 1/0/0") == len(profiles) for row in rows)
    assert lines[-1] == "3 clips, 0 failed; times in seconds"


def test_the_sum_says_what_it_has_of_clips_without_words() -> None:
    silent = [
        Clip(f"s{n}", "", "en", heard, None, 2.5, None, None, None) for n, heard in enumerate(("", "you"))
    ]
    lost = replace(silent[0], id="s9", hypothesis=None, failure=FailureKind.TIMEOUT)
    for width in (60, 80):
        document = build_clips_report(
            [*clips(3, "q", None), *silent, lost], ["exact", "plain"], run={}, with_text=False
        )
        lines = shown(render_clips(document), width)
        (total,) = [line for line in lines if line.startswith("all ")]
        assert total.endswith("66.7% 3/0/1")
        note = (
            "all: with the words heard in 2 clips without reference words, which a report's word error rate "
        )
        assert f"{note}leaves out" in " ".join(lines)


@pytest.mark.parametrize(
    ("width", "shown_profiles"), [(80, ["nfc", "plain"]), (110, ["nfc", "exact", "plain"])]
)
def test_the_profile_of_the_run_comes_first_and_stays(width: int, shown_profiles: list[str]) -> None:
    times = [replace(clip, load_seconds=1.5, process_seconds=12.5) for clip in clips(3, "q", 0.5)]
    profiles = ["nfc", "exact", "plain"]
    document = build_clips_report(times, profiles, run={"profile": "nfc"}, with_text=False)
    assert list(document["aggregate"]["wer"]) == profiles
    lines = shown(render_clips(document), width)
    assert max(map(len, lines)) <= width
    assert [word for word in lines[0].split() if word in profiles] == shown_profiles
    assert "nfc is the profile of the run's report" in lines


@pytest.mark.parametrize(("seconds", "titles"), [(None, ["audio"]), (0.5, ["audio", "infer", "RTF"])])
def test_times_that_nothing_told_have_no_column(seconds: float | None, titles: list[str]) -> None:
    one = build_clips_report(clips(1, "q", seconds), ["exact"], run={}, with_text=False)
    several = build_clips_comparison([("a", {}, clips(1, "q", seconds))] * 2, ["exact"])
    for lines in (shown(render_clips(one)), shown(render_clips_comparison(several))):
        assert lines[0].split()[1:] == [*titles, "WER", "exact", "S/D/I"]


def report(non_speech: int, axes: Mapping[str, Sequence[str]] = AXES) -> dict[str, Any]:
    return build_report(
        make_table(6, 12, non_speech), FAMILIES, suite={}, system={}, scorer={}, timings={}, axes=axes,
        primary_metrics={"en": "wer"}, resamples=50,
    )  # fmt: skip


def test_a_kind_of_items_that_a_suite_lacks_has_no_column() -> None:
    assert any("non_speech" in line for line in shown(render_report(report(6, {}))))
    assert not any("non_speech" in line for line in shown(render_report(report(0, {}))))


def test_a_script_that_is_alone_in_every_cell_is_not_shown_again() -> None:
    whole = report(0)
    for cell in whole["matrix"]:
        (wer,) = [one for one in cell["estimates"] if (one["metric"], one["arm"]) == ("wer", "audio")]
        cell["estimates"].append(copy.deepcopy(wer) | {"family": "wer_latn", "metric": "wer_latn"})
    (described,) = [metric for metric in whole["metrics"] if metric["metric"] == "wer"]
    whole["metrics"].append(described | {"family": "wer_latn", "metric": "wer_latn"})
    assert not any("WER of Latn" in line for line in shown(render_report(whole)))
    whole["matrix"][0]["estimates"][-1]["counts"]["insertions"] += 1
    assert any("WER of Latn alone" in line for line in shown(render_report(whole)))


def scored(tmp_path: Path, columns: str, *names: str, on_terminal: bool) -> list[str]:
    (tmp_path / "reference.txt").write_text("a b c\nd e f\n" * 3)
    hypotheses = names or ("small.txt",)
    for name in hypotheses:
        (tmp_path / name).write_text("a b c\nd e x\n" * 3)
    reader, writer = os.openpty() if on_terminal else os.pipe()
    subprocess.run(
        [sys.executable, "-m", "misheard", "score", "--ref", "reference.txt",
         *(part for name in hypotheses for part in ("--hyp", name))],
        cwd=tmp_path, env=os.environ | {"COLUMNS": columns}, stdout=writer, check=True,
    )  # fmt: skip
    printed = os.read(reader, 100_000).decode()
    os.close(reader)
    os.close(writer)
    return printed.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", ["80", "90"])
def test_scores_of_files_are_divided_where_they_do_not_fit(tmp_path: Path, columns: str) -> None:
    wide, narrow = (scored(tmp_path, size, on_terminal=True) for size in ("200", columns))
    assert max(map(len, narrow)) <= int(columns) < max(map(len, wide))
    words = [[line.split() for line in lines if line.startswith("small.txt")] for lines in (wide, narrow)]
    assert [*words[1][0], *words[1][1][1:]] == words[0][0]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", ["60", "80"])
def test_scores_of_files_with_long_names_are_folded_and_whole(tmp_path: Path, columns: str) -> None:
    long = f"{'a-system-with-a-very-long-name-' * 3}.txt"
    lines = scored(tmp_path, columns, "small.txt", long, on_terminal=True)
    assert max(map(len, lines)) <= int(columns)
    assert "".join(line.split()[0] for line in lines if line).count(long) >= 2
    words = " ".join(lines).split()
    wide = scored(tmp_path, "400", "small.txt", long, on_terminal=True)
    assert all(words.count(word) >= 1 for line in wide for word in line.split() if word != long)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", ["", "0", "-1", "wide", "²", "9" * 5_000])
def test_a_width_that_is_none_is_passed_over(tmp_path: Path, columns: str) -> None:
    assert scored(tmp_path, columns, on_terminal=True) == scored(tmp_path, "200", on_terminal=True)


def test_pipes_and_files_have_no_width(tmp_path: Path) -> None:
    assert scored(tmp_path, "80", on_terminal=False) == scored(tmp_path, "200", on_terminal=False)


def test_columns_that_have_no_room_follow_below_and_nothing_is_cut() -> None:
    arms = ["audio", "uncorrected", "transcript", "plan", "control", "change"]
    grid = Grid([("", "left"), *((arm, "right") for arm in arms)])
    grid.add("n pairs", "26*")
    for number, name in enumerate(["labels (F1)", "connections drawn"]):
        grid.add(name, *(f"{column}{number}.{'0' * 10}" for column in range(len(arms))))
    for width in range(34, 100):
        lines = shown(fitting(width, grid), width)
        text = "\n".join(lines)
        assert max(map(len, lines)) <= width
        assert all(text.count(arm) == 1 for arm in arms), width
        assert all(f"{column}{number}.{'0' * 10}" in text for column in range(6) for number in (0, 1)), width
        assert text.count("connections") == text.count("labels") >= 1
        assert text.count("26*") == 1
