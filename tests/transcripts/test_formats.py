"""Every format, with samples as the neighbouring tools write them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misheard.errors import InputError
from misheard.transcripts.formats import Transcripts, read_transcripts

SENTENCE = "He was not an ill-disposed young man."
OPENAI_WHISPER = {
    "text": " He was not an ill-disposed young man.",
    "segments": [{
        "id": 0, "seek": 0, "start": 0.0, "end": 2.6, "text": " He was not an ill-disposed young man.",
        "tokens": [50364, 634], "temperature": 0.0, "avg_logprob": -0.2, "compression_ratio": 0.9,
        "no_speech_prob": 0.01,
    }],
    "language": "en",
}  # fmt: skip
SEGMENTS = [
    {"start": 0.0, "end": 1.2, "text": " He was not an", "words": None},
    {"start": 1.2, "end": 2.6, "text": " ill-disposed young man."},
]
WHISPERX = {
    "segments": [
        {"start": 0.1, "end": 1.1, "text": "He was not an", "words": [{"word": "He", "score": 0.9}]},
        {"start": 1.1, "end": 2.5, "text": "ill-disposed young man."},
    ],
    "word_segments": [],
    "language": "en",
}
WHISPER_CPP = {
    "systeminfo": "AVX = 1", "params": {"model": "models/ggml-base.en.bin"}, "result": {"language": "en"},
    "transcription": [
        {"timestamps": {"from": "00:00:00,000", "to": "00:00:01,200"}, "offsets": {"from": 0, "to": 1200},
         "text": " He was not an"},
        {"timestamps": {"from": "00:00:01,200", "to": "00:00:02,600"}, "offsets": {"from": 1200, "to": 2600},
         "text": " ill-disposed young man."},
    ],
}  # fmt: skip
TRANSFORMERS = {
    "text": " He was not an ill-disposed young man.",
    "chunks": [{"timestamp": [0.0, 2.6], "text": " He was not an ill-disposed young man."}],
}
DEEPGRAM = {
    "metadata": {"request_id": "a", "duration": 2.6, "channels": 1},
    "results": {"channels": [{"alternatives": [
        {"transcript": "He was not an ill-disposed young man.", "confidence": 0.99, "words": []}
    ]}]},
}  # fmt: skip
ASSEMBLYAI = {
    "id": "9ea6", "status": "completed", "audio_url": "https://example.org/a.wav",
    "text": "He was not an ill-disposed young man.", "words": [], "language_code": "en_us",
}  # fmt: skip
GOOGLE = {
    "results": [
        {"alternatives": [{"transcript": "He was not an", "confidence": 0.98}], "resultEndTime": "1.2s",
         "languageCode": "en-us"},
        {"alternatives": [{"transcript": " ill-disposed young man.", "confidence": 0.98}]},
        {"alternatives": [{}]},
    ],
    "totalBilledTime": "15s",
}  # fmt: skip
GOOGLE_LONG = {"name": "1", "done": True, "response": GOOGLE}
AWS = {
    "jobName": "j", "accountId": "1", "status": "COMPLETED",
    "results": {"transcripts": [{"transcript": "He was not an ill-disposed young man."}], "items": []},
}  # fmt: skip
AZURE_BATCH = {
    "source": "a.wav", "duration": "PT2.6S",
    "combinedRecognizedPhrases": [{
        "channel": 0, "lexical": "he was not an ill disposed young man",
        "itn": "he was not an ill disposed young man", "maskedITN": "he was not an ill disposed young man",
        "display": "He was not an ill-disposed young man.",
    }],
    "recognizedPhrases": [],
}  # fmt: skip
AZURE_FAST = {
    "durationMilliseconds": 2600,
    "combinedPhrases": [{"text": "He was not an ill-disposed young man."}],
    "phrases": [],
}
AZURE_SHORT = {
    "RecognitionStatus": "Success", "DisplayText": "He was not an ill-disposed young man.", "Offset": 1,
    "Duration": 2,
}  # fmt: skip
AZURE_DETAILED = {
    "RecognitionStatus": "Success",
    "NBest": [{"Confidence": 0.9, "Lexical": "he", "Display": "He was not an ill-disposed young man."}],
}


@pytest.mark.parametrize(
    "data",
    [
        OPENAI_WHISPER, SEGMENTS, {"segments": SEGMENTS, "info": {}}, WHISPERX, WHISPER_CPP, TRANSFORMERS,
        {"text": "He was not an ill-disposed young man."}, DEEPGRAM, ASSEMBLYAI, GOOGLE, GOOGLE_LONG, AWS,
        AZURE_BATCH, AZURE_FAST, AZURE_SHORT, AZURE_DETAILED,
    ],
    ids=[
        "openai-whisper", "segment list", "faster-whisper", "whisperx", "whisper.cpp", "transformers",
        "openai api", "deepgram", "assemblyai", "google", "google long", "aws", "azure batch", "azure fast",
        "azure short", "azure detailed",
    ],
)  # fmt: skip
def test_json_of_one_recording(tmp_path: Path, data: object) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(data))
    for format in (None, "recording"):
        found = read_transcripts(str(path), "hypothesis", format)
        assert [text.split() for text in found.texts] == [SENTENCE.split()]
        assert found.ids is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({**ASSEMBLYAI, "status": "error", "text": None}, "not completed"),
        ({"RecognitionStatus": "Error"}, "recognition failed"),
        ({"results": {"channels": [*DEEPGRAM["results"]["channels"]] * 2}}, "2 channels"),  # type: ignore[index]
        ({"combinedPhrases": [{"channel": 0, "text": "canary"}, {"channel": 1, "text": "b"}]}, "2 channels"),
        (
            {"results": [{"alternatives": [{"transcript": "a"}], "channelTag": t} for t in (1, 2)]},
            "2 channels",
        ),
        ({"speakers": 2}, "no known form"),
        (3, "no known form"),
        ({}, "no known form"),
    ],
)
def test_json_that_has_no_one_text_is_refused(tmp_path: Path, data: object, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=message) as caught:
        read_transcripts(str(path), "hypothesis")
    assert "canary" not in str(caught.value)


def test_pieces_in_unspaced_languages_are_joined_without_spaces(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    segments = [{"start": 0, "end": 1, "text": "我爱"}, {"start": 1, "end": 2, "text": "你"}]
    path.write_text(json.dumps({"language": "zh", "segments": segments}))
    assert read_transcripts(str(path)).texts == ("我爱你",)


SRT = """1
00:00:00,000 --> 00:00:01,200
<i>He was</i> not an

