"""What the journal says of the judge: its judgements of every output, and whether they may be shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from misheard.canonical import sha256_json, write_atomic
from misheard.config import JudgeQuestion, RunConfig
from misheard.errors import IncompleteRunError, InputError
from misheard.judge.calibration import parse_calibration, read_bytes, read_calibration
from misheard.judge.trust import Trust, trust
from misheard.metrics.base import Arm, ArmOutput, Judgement
from misheard.run.directory import RunDirectory
from misheard.run.replies import Replies
from misheard.stages.judge import BEST, JudgedTexts, judged_texts, judgement, read_kept
from misheard.suite.items import Item


@dataclass(frozen=True, slots=True)
class JudgeOfRun:
    """The judge of a run.

    Attributes:
        fingerprints: per question, as pinned in `run.json`.
        threshold: of flips.
        trust: whether its numbers may be shown.
    """

    fingerprints: Mapping[JudgeQuestion, Mapping[str, Any]]
    threshold: int
    trust: Trust

    @property
    def counted(self) -> tuple[JudgeQuestion, ...]:
        """The questions whose families are counted: none where the judge is not trusted."""
        return tuple(self.fingerprints) if self.trust.is_trusted else ()

    def scorer(self) -> dict[str, Any]:
        """Return what decides the judge's counts beside the outputs, for the description of the scorer."""
        return {"sha256": sha256_json(self.fingerprints), "threshold": self.threshold}

    def document(self) -> dict[str, Any]:
        """Return which judge it is and whether it is trusted, for the report."""
        return {
            **self.trust.as_json(),
            "questions": list(self.fingerprints),
            "threshold": self.threshold,
            "fingerprint": {str(name): dict(value) for name, value in self.fingerprints.items()},
        }


def judge_of_run(directory: RunDirectory, run: Mapping[str, Any], config: RunConfig) -> JudgeOfRun | None:
    """Return the judge of a run; None without one.

    Raises InputError for a calibration that the run keeps and that was damaged.
    """
    pinned = run["system"].get("judge")
    if config.judge is None or not isinstance(pinned, dict):
        return None
    chosen = config.judge.questions
    fingerprints = {
        name: pinned[name] for name in get_args(JudgeQuestion) if name in pinned and name in chosen
    }
    kept = directory.calibration
    calibration = read_calibration(kept) if kept.exists() else None
    return JudgeOfRun(fingerprints, config.judge.threshold, trust(fingerprints, calibration))


def replace_calibration(directory: RunDirectory, path: Path) -> None:
    """Let a run keep another calibration of its judge.

    Raises InputError for a file that is none, and for a run that asked no judge.
    """
    if not directory.judge.exists():
        raise InputError(f"--calibration: {directory.root} asked no judge")
    raw = read_bytes(path)
    parse_calibration(raw, str(path))
    write_atomic(directory.calibration, raw)


def reply_name(item: str, question: str, view: str) -> str:
    """Return under which name the journal has a reply about an item; no id holds a dot."""
    return f"{item}.{question}.{view}"


def with_judgements(
    items: Sequence[Item],
    outputs: Mapping[Arm, Sequence[ArmOutput]],
    replies: Replies,
    judge: JudgeOfRun,
) -> dict[Arm, tuple[ArmOutput, ...]]:
    """Return the outputs of every arm with what the judge says of them.

    Raises IncompleteRunError for an output that has not been judged yet.
    """
    reader = _Reader(replies, judge)
    return {
        arm: tuple(
            replace(output, judgements=reader.of(item, arm, output))
            for item, output in zip(items, row, strict=True)
        )
        for arm, row in outputs.items()
    }


@dataclass(frozen=True, slots=True)
class _Reader:
    replies: Replies
    judge: JudgeOfRun

    def of(self, item: Item, arm: Arm, output: ArmOutput) -> dict[str, Judgement]:
        """Return the judgements of one output by question."""
        asked = judged_texts(item, arm, output, tuple(self.judge.fingerprints))
        return {question: self._judgement(item, arm, question, texts) for question, texts in asked.items()}

    def _judgement(self, item: Item, arm: Arm, question: JudgeQuestion, texts: JudgedTexts) -> Judgement:
        if texts.identical:
            return Judgement(float(BEST), identical=True)
        second = self.judge.fingerprints[question].get("second")
        views = ["plain"] if second == "none" else ["plain", str(second)]
        rows = [self.replies.of(arm, reply_name(item.id, question, view)) for view in views]
        found = [read_kept(row) for row in rows if row is not None]
        if len(found) < len(views):
            raise IncompleteRunError(
                f"item {item.id} has no judgement of its {question} in the {arm} arm; go on with --resume"
            )
        return judgement(found[0], found[1] if len(found) > 1 else None, self.judge.threshold)
