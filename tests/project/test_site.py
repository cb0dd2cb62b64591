"""The site of docs/: built without a warning, with every page; a dead link or anchor ends the build."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

pytest.importorskip("furo", reason="needs the extra dev")
pytest.importorskip("myst_parser", reason="needs the extra dev")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "docs"
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "docs"), "--out", str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"open {out / 'index.html'}" in done.stdout
    return out


def test_every_page_is_there_and_in_the_contents(site: Path) -> None:
    contents = (site / "start.html").read_text("utf-8")
    for page in DOCS.glob("*.md"):
        assert (site / f"{page.stem}.html").is_file()
        assert page.stem == "start" or f'href="{page.stem}.html"' in contents, page


def test_the_site_asks_no_other_host(site: Path) -> None:
    for page in site.glob("*.html"):
        text = page.read_text("utf-8")
        assert 'src="http' not in text and 'src="//' not in text
        assert not re.search(r"<link[^>]*stylesheet[^>]*//", text)


def test_options_keep_their_dashes(site: Path) -> None:
    text = (site / "cli.html").read_text("utf-8")
    assert "(go on with --resume)" in text and "\u2013resume" not in text


def test_search_reads_no_page_which_no_browser_allows_from_disk(site: Path) -> None:
    options = (site / "_static" / "documentation_options.js").read_text("utf-8")
    assert "SHOW_SEARCH_SUMMARY: false" in options


def test_links_to_files_outside_are_to_be_had(site: Path) -> None:
    assert list(site.glob("_downloads/*/gpu.yaml"))


DEAD = ("start.md#nowhere", "missing.md", "../configs/missing.yaml")


def test_dead_links_are_errors(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    shutil.copy(DOCS / "conf.py", docs)
    (docs / "index.md").write_text("# Index\n\n## Pages\n\n* [Start](start.md)\n")
    links = "".join(f"[there]({link})\n\n" for link in ("start.md#start", *DEAD))
    (docs / "start.md").write_text(f"# Start\n\n{links}")
    command = ["-m", "sphinx", "-b", "dummy", "-q", "-n", "-W", str(docs), str(tmp_path / "out")]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line]
    assert len(warnings) == len(DEAD)
    for link in DEAD:
        assert any(Path(link.split("#")[-1]).stem in warning for warning in warnings), link
