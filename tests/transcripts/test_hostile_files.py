"""Files that are damaged, of another kind or made to mislead: errors name the place and hold no text."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.errors import InputError
from misheard.transcripts.formats import FORMATS, read_transcripts
from misheard.transcripts.source import decoded

CANARY = "canary"

WRONG = [
    ("a.txt", b"canary\ncana\xffry\n", None, r"a\.txt:2: byte 5 of the line: not UTF-8"),
    (
        "a.csv",
        b"text\ncana\xfc\n",
        None,
        r'a\.csv:2: .* convert the file to UTF-8 \(in Excel: .* "CSV UTF-8"',
    ),
    ("a.csv", b"sep=;\nid;text\nu1;canary;b\n", None, r"a\.csv:3: 3 fields, but the header has 2"),
    ("a.csv", b'sep=;\nid;text\nu1;"canary\n', None, r"a\.csv:3: not valid CSV"),
    ("a.txt", "canary".encode("utf-16"), None, "is UTF-16"),
    ("a.txt", b"canary\n\0canary\n", None, r"a\.txt:2: byte 1 of the line: a NUL"),
    ("a.txt", b"canary \xed\xa0\x80\n", None, r"a\.txt:1: byte 8 of the line: not UTF-8"),
    ("a.trn", b"a (u1)\ncanary\n", None, r"a\.trn:2: does not end with an id"),
    ("a.trn", b"a (u1)\ncanary (u1)\n", None, "more than once: u1"),
    ("text", b"u1 a\n\nu2 canary\n", None, r"text:2: is empty"),
    ("text", b"u1 a\nu1 canary\n", None, "more than once: u1"),
    ("a.csv", b"id,words\nu1,canary\n", None, "no field for the text; name it with --ref-field"),
    ("a.csv", b"id,text\nu1,canary,b\n", None, r"a\.csv:2: 3 fields, but the header has 2"),
    ("a.csv", b'id,text\nu1,"canary\n', None, r"a\.csv:2: not valid CSV"),
    ("a.csv", b'id,text\nu1,"canary"x\n', None, r"a\.csv:2: not valid CSV"),
    ("a.csv", b"text,text\na,canary\n", None, "twice in the header"),
    ("a.csv", b"", None, "no field for the text"),
    ("a.csv", b"id,text\n,canary\n", None, "an id is empty"),
    ("a.tsv", b"id\ttext\nu1\tcanary\tb\n", None, r"a\.tsv:2: 3 fields"),
    ("a.jsonl", b'{"text": "a"}\n{"text": "canary"\n', None, r"a\.jsonl:2: not valid JSON"),
    ("a.jsonl", b'{"id": "a", "text": "a"}\n{"text": "canary"}\n', None, r"a\.jsonl:2: record 2 has no id"),
    ("a.jsonl", b'{"text": "a"}\n{"id": "a", "text": "canary"}\n', None, r"a\.jsonl:2: record 2 has an id"),
    ("a.jsonl", b'{"id": "a", "text": null}\n', None, r"a\.jsonl:1: record 1: text is no text but null"),
    ("a.jsonl", b'["canary"]\n', None, r"a\.jsonl:1: record 1 is no object"),
    ("a.jsonl", b'{"id": "a", "text": "canary"}\n' * 2, None, "more than once: a"),
    (
        "a.jsonl",
        b'{"id": "a", "text": "canary", "text": "b"}\n',
        None,
        r"a\.jsonl:1: the same key twice.*: text",
    ),
    ("a.json", b'{"u1": "canary", "u1": "canary"}', None, "the same key twice in one object: u1"),
    ("a.jsonl", b'{"ref": ["canary", []]}', None, "a slot is neither a text nor a list of texts"),
    ("a.jsonl", b'{"ref": ["canary", [1]]}', None, "a slot is neither a text nor a list of texts"),
    ("a.jsonl", b"[" * 100_000, None, "nested too deeply"),
    ("a.json", b"[" * 100_000, None, "nested too deeply"),
    ("a.json", b'{"text": ' + b"1" * 5000 + b"}", None, "a number that is too long"),
    ("a.json", b'{"u1": "canary",\n "u2": }', None, r"a\.json:2: not valid JSON"),
    ("a.stm", b"rec 1 anna 0.0\n", None, r"a\.stm:1: 4 fields, but at least 5"),
    ("a.stm", b"rec 1 anna zero 1.0 canary\n", None, "no number of seconds|not a number of seconds"),
    ("a.stm", b"rec 1 anna nan 1.0 canary\n", None, "not a number of seconds"),
    ("a.stm", b"rec 1 x 0 1 <o> IGNORE_TIME_SEGMENT_IN_SCORING\n", None, r"a\.stm:1: excludes a stretch"),
    ("a.ctm", b"rec 1 0.0 1.0 <ALT_BEGIN>\n", None, r"a\.ctm:1: alternatives in CTM"),
    ("a.srt", b"canary\n", None, "has no cue"),
    ("a.srt", b"1\n00:00:00 --> canary\n", None, r"a\.srt:2: a cue's times"),
    ("a.vtt", b"canary\n", None, "does not begin with WEBVTT"),
    ("a.arrow", b"canary", None, "cannot be read as a dataset"),
    ("a.parquet", b"canary", None, "cannot be read as a dataset"),
    ("a.json", b'{"text": "canary"}', "dataset", "cannot be read as a dataset"),
    ("a.txt", b"canary", "folder", "cannot be read as folder"),
]


@pytest.mark.parametrize(("name", "content", "format", "message"), WRONG)
def test_what_is_wrong_is_named_without_text(
    tmp_path: Path, name: str, content: bytes, format: str | None, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_transcripts(str(path), format=format)
    assert CANARY not in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["absent.txt", "absent.arrow", "absent/file.csv"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=name):
        read_transcripts(str(tmp_path / name))


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no file of transcripts"):
        read_transcripts(str(tmp_path))


def test_a_huge_line_is_one_utterance(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("word " * 1_000_000)
    assert len(read_transcripts(str(tmp_path / "a.txt")).texts) == 1
    (tmp_path / "a.csv").write_text(f"text\n{'word ' * 1_000_000}\n")
    assert len(read_transcripts(str(tmp_path / "a.csv")).texts) == 1


def test_other_line_ends_of_unicode_end_no_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\u2028b\x0bc\x85d\n", encoding="utf-8")
    assert len(read_transcripts(str(tmp_path / "a.txt")).texts) == 1
    (tmp_path / "a.csv").write_text("id,text\nu1,a\u2028b\x0bc\n", encoding="utf-8")
    assert read_transcripts(str(tmp_path / "a.csv")).texts == ("a\u2028b\x0bc",)


READABLE = [format for format in FORMATS if format not in ("dataset", "folder")]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch") / "file"


pieces = st.sampled_from(
    ["u1 ", "(u-1)", "\n", "\r\n", ",", "\t", '"', "id", "text", "{", "}", "[", "]", ":", "-->",
     "00:00:01,000", "WEBVTT", ";;", "0.5 ", "null", "é", "\ufeff", "<", ">", "x"]
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.lists(pieces, max_size=25).map("".join) | st.text(max_size=30), st.sampled_from([None, *READABLE]))
def test_any_text_is_read_or_refused(scratch: Path, content: str, format: str | None) -> None:
    scratch.write_bytes(content.encode("utf-8", "surrogatepass"))
    try:
        found = read_transcripts(str(scratch), format=format)
    except InputError:
        return
    assert found.ids is None or len(set(found.ids)) == len(found.texts)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=8)))
def test_plain_lines_round_trip(lines: list[str]) -> None:
    from misheard.transcripts.plain import read_lines
    from misheard.transcripts.source import Source

    data = "".join(f"{line}\n" for line in lines).encode()
    expected = [lines[0].removeprefix("\ufeff"), *lines[1:]] if lines else []
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    assert read_lines(Source("a", decoded(data, "a"))).texts == expected
