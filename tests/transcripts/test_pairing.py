"""Pairing: by id or by line, nothing dropped, padded or shifted."""

from pathlib import Path

import pytest

from misheard.errors import InputError
from misheard.transcripts.formats import Transcripts
from misheard.transcripts.pairing import pair, read_sessions


def by_id(**texts: str) -> Transcripts:
    return Transcripts("f", "kaldi", tuple(texts.values()), tuple(texts))


def by_line(*texts: str) -> Transcripts:
    return Transcripts("f", "lines", texts)


def test_ids_pair_in_the_order_of_the_references() -> None:
    found = pair(by_id(a="1", b="2"), [by_id(b="x", a="y"), by_line("p", "q")])
    assert found.ids == ("a", "b")
    assert found.hypotheses == (("y", "x"), ("p", "q"))
    assert found.paired_by == ("id", "line")


def test_lines_are_numbered_from_one() -> None:
    assert pair(by_line("a", ""), [by_id(x="", y="b")]).ids == ("1", "2")


@pytest.mark.parametrize(
    ("hypothesis", "missing", "names"),
    [
        (by_id(x1="a"), "error", ["x2", "--missing deletions"]),
        (by_id(x1="a", x3="b"), "error", ["x2", "x3"]),
        (by_id(x1="a", x3="b"), "deletions", ["x3"]),
        (by_id(), "error", ["x1, x2"]),
    ],
)
def test_ids_on_one_side_only_are_named(hypothesis: Transcripts, missing: str, names: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        pair(by_id(x1="canary", x2="canary"), [hypothesis], missing)  # type: ignore[arg-type]
    assert all(name in str(caught.value) for name in names)
    assert "canary" not in str(caught.value)


def test_a_missing_hypothesis_may_count_as_empty() -> None:
    found = pair(by_id(x1="a", x2="b"), [by_id(x2="b")], "deletions")
    assert (found.hypotheses, found.missing) == ((("", "b"),), (1,))


@pytest.mark.parametrize("missing", ["error", "deletions"])
def test_other_numbers_of_lines_are_both_named(missing: str) -> None:
    with pytest.raises(InputError, match=r"2 references .*1 hypothesis"):
        pair(by_line("a", "b"), [by_line("a")], missing)  # type: ignore[arg-type]


def test_many_ids_are_named_up_to_a_bound() -> None:
    reference = by_id(**{f"u{number}": "" for number in range(500)})
    with pytest.raises(InputError, match=r"u19 and 480 more") as caught:
        pair(reference, [by_id()])
    assert len(str(caught.value)) < 1000


def test_sessions(tmp_path: Path) -> None:
    (tmp_path / "utt2spk").write_text("a s1\nb s2\n")
    (tmp_path / "lines").write_text("s1\ns1\n")
    (tmp_path / "mixed").write_text("s1\na s1\n")
    by_name, in_order = (read_sessions(str(tmp_path / name)) for name in ("utt2spk", "lines"))
    assert pair(by_id(b="", a=""), [], sessions=by_name).sessions == ("s2", "s1")
    assert pair(by_line("", ""), [], sessions=in_order).sessions == ("s1", "s1")
    with pytest.raises(InputError, match="no session for c"):
        pair(by_id(a="", c=""), [], sessions=by_name)
    with pytest.raises(InputError, match="2 sessions for 3 references"):
        pair(by_line("", "", ""), [], sessions=in_order)
    with pytest.raises(InputError, match="every line must be"):
        read_sessions(str(tmp_path / "mixed"))
