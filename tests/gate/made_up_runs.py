"""Whole run directories without a model: what was heard is made up, the counts and the report are real."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from misheard.canonical import sha256_json, write_json
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, ArmOutput
from misheard.metrics.content import suite_content
from misheard.metrics.registry import ScoringSettings, families, scorer_description
from misheard.metrics.scoring import count_run
from misheard.report.build import build_report
from misheard.report.files import write_report_files
from misheard.run.directory import SCHEMA
from misheard.suite.items import Item, ItemKind, Suite

WORDS = 10
AXES = {"language": ("en",), "noise": ("clean", "5dB")}


@dataclasses.dataclass(frozen=True)
class MadeUpRun:
    """A run over items of ten words each; item n is in session n % sessions and, odd ones, in 5dB noise.

    `wrong` is how many words of an item are misheard, `right` whether it is answered rightly, `seconds` how
    long it took to hear, None for no time, `failed` which items failed in the audio arm.
    """

    items: int = 60
    sessions: int = 12
    wrong: Callable[[int], int] = lambda number: 2
    right: Callable[[int], bool] = lambda number: True
    seconds: Callable[[int], float | None] = lambda number: 0.5 + number % 7 / 100
    failed: Sequence[int] = ()
    silent: int = 0
    arms: Sequence[Arm] = tuple(Arm)
    name: str = "made up"
    axes: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=lambda: dict(AXES))
    conditions: Callable[[int], Mapping[str, str]] = lambda number: {
        "language": "en",
        "noise": AXES["noise"][number % 2],
    }
    primary: Mapping[str, str] = dataclasses.field(default_factory=lambda: {"en": "wer"})
    gate_axes: Sequence[str] = ()
    abstentions: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    edited: Sequence[int] = ()
    profile: str = "nfc"
    limit: int | None = None
    status: str = "complete"
    system: str = "a"
    state: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    suite_facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def write(self, path: Path) -> Path:
        """Write the report files and run.json of the run."""
        suite = self._suite()
        hashes = [
            sha256_json([item.truth(), number in self.edited]) for number, item in enumerate(suite.items)
        ]
        content = suite_content(suite)
        settings = ScoringSettings(profile=self.profile)
        active = families(settings, suite.abstentions, content)
        outputs = {
            arm: [self._output(arm, number, item) for number, item in enumerate(suite.items)]
            for arm in self.arms
        }
        times = {"recognize_seconds": [self.seconds(n) for n in range(len(suite.items))]}
        times["llm_seconds"] = [0.2 if n < self.items else None for n in range(len(suite.items))]
        timings = {Arm.AUDIO: {name: np.array(values, dtype=np.float64) for name, values in times.items()}}
        table = count_run(suite.items, hashes, outputs, timings, {}, active, "exclude")
        scorer = scorer_description(settings, suite.abstentions, content) | {"on_failure": "exclude"}
        described = {
            "name": self.name,
            "version": "1",
            "items": len(suite.items),
            "limit": self.limit,
            "sha256": sha256_json(hashes),
            **self.suite_facts,
        }
        system = {"recognizer": {"backend": self.system}}
        # without estimates, which take most of the time and which no gate reads
        report = build_report(
            table,
            (),
            suite={**described, "gate_axes": list(self.gate_axes)},
            system=system,
            scorer={**scorer, "sha256": sha256_json(scorer)},
            run={"language_model": True},
            timings=None,
            axes=self.axes,
            primary_metrics=self.primary,
            resamples=100,
            seed=1,
        )
        path.mkdir(parents=True)
        write_report_files(path, table, active, report)
        state = {
            "schema": SCHEMA,
            "status": self.status,
            "misheard": "0",
            "config": {},
            "suite": {**described, "path": "/suite"},
            "system": system,
            "arms": list(map(str, self.arms)),
            "versions": {},
            "invocations": [{"name": path.name}],
            **self.state,
        }
        write_json(path / "run.json", state)
        return path

    def _suite(self) -> Suite:
        speech = [
            Item(
                id=f"q{number:03d}",
                audio=f"q{number:03d}.wav",
                reference=" ".join(f"canary{number}x{word}" for word in range(WORDS)),
                reference_answer=f"canary answer {number}",
                fact=(f"fact{number}",),
                language="en",
                session=f"s{number % self.sessions}",
                conditions=self.conditions(number),
            )
            for number in range(self.items)
        ]
        silent = [Item(f"n{n}", f"n{n}.wav", "", ItemKind.NON_SPEECH) for n in range(self.silent)]
        return Suite(
            name=self.name,
            version="1",
            root=Path("/suite"),
            axes={axis: tuple(values) for axis, values in self.axes.items()},
            items=(*speech, *silent),
            primary_metrics=self.primary,
            abstentions=self.abstentions,
            gate_axes=tuple(self.gate_axes),
        )

    def _output(self, arm: Arm, number: int, item: Item) -> ArmOutput:
        if not item.is_speech:
            return ArmOutput("" if arm is Arm.AUDIO else item.reference)
        if arm is not Arm.AUDIO:
            return ArmOutput(item.reference, f"fact{number}")
        if number in self.failed:
            return ArmOutput(None, None, Failure("recognize", FailureKind.ASR_ERROR, "made up"))
        wrong = self.wrong(number)
        words = item.reference.split()
        heard = " ".join(["misheard"] * wrong + words[wrong:])
        return ArmOutput(heard, f"fact{number}" if self.right(number) else "another")


def edit_json(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a JSON file in place."""
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))
