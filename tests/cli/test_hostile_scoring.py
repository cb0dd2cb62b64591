"""What a hostile or unlucky user gives to `misheard score` and `misheard import`: one clear error each."""

import json
from pathlib import Path

import pytest

from command_line import misheard


@pytest.mark.parametrize("offset", [2**30, -9])
def test_an_arrow_file_whose_offsets_leave_it_is_refused(tmp_path: Path, offset: int) -> None:
    import pyarrow as pa

    table = pa.table({"id": ["a", "b"], "text": ["hello there", "you"]})
    path = tmp_path / "data.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    raw = path.read_bytes()
    lengths = b"".join(n.to_bytes(4, "little", signed=True) for n in (0, 11, 14))
    assert raw.count(lengths) == 1
    broken = b"".join(n.to_bytes(4, "little", signed=True) for n in (0, offset, 14))
    path.write_bytes(raw.replace(lengths, broken))
    done = misheard("score", "--ref", path, "--hyp", path, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "cannot be read as a dataset" in done.stderr


def test_file_names_cannot_drive_the_terminal(tmp_path: Path) -> None:
    done = misheard("score", "--ref", "x\x1b[31m.txt", "--hyp", "y\u202e.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert r"\x1b[31m.txt" in done.stderr


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_on_any_system(tmp_path: Path, end: str) -> None:
    (tmp_path / "r.txt").write_bytes(f"a b{end}c{end}".encode())
    (tmp_path / "h.txt").write_bytes(f"a b{end}d{end}".encode())
    done = misheard("score", "--ref", "r.txt", "--hyp", "h.txt", "--output", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"utterances": 2' in done.stdout or '"items": 2' in done.stdout


@pytest.mark.parametrize("tag", ["english", "x y!!", "", "e"])
def test_a_language_that_is_no_tag_is_refused(tmp_path: Path, tag: str) -> None:
    (tmp_path / "r.txt").write_text("thirty six\n")
    done = misheard("score", "--ref", "r.txt", "--hyp", "r.txt", "--language", tag, cwd=tmp_path)
    assert done.returncode == 2
    assert "language" in done.stderr


def test_three_letters_name_the_same_language() -> None:
    from misheard.text.profiles import normalise

    assert normalise("thirty six", "spoken", "eng") == normalise("thirty six", "spoken", "en") == "36"


def test_an_integer_that_no_float_holds_is_no_time(tmp_path: Path) -> None:
    (tmp_path / "o.jsonl").write_text(
        json.dumps({"id": "q01", "transcript": "x"})[:-1] + ', "recognize_seconds": 1' + "0" * 400 + "}\n"
    )
    demo = Path(__file__).parents[2] / "configs" / "demo"
    done = misheard("import", "o.jsonl", "--suite", demo, "--out", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "recognize_seconds" in done.stderr
