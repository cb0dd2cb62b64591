"""The pages of `misheard report SOAK --html`, `misheard soak check --html` and of several folders."""

from pathlib import Path

import pytest
from made_traces import healthy, soak_folder, write
from typer.testing import CliRunner

from misheard.commands import app


@pytest.fixture
def soak(tmp_path: Path) -> Path:
    """The folder of a healthy session."""
    return soak_folder(tmp_path / "soak-20260102-030405", healthy())


def test_a_soak_has_a_page_in_its_folder_and_the_check_writes_the_same_verdict(soak: Path) -> None:
    assert CliRunner().invoke(app, ["report", str(soak), "--html"]).exit_code == 0
    page = (soak / "report.html").read_text("utf-8")
    assert "<b>SHIP</b>" in page and 'id="timeline"' in page and "t79" not in page
    other = soak.parent / "checked.html"
    done = CliRunner().invoke(app, ["soak", "check", str(soak), "--html", str(other)])
    assert done.exit_code == 0 and other.read_text("utf-8") == page


def test_a_trace_of_another_product_has_a_page_too(tmp_path: Path) -> None:
    trace, page = write(tmp_path / "trace.jsonl", healthy(20)), tmp_path / "page.html"
    assert CliRunner().invoke(app, ["soak", "check", str(trace), "--html", str(page)]).exit_code in (0, 3, 4)
    assert "misheard soak check trace.jsonl" in page.read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "SOAK", "--html=SOAK/soak.json"],
        ["report", "SOAK", "--html", "--with-text"],
        ["report", "SOAK", "SOAK"],
        ["report", "SOAK", "SOAK", "--html"],
        ["report", "OUT", "OUT", "--html=OUT/index.html"],
        ["soak", "check", "SOAK/trace.jsonl", "--html", "SOAK/trace.jsonl"],
        ["soak", "check", "SOAK/trace.jsonl", "--html", "OUT/both", "--json", "OUT/both"],
        ["soak", "check", "SOAK/trace.jsonl", "--html", "OUT", "--json", "OUT/verdict.json"],
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is_lost(arguments: list[str], soak: Path) -> None:
    out = soak.parent / "out"
    out.mkdir()
    before = {path: path.read_bytes() for path in soak.iterdir() if path.is_file()}
    filled = [text.replace("SOAK", str(soak)).replace("OUT", str(out)) for text in arguments]
    assert CliRunner().invoke(app, filled).exit_code != 0
    assert {path: path.read_bytes() for path in soak.iterdir() if path.is_file()} == before
    assert not list(out.iterdir())


def test_several_folders_are_listed_with_a_link_to_the_page_of_each(soak: Path) -> None:
    (soak / "report.html").write_text("")
    index = soak.parent / "index.html"
    done = CliRunner().invoke(app, ["report", str(soak), str(soak.parent), f"--html={index}"])
    assert done.exit_code == 0 and "this is not a run directory" in done.stderr
    page = index.read_text("utf-8")
    assert f'href="{soak.name}/report.html"' in page and "2026-01-02 03:04" in page
