"""The prompts that a config asks for, checked against what the config would put into them."""

from pathlib import Path
from typing import Any

import pytest

from misheard.config import RunConfig
from misheard.errors import InputError
from misheard.run.prompts import load_prompts


def config(prompt: Path, **correct: Any) -> RunConfig:
    return RunConfig.model_validate(
        {
            "recognizer": {"kind": "ctranslate2", "model": "m", "beam_size": 2, "n_best": 2},
            "language_model": {"kind": "fake"},
            "correct": {"prompt": str(prompt), **correct},
        }
    )


@pytest.mark.parametrize(("option", "place"), [("glossary", "{glossary}"), ("n_best", "{hypotheses}")])
def test_a_prompt_without_a_place_for_what_the_config_gives_it_is_refused(
    tmp_path: Path, option: str, place: str
) -> None:
    prompt = tmp_path / "mine.yaml"
    prompt.write_text('user: "Correct: {transcript}"\n')
    assert "correct" in load_prompts(config(prompt))
    with pytest.raises(InputError, match=f"has no {place}, where correct.{option} would be told"):
        load_prompts(config(prompt, **{option: True}))
    prompt.write_text(f'user: "Correct: {{transcript}} {place}"\n')
    assert "correct" in load_prompts(config(prompt, **{option: True}))
