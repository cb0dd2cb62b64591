"""A user's program: what it gets, what becomes of what it does, and that nothing of it is left."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from asking import ask

from misheard.canonical import sha256_file
from misheard.errors import BackendError, InputError
from misheard.failures import FailureKind
from misheard.language_models.protocol import Completion
from misheard.plugins.command import CommandPlugin
from misheard.plugins.protocol import PLANNER, RENDERER, PluginRequest
from misheard.plugins.registry import make_plugin
from misheard.plugins.settings import CommandPluginSettings
from process_states import is_alive, wait_until

HERE = Path(__file__).parent
PROGRAM = HERE / "stand_in_plugin.py"
REQUEST = {"utterances": ["canary"], "language": None}


def settings(*arguments: str, **options: Any) -> CommandPluginSettings:
    return CommandPluginSettings(command=(sys.executable, str(PROGRAM), *arguments), **options)


def ask_once(*arguments: str, **options: Any) -> Completion:
    (found,) = ask(settings(*arguments, **options), [REQUEST])
    return found


def noted(pids: Path) -> list[int]:
    return [int(line) for line in pids.read_text().splitlines()]


def test_a_request_is_one_line_of_json() -> None:
    assert ask_once("echo").text == '{"language":null,"utterances":["canary"]}'


def test_a_large_request_arrives_whole() -> None:
    request = {"utterances": ["நன்றி" * 100] * 400}
    program = (
        "import sys, json; r = json.load(sys.stdin); print(json.dumps({'n': len(''.join(r['utterances']))}))"
    )
    (found,) = ask(CommandPluginSettings(command=(sys.executable, "-c", program)), [request])
    assert found.text == json.dumps({"n": 200_000}, separators=(",", ":"))


def test_a_program_that_does_not_read_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "reply").write_text('{"shapes": []}')
    (found,) = ask(settings("print", str(tmp_path / "reply")), [{"utterances": ["x" * 5_000_000]}])
    assert found.text == '{"shapes":[]}'


def test_a_request_that_is_too_large_is_one_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misheard.plugins.command.MAX_STDIN_BYTES", 50)
    large, small = ask(settings("echo"), [{"utterances": ["x" * 50]}, {}])
    assert large.failure is FailureKind.PLANNER_ERROR and small.text == "{}"


@pytest.mark.parametrize(
    ("arguments", "kind", "detail"),
    [
        (["exit", "3"], FailureKind.PLANNER_ERROR, "the program ended with exit status 3"),
        (["die"], FailureKind.PLANNER_ERROR, "the program ended with signal 11"),
        (["exit", "0"], FailureKind.INVALID_OUTPUT, "the reply is empty"),
        (["flood"], FailureKind.INVALID_OUTPUT, "the program printed more than 1048576 bytes"),
    ],
)
def test_trouble_is_a_typed_failure(arguments: list[str], kind: FailureKind, detail: str) -> None:
    found = ask_once(*arguments)
    assert (found.text, found.failure, found.detail) == (None, kind, detail)


@pytest.mark.parametrize(
    "output",
    [
        b"canary", b"<html>canary</html>", b'["canary"]', b'"canary"', b"null", b'{"canary": NaN}',
        b'{"a": -Infinity}', b'{"a": 1e999}', b'{"canary": 1, "canary": 2}', b'{} {"canary": 1}',
        b"{}\ncanary", b"\xff\xfe{}", b"{'a': 1}", b"[" * 100_000, b"\0",
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b'{"a": ' + b"9" * 5_000 + b"}",
    ],
    ids=range(17),
)  # fmt: skip
def test_what_is_no_json_object_is_invalid_output(tmp_path: Path, output: bytes) -> None:
    (tmp_path / "reply").write_bytes(output)
    found = ask_once("print", str(tmp_path / "reply"))
    assert (found.text, found.failure) == (None, FailureKind.INVALID_OUTPUT)
    assert found.detail and "canary" not in found.detail


@pytest.mark.parametrize("deaf", [(), ("deaf",)])
def test_a_program_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, deaf: tuple[str, ...]
) -> None:
    pids = tmp_path / "pids"
    found = ask_once("hang", str(pids), *deaf, timeout_seconds=2.0)
    assert (found.failure, found.detail) == (FailureKind.TIMEOUT, "the program was ended after 2 s")
    assert noted(pids) and not any(map(is_alive, noted(pids)))


def test_any_amount_on_stderr_does_not_stop_a_program() -> None:
    assert ask_once("deaf flood").text == "{}"


def test_one_request_finds_nothing_of_the_one_before() -> None:
    assert [one.text for one in ask(settings("litter"), [{}, {}])] == ['{"seen":[]}'] * 2


def test_a_program_gets_the_variables_of_a_recognizer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")
    monkeypatch.setenv("KEPT", "kept")
    found = json.loads(ask_once("environment", env={"GIVEN": "given"}).text or "")
    assert Path(found.pop("TMPDIR")).name.startswith("misheard-")
    assert found == {"HTTPS_PROXY": None, "KEPT": "kept", "GIVEN": "given"}
    found = json.loads(ask_once("environment", inherit_env=["HTTPS_PROXY"]).text or "")
    assert (found["HTTPS_PROXY"], found["KEPT"]) == ("http://proxy.invalid", None)


def test_a_renderer_that_breaks_is_a_renderer_error() -> None:
    (found,) = ask(settings("exit", "1"), [{}], RENDERER)
    assert found.failure is FailureKind.RENDERER_ERROR


def test_a_program_that_cannot_be_run_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    plugin = CommandPlugin(CommandPluginSettings(command=(str(tmp_path / "text"),)), PLANNER)
    with pytest.raises(BackendError, match=r"plan\.command: .*chmod"):
        plugin.check()
    (tmp_path / "text").chmod(0o700)
    (found,) = ask(CommandPluginSettings(command=(str(tmp_path / "text"),)), [{}])
    assert (found.failure, found.detail) == (
        FailureKind.PLANNER_ERROR, "the program cannot be started: Exec format error",
    )  # fmt: skip


def test_paths_start_from_the_folder_of_the_config(tmp_path: Path) -> None:
    program = tmp_path / "plan"
    program.write_text("#!/bin/sh\ncat\n")
    program.chmod(0o700)
    plugin = make_plugin(CommandPluginSettings(command=("./plan", "./plan")), PLANNER, tmp_path)
    plugin.start()
    assert [one.text for one in plugin.complete([PluginRequest("a", {"b": 1})])] == ['{"b":1}']
    plugin.close()
    for command in (("./absent",), ("./plan", "./absent"), ("no-such-program-anywhere",)):
        with pytest.raises(InputError, match=r"render\.command: "):
            make_plugin(CommandPluginSettings(command=command), RENDERER, tmp_path)
    with pytest.raises(InputError, match=r"plan\.version_command: "):
        make_plugin(
            CommandPluginSettings(command=("./plan",), version_command=("./absent",)), PLANNER, tmp_path
        )


def test_the_fingerprint_names_contents_and_no_folders_or_secrets(tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("one")

    def fingerprint(*arguments: str, **options: Any) -> dict[str, Any]:
        plugin = CommandPlugin(settings("echo", str(rules), *arguments, **options), PLANNER)
        plugin.start()
        plugin.close()
        return plugin.fingerprint()

    plain = fingerprint("--api-key", "canary", env={"TOKEN": "canary"})
    assert plain["files_sha256"] == [sha256_file(PROGRAM), sha256_file(rules)]
    assert str(tmp_path) not in json.dumps(plain) and "canary" not in json.dumps(plain)
    others = [fingerprint(), fingerprint(env={"A": "1"}), fingerprint(version_command=("/bin/echo", "2"))]
    rules.write_text("two")
    others.append(fingerprint())
    assert len({json.dumps(one) for one in (plain, *others)}) == 5


def test_a_version_that_cannot_be_had_is_said_at_once() -> None:
    plugin = CommandPlugin(settings("echo", version_command=("/bin/false",)), PLANNER)
    with pytest.raises(BackendError, match=r"plan\.version_command: failed"):
        plugin.start()
    plugin.close()


def test_a_lost_runner_ends_the_run() -> None:
    plugin = CommandPlugin(settings("echo"), PLANNER)
    plugin.start()
    runner = plugin._runner
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    with pytest.raises(BackendError, match="--resume"):
        list(plugin.complete([PluginRequest("a", {})]))
    plugin.close()
    assert not runner.folder.exists()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("deaf", [(), ("deaf",)])
def test_nothing_outlives_the_run(tmp_path: Path, end: signal.Signals, deaf: tuple[str, ...]) -> None:
    pids = tmp_path / "pids"
    command = [sys.executable, str(HERE / "plugin_run.py"), str(pids), *deaf]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        assert run.stdout is not None
        runner, folder = run.stdout.readline().decode().rstrip("\n").split(" ", 1)
        programs = noted(pids)
        assert len(programs) == 3 and all(map(is_alive, [int(runner), *programs]))
        run.send_signal(end)
        run.wait(30)
    assert wait_until(lambda: not any(map(is_alive, [int(runner), *programs])))
    assert wait_until(lambda: not Path(folder).exists())
