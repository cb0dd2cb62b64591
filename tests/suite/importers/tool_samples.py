"""Samples written, and read back, by the tools themselves: `python tool_samples.py write|read TOOL FOLDER`.

`write` lays out a folder with recordings that it makes, in the tool's own format; `read` prints what the tool
reads there as JSON. The text of the folders under `samples` was written by lhotse 1.33.0 and datasets 5.2.0
through `write`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

RATE = 8_000
TEXTS = (("hello there", "a second one"), ("नमस्ते दुनिया", "so ends it"), ("third", "and last"))
Rows = list[dict[str, Any]]


def samples_of(index: int, seconds: float = 0.5) -> "np.ndarray[Any, Any]":
    """Return int16 samples that differ from one recording to the next and from place to place."""
    rng = np.random.default_rng(index)
    return (rng.standard_normal(int(seconds * RATE)) * 3_000).astype(np.int16)


def write_recordings(folder: Path) -> list[str]:
    """Write three recordings into `folder/wav`; return their paths relative to it."""
    (folder / "wav").mkdir(parents=True, exist_ok=True)
    names = [f"wav/rec{index}.wav" for index in range(3)]
    for index, name in enumerate(names):
        soundfile.write(folder / name, samples_of(index), RATE, "PCM_16")
    return names


def _manifests(folder: Path) -> tuple[Any, Any]:
    from lhotse import Recording, RecordingSet, SupervisionSegment, SupervisionSet

    recordings = RecordingSet.from_recordings(
        Recording.from_file(name, recording_id=Path(name).stem) for name in write_recordings(folder)
    )
    supervisions = SupervisionSet.from_segments(
        SupervisionSegment(
            id=f"rec{index}-u{part}",
            recording_id=f"rec{index}",
            start=0.25 * part,
            duration=0.25 - 0.125 * part,
            text=text,
            speaker=f"speaker {index % 2}",
            language="hi" if index == 1 and part == 0 else "en",
        )
        for index, texts in enumerate(TEXTS)
        for part, text in enumerate(texts)
    )
    return recordings, supervisions


def write_lhotse(folder: Path) -> None:
    from lhotse import CutSet

    recordings, supervisions = _manifests(folder)
    recordings.to_file("toy_recordings_all.jsonl.gz")
    supervisions.to_file("toy_supervisions_all.jsonl.gz")
    cuts = CutSet.from_manifests(recordings=recordings, supervisions=supervisions)
    cuts.to_file("whole_cuts.jsonl.gz")
    cuts.trim_to_supervisions(keep_overlapping=False).to_file("trimmed_cuts.jsonl")


def read_lhotse(folder: Path) -> Rows:
    from lhotse import CutSet

    return [_cut_row(cut) for cut in CutSet.from_file("trimmed_cuts.jsonl")]


def write_kaldi(folder: Path) -> None:
    from lhotse.kaldi import export_to_kaldi

    export_to_kaldi(*_manifests(folder), "data")
    for name in ("text", "utt2spk"):
        # speakers are one word there
        path = Path("data") / name
        path.write_text(path.read_text("utf-8").replace("speaker ", "speaker"), "utf-8")


def read_kaldi(folder: Path) -> Rows:
    from lhotse import CutSet
    from lhotse.kaldi import load_kaldi_data_dir

    recordings, supervisions, _ = load_kaldi_data_dir("data", sampling_rate=RATE)
    cuts = CutSet.from_manifests(recordings=recordings, supervisions=supervisions)
    return [_cut_row(cut) for cut in cuts.trim_to_supervisions(keep_overlapping=False)]


def _cut_row(cut: Any) -> dict[str, Any]:
    (supervision,) = cut.supervisions
    return {
        "id": supervision.id,
        "text": supervision.text,
        "session": supervision.speaker,
        "samples": (cut.load_audio()[0] * 32_768).astype(int).tolist(),
    }


def write_dataset(folder: Path) -> None:
    from datasets import Audio, ClassLabel, Dataset

    table = {
        "audio": write_recordings(folder),
        "sentence": [texts[0] for texts in TEXTS],
        "speaker_id": [4, 5, 4],
        "noise": ["quiet", "street", "quiet"],
    }
    dataset = Dataset.from_dict(table).cast_column("noise", ClassLabel(names=["quiet", "street"]))
    dataset = dataset.cast_column("audio", Audio())
    dataset.save_to_disk("saved")
    dataset.to_parquet("one.parquet")


def read_dataset(folder: Path) -> Rows:
    from datasets import Audio, load_from_disk

    dataset = load_from_disk("saved")
    labels = dataset.features["noise"]
    return [
        {
            "id": Path(row["audio"]["path"]).stem,
            "text": row["sentence"],
            "session": str(row["speaker_id"]),
            "noise": labels.int2str(row["noise"]),
            "bytes": row["audio"]["bytes"].hex(),
        }
        for row in dataset.cast_column("audio", Audio(decode=False))
    ]


def write_audiofolder(folder: Path) -> None:
    names = write_recordings(folder)
    lines = [
        json.dumps({"file_name": name, "transcription": texts[0]}, ensure_ascii=False)
        for name, texts in zip(names, TEXTS, strict=True)
    ]
    Path("metadata.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def read_audiofolder(folder: Path) -> Rows:
    from datasets import Audio, load_dataset

    dataset = load_dataset("audiofolder", data_dir=str(folder.resolve()), split="train")
    rows = dataset.cast_column("audio", Audio(decode=False))
    return [{"id": Path(row["audio"]["path"]).stem, "text": row["transcription"]} for row in rows]


if __name__ == "__main__":
    action, tool, place = sys.argv[1:]
    os.chdir(place)
    result = globals()[f"{action}_{tool}"](Path())
    if result is not None:
        sys.stdout.write(json.dumps(result))
