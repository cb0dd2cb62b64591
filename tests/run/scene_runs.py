"""A suite of spoken scenes, a planner of the user's, and configs that need no model."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml

PLANNER = '''
class LinePlanner:
    """Plans `canary a to b`: two boxes and an arrow. Utterances add up; `drop a` takes a box away."""

    def __init__(self, forget=""):
        self.forget = forget

    def plan(self, request):
        shapes, connections = {}, []
        for line in request["utterances"]:
            words = line.split()
            if "break" in words:
                raise RuntimeError("canary " + line)
            if words[0] == "drop":
                shapes.pop(words[1], None)
                connections = [c for c in connections if words[1] not in (c["from"], c["to"])]
                continue
            pair = [word for word in words if word not in ("canary", "to") and word != self.forget]
            for word in pair:
                shapes[word] = {"id": word, "kind": "box", "label": "canary " + word}
            if len(pair) == 2:
                connections.append({"from": pair[0], "to": pair[1], "label": ""})
        return {"shapes": list(shapes.values()), "connections": connections}
'''


def golden(*boxes: str, arrows: tuple[tuple[str, str], ...] = ()) -> dict[str, Any]:
    """Return a golden plan of boxes and arrows."""
    return {
        "shapes": [{"id": box, "kind": "box", "label": f"canary {box}"} for box in boxes],
        "connections": [{"from": a, "to": b} for a, b in arrows],
    }


def write_scenes(root: Path, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Write a suite whose items have a second of noise each; return ids by the hash of the samples."""
    import soundfile

    from misheard.recognizers.fake import samples_sha256
    from misheard.recognizers.protocol import AudioWindow

    (root / "audio").mkdir(parents=True)
    rng = np.random.default_rng(3)
    hashes = {}
    for row in rows:
        path = root / "audio" / f"{row['id']}.wav"
        samples = np.round(0.1 * rng.standard_normal(16_000) * 32767) / 32767
        soundfile.write(path, samples, 16_000, subtype="PCM_16")
        heard, _ = soundfile.read(path, dtype="float32")
        hashes[row["id"]] = samples_sha256(AudioWindow(heard, "en"))
        row["audio"] = f"audio/{row['id']}.wav"
    header = {
        "name": "scenes",
        "version": "1",
        "defaults": {"language": "en", "scripts": ["Latn"]},
        "conditions": {"language": ["en"]},
    }
    (root / "suite.yaml").write_text(yaml.safe_dump(header))
    (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return hashes


def scene_rows(count: int = 6) -> list[dict[str, Any]]:
    """Return items in sessions of two, each with an arrow from one box to another."""
    names = [f"n{index}" for index in range(count + 1)]
    return [
        {
            "id": f"i{index}",
            "reference": f"canary {a} to {b}",
            "entities": [a, b],
            "session": f"s{index // 2}",
            "plan": golden(a, b, arrows=((a, b),)),
        }
        for index, (a, b) in enumerate(itertools.pairwise(names))
    ]


def scene_config(folder: Path, transcripts: dict[str, str], **sections: Any) -> Path:
    """Write a config with a fake recognizer that hears `transcripts`, by hash, and the planner beside it."""
    (folder / "line_planner.py").write_text(PLANNER)
    config: dict[str, Any] = {
        "recognizer": {"kind": "fake", "batch_size": 2, "transcripts": transcripts},
        "plan": {"kind": "python", "target": "line_planner:LinePlanner"},
        "scoring": {"resamples": 200},
    }
    config.update(sections)
    path = folder / "scenes.yaml"
    path.write_text(yaml.safe_dump(config))
    return path
