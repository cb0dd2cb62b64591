"""What `run.json` shows of a config: no secret, no text, and still whether two are the same."""

import json

from misheard.config import RunConfig
from misheard.run.redaction import public_config


def config(**model: object) -> RunConfig:
    return RunConfig.model_validate(
        {
            "recognizer": {"kind": "fake", "transcripts": {"ab": "canary text"}},
            "language_model": model,
        }
    )


def test_texts_of_fakes_and_secrets_of_servers_are_hashed() -> None:
    fake = public_config(config(kind="fake", answers={"canary q": "canary a"}, default="canary d"))
    vllm = public_config(
        config(
            kind="vllm",
            model="m",
            env={"HF_TOKEN": "canary1"},
            extra_args=["--hf-token", "canary2", "--hf-token=canary3", "--max-num-seqs", "8"],
        )
    )
    for shown in (fake, vllm):
        assert "canary" not in json.dumps(shown)
        RunConfig.model_validate(shown)
    assert vllm["language_model"]["extra_args"][-2:] == ["--max-num-seqs", "8"]
    assert "HF_TOKEN" in vllm["language_model"]["env"]


def test_a_changed_secret_is_another_config() -> None:
    first, second = (public_config(config(kind="vllm", model="m", env={"A": value})) for value in "xy")
    assert first != second
    assert first == public_config(config(kind="vllm", model="m", env={"A": "x"}))
