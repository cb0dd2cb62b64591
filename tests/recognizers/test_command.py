"""Programs as recognizers: what they get, what becomes of what they do, and that nothing of them is left."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misheard.canonical import sha256_file
from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.recognizers.command import CommandRecognizer, content_sha256
from misheard.recognizers.protocol import AudioWindow, WindowFailed, WindowTranscript
from misheard.recognizers.settings import CommandSettings
from process_states import is_alive, wait_until

HERE = Path(__file__).parent
STAND_IN = HERE / "stand_in_command.py"
CLIP = AudioWindow(np.linspace(-1.2, 1.2, 16_000, dtype=np.float32), "en")

Recognize = Callable[..., WindowTranscript | WindowFailed]


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    return tmp_path / "pids"


def noted(pids: Path) -> list[int]:
    return [int(line) for line in pids.read_text().splitlines()]


def recognizer(how: str, pids: Path, *arguments: str, cpu: bool = False, **options: Any) -> CommandRecognizer:
    command = (sys.executable, str(STAND_IN), how, str(pids), *arguments)
    if not any("{wav}" in argument for argument in arguments):
        command += ("{wav}",)
    return CommandRecognizer(CommandSettings(command=command, **options), cpu=cpu)


@pytest.fixture
def hear(pids: Path) -> Recognize:
    """Return a function that recognizes one clip with the stand-in and leaves nothing open."""

    def one(
        how: str, *arguments: str, window: AudioWindow = CLIP, cpu: bool = False, **options: Any
    ) -> WindowTranscript | WindowFailed:
        made = recognizer(how, pids, *arguments, cpu=cpu, **options)
        made.load()
        try:
            (found,) = made.recognize([window]).windows
        finally:
            made.close()
        return found

    return one


def text_of(found: WindowTranscript | WindowFailed) -> Any:
    assert isinstance(found, WindowTranscript), found
    return json.loads(found.text)


def test_a_row_becomes_a_transcript_with_its_times(hear: Recognize) -> None:
    found = hear("sleep", "0.1")
    assert isinstance(found, WindowTranscript)
    assert (found.text, found.language) == ("canary", "en")
    assert (found.audio_seconds, found.load_seconds, found.inference_seconds) == (1.0, 0.0205, 0.25)
    assert found.wall_seconds is not None and found.wall_seconds >= 0.1
    assert found.tokens is None and found.no_speech_prob is None


def test_a_batch_tells_what_programs_took_and_what_of_it_was_inference(pids: Path) -> None:
    made = recognizer("sleep", pids, "0.05")
    made.load()
    batch = made.recognize([CLIP])
    made.close()
    assert batch.inference_seconds == 0.25
    (found,) = batch.windows
    assert isinstance(found, WindowTranscript) and batch.program_seconds == found.wall_seconds


def test_placeholders_are_filled_in_without_a_shell(hear: Recognize, tmp_path: Path) -> None:
    name = "two words $(touch pwned) `id` '\"; {model} नमस्ते.wav"
    file = tmp_path / name
    file.touch()
    window = AudioWindow(CLIP.samples, None, file)
    found = hear(
        "arguments", "{wav}", "--model={model}", "{language}", "{device}", "{{wav}}", "*",
        window=window, audio="original", model="a b;c", device="cuda",
    )  # fmt: skip
    assert text_of(found) == [str(file), "--model=a b;c", "auto", "cuda", "{wav}", "*"]
    assert not list(tmp_path.glob("**/pwned"))
    found = hear("arguments", "{wav}", "{device}", cpu=True, cpu_arguments=["--cpu"], device="cuda")
    assert text_of(found)[1:] == ["cpu", "--cpu"]
    found = hear("arguments", "{wav}", "{device}", "{language}", cpu_arguments=["--cpu"])
    assert text_of(found)[1:] == ["auto", "en"]


def test_a_file_name_that_is_no_unicode_reaches_the_program(hear: Recognize, tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.wav"))
    file.write_bytes(b"canary")
    found = hear(
        "raw", "{wav}", window=AudioWindow(CLIP.samples, "en", file), audio="original", output="text"
    )
    assert isinstance(found, WindowTranscript) and found.text == "canary"


def test_a_decoded_clip_is_a_16_bit_mono_wav_at_16_khz(hear: Recognize) -> None:
    assert text_of(hear("wav", "{wav}")) == [16_000, 2, 1, 16_000]


def test_plain_text_has_no_times_but_the_process(hear: Recognize, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("\n so it goes\n")
    found = hear("raw", str(tmp_path / "out"), output="text")
    assert isinstance(found, WindowTranscript)
    assert (found.text, found.inference_seconds, found.load_seconds) == ("so it goes", None, None)
    assert found.wall_seconds is not None


@pytest.mark.parametrize(
    ("how", "arguments", "kind", "detail"),
    [
        ("exit", ["3"], FailureKind.ASR_ERROR, "exit status 3"),
        ("die", [], FailureKind.ASR_ERROR, "signal 11"),
        ("exit", ["0"], FailureKind.INVALID_OUTPUT, "printed nothing"),
        ("flood", [], FailureKind.INVALID_OUTPUT, "more than 1048576 bytes"),
        ("hang", [], FailureKind.TIMEOUT, "ended after 2 s"),
        ("hang", ["deaf"], FailureKind.TIMEOUT, "ended after 2 s"),
        ("closed", [], FailureKind.TIMEOUT, "ended after 2 s"),
    ],
)
def test_trouble_is_a_typed_failure_and_leaves_no_process(
    hear: Recognize, pids: Path, how: str, arguments: list[str], kind: FailureKind, detail: str
) -> None:
    found = hear(how, *arguments, timeout_seconds=60.0 if how in ("exit", "die", "flood") else 2.0)
    assert isinstance(found, WindowFailed)
    assert found.kind is kind and detail in found.detail
    assert "CANARY" not in found.detail
    assert not any(map(is_alive, noted(pids) if pids.exists() else []))


def test_what_a_failed_program_said_last_is_kept_for_the_journal(hear: Recognize) -> None:
    found = hear("exit", "3")
    assert isinstance(found, WindowFailed) and found.stderr == "CANARY: cannot\n"


def test_any_amount_of_errors_on_stderr_does_not_stop_a_program(hear: Recognize) -> None:
    assert isinstance(hear("flood stderr"), WindowTranscript)


def test_binary_output_is_invalid(hear: Recognize, tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(bytes(range(256)))
    found = hear("raw", str(tmp_path / "out"))
    assert isinstance(found, WindowFailed) and found.kind is FailureKind.INVALID_OUTPUT


def test_children_that_outlive_their_program_are_ended_with_it(hear: Recognize, pids: Path) -> None:
    assert isinstance(hear("children"), WindowTranscript)
    assert len(noted(pids)) == 3 and not any(map(is_alive, noted(pids)))


def test_one_clip_finds_nothing_of_the_one_before(pids: Path) -> None:
    made = recognizer("litter", pids, audio="original")
    made.load()
    runner = made._runner
    assert runner is not None
    first, second = (made.recognize([AudioWindow(CLIP.samples, "en", STAND_IN)]).windows[0] for _ in "ab")
    assert text_of(first) == text_of(second) == [str(runner.folder), ["here.txt", "there"]]
    assert list(runner.folder.iterdir()) == []
    assert runner.folder.stat().st_mode & 0o777 == 0o700
    made.close()
    made.close()
    assert not runner.folder.exists() and not is_alive(runner.pid)


def test_proxies_stay_away_unless_they_are_asked_for(
    hear: Recognize, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTPS_PROXY", "No_Proxy"):
        monkeypatch.setenv(name, "http://proxy.invalid")
    monkeypatch.setenv("KEPT", "kept")
    found = text_of(hear("environment", env={"GIVEN": "given"}))
    assert found.pop("TMPDIR")
    assert found == {
        "http_proxy": None, "HTTPS_PROXY": None, "No_Proxy": None, "KEPT": "kept", "GIVEN": "given",
    }  # fmt: skip
    found = text_of(hear("environment", inherit_env=["http_proxy", "ABSENT"]))
    assert (found["http_proxy"], found["KEPT"]) == ("http://proxy.invalid", None)


def test_the_budget_is_of_all_programs_together_and_of_the_run_before(pids: Path) -> None:
    settings = recognizer("sleep", pids, "0.1", budget_seconds=60.0)._settings
    found = []
    for spent in (0.0, 59.99):
        made = CommandRecognizer(settings, cpu=True, spent_seconds=spent)
        made.load()
        found += [made.recognize([CLIP]).windows[0] for _ in range(2)]
        made.close()
    kinds = [one.kind if isinstance(one, WindowFailed) else "heard" for one in found]
    assert kinds == ["heard", "heard", FailureKind.BUDGET_EXHAUSTED, FailureKind.BUDGET_EXHAUSTED]
    late, last = found[2:]
    assert isinstance(late, WindowFailed) and late.seconds > 0.0
    assert isinstance(last, WindowFailed) and last.seconds == 0.0


def test_the_fingerprint_names_contents_and_no_folders(tmp_path: Path, pids: Path) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "model.bin").write_bytes(b"one")

    def fingerprint(**options: Any) -> dict[str, Any]:
        made = recognizer("x", pids, "{wav}", "{model}", model=str(tmp_path / "weights"), **options)
        made.load()
        made.close()
        return made.fingerprint()

    base = fingerprint()
    assert str(tmp_path) not in json.dumps({**base, "arguments": base["arguments"][:2]})
    assert base["files_sha256"] == [sha256_file(STAND_IN)]
    (tmp_path / "weights" / "model.bin").write_bytes(b"two")
    version = ("/bin/echo", "2.0")
    others = [fingerprint(), fingerprint(version_command=version), fingerprint(env={"A": "1"})]
    assert len({json.dumps(one) for one in (base, *others)}) == 4


def test_the_fingerprint_sees_every_file_among_the_arguments_and_no_secret(
    tmp_path: Path, pids: Path
) -> None:
    files = [tmp_path / folder / "hear.conf" for folder in "ab"]
    for file in files:
        file.parent.mkdir()
        file.write_text("same")

    def fingerprint(key: str) -> str:
        made = recognizer("x", pids, *map(str, files), f"--api-key={key}", "--token", key, "{wav}")
        made.load()
        made.close()
        return json.dumps(made.fingerprint())

    before = fingerprint("canary")
    assert "canary" not in before
    assert fingerprint("canary") == before != fingerprint("other")
    for file in files:
        file.write_text("edited")
        assert fingerprint("canary") != before
        file.write_text("same")


def test_a_folder_that_is_no_model_is_refused_before_it_is_read_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("misheard.recognizers.command._MOST_MODEL_FILES", 3)
    read: list[Path] = []
    monkeypatch.setattr("misheard.recognizers.command.sha256_file", read.append)
    for name in "abcdefgh":
        (tmp_path / name).touch()
    with pytest.raises(BackendError, match="more than 3 files"):
        content_sha256(tmp_path)
    assert read == []


@pytest.mark.parametrize("version", [("/bin/false",), ("/no/such",)])
def test_a_version_that_cannot_be_had_is_said_at_once(pids: Path, version: tuple[str, ...]) -> None:
    made = recognizer("x", pids, version_command=version)
    with pytest.raises(BackendError, match="version_command"):
        made.load()
    made.close()


def test_a_program_that_cannot_be_run_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for program in ("text", "absent"):
        made = CommandRecognizer(CommandSettings(command=(str(tmp_path / program), "{wav}")), cpu=True)
        with pytest.raises(BackendError, match="chmod"):
            made.load()
    (tmp_path / "text").chmod(0o700)
    made = CommandRecognizer(CommandSettings(command=(str(tmp_path / "text"), "{wav}")), cpu=True)
    made.load()
    (found,) = made.recognize([CLIP]).windows
    made.close()
    assert isinstance(found, WindowFailed)
    assert (found.kind, found.detail) == (
        FailureKind.ASR_ERROR, "the program cannot be started: Exec format error",
    )  # fmt: skip


def test_a_lost_runner_ends_the_run_and_leaves_nothing(pids: Path) -> None:
    made = recognizer("hang", pids)
    made.load()
    runner = made._runner
    assert runner is not None

    def kill_when_running() -> None:
        wait_until(lambda: pids.exists() and len(noted(pids)) == 4)
        os.kill(runner.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_when_running)
    killer.start()
    with pytest.raises(BackendError, match="--resume"):
        made.recognize([CLIP])
    killer.join()
    with pytest.raises(BackendError, match="--resume"):
        made.recognize([CLIP])
    made.close()
    assert not runner.folder.exists()
    assert wait_until(lambda: sum(map(is_alive, noted(pids))) <= 1)  # a daemon in a session of its own
    for pid in filter(is_alive, noted(pids)):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("options", [(), ("deaf",)])
def test_nothing_outlives_the_run(tmp_path: Path, end: signal.Signals, options: tuple[str, ...]) -> None:
    pids = tmp_path / "pids"
    command = [sys.executable, str(HERE / "command_run.py"), str(pids), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        assert run.stdout is not None
        runner, folder = run.stdout.readline().decode().rstrip("\n").split(" ", 1)
        programs = noted(pids)
        assert len(programs) == 4 and all(map(is_alive, [int(runner), *programs]))
        assert (Path(folder) / "clip.wav").exists()
        run.send_signal(end)
        run.wait(30)
    assert wait_until(lambda: not any(map(is_alive, [int(runner), *programs])))
    assert wait_until(lambda: not Path(folder).exists())