2
00:00:01,200 --> 00:00:02,600 X1:1 X2:2
{\\an8}ill-disposed
young man.
"""
VTT = """WEBVTT - a title
Kind: captions

NOTE a comment
of two lines

STYLE
::cue { color: red }

intro
00:00.000 --> 00:01.200 align:start
<v Mary>He was &amp; not <00:00:00.500><c>an</c>

00:00:01.200 --> 00:00:02.600
a < b
"""
STM = """;; a comment
;; CATEGORY "0" "" ""
rec1 1 anna 2.0 3.5 <o,f0,female> young man
rec1 1 anna 0.0 2.0 <o,f0,female> he was not
rec2 A bob 0.0 1.0 hello
rec2 B bob 0.0 1.0
"""
CTM = """;; a comment
rec1 1 0.50 0.20 was 0.9
rec1 1 0.10 0.20 he
rec2 A 0.10 0.20 hello 1.0
rec2 B 0.10 0.20
"""

SAMPLES = [
    ("ref.txt", "a b\n\n c\n", "lines", None, ("a b", "", " c")),
    ("ref.txt", "a\r\nb\r\n", "lines", None, ("a", "b")),
    ("ref.txt", "\ufeffa\nb", "lines", None, ("a", "b")),
    ("ref.txt", "", "lines", None, ()),
    ("ref.txt", "\n", "lines", None, ("",)),
    ("ref.txt", "well (laughs)\nno (laughs)\n", "lines", None, ("well (laughs)", "no (laughs)")),
    ("ref.txt", "ok (laughs)\n", "lines", None, ("ok (laughs)",)),
    ("ref.txt", ";; a @ c\n{ b c\n", "lines", None, (";; a @ c", "{ b c")),
    ("ref.txt", '{ "a\n', "lines", None, ('{ "a',)),
    ("ref.txt", "12 --> 13\n", "lines", None, ("12 --> 13",)),
    ("hyp", "a b (u-1)\nc (u-2)\n", "trn", ("u-1", "u-2"), ("a b ", "c ")),
    ("ref.trn", ";; remark\na b (s1_u1)\n\n(s1_u2)\n;; x (s1_u3)\n", "trn", ("s1_u1", "s1_u2", "s1_u3"),
     ("a b ", "", ";; x ")),
    ("text", "u1 a b\nu2\nu3\tc\n", "kaldi", ("u1", "u2", "u3"), ("a b", "", "c")),
    ("ref.csv", 'id,reference,hypothesis\nu1,"a, ""b""",x\nu2,c,y\n', "csv", ("u1", "u2"), ('a, "b"', "c")),
    ("ref.csv", "\ufeffID;Text\nu1;a, b\n", "csv", ("u1",), ("a, b",)),
    ("ref.csv", "text\na\n\nb\n", "csv", None, ("a", "", "b")),
    ("ref.csv", "sep=;\r\nid;text\r\nu1;a, b\r\n;\r\n", "csv", ("u1",), ("a, b",)),
    ("ref.csv", "id,text\nu1,a\n,\nu2,\n,,,\n", "csv", ("u1", "u2"), ("a", "")),
    ("ref.csv", "reference,hypothesis\na,b\n,\n", "csv", None, ("a", "")),
    ("ref.tsv", 'path\tsentence\tlocale\nu1.mp3\ta "b\ten\nu2.mp3\t"c ""d"""\ten\n', "tsv",
     ("u1.mp3", "u2.mp3"), ('a "b', 'c "d"')),
    ("ref.jsonl", '{"id": 7, "text": "a"}\n\n{"id": 8, "text": "\\ud800"}\n', "jsonl", ("7", "8"),
     ("a", "\ud800")),
    ("ref.json", '{"items": [{"id": "q1", "wav": "a.wav", "reference": "a"}]}', "json", ("q1",), ("a",)),
    ("ref.json", '[{"text": "a"}, {"text": ""}]', "json", None, ("a", "")),
    ("ref.json", '{"u1": "a", "u2": ""}', "json", ("u1", "u2"), ("a", "")),
    ("list.txt", '{"text": "a"}\n{"text": "b"}\n', "jsonl", None, ("a", "b")),
    ("one.txt", '{"text": "a"}\n', "json", None, ("a",)),
    ("a.srt", SRT, "srt", None, ("He was not an ill-disposed young man.",)),
    ("srt.txt", SRT, "srt", None, ("He was not an ill-disposed young man.",)),
    ("a.vtt", VTT, "vtt", None, ("He was & not an a < b",)),
    ("vtt.txt", VTT, "vtt", None, ("He was & not an a < b",)),
    ("a.stm", STM, "stm", ("rec1", "rec2/A", "rec2/B"), ("he was not young man", "hello", "")),
    ("a.ctm", CTM, "ctm", ("rec1", "rec2/A", "rec2/B"), ("he was", "hello", "")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "format", "ids", "texts"), SAMPLES)
