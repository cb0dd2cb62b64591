"""What an import says where something is missing or stands twice: a sentence, and how it is mended."""

from pathlib import Path

import pytest
from importing_helpers import record, refusals, run_import, write_clip

from misheard.errors import InputError, count_of, counted
from misheard.suite.importers.formats import guess_format
from misheard.suite.importers.locate import Folders
from misheard.transcripts.formats import read_transcripts


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for index in range(3):
        write_clip(tmp_path / "source" / f"c{index}.wav", seed=index)
    return tmp_path / "source"


def table(source: Path, *lines: str) -> Path:
    (source / "m.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return source / "m.csv"


@pytest.mark.parametrize(
    ("root", "path", "said"),
    [
        (None, "no.wav", "is not in '{0}/in', nor in '{0}/in/clips'; name the folder of the recordings "
         "with --audio-root"),
        ("other", "no.wav", "is not in '{0}/other', nor in '{0}/in', nor in '{0}/in/clips'; check the "
         "path and --audio-root"),
        (None, "{0}/in/no.wav", "is not there"),
    ],
)  # fmt: skip
def test_where_a_missing_recording_was_looked_for(
    tmp_path: Path, root: str | None, path: str, said: str
) -> None:
    for name in ("in/clips", "other"):
        (tmp_path / name).mkdir(parents=True)
    folders = [tmp_path / "in", tmp_path / "in" / "clips"]
    found = Folders(folders, None if root is None else tmp_path / root).find(path.format(tmp_path))
    assert found == (None, said.format(tmp_path))


def test_a_forgotten_audio_root(source: Path, tmp_path: Path) -> None:
    (tmp_path / "list").mkdir()
    path = table(tmp_path / "list", "file,text", "c0.wav,a")
    folder = tmp_path / "list"
    assert refusals(path, tmp_path / "out")[1:] == [
        f"m.csv:2: the recording 'c0.wav' is not in {str(folder)!r}; name the folder of the recordings with "
        "--audio-root"
    ]
    assert len(run_import(path, tmp_path / "out", audio_root=source).suite.items) == 1


@pytest.mark.parametrize(
    ("columns", "conditions", "said"),
    [
        ({}, {}, "no column for the audio and the reference; name them with --map audio=COLUMN "
         "--map reference=COLUMN (columns: 'Nr', 'Datei', 'Wort')"),
        ({"audio": "Datei"}, {}, "no column for the reference; name it with --map reference=COLUMN "
         "(columns: 'Nr', 'Datei', 'Wort')"),
        ({"audio": "Date"}, {"room": "Raum"}, "has no column 'Date', which '--map audio=Date' names (did you "
         "mean 'Datei'?); has no column 'Raum', which '--condition room=Raum' names (known: 'Nr', 'Datei', "
         "'Wort'); no column for the reference; name it with --map reference=COLUMN (columns: 'Nr', 'Datei', "
         "'Wort')"),
        ({"audio": None, "reference": "Wort"}, {}, "no column for the audio; name it with --map audio=COLUMN "
         "(columns: 'Nr', 'Datei', 'Wort')"),
    ],
)  # fmt: skip
def test_all_columns_that_lack_are_said_at_once(
    source: Path,
    tmp_path: Path,
    columns: dict[str, str | None],
    conditions: dict[str, str],
    said: str,
) -> None:
    path = table(source, "Nr,Datei,Wort", "1,c0.wav,a")
    with pytest.raises(InputError) as caught:
        run_import(path, tmp_path / "out", columns=columns, conditions=conditions)
    assert str(caught.value) == f"{path}: {said}"


NO_ID = "no column was taken for the id: recordings give the names; --map id=COLUMN"
NO_SESSION = (
    "no column was taken for the session: every recording counts as a speaker of its own; "
    "--map session=COLUMN"
)


@pytest.mark.parametrize(
    ("columns", "notes"),
    [
        ({}, [NO_ID, NO_SESSION]),
        ({"id": "Nr"}, [NO_SESSION]),
        ({"session": "Wer"}, [NO_ID]),
        ({"id": "Nr", "session": "Wer"}, []),
        ({"id": None, "session": None}, []),
    ],
)
def test_columns_that_were_not_found_are_said(
    source: Path, tmp_path: Path, columns: dict[str, str | None], notes: list[str]
) -> None:
    path = table(source, "Nr,Wer,file,text", "1,anna,c0.wav,a", "2,ben,c1.wav,b")
    imported = run_import(path, tmp_path / "out", columns=columns)
    assert [note for note in imported.notes if note.startswith("no column")] == notes
    assert record(tmp_path / "out")["notes"] == list(imported.notes)


def test_a_row_that_stands_twice_is_found_without_ids(source: Path, tmp_path: Path) -> None:
    path = table(source, "file,text", "c0.wav,a", "c1.wav,b", "./c0.wav,a", "c0.wav,other")
    assert refusals(path, tmp_path / "out")[1:] == [
        "m.csv:4: its recording and its reference are those of m.csv:2"
    ]
    imported = run_import(path, tmp_path / "out", skip_broken=True)
    assert [item.id for item in imported.suite.items] == ["c0", "c1", "c0-2"]
    assert "1 row has the recording of an earlier row: m.csv:5 that of m.csv:2" in imported.notes


@pytest.mark.parametrize("name", ["a.xlsx", "A.XLS", "a.ods"])
def test_a_spreadsheet_is_to_be_saved_as_csv(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\3\4")
    said = 'is a spreadsheet; save it as "CSV UTF-8"'
    for place in (tmp_path / name, tmp_path):
        with pytest.raises(InputError, match=said):
            guess_format(place)
    with pytest.raises(InputError, match=said):
        run_import(tmp_path / name, tmp_path / "out", format="csv")
    with pytest.raises(InputError, match=said):
        read_transcripts(str(tmp_path / name))


@pytest.mark.parametrize(
    ("count", "row", "lies"),
    [(0, "0 rows", "0 rows lie"), (1, "1 row", "1 row lies"), (2, "2 rows", "2 rows lie")],
)
def test_counts_have_their_noun_in_the_right_number(count: int, row: str, lies: str) -> None:
    assert count_of(count, "row") == row
    assert counted(count, "row lies", "rows lie") == lies
