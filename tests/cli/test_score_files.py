"""`misheard score --ref R --hyp H`: what it prints, the same numbers as the API, and its exit codes."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import misheard
from command_line import misheard_bytes

SCLITE = shutil.which("sclite") or "/usr/lib/sctk/bin/sclite"


def command(
    *arguments: object, stdin: bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    return misheard_bytes("score", *arguments, cwd=cwd, stdin=stdin)


def printed(*arguments: object, **options: Any) -> str:
    done = command(*arguments, **options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def document(*arguments: object, **options: Any) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(printed(*arguments, "--output", "json", **options))
    return loaded


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "ref.txt").write_text("the cat sat\nno chest pain\n\n我 爱 你\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("the bat sat down\nchest pain\nuh\n我 爱 你\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("the cat sat\nno chest pain\n\n我 爱 他\n", encoding="utf-8")
    return tmp_path


def test_json_has_the_numbers_of_the_api(files: Path) -> None:
    found = document("--ref", "ref.txt", "--hyp", "a.txt", cwd=files)
    (system,) = found["hypotheses"]
    same = misheard.score(*((files / name).read_text("utf-8").splitlines() for name in ("ref.txt", "a.txt")))
    for name in ("substitutions", "deletions", "insertions", "hits", "errors", "reference_units", "rate",
                 "hypothesis_units"):  # fmt: skip
        assert system[name] == getattr(same, name)
    assert (system["substitutions"], system["deletions"], system["insertions"]) == (1, 1, 2)
    assert [item["rate"] for item in system["items"]] == [2 / 3, 1 / 3, None, 0.0]
    assert system["items"][1]["deletions"] == 1
    rates = [2 / 3, 1 / 3, 0.0]
    assert system["distribution"] == pytest.approx(
        {"n": 3, "mean": np.mean(rates), "p50": np.percentile(rates, 50), "p95": np.percentile(rates, 95)}
    )
    assert system["sentence_error_rate"] == 0.75
    assert system["confusions"]["substitutions"] == [{"reference": "cat", "hypothesis": "bat", "count": 1}]
    assert system["confusions"]["deletions"] == [{"reference": "no", "count": 1}]
    assert [entry["hypothesis"] for entry in system["confusions"]["insertions"]] == ["down", "uh"]
    assert found["comparisons"] == []
    assert (found["profile"], found["unit"], found["pairs"]) == ({"name": "nfc", "version": 1}, "words", 4)


def test_the_table(files: Path) -> None:
    text = printed("--ref", "ref.txt", "--hyp", "a.txt", cwd=files)
    assert "4 utterances, read as lines" in text
    row = next(line.split() for line in text.splitlines() if line.startswith("a.txt"))
    assert row == [
        "a.txt",
        "lines",
        "line",
        "44.44%",
        "1",
        "1",
        "2",
        "9",
        "75.00%",
        "33.33%",
        "33.33%",
        "63.33%",
    ]


def test_csv_has_a_row_per_pair_and_system(files: Path) -> None:
    text = printed("--ref", "ref.txt", "--hyp", "a.txt", "--hyp", "b.txt", "--output", "csv", cwd=files)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["file"], row["id"]) for row in rows[3:5]] == [("a.txt", "4"), ("b.txt", "1")]
    assert rows[2]["rate"] == "" and rows[2]["insertions"] == "1"


def test_several_systems_are_compared_pair_by_pair(files: Path) -> None:
    found = document("--ref", "ref.txt", "--hyp", "a.txt", "--hyp", "b.txt", "--hyp", "ref.txt", cwd=files)
    sides = [(one["a"], one["b"]) for one in found["comparisons"]]
    assert sides == [("a.txt", "b.txt"), ("a.txt", "ref.txt"), ("b.txt", "ref.txt")]
    assert found["comparisons"][0]["difference"] == pytest.approx(1 / 9 - 4 / 9)
    assert all(one["verdict"] == "too_few_items" for one in found["comparisons"])
    assert found["hypotheses"][0]["intervals"]["deciding"] is not None


@pytest.fixture
def many(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = [[f"w{n}" for n in rng.integers(0, 30, 8)] for _ in range(120)]
    for name, rate in (("ref", 0.0), ("good", 0.05), ("bad", 0.4)):
        texts = [" ".join("x" if rng.random() < rate else word for word in words) for words in rows]
        (tmp_path / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "sessions").write_text("".join(f"s{n % 3}\n" for n in range(120)))
    return tmp_path


def test_a_clear_difference_gets_a_verdict_and_equal_systems_get_zero(many: Path) -> None:
    found = document(
        "--ref", "ref.txt", "--hyp", "bad.txt", "--hyp", "good.txt", "--hyp", "good.txt", cwd=many
    )
    better, _, same = found["comparisons"]
    assert better["verdict"] == "better"
    assert better["intervals"]["deciding"][1] < 0
    assert (better["n"], better["units"], better["resampled"]) == (120, 120, "utterances")
    assert (same["difference"], same["intervals"]["deciding"], same["verdict"]) == (0, [0, 0], "inconclusive")


def test_few_sessions_allow_no_verdict(many: Path) -> None:
    arguments = ("--ref", "ref.txt", "--hyp", "bad.txt", "--hyp", "good.txt", "--sessions", "sessions")
    (one,) = document(*arguments, cwd=many)["comparisons"]
    assert (one["units"], one["resampled"], one["verdict"]) == (3, "sessions", "inconclusive")


@pytest.mark.parametrize(
    ("sessions", "expected"),
    [
        (True, "no interval: 3 sessions, and under 6 none is trusted"),
        (False, None),
    ],
)
@pytest.mark.parametrize("hypotheses", [("bad.txt", "--intervals"), ("bad.txt", "--hyp", "good.txt")])
def test_few_units_have_no_interval_in_the_table(
    many: Path, hypotheses: tuple[str, ...], sessions: bool, expected: str | None
) -> None:
    by = ("--sessions", "sessions") if sessions else ()
    text = printed("--ref", "ref.txt", "--hyp", *hypotheses, *by, cwd=many)
    assert ("95% interval" in text, ".." in text) == (expected is None, expected is None)
    assert [line for line in text.splitlines() if line.startswith("no interval")] == (
        [] if expected is None else [expected]
    )
    found = document("--ref", "ref.txt", "--hyp", *hypotheses, *by, cwd=many)
    assert found["hypotheses"][0]["intervals"]["deciding"] is not None


def test_one_utterance_is_no_plural(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("a b c\n")
    text = printed("--ref", "one.txt", "--hyp", "one.txt", "--intervals", cwd=tmp_path)
    assert "no interval: 1 utterance, and under 6 none is trusted" in text.splitlines()


def test_an_interval_for_one_system(many: Path) -> None:
    arguments = ("--ref", "ref.txt", "--hyp", "bad.txt")
    assert document(*arguments, cwd=many)["hypotheses"][0]["intervals"] is None
    system = document(*arguments, "--intervals", cwd=many)["hypotheses"][0]
    low, high = system["intervals"]["deciding"]
    assert low < system["rate"] < high
    assert "95% interval" in printed(*arguments, "--intervals", cwd=many)


def test_standard_input(files: Path) -> None:
    text = (files / "ref.txt").read_bytes()
    found = document("--ref", "-", "--hyp", "a.txt", stdin=text, cwd=files)
    assert found["reference"] == {"file": "<stdin>", "format": "lines", "utterances": 4}
    assert found["hypotheses"][0]["errors"] == 4


@pytest.mark.parametrize(
    ("arguments", "errors"),
    [
        (["--unit", "chars"], 9),
        (["--unit", "mixed", "--profile", "exact"], 4),
        (["--costs", "sclite"], 4),
        (["--profile", "plain"], 4),
        (["--profile", "spoken", "--language", "en"], 4),
        (["--unit", "graphemes"], 9),
    ],
)
def test_options_reach_the_api(files: Path, arguments: list[str], errors: int) -> None:
    assert (
        document("--ref", "ref.txt", "--hyp", "a.txt", *arguments, cwd=files)["hypotheses"][0]["errors"]
        == errors
    )


def test_missing_hypotheses(tmp_path: Path) -> None:
    (tmp_path / "ref.trn").write_text("a b (u-1)\nc d (u-2)\n")
    (tmp_path / "hyp.trn").write_text("a b (u-1)\n")
    refused = command("--ref", "ref.trn", "--hyp", "hyp.trn", cwd=tmp_path)
    assert refused.returncode == 2
    assert b"u-2" in refused.stderr
    (system,) = document("--ref", "ref.trn", "--hyp", "hyp.trn", "--missing", "deletions", cwd=tmp_path)[
        "hypotheses"
    ]
    assert (system["deletions"], system["reference_units"], system["missing"]) == (2, 4, 1)
    assert "missing" in printed(
        "--ref", "ref.trn", "--hyp", "hyp.trn", "--missing", "deletions", cwd=tmp_path
    )


def test_one_file_may_hold_both_sides(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"id": "a", "text": "x y", "pred_text": "x", "other": "x y"}\n')
    assert document("--ref", "m.jsonl", "--hyp", "m.jsonl", cwd=tmp_path)["hypotheses"][0]["errors"] == 1
    again = document("--ref", "m.jsonl", "--hyp", "m.jsonl", "--hyp-field", "other", cwd=tmp_path)
    assert again["hypotheses"][0]["errors"] == 0


def test_alternatives(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("my {office / ऑफिस} is {near by / nearby}\n", encoding="utf-8")
    (tmp_path / "h.txt").write_text("my ऑफिस is nearby\n", encoding="utf-8")
    (system,) = document("--ref", "r.txt", "--hyp", "h.txt", "--alternatives", cwd=tmp_path)["hypotheses"]
    assert (system["errors"], system["reference_units"]) == (0, 4)
    slots = {"reference": ["my", ["office", "ऑफिस"], "is", ["near by", "nearby"], ["", "n/o{w"]]}
    plain = {"reference": "a {b / c\\"}
    (tmp_path / "r.jsonl").write_text(f"{json.dumps(slots)}\n{json.dumps(plain)}\n")
    (tmp_path / "h.txt").write_text("my ऑफिस is nearby\na {b / c\\\n", encoding="utf-8")
    found = document("--ref", "r.jsonl", "--hyp", "h.txt", cwd=tmp_path)
    assert (found["alternatives"], found["hypotheses"][0]["errors"]) == (True, 0)


def test_what_is_wrong_with_every_file_is_said_at_once(tmp_path: Path) -> None:
    for name, rows in {"r": "id,ref\n1,a\n2,b", "h1": "id,hyp\n1,a\n3,b", "h2": "id,hyp\n9,a\n1,b",
                       "h3": "id,hyp\n1,a\n1,b", "h4": "id,nothing\n1,a"}.items():  # fmt: skip
        (tmp_path / f"{name}.csv").write_text(rows + "\n")
    done = command("--ref", "r.csv", "--hyp", "h1.csv", "--hyp", "h2.csv", cwd=tmp_path)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert [line for line in lines if "without" in line] == [
        "  without a hypothesis (1): 2", "  without a reference (1): 3",
        "  without a hypothesis (1): 2", "  without a reference (1): 9",
    ]  # fmt: skip
    done = command("--ref", "gone.csv", "--hyp", "h3.csv", "--hyp", "h4.csv", cwd=tmp_path)
    assert done.returncode == 2
    for words in (
        "gone.csv: No such",
        "h3.csv: the same id more than once: 1",
        "h4.csv:1: no field for the text",
    ):
        assert words in done.stderr.decode()


def test_every_reference_with_wrong_braces_is_named(tmp_path: Path) -> None:
    lines = ["canary { a (u1)", "a {b / c} (u2)", "canary } (u3)", *(f"{{ canary (w{n})" for n in range(30))]
    (tmp_path / "r.trn").write_text("\n".join(lines) + "\n")
    done = command("--ref", "r.trn", "--hyp", "r.trn", "--alternatives", cwd=tmp_path)
    text = done.stderr.decode()
    assert done.returncode == 2 and "canary" not in text and "u2" not in text
    assert "r.trn: reference u1: a brace opens that is not closed" in text
    assert "r.trn: reference u3: a brace closes that was not opened" in text
    assert text.endswith("and 12 more such problems\n")


@pytest.mark.parametrize(
    ("reference", "hypothesis", "said"),
    [
        ("u1 a b\nu2 c\n", "u2 c\nu1 a x\n", True),
        ("u1 a b\nu2 c\n", "u1 a b\nu2 c\n", True),
        ("u1 a b\nu2 c\n", "u1 a b\nu3 c\n", False),
        ("1 a\n1 b\n", "1 a\n1 b\n", False),
        ("we a\nyou b\n", "we a\nyou b\n", False),
        ("u1 a\n\n", "u1 a\n\n", False),
        ("u1 a\n", "u1 a\n", False),
    ],
)
def test_ids_that_counted_as_words_are_said(
    tmp_path: Path, reference: str, hypothesis: str, said: bool
) -> None:
    (tmp_path / "r.txt").write_text(reference)
    (tmp_path / "h.txt").write_text(hypothesis)
    done = command("--ref", "r.txt", "--hyp", "h.txt", cwd=tmp_path)
    assert done.returncode == 0
    assert (b"--format kaldi reads them as ids" in done.stderr) == said
    kaldi = command("--ref", "r.txt", "--hyp", "h.txt", "--format", "kaldi", cwd=tmp_path)
    assert not said or kaldi.stderr == b""


NULLS = [
    ("i've { um / uh / @ } as far", "i've as far", 0, 3),
    ("i've { um / uh / @ } as far", "i've uh as far", 0, 4),
    ("a @ b", "a b", 0, 2),
    ("a b", "a @ b", 0, 2),
    ("a {x/@} b", "a @ b", 0, 2),
    ("{ @ } b", "b", 0, 1),
    ("a { x @ y / z } b", "a x y b", 0, 4),
    ("a x@ b", "a x b", 1, 3),
]


@pytest.mark.parametrize(("reference", "hypothesis", "errors", "units"), NULLS)
def test_the_null_word_of_sclite_is_nothing(
    tmp_path: Path, reference: str, hypothesis: str, errors: int, units: int
) -> None:
    (tmp_path / "r.stm").write_text(f"u1 A s 0 9 {reference}\n")
    (tmp_path / "r.trn").write_text(f"{reference} (u1)\n")
    words = hypothesis.split()
    (tmp_path / "h.ctm").write_text("".join(f"u1 A {n} 1 {word}\n" for n, word in enumerate(words)))
    (tmp_path / "h.trn").write_text(f"{hypothesis} (u1)\n")
    for ref, hyp in (("r.stm", "h.ctm"), ("r.trn", "h.trn")):
        (system,) = document("--ref", ref, "--hyp", hyp, "--alternatives", cwd=tmp_path)["hypotheses"]
        assert (system["errors"], system["reference_units"]) == (errors, units)


def test_an_at_sign_is_a_word_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("john {at / @} home\n")
    (tmp_path / "h.txt").write_text("john @ home\n")
    found = document("--ref", "r.txt", "--hyp", "h.txt", "--alternatives", cwd=tmp_path)
    assert (found["hypotheses"][0]["errors"], found["hypotheses"][0]["hits"]) == (0, 3)


def test_choices_that_are_not_read_are_said(tmp_path: Path) -> None:
    (tmp_path / "r.stm").write_text("u1 A s 0 9 a { b / @ }\nu2 A s 0 9 {canary}\n")
    done = command("--ref", "r.stm", "--hyp", "r.stm", cwd=tmp_path)
    assert done.returncode == 0
    assert b"r.stm: 1 reference holds accepted spellings" in done.stderr and b"canary" not in done.stderr
    assert command("--ref", "r.stm", "--hyp", "r.stm", "--alternatives", cwd=tmp_path).stderr == b""


@pytest.mark.skipif(not Path(SCLITE).exists(), reason="needs sclite (Debian package sctk)")
def test_paths_through_slots_cost_what_sclites_do(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)

    def words(least: int, most: int) -> str:
        return " ".join(rng.choice(list("abcde"), rng.integers(least, most + 1)))

    def part() -> str:
        if rng.random() < 0.5:
            return str(rng.choice([*"abcde", "@"]))
        return f"{{ {' / '.join(words(1, 4) if rng.random() < 0.75 else '@' for _ in range(3))} }}"

    for name, texts in (
        ("r.trn", [" ".join(part() for _ in range(rng.integers(1, 6))) for _ in range(400)]),
        ("h.trn", [words(0, 9) for _ in range(400)]),
    ):
        (tmp_path / name).write_text("".join(f"{text} (s1-{n:03d})\n" for n, text in enumerate(texts)))
    arguments = ["-r", "r.trn", "trn", "-h", "h.trn", "trn", "-i", "wsj", "-o", "pralign", "stdout"]
    done = subprocess.run([SCLITE, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = re.findall(r"^id: \(s1-(\d+)\)\nScores: .*\) \d+ (\d+) (\d+) (\d+)", done.stdout, re.MULTILINE)
    theirs = {int(n): 4 * int(s) + 3 * (int(d) + int(i)) for n, s, d, i in found}
    (system,) = document(
        "--ref", "r.trn", "--hyp", "h.trn", "--alternatives", "--costs", "sclite", cwd=tmp_path
    )["hypotheses"]
    ours = [4 * row["substitutions"] + 3 * (row["deletions"] + row["insertions"]) for row in system["items"]]
    assert [theirs[n] for n in range(400)] == ours


def test_json_holds_the_alignments_that_are_asked_for(files: Path) -> None:
    arguments = ("--ref", "ref.txt", "--hyp", "a.txt")
    items = document(*arguments, "--align", cwd=files)["hypotheses"][0]["items"]
    assert [item["alignment"] is None for item in items] == [False, False, False, True]
    assert items[1]["alignment"][:2] == [
        {"operation": "deletion", "reference": "no", "hypothesis": None},
        {"operation": "match", "reference": "chest", "hypothesis": "chest"},
    ]
    items = document(*arguments, "--align-limit", "1", cwd=files)["hypotheses"][0]["items"]
    assert [item["alignment"] is None for item in items] == [False, True, True, True]
    assert "alignment" not in document(*arguments, cwd=files)["hypotheses"][0]["items"][0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "no language given"), (["--language", "hi"], "none are read in hi"), (["--language", "en-IN"], "")],
)
def test_spoken_says_where_number_words_stay_words(files: Path, arguments: list[str], said: str) -> None:
    given = ("--ref", "ref.txt", "--hyp", "a.txt", "--profile", "spoken", *arguments)
    table = printed(*given, cwd=files)
    assert table.count("number words stay words") == bool(said) and said in table
    assert document(*given, cwd=files)["number_words"] == ("kept" if said else "digits")
    assert document("--ref", "ref.txt", "--hyp", "a.txt", cwd=files)["number_words"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ref", "ref.txt", "--hyp", "a.txt", "--output", "csv", "--align"], "leave --align out"),
        (
            ["--ref", "ref.txt", "--hyp", "a.txt", "--output", "csv", "--align-limit", "1"],
            "--align-limit out",
        ),
        (
            ["--ref", "ref.txt", "--hyp", "a.txt", "--output", "csv", "--intervals", "--confusions", "3"],
            "leave --confusions, --intervals out",
        ),
        ([".", "--output", "json", "--profile", "plain"], "leave --profile, --output out"),
        ([], "--ref and --hyp"),
        (["--ref", "ref.txt"], "--ref and --hyp"),
        (["--hyp", "ref.txt"], "--ref and --hyp"),
        ([".", "--ref", "ref.txt", "--hyp", "ref.txt"], "--ref and --hyp"),
        (["--ref", "-", "--hyp", "-"], "standard input can be read once"),
        (["--ref", "gone.txt", "--hyp", "ref.txt"], "gone.txt: No such file"),
        (["--ref", "ref.txt", "--hyp", "short.txt"], "4 references (lines), but short.txt has 1 hypothesis"),
        (["--ref", "ref.txt", "--hyp", "latin.txt"], "latin.txt:1: byte 4 of the line: not UTF-8"),
        (["--ref", "ref.txt", "--hyp", "a.txt", "--profile", "loud"], "profile 'loud' is not known"),
        (["--ref", "ref.txt", "--hyp", "a.txt", "--format", "doc"], "format 'doc' is not known"),
        (["--ref", "ref.txt", "--hyp", "a.txt", "--unit", "syllables"], "--unit"),
    ],
)
def test_bad_usage_and_input_end_with_two(files: Path, arguments: list[str], words: str) -> None:
    (files / "short.txt").write_text("canary\n")
    (files / "latin.txt").write_bytes(b"can\xe9ary\n")
    done = command(*arguments, cwd=files)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr and b"canary" not in done.stderr


def test_lone_surrogates_are_printed_as_escapes(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"text": "a \\ud800"}\n')
    (tmp_path / "h.txt").write_text("a b\n")
    arguments = ("--ref", "r.jsonl", "--hyp", "h.txt", "--align", "--confusions", "3")
    assert "\\ud800" in printed(*arguments, cwd=tmp_path)
    assert document("--ref", "r.jsonl", "--hyp", "h.txt", cwd=tmp_path)["hypotheses"][0]["errors"] == 1


def test_confusions_in_the_table(files: Path) -> None:
    text = printed("--ref", "ref.txt", "--hyp", "a.txt", "--confusions", "1", cwd=files)
    assert "1  substitution  cat -> bat" in text
    assert "1  insertion     down" in text
    assert "uh" not in text


def test_alignments_are_printed_where_there_are_errors(files: Path) -> None:
    text = printed("--ref", "ref.txt", "--hyp", "a.txt", "--align", cwd=files)
    assert "REF: the cat sat ****\nHYP: the bat sat down\n         S       I\n" in text
    assert "1 without errors" in text and "我" not in text
    limited = printed("--ref", "ref.txt", "--hyp", "a.txt", "--align-limit", "1", cwd=files)
    assert "2 with errors" in limited and limited.count("REF:") == 1
    assert "\x1b" not in text


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("a b c\n" * 20_000)
    line = f"{sys.executable} -m misheard score --ref r.txt --hyp r.txt --output csv | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], capture_output=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"file,id,substitutions")


def test_a_small_table_imports_nothing_heavy(files: Path) -> None:
    code = (
        "import sys; sys.argv = ['misheard', 'score', '--ref', 'ref.txt', '--hyp', 'a.txt']\n"
        "from misheard.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=files)
    loaded = set(done.stdout.split())
    assert "misheard.scoring.files" in loaded
    assert not loaded & {"numpy", "numba", "pyarrow", "torch", "pydantic", "rich.console", "regex", "yaml"}
