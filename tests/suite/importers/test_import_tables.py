"""CSV, TSV, JSON and JSON lines: columns, places, clips, and every row that cannot become an item."""

import json
from pathlib import Path
from typing import Any

import pytest
from importing_helpers import id_map, record, refusals, run_import, samples_of, write_clip

from misheard.errors import InputError
from misheard.suite.items import ItemKind
from misheard.suite.manifest import validate_suite


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for index in range(4):
        write_clip(tmp_path / "source" / "wav" / f"c{index}.wav", seconds=0.1 * (index + 1), seed=index)
    return tmp_path / "source"


def write_json_lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def test_the_single_json_form(source: Path, tmp_path: Path) -> None:
    items = [
        {"id": "a 1", "wav": "wav/c0.wav", "reference": "what is it"},
        {"id": "hum", "wav": "wav/c1.wav", "reference": ""},
    ]
    (source / "m.json").write_text(json.dumps({"items": items}))
    imported = run_import(source / "m.json", tmp_path / "out")
    assert imported.guess.format == "json"
    suite = validate_suite(tmp_path / "out")
    assert [(i.id, i.kind, i.reference) for i in suite.items] == [
        ("a_1", ItemKind.SPEECH, "what is it"),
        ("hum", ItemKind.NON_SPEECH, ""),
    ]
    assert id_map(tmp_path / "out") == {"a 1": "a_1", "hum": "hum"}
    assert (suite.name, suite.version) == ("out", "1")
    assert (suite.root / suite.items[0].audio).read_bytes() == (source / "wav/c0.wav").read_bytes()


COMMON_VOICE = (
    "client_id\tpath\tsentence_id\tsentence\tup_votes\tage\tlocale\n"
    f'{"a1" * 64}\tc0.wav\ts0\tShe said "so" twice.\t2\t\ten\n'
    f'{"b2" * 64}\tc1.wav\ts1\t"Quoted ""whole""."\t3\ttwenties\ten\n'
)


def test_common_voice(source: Path, tmp_path: Path) -> None:
    (source / "wav").rename(source / "clips")
    (source / "test.tsv").write_text(COMMON_VOICE)
    imported = run_import(source / "test.tsv", tmp_path / "out", conditions={"age": "age"})
    assert imported.found.columns == {
        "audio": "path", "reference": "sentence", "session": "client_id", "language": "locale",
    }  # fmt: skip
    assert imported.found.unused == ("sentence_id", "up_votes")
    first, second = validate_suite(tmp_path / "out").items
    assert (first.id, first.reference, first.language) == ("c0", 'She said "so" twice.', "en")
    assert second.reference == 'Quoted "whole".'
    assert first.session != second.session and len(first.session or "") == 32
    assert (first.conditions, second.conditions["age"]) == ({"language": "en"}, "twenties")


def test_a_class_is_no_reference_unless_the_user_says_so(source: Path, tmp_path: Path) -> None:
    (source / "m.csv").write_text("path,label\nwav/c0.wav,yes\n")
    with pytest.raises(InputError, match="no column for the reference"):
        run_import(source / "m.csv", tmp_path / "out")
    suite = run_import(source / "m.csv", tmp_path / "out", columns={"reference": "label"}).suite
    assert suite.items[0].reference == "yes"


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "path,text\n", "path,text\n\n\n"])
def test_a_table_without_rows(source: Path, tmp_path: Path, text: str) -> None:
    (source / "m.csv").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"has no header line|holds no utterances"):
        run_import(source / "m.csv", tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        (",path,text,,\n0,wav/c0.wav,a,,\n", "a"),
        ("file;text\r\nwav/c0.wav;a, b\r\n", "a, b"),
        ("file;text\r\n;\r\nwav/c0.wav;a, b\r\n;\r\n ;\r\n;;;\r\n", "a, b"),
        ("\ufeffsep=;\r\nfile;text\r\nwav/c0.wav;a, b\r\n", "a, b"),
        ('"sep=\t"\nfile\ttext\nwav/c0.wav\ta, b\n', "a, b"),
        ("\ufefffile,text\nwav/c0.wav,'a'\n", "'a'"),
        ('file,text\nwav/c0.wav,"a ""b""\nc"\n', 'a "b"\nc'),
        ("FILE,Transcription\nwav/c0.wav,$(rm -rf ~) `x`\n", "$(rm -rf ~) `x`"),
        ("audio,label,text\nwav/c0.wav,3,नमस्ते\n", "नमस्ते"),
    ],
)
def test_csv(source: Path, tmp_path: Path, text: str, reference: str) -> None:
    (source / "m.csv").write_bytes(text.encode())
    (item,) = run_import(source / "m.csv", tmp_path / "out").suite.items
    assert item.reference == reference


