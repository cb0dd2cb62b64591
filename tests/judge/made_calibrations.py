"""Calibration sets and fake judges whose scores are known."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from misheard.config import JudgeConfig
from misheard.judge.asking import judge_prompts
from misheard.judge.calibration_set import CalibrationItem, CalibrationSet, read_calibration_set
from misheard.stages.judge import Judge, View, judge_sampling

Scored = Callable[[CalibrationItem, View], int | str]
"""The score of an item in a view, or a reply in full."""


def made_set(languages: str = "en hi", each: int = 4) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{language}-{number}",
            "language": language,
            "question": "answer" if number % 2 else "meaning",
            **({"asked": "canary asked?"} if number % 2 else {}),
            "reference": f"canary reference {language} {number}",
            "candidate": f"canary candidate {language} {number}",
            "human_score": 7 * number,
        }
        for language in languages.split()
        for number in range(each)
    ]


def write_set(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def fake_answers(over: CalibrationSet, scored: Scored, config: JudgeConfig) -> dict[str, str]:
    """Return the answers of a fake language model that judges as `scored` says."""
    prompts = judge_prompts(config, over)
    answers = {}
    for item in over.items:
        judge = Judge(item.question, prompts[item.question], judge_sampling(8, 0), {}, config.second)
        for view, request in judge.requests(item.texts, item.language).items():
            reply = scored(item, view)
            if isinstance(reply, int):
                reply = json.dumps({"rationale": "canary rationale", "score": reply})
            answers[request.messages[-1].content] = reply
    return answers


def write_config(
    folder: Path, over: Path, scored: Scored, name: str = "config.yaml", **settings: Any
) -> Path:
    judge = {"calibration": "calibration.json", **settings}
    answers = fake_answers(read_calibration_set(over), scored, JudgeConfig(**judge))
    path = folder / name
    config = {
        "recognizer": {"kind": "fake"},
        "language_model": {"kind": "fake", "answers": answers, "default": "canary default"},
        "judge": judge,
    }
    path.write_text(yaml.safe_dump(config, allow_unicode=True))
    return path