def test_formats_are_guessed_and_read(
    tmp_path: Path, name: str, content: str, format: str, ids: tuple[str, ...] | None, texts: tuple[str, ...]
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    found = read_transcripts(str(path))
    assert found == Transcripts(str(path), format, texts, ids)
    assert read_transcripts(str(path), format=format) == found


def test_a_given_format_overrides_the_guess(tmp_path: Path) -> None:
    path = tmp_path / "a.trn"
    path.write_text("a (u-1)\n")
    assert read_transcripts(str(path), format="lines").texts == ("a (u-1)",)
    with pytest.raises(InputError, match="format 'doc' is not known; use one of: lines, trn"):
        read_transcripts(str(path), format="doc")


NEMO = (
    '{"audio_filepath": "a.wav", "duration": 1.0, "text": "said", "pred_text": "heard"}\n'
    '{"audio_filepath": "b.wav", "duration": 1.0, "text": "x", "pred_text": ""}\n'
)


def test_a_file_with_both_sides_is_read_by_role(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.with_suffix(".jsonl").write_text(NEMO)
    place = str(path.with_suffix(".jsonl"))
    assert read_transcripts(place, "reference").texts == ("said", "x")
    assert read_transcripts(place, "hypothesis").texts == ("heard", "")
    assert read_transcripts(place, "hypothesis").ids == ("a.wav", "b.wav")
    chosen = read_transcripts(place, "hypothesis", fields={"text": "text", "id": "audio_filepath"})
    assert chosen.texts == ("said", "x")


def test_sessions_come_from_a_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text,session\nu1,a,s1\nu2,b,\n")
    assert read_transcripts(str(path)).sessions == ("s1", None)


def test_a_folder_of_recordings(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(DEEPGRAM))
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "c.srt").write_text(SRT)
    (tmp_path / "c.wav").write_bytes(b"RIFF")
    found = read_transcripts(str(tmp_path))
    assert (found.format, found.ids) == ("folder", ("a", "b", "c"))
    assert found.texts[0] == "one two"
    (tmp_path / "c.vtt").write_text(VTT)
    with pytest.raises(InputError, match="more than once: c"):
        read_transcripts(str(tmp_path))


def test_a_kaldi_data_folder(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("u1 a\n")
    (tmp_path / "wav.scp").write_text("u1 a.wav\n")
    assert read_transcripts(str(tmp_path)) == Transcripts(str(tmp_path), "kaldi", ("a",), ("u1",))


def save_to_disk(
    folder: Path, parts: list[dict[str, list[object]]], indices: list[int] | None = None
) -> None:
    """Write what `datasets.Dataset.save_to_disk` writes: Arrow streams beside state.json."""
    folder.mkdir(parents=True)
    names = []
    for number, part in enumerate(parts):
        names.append(f"data-{number:05d}-of-{len(parts):05d}.arrow")
        table = pa.table(part)
        with pa.OSFile(str(folder / names[-1]), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
            out.write_table(table)
    state: dict[str, object] = {"_data_files": [{"filename": name} for name in names], "_format_type": None}
    if indices is not None:
        table = pa.table({"indices": pa.array(indices, pa.uint64())})
        with (
            pa.OSFile(str(folder / "indices-00000.arrow"), "wb") as file,
            pa.ipc.new_stream(file, table.schema) as out,
        ):
            out.write_table(table)
        state["_indices_files"] = [{"filename": "indices-00000.arrow"}]
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


PARTS: list[dict[str, list[object]]] = [
    {"id": ["u1", "u2"], "sentence": ["a", "b"], "audio": [{"path": "a", "bytes": b""}] * 2},
    {"id": ["u3"], "sentence": ["c"], "audio": [{"path": "a", "bytes": b""}]},
]


def test_a_dataset_on_disk(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "d", PARTS)
    assert read_transcripts(str(tmp_path / "d")) == Transcripts(
        str(tmp_path / "d"), "dataset", ("a", "b", "c"), ("u1", "u2", "u3")
    )
    save_to_disk(tmp_path / "chosen", PARTS, [2, 0])
    assert read_transcripts(str(tmp_path / "chosen")).ids == ("u3", "u1")
    arrow = tmp_path / "d" / "data-00000-of-00002.arrow"
    assert read_transcripts(str(arrow)).texts == ("a", "b")
    pq.write_table(pa.table({"text": ["a"], "audio": ["x.wav"]}), tmp_path / "d.parquet")
    assert read_transcripts(str(tmp_path / "d.parquet")).ids == ("x.wav",)


def test_a_dataset_of_splits_needs_the_name_of_one(tmp_path: Path) -> None:
    root = tmp_path / "d"
    save_to_disk(root / "test", PARTS)
    (root / "dataset_dict.json").write_text('{"splits": ["test"]}')
    assert read_transcripts(str(root)).texts == ("a", "b", "c")
    (root / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(InputError, match="has the splits train, test"):
        read_transcripts(str(root))


def test_a_dataset_cannot_lead_out_of_its_folder(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "d", PARTS)
    state = {"_data_files": [{"filename": "../other/data.arrow"}]}
    (tmp_path / "d" / "state.json").write_text(json.dumps(state))
    with pytest.raises(InputError, match="outside of itself"):
        read_transcripts(str(tmp_path / "d"))


@pytest.mark.parametrize(
    "damage", ["{", '{"_data_files": [{}]}', '{"_data_files": [{"filename": "x.arrow"}]}', "[]"]
)
def test_a_damaged_dataset(tmp_path: Path, damage: str) -> None:
    save_to_disk(tmp_path / "d", PARTS)
    (tmp_path / "d" / "state.json").write_text(damage)
    (tmp_path / "d" / "x.arrow").write_bytes(b"no arrow")
    with pytest.raises(InputError, match="cannot be read as a dataset"):
        read_transcripts(str(tmp_path / "d"))


def test_missing_values_are_no_empty_texts(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a", None]}), tmp_path / "d.parquet")
    with pytest.raises(InputError, match="no value in row 2"):
        read_transcripts(str(tmp_path / "d.parquet"))