def test_columns_that_the_user_names(source: Path, tmp_path: Path) -> None:
    (source / "m.csv").write_text("text,raw,where,who\nA,a,wav/c0.wav,x\nB,b,wav/c1.wav,y\n")
    with pytest.raises(InputError, match=r"no column for the audio; name it with --map audio=COLUMN"):
        run_import(source / "m.csv", tmp_path / "out")
    columns = {"audio": "where", "reference": "raw", "session": "who"}
    imported = run_import(source / "m.csv", tmp_path / "out", columns=columns)
    assert [(i.reference, i.session) for i in imported.suite.items] == [("a", "x"), ("b", "y")]
    with pytest.raises(InputError, match=r"has no column 'Raw'.*did you mean 'raw'"):
        run_import(source / "m.csv", tmp_path / "out2", columns={**columns, "reference": "Raw"})


def test_a_column_that_must_not_be_read(source: Path, tmp_path: Path) -> None:
    (source / "m.csv").write_text("path,text,language\nwav/c0.wav,a,klingon speech\n")
    _, problem = refusals(source / "m.csv", tmp_path / "out")
    assert problem == "m.csv:2: the language 'klingon speech' is no tag such as en"
    suite = run_import(source / "m.csv", tmp_path / "out", columns={"language": None}, language="tlh").suite
    assert suite.items[0].language == "tlh"


