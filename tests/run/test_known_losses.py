"""Suites where the truth is known: set rates that the attribution finds, a language that fails."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("soundfile", reason="needs the extra run")

from scene_runs import write_scenes

SESSIONS, PER_SESSION, LABELS = 48, 2, 6
MISHEARD, FORGOTTEN = 0.2, 0.3
"""The rates at which a label is not heard, and at which a heard one is not planned."""

PLANNER = '''
class WordPlanner:
    """A box per word of the last utterance, but for those that it is told to forget."""

    def __init__(self, forget=(), dumb="", broken=""):
        self.forget, self.dumb, self.broken = frozenset(forget), dumb, broken

    def plan(self, request):
        if request["language"] == self.broken:
            raise RuntimeError("broken")
        words = [] if request["language"] == self.dumb else request["utterances"][-1].split()
        kept = [word for word in words if word not in self.forget]
        shapes = [{"id": word, "kind": "box", "label": word} for word in kept]
        return {"shapes": shapes, "connections": []}
'''


def rows(**languages: int) -> list[dict[str, Any]]:
    """Return items in sessions of one language each, with labels that no other item has."""
    sessions = [language for language, count in languages.items() for _ in range(count)]
    return [
        {
            "id": f"i{session:02d}-{index}",
            "reference": " ".join(words),
            "language": language,
            "session": f"s{session:02d}",
            "plan": {"shapes": [{"id": word, "kind": "box", "label": word} for word in words]},
        }
        for session, language in enumerate(sessions)
        for index in range(PER_SESSION)
        for words in [[f"w{session}x{index}x{label}" for label in range(LABELS)]]
    ]


def run(
    folder: Path, transcripts: dict[str, str], options: dict[str, Any], **sections: Any
) -> dict[str, Any]:
    """Run the suite in `folder` through the command and return the report."""
    (folder / "word_planner.py").write_text(PLANNER)
    config = {
        "suite": "suite",
        "recognizer": {"kind": "fake", "transcripts": transcripts},
        "plan": {"kind": "python", "target": "word_planner:WordPlanner", "options": options},
        "scoring": {"resamples": 2_000},
        **sections,
    }
    # JSON is YAML
    (folder / "run.yaml").write_text(json.dumps(config))
    command = [
        sys.executable,
        "-m",
        "misheard",
        "run",
        str(folder / "run.yaml"),
        "--out",
        str(folder / "run"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads((folder / "run" / "report.json").read_text())
    return report


def attributed(report: dict[str, Any], metric: str) -> dict[str, Any]:
    """Return the attribution of a metric over all items."""
    (whole,) = (place for place in report["attribution"] if place["axis"] is None)
    found: dict[str, Any] = next(one for one in whole["metrics"] if one["metric"] == metric)
    return found


def test_the_attribution_recovers_the_rates_at_which_labels_are_lost(tmp_path: Path) -> None:
    items = rows(en=SESSIONS)
    hashes = write_scenes(tmp_path / "suite", items)
    random = np.random.default_rng(11)
    words = [word for row in items for word in row["reference"].split()]
    # Some sessions are heard worse than others, as rooms and microphones make them; the mean is the set rate.
    worse = {row["session"]: float(random.uniform(0, 2 * MISHEARD)) for row in items}
    lost = {
        word for row in items for word in row["reference"].split() if random.random() < worse[row["session"]]
    }
    forgotten = {word for word in words if random.random() < FORGOTTEN}
    transcripts = {
        hashes[row["id"]]: " ".join(word for word in row["reference"].split() if word not in lost)
        or "nothing"
        for row in items
    }
    report = run(tmp_path, transcripts, {"forget": sorted(forgotten)})

    found = attributed(report, "label_recall")
    losses = {loss["stage"]: loss for loss in found["losses"]}
    assert list(losses) == ["recognition", "planning"]
    # what really happened in this suite, by its definition
    happened = {
        "planning": len(forgotten) / len(words),
        "recognition": len(lost - forgotten) / len(words),
    }
    # what the rates are, of which the suite is a sample
    true = {"planning": FORGOTTEN, "recognition": MISHEARD * (1 - FORGOTTEN)}
    for stage, loss in losses.items():
        low, high = loss["amount_intervals"]["deciding"]
        assert loss["amount"] == pytest.approx(happened[stage])
        assert low <= true[stage] <= high
        assert 0 < low < high < 0.5
        assert loss["difference"]["verdict"] == "worse"
        assert not loss["within_noise"]
    assert found["shortfall"] == pytest.approx(len(lost | forgotten) / len(words))
    assert sum(loss["share"] for loss in losses.values()) == pytest.approx(1)
    assert (found["remainder"]["stage"], found["remainder"]["amount"]) == ("rendering", pytest.approx(0))
    assert found["largest"]["stage"] == "planning"


@pytest.mark.parametrize("how", ["dumb", "broken"])
def test_a_planner_that_fails_in_one_language_stands_in_its_cell(tmp_path: Path, how: str) -> None:
    items = rows(en=6, ta=6)
    hashes = write_scenes(tmp_path / "suite", items)
    header = "name: scenes\nversion: 1\nconditions: {language: [en, ta]}\n"
    (tmp_path / "suite" / "suite.yaml").write_text(header)
    transcripts = {hashes[row["id"]]: row["reference"] for row in items}
    report = run(tmp_path, transcripts, {how: "ta"}, on_failure="worst")

    cells = {(cell["axis"], cell["value"]): cell for cell in report["matrix"]}
    for arm, expected in (("audio", {"en": 1.0, "ta": 0.0}), ("plan", {"en": 1.0, "ta": 1.0})):
        for language, recall in expected.items():
            estimates = cells["language", language]["estimates"]
            (value,) = (e["value"] for e in estimates if (e["metric"], e["arm"]) == ("label_recall", arm))
            assert value == recall, (language, arm)
    (worst,) = (c for c in report["worst_cells"] if (c["metric"], c["arm"]) == ("label_recall", "audio"))
    assert (worst["axis"], worst["value"], worst["rate"]) == ("language", "ta", 0.0)
    failed = cells["language", "ta"]["failed"]["audio"]
    assert failed == (6 * PER_SESSION if how == "broken" else 0)
    found = attributed(report, "label_recall")
    assert {loss["stage"]: loss["amount"] for loss in found["losses"]} == {
        "recognition": 0.0,
        "planning": 0.5,
    }
