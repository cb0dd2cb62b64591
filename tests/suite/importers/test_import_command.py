"""`misheard suite import` as people call it: what it prints, and inputs that are hostile or not there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from importing_helpers import write_clip

from command_line import misheard
from misheard.suite.importers.record import rows_left_out

NAME = "we$(touch pwned) \"q\" 'नमस्ते'.wav"


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "misheard", "suite", "import", *arguments],
        capture_output=True, text=True, check=False, cwd=folder, timeout=120,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_clip(tmp_path / NAME)
    quoted = NAME.replace('"', '""')
    (tmp_path / "m.csv").write_text(f'file,text,speaker,snr\n"{quoted}",canary words,anna,5dB\n', "utf-8")
    return tmp_path


def test_what_was_guessed_is_said(folder: Path) -> None:
    done = call(folder, "m.csv", "out", "--condition", "noise=snr", "--map", "session=speaker")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "read as csv: its name ends in .csv"
    assert lines[1] == "columns: audio=file, reference=text, session=speaker, noise=snr (condition)"
    assert lines[2].startswith("imported 1 of 1 row: 1 speech, 0 non-speech, 1 session; 1 recording")
    assert "note: 1 speech item has no language, by which `spoken` reads numerals" in done.stdout
    assert lines[-1] == "Look at it: misheard suite show out"
    assert "canary" not in done.stdout + done.stderr
    assert not (folder / "pwned").exists()
    checked = subprocess.run(
        [sys.executable, "-m", "misheard", "suite", "validate", "out"],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
    assert "note: 1 speech item has no language; misheard suite show says" in checked.stdout


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def hostile(folder: Path, name: str) -> None:
    """Make one of the sources that cannot be imported."""
    path = folder / name
    if name == "utf16.csv":
        path.write_bytes("path,text\na.wav,b\n".encode("utf-16"))
    elif name == "nul.csv":
        path.write_bytes(b"path,text\na\0b,c\n")
    elif name == "folder.csv":
        path.mkdir()
    elif name == "loop.csv":
        path.symlink_to(name)
    elif name == "fifo.csv":
        os.mkfifo(path)
    elif name == "zero.csv":
        path.symlink_to("/dev/zero")
    elif name == "control.csv":
        path.write_text("path,text\n\x1b[2Jno.wav,a\n")
    elif name == "rounds":
        path.mkdir()
        (path / "again").symlink_to("../rounds")
    elif name != "none.csv":
        path.write_bytes(b"")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("utf16.csv", "is UTF-16; convert it"),
        ("nul.csv", "a NUL character"),
        ("folder.csv", "its format cannot be told"),
        ("loop.csv", "there is no such file"),
        ("fifo.csv", "it is a FIFO, not a regular file"),
        ("zero.csv", "not a regular file"),
        ("none.csv", "there is no such file"),
        ("rounds", "its format cannot be told"),
        ("control.csv", r"'\x1b[2Jno.wav' is not in the working folder"),
        ("empty.csv", "has no header line"),
        ("empty.json", "its format cannot be told"),
        ("empty.trn", "holds no utterances"),
        ("empty.parquet", "cannot be read as Parquet"),
        ("empty.jsonl", "its format cannot be told"),
    ],
)
def test_hostile_sources(folder: Path, name: str, message: str) -> None:
    hostile(folder, name)
    before = names(folder)
    done = call(folder, name, "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith(("misheard: ", "  "))
    assert message in done.stderr and "Traceback" not in done.stderr and "\x1b" not in done.stderr
    assert names(folder) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--map", "text=a"], "--map 'text': is none of id, audio, reference"),
        (["--map", "reference"], "write it as NAME=COLUMN"),
        (["--map", "id=a", "--map", "id=b"], "--map 'id' is given twice"),
        (["--map", "id=none"], "has no column 'none'"),
        (["--condition", "No Axis=snr"], "use lower-case letters, digits and _"),
        (["--condition", "noise="], "--condition needs a column"),
        (["--condition", "language=snr"], "use --map language=COLUMN"),
        (["--audio-root", "nowhere"], "--audio-root nowhere: is no folder"),
        (["--language", "no such"], "is no tag such as en"),
        (["--format", "xml"], "use one of: json, csv, tsv"),
        (["--format", "kaldi"], "is no Kaldi data folder"),
        (["--name", ""], "--name must be one line"),
    ],
)
def test_options_that_mean_nothing(folder: Path, arguments: list[str], message: str) -> None:
    done = call(folder, "m.csv", "out", *arguments)
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr
    assert not (folder / "out").exists()


def test_the_destination_must_be_new(folder: Path) -> None:
    (folder / "full").mkdir()
    (folder / "full" / "file").write_text("kept")
    (folder / "link").symlink_to("full")
    for place in ("full", "link", "m.csv"):
        done = call(folder, "m.csv", place)
        assert done.returncode == 2 and "name a new one" in done.stderr
    assert [path.name for path in (folder / "full").iterdir()] == ["file"]


def test_one_problem_ends_the_import_without_a_trace(folder: Path) -> None:
    with (folder / "m.csv").open("a") as file:
        file.write("missing.wav,more words,ben,5dB\n")
    before = names(folder)
    done = call(folder, "m.csv", "out")
    assert done.returncode == 2
    assert "m.csv (--skip-broken imports the other row and lists these): 1 problem" in done.stderr
    assert names(folder) == before
    done = call(folder, "m.csv", "out", "--skip-broken")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[lines.index("left out 1 row:") + 1].startswith(
        "  m.csv:3: the recording 'missing.wav' is not"
    )
    assert "more words" not in done.stdout


def test_many_rows_left_out_are_listed_in_part_and_the_suite_says_how_many(folder: Path) -> None:
    with (folder / "m.csv").open("a") as file:
        file.write("".join(f"missing{n}.wav,words,ben,5dB\n" for n in range(23)))
    done = misheard("suite", "import", "m.csv", "out", "--skip-broken", cwd=folder)
    lines = done.stdout.splitlines()
    place = lines.index("left out 23 rows:")
    assert [line.split(":")[0] for line in lines[place + 1 : place + 21]] == ["  m.csv"] * 20
    assert lines[place + 21] == "  and 3 more, which import.json lists"
    told = "23 rows of the source left out when it was imported; import.json says why"
    assert told in misheard("suite", "show", "out", cwd=folder).stdout


@pytest.mark.parametrize(
    ("record", "rows"),
    [
        ('{"counts": {"skipped": 2}}', 2),
        ('{"counts": {"skipped": 0}}', 0),
        ('{"counts": {"skipped": "2"}}', None),
        ('{"counts": 2}', None),
        ("[2]", None),
        ("{", None),
        ("[" * 100_000, None),
        (None, None),
    ],
)
def test_rows_left_out_are_read_from_the_record(tmp_path: Path, record: str | None, rows: int | None) -> None:
    if record is not None:
        (tmp_path / "import.json").write_text(record)
    assert rows_left_out(tmp_path) == rows