def test_nemo_offsets_are_cut_without_loss(source: Path, tmp_path: Path) -> None:
    path = write_json_lines(
        source / "m.json",
        {"audio_filepath": "wav/c3.wav", "text": "a", "duration": 0.1, "offset": 0.05, "lang": "en_US"},
        {"audio_filepath": "wav/c3.wav", "text": "b", "duration": 0.4},
        {"audio_filepath": "wav/c3.wav", "text": "c", "duration": 0.2},
        {"audio_filepath": "wav/c2.wav", "text": "d", "duration": 0.30004},
    )
    imported = run_import(path, tmp_path / "out")
    assert (imported.guess.format, imported.guess.why) == ("nemo", "its lines have audio_filepath")
    assert (imported.files, imported.clips) == (2, 2)
    suite = validate_suite(tmp_path / "out")
    assert [item.id for item in suite.items] == ["c3-0_050", "c3", "c3-2", "c2"]
    whole = samples_of(suite, "c3")
    assert samples_of(suite, "c3-0_050") == whole[400:1200]
    assert samples_of(suite, "c3-2") == whole[:1600]
    assert suite.items[0].language == "en-US"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"duration": 5}, "its clip ends at 5.000 s, and its recording has 0.400 s"),
        ({"offset": 0.39, "duration": 0.1, "audio_filepath": "wav/c0.wav"}, "begins at 0.390 s"),
        ({"duration": 0}, "the duration is not above 0"),
        ({"offset": -1}, "the column 'offset' holds no number of seconds"),
        ({"offset": "NaN"}, "the column 'offset' holds no number of seconds"),
        ({"duration": True}, "the column 'duration' holds no number of seconds"),
        ({"text": None}, "there is no reference"),
        ({"text": ""}, "the reference is empty"),
        ({"text": ["a"]}, "the reference is a list"),
        ({"text": 3}, "the reference is no text"),
        ({"text": "a " * 2001}, "the reference has 2001 words, more than 2000"),
        ({"text": "a" * 80_001}, "the reference has 80001 characters, more than 80000"),
        ({"reference_answer": "a" * 80_001}, "the reference_answer has 80001 characters, more than 80000"),
        ({"text": "\ud800"}, "half of a surrogate pair"),
        ({"audio_filepath": None}, "there is no recording"),
        ({"audio_filepath": "wav/none.wav"}, "the recording 'wav/none.wav' is not in "),
        ({"audio_filepath": "wav"}, "is not a regular file"),
        ({"audio_filepath": "s3://bucket/a.wav"}, "is a URL"),
        ({"audio_filepath": "wav.tar"}, "is an archive"),
        ({"audio_filepath": "m.json"}, "audio_undecodable"),
        ({"lang": "x" * 9}, "is no tag such as en"),
    ],
)
def test_a_row_that_makes_no_item(source: Path, tmp_path: Path, change: dict[str, Any], why: str) -> None:
    good = {"audio_filepath": "wav/c3.wav", "text": "good", "duration": 0.4}
    path = source / "m.json"
    rows = [good, {**good, **change}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    advice, problem = refusals(path, tmp_path / "out", format="nemo")
    assert problem.startswith("m.json:2: ") and why in problem
    assert "good" not in problem
    assert "--skip-broken imports the other row" in advice
    imported = run_import(path, tmp_path / "out", format="nemo", skip_broken=True)
    assert [item.id for item in imported.suite.items] == ["c3"]
    done = record(tmp_path / "out")
    assert (done["counts"]["rows"], done["counts"]["items"], done["counts"]["skipped"]) == (2, 1, 1)
    assert [entry["where"] for entry in done["skipped"]] == ["m.json:2"]
    assert why in done["skipped"][0]["why"]
    assert {file.name for file in (tmp_path / "out" / "audio").iterdir()} == {"c3.wav"}


def test_all_broken_rows_are_listed_at_once(source: Path, tmp_path: Path) -> None:
    lines = ["id,path,text", "a,wav/c0.wav,x", "a,wav/c1.wav,y", "b,wav/c1.wav", "c,,", "d,wav/c2.wav,z,more"]
    (source / "m.csv").write_text("\n".join(lines) + "\n")
    found = refusals(source / "m.csv", tmp_path / "out")
    assert found[0].endswith("(--skip-broken imports the other row and lists these)")
    assert found[1:] == [
        "m.csv:3: its id 'a' is that of m.csv:2",
        "m.csv:4: has 2 fields, but the header has 3",
        "m.csv:5: the reference is empty; there is no recording",
        "m.csv:6: has 4 fields, but the header has 3",
    ]


def test_nothing_but_broken_rows_cannot_be_skipped(source: Path, tmp_path: Path) -> None:
    (source / "m.csv").write_text("path,text\nwav/c0.wav,\n")
    assert refusals(source / "m.csv", tmp_path / "out", skip_broken=True) == [
        str(source / "m.csv"), "m.csv:2: the reference is empty",
    ]  # fmt: skip


def test_an_empty_reference_may_mean_no_speech(source: Path, tmp_path: Path) -> None:
    (source / "m.csv").write_text("path,text\nwav/c0.wav,\nwav/c1.wav,a\n")
    suite = run_import(source / "m.csv", tmp_path / "out", empty_is_non_speech=True).suite
    assert [item.kind for item in suite.items] == [ItemKind.NON_SPEECH, ItemKind.SPEECH]


def test_conditions_come_in_the_order_of_their_numbers(source: Path, tmp_path: Path) -> None:
    rows = "".join(f"wav/c{n}.wav,t,{v}\n" for n, v in enumerate(["15dB", "5dB", "clean", ""]))
    (source / "m.csv").write_text("path,text,snr\n" + rows)
    suite = run_import(source / "m.csv", tmp_path / "out", conditions={"noise": "snr"}).suite
    assert dict(suite.axes) == {"noise": ("5dB", "15dB", "clean")}
    assert suite.items[3].conditions == {}


def test_a_condition_with_as_many_values_as_rows(source: Path, tmp_path: Path) -> None:
    rows = "".join(f"wav/c0.wav,t{n},{n}\n" for n in range(201))
    (source / "m.csv").write_text("path,text,n\n" + rows)
    with pytest.raises(InputError, match="the condition axis1 has 201 values, more than 200"):
        run_import(source / "m.csv", tmp_path / "out", conditions={"axis1": "n"})
    assert not (tmp_path / "out").exists()


def test_imports_are_the_same_byte_by_byte(source: Path, tmp_path: Path) -> None:
    path = write_json_lines(
        source / "m.jsonl",
        *({"audio_filepath": f"wav/c{n}.wav", "text": "x", "offset": 0.01 * n} for n in (3, 2, 1)),
    )
    for out in ("a", "b"):
        run_import(path, tmp_path / out, name="same")
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*") if p.is_file())
    assert len(files) == 4 + 3
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_the_record_of_an_import(source: Path, tmp_path: Path) -> None:
    import hashlib

    (source / "m.csv").write_text("path,text,extra\nwav/c0.wav,secret words,1\n")
    run_import(source / "m.csv", tmp_path / "out", conditions={"noise": "extra"}, audio="link")
    done = record(tmp_path / "out")
    assert done["source_sha256"] == {"m.csv": hashlib.sha256((source / "m.csv").read_bytes()).hexdigest()}
    assert done["format"] == "csv" and done["format_because"] == "its name ends in .csv"
    assert done["options"]["conditions"] == {"noise": "extra"}
    assert "secret" not in json.dumps(done)
    assert (source / "wav/c0.wav").samefile(tmp_path / "out" / "audio" / "c0.wav")


def notes_of(source: Path, destination: Path, *languages: str | None, **options: Any) -> str:
    rows = [
        {"audio_filepath": f"wav/c{n}.wav", "text": "what is it", **({} if tag is None else {"lang": tag})}
        for n, tag in enumerate(languages)
    ]
    imported = run_import(write_json_lines(source / "m.json", *rows), destination, format="nemo", **options)
    assert list(imported.notes) == record(destination)["notes"]
    return "\n".join(imported.notes)


def test_what_a_suite_without_languages_lacks_is_said(source: Path, tmp_path: Path) -> None:
    notes = notes_of(source, tmp_path / "none", None, "en", None)
    assert "2 speech items have no language" in notes and "--language en" in notes
    given = notes_of(source, tmp_path / "given", None, "zh", None, language="en")
    assert "have no language" not in given
    for text in (notes, given):
        assert "suite.yaml names no primary metric" in text
    assert given.endswith("primary: {en: wer, zh: cer}")


def test_the_line_that_an_import_suggests_is_valid(source: Path, tmp_path: Path) -> None:
    line = notes_of(source, tmp_path / "out", "en", "no", "th").rpartition("such as ")[2]
    header = tmp_path / "out" / "suite.yaml"
    header.write_text(header.read_text() + line + "\n")
    assert validate_suite(tmp_path / "out").primary_metrics == {"en": "wer", "no": "wer", "th": "cer"}


def test_many_languages_are_not_all_written_out(source: Path, tmp_path: Path) -> None:
    for index in range(4, 6):
        write_clip(source / "wav" / f"c{index}.wav", seed=index)
    notes = notes_of(source, tmp_path / "out", "en", "de", "fr", "es", "it", "pt")
    assert notes.endswith("primary: {de: wer, en: wer, es: wer, fr: wer, …}")
