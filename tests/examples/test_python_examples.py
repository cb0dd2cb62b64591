"""The programs of examples/python, as a reader runs them, on small inputs."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(program: str, *arguments: object) -> str:
    command = [sys.executable, str(EXAMPLES / "python" / program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A reference of 60 utterances in 6 sessions, and two systems; the second has errors in half of them."""
    rows = [(f"u{n:02d}", f"s{n % 6}", "one two three four") for n in range(60)]
    lines = ["id,session,reference", *(f"{name},{session},{text}" for name, session, text in rows)]
    (tmp_path / "ref.csv").write_text("\n".join(lines) + "\n")
    for system, heard in (("a", "one two three four"), ("b", "one two")):
        texts = [heard if n % 2 else "one two three four" for n in range(60)]
        (tmp_path / f"{system}.jsonl").write_text(
            "".join(
                json.dumps({"id": f"u{n:02d}", "transcript": text}) + "\n" for n, text in enumerate(texts)
            )
        )
    return [tmp_path / name for name in ("ref.csv", "a.jsonl", "b.jsonl")]


def test_two_systems_are_compared(files: list[Path]) -> None:
    printed = run("compare_systems.py", *files)
    assert "difference, B - A: +25.0 points over 6 sessions" in printed
    assert printed.splitlines()[-1].split(": ")[1].split(", ") == [f"u{n:02d}" for n in range(1, 60, 2)]


def test_an_own_metric_has_an_interval(files: list[Path]) -> None:
    printed = run("own_metric.py", *files)
    assert "a.jsonl: 0.0% of utterances" in printed and "b.jsonl: 50.0% of utterances" in printed
    assert printed.splitlines()[-1].endswith("points (95%, 6 sessions)")


def test_replies_of_a_provider_become_lines_to_import(tmp_path: Path) -> None:
    replies = tmp_path / "replies"
    replies.mkdir()
    channel = {"alternatives": [{"transcript": "guten Tag"}]}
    (replies / "q1.json").write_text(json.dumps({"results": {"channels": [channel]}}))
    (replies / "q2.json").write_text(json.dumps({"text": "grüß Gott"}))
    (tmp_path / "seconds.csv").write_text("id,seconds\nq1,0.8\n")
    lines = run("provider_outputs.py", replies, tmp_path / "seconds.csv").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "q1", "transcript": "guten Tag", "recognize_seconds": 0.8},
        {"id": "q2", "transcript": "grüß Gott"},
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replies", "none.csv"], "none.csv: cannot be read as CSV in UTF-8: "),
        (["replies", "latin.csv"], "latin.csv: cannot be read as CSV in UTF-8: "),
        (["replies", "other.csv"], "other.csv: row 2 needs the columns id and seconds, a number"),
        (["replies", "words.csv"], "words.csv: row 3 needs the columns id and seconds, a number"),
        (["none"], "none"),
        (["words.csv"], "words.csv"),
        ([], "FOLDER [SECONDS.csv]"),
    ],
)
def test_replies_that_cannot_be_read_are_one_clear_error(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "replies").mkdir()
    (tmp_path / "replies" / "q1.txt").write_text("good day")
    (tmp_path / "latin.csv").write_bytes("id,seconds\nq\xe4,1\n".encode("latin-1"))
    (tmp_path / "other.csv").write_text("name,time\nq1,0.8\n")
    (tmp_path / "words.csv").write_text("id,seconds\nq1,0.8\nq2,fast\n")
    command = [sys.executable, str(EXAMPLES / "python" / "provider_outputs.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("Paris.", 1.0), ("It is Berlin", 0.0), ("", 0.0), ("paris " + "well " * 49, 0.5)],
)
def test_the_scorer_stays_between_0_and_1(answer: str, expected: float) -> None:
    place = EXAMPLES / "scorers" / "short_answers.py"
    spec = importlib.util.spec_from_file_location("short_answers", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.spoken("Paris", answer) == expected
    assert module.spoken("", answer) == 0.0
