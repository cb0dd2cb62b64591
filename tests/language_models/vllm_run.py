"""A run in a process of its own, to be killed: starts vLLM as an audit does, asks it, reports, and waits.

python vllm_run.py VLLM_PYTHON MODEL LOGS -- QUESTION ...
"""

import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from held_replies import REAL, SPOKEN

from misheard.errors import BackendError
from misheard.language_models.protocol import ChatRequest, Message, Sampling
from misheard.language_models.settings import VllmSettings
from misheard.language_models.vllm_server import VllmModel
from misheard.processes.tree import descendants

python, folder, logs, questions = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[5:]
settings = VllmSettings(
    model=folder, python=Path(python), max_model_len=512, dtype="float32", startup_seconds=400,
    timeout_seconds=300,
)  # fmt: skip
model = VllmModel(settings, logs=Path(logs), cpu=True, audit=True)
model.start()


def ask(texts: list[str], sampling: Sampling) -> list[dict[str, Any]]:
    requests = [ChatRequest(str(n), (Message("user", text),)) for n, text in enumerate(texts)]
    return [asdict(completion) for completion in model.complete(requests, sampling)]


def refusal(schema: str) -> str:
    try:
        ask(["w"], Sampling(max_tokens=8, json_schema=schema))
    except BackendError as error:
        return str(error)
    return ""


for report in (
    sorted(descendants(os.getpid())),
    model.fingerprint(),
    ask(questions, Sampling(max_tokens=24)),
    ask(SPOKEN, REAL),
    refusal('{"type":"fnord"}'),
):
    os.write(1, (json.dumps(report) + "\n").encode())
time.sleep(600)
