"""Datasets that pyarrow reads: bytes and paths, indices, classes, and what is no recording."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from importing_helpers import refusals, run_import, write_clip

from misheard.errors import InputError

AUDIO = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def save(folder: Path, table: Any, indices: list[int] | None = None) -> Path:
    """Lay out a table as `save_to_disk` does."""
    folder.mkdir(parents=True, exist_ok=True)
    write_stream(folder / "data-00000-of-00001.arrow", table)
    state: dict[str, Any] = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    if indices is not None:
        write_stream(folder / "indices.arrow", pa.table({"indices": pa.array(indices, pa.uint64())}))
        state["_indices_files"] = [{"filename": "indices.arrow"}]
    (folder / "state.json").write_text(json.dumps(state))
    return folder


def write_stream(path: Path, table: Any) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def table(tmp_path: Path, texts: list[Any], **columns: Any) -> Any:
    raw = [write_clip(tmp_path / f"{n}.wav", seed=n).read_bytes() for n in range(len(texts))]
    audio = pa.array([{"bytes": b, "path": f"{n}.wav"} for n, b in enumerate(raw)], AUDIO)
    return pa.table({"audio": audio, "text": texts, **columns})


def test_the_rows_that_indices_choose(tmp_path: Path) -> None:
    folder = save(tmp_path / "ds", table(tmp_path, ["a", "b", "c"]), indices=[2, 0])
    suite = run_import(folder, tmp_path / "out").suite
    assert [(item.id, item.reference) for item in suite.items] == [("2", "c"), ("0", "a")]


def test_indices_beyond_the_table(tmp_path: Path) -> None:
    folder = save(tmp_path / "ds", table(tmp_path, ["a", "b"]), indices=[0, 7])
    with pytest.raises(InputError, match="indices name row 7, and it has 2"):
        run_import(folder, tmp_path / "out")


def test_rows_that_make_no_item(tmp_path: Path) -> None:
    good = write_clip(tmp_path / "g.wav").read_bytes()
    rows = [
        {"bytes": good, "path": None},
        None,
        {"bytes": None, "path": None},
        {"bytes": b"RIFF broken", "path": "x.wav"},
        {"bytes": None, "path": "/etc/passwd"},
        {"bytes": b"", "path": "../../y.wav"},
    ]
    texts = ["a", "b", "c", "d", "e", None]
    folder = save(tmp_path / "ds", pa.table({"audio": pa.array(rows, AUDIO), "text": texts}))
    found = refusals(folder, tmp_path / "out")
    assert "--skip-broken imports the other 2 rows" in found[0]
    assert found[1:] == [
        "ds row 2: there is no recording",
        "ds row 3: there is no recording",
        "ds row 5: the recording '/etc/passwd' lies outside the source's folder; name the folder of the "
        "recordings with --audio-root",
        "ds row 6: there is no reference",
    ]
    imported = run_import(folder, tmp_path / "out", skip_broken=True)
    assert [item.audio for item in imported.suite.items] == ["audio/row-1.wav"]
    assert "audio_undecodable" in imported.broken[-1].why
    assert [path.name for path in (tmp_path / "out" / "audio").iterdir()] == ["row-1.wav"]


def test_a_path_beside_bytes_names_no_place(tmp_path: Path) -> None:
    raw = write_clip(tmp_path / "g.wav").read_bytes()
    audio = pa.array([{"bytes": raw, "path": "../../../etc/evil.wav"}], AUDIO)
    folder = save(tmp_path / "ds", pa.table({"audio": audio, "text": ["a"]}))
    suite = run_import(folder, tmp_path / "out").suite
    assert (suite.items[0].id, suite.items[0].audio) == ("evil", "audio/evil.wav")


@pytest.mark.parametrize("text", [[3], [["a"]], [{"a": "b"}]])
def test_references_that_are_no_text(tmp_path: Path, text: list[Any]) -> None:
    folder = save(tmp_path / "ds", table(tmp_path, text))
    assert refusals(folder, tmp_path / "out")[1:] == ["ds row 1: the reference is no text"]


@pytest.mark.parametrize("audio", [[1], [[0.1, 0.2]], [{"array": [0.1], "sampling_rate": 8000}]])
def test_columns_that_are_no_recordings(tmp_path: Path, audio: list[Any]) -> None:
    folder = save(tmp_path / "ds", pa.table({"audio": audio, "text": ["a"]}))
    with pytest.raises(InputError, match=r"neither recordings nor paths; cast it to datasets\.Audio"):
        run_import(folder, tmp_path / "out")


def test_several_splits(tmp_path: Path) -> None:
    for split in ("train", "test"):
        save(tmp_path / "ds" / split, table(tmp_path, ["a"]))
    (tmp_path / "ds" / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    with pytest.raises(InputError, match="has the splits train, test; name the folder of one of them"):
        run_import(tmp_path / "ds", tmp_path / "out")
    assert len(run_import(tmp_path / "ds" / "test", tmp_path / "out").suite.items) == 1


def test_parquet_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(table(tmp_path, ["a"]), tmp_path / "d.parquet")
    monkeypatch.setattr("misheard.suite.importers.dataset.MAX_PARQUET_BYTES", 100)
    with pytest.raises(InputError, match="save it with save_to_disk"):
        run_import(tmp_path / "d.parquet", tmp_path / "out")
