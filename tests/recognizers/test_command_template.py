"""Command lines: placeholders, braces, and what is refused before anything runs."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from misheard.errors import InputError
from misheard.recognizers.command_template import check_template, fill
from misheard.recognizers.locate import resolve_command
from misheard.recognizers.settings import CommandSettings

VALUES = {"wav": "/a b/$(touch x).wav", "model": "{wav}", "language": "en", "device": "cpu"}


@pytest.mark.parametrize(
    ("argument", "filled"),
    [
        ("{wav}", "/a b/$(touch x).wav"),
        ("--file={wav}", "--file=/a b/$(touch x).wav"),
        ("{model}:{device}", "{wav}:cpu"),
        ('{{"wav": "{wav}"}}', '{"wav": "/a b/$(touch x).wav"}'),
        ("{{wav}}", "{wav}"),
        ("{{{language}}}", "{en}"),
        ("plain $HOME `id`", "plain $HOME `id`"),
        ("", ""),
    ],
)
def test_an_argument_stays_one_argument(argument: str, filled: str) -> None:
    check_template(["program", argument])
    assert fill(argument, VALUES) == filled


@given(st.text(max_size=40))
def test_doubled_braces_give_any_text_back(text: str) -> None:
    assert fill(text.replace("{", "{{").replace("}", "}}"), VALUES) == text


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"command": []}, "begin with a program"),
        ({"command": ["", "{wav}"]}, "begin with a program"),
        ({"command": ["p", "{file}"]}, "no placeholder"),
        ({"command": ["p", "{}"]}, "no placeholder"),
        ({"command": ["p", "{wav"]}, "brace stands alone"),
        ({"command": ["p", "{wav} }"]}, "brace stands alone"),
        ({"command": ["p", "{wav.x}"]}, "no placeholder"),
        ({"command": ["{wav}"]}, "the program itself"),
        ({"command": ["p"]}, r"no argument holds \{wav\}"),
        ({"command": ["p", "{{wav}}"]}, r"no argument holds \{wav\}"),
        ({"command": ["p", "{wav}", "{model}"]}, "need each other"),
        ({"command": ["p", "{wav}"], "model": "tiny"}, "need each other"),
        ({"command": ["p", "{wav}", "{model}"], "model": "--output=/etc/passwd"}, "begin with -"),
        ({"command": ["p", "{wav}", "{model}"], "model": "a\0b"}, "NUL"),
        ({"command": ["p", "{wav}"], "env": {"A=B": "x"}}, "without ="),
        ({"command": ["p", "{wav}"], "env": {"": "x"}}, "has a name"),
        ({"command": ["p", "{wav}"], "env": {"A\0": "x"}}, "NUL"),
        ({"command": ["p", "{wav}"], "env": {"A": "x\0"}}, "NUL"),
        ({"command": ["p", "{wav}"], "unknown_language": "-x"}, "pattern"),
        ({"command": ["p", "{wav}\0"]}, "NUL"),
        ({"command": ["p", "{wav}", *["x"] * 300]}, "more than 256"),
        ({"command": ["bash", "-c", "p {wav}"]}, "run as commands"),
        ({"command": ["bash", "-c", "{wav}"]}, "run as commands"),
        ({"command": ["env", "X=1", "/bin/sh", "-ec", "p '{wav}'"]}, "run as commands"),
        ({"command": ["python3", "-c", "hear('{wav}')"]}, "inside code"),
        ({"command": ["env", "/usr/bin/python3.11", "-u", "-c", "{wav}"]}, "inside code"),
        ({"command": ["perl", "-ne", "print '{wav}'", "x"]}, "inside code"),
        ({"command": ["p", "{wav}"], "version_command": ["p", "{wav}"]}, "no placeholder"),
        ({"command": ["p", "{wav}"], "timeout_seconds": 0}, "greater than 0"),
        ({"command": ["p", "{wav}"], "budget_seconds": float("nan")}, "budget_seconds"),
        ({"command": ["p", "{wav}"], "batch_size": 2}, "batch_size"),
    ],
)
def test_a_command_that_cannot_be_used_safely_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        CommandSettings(**changes)


def test_a_shell_may_get_the_file_as_an_argument() -> None:
    CommandSettings(command=("bash", "-c", 'p "$1"', "bash", "{wav}"))


def test_an_interpreter_may_get_the_file_as_an_argument() -> None:
    CommandSettings(command=("python3", "-c", "import sys; hear(sys.argv[1])", "{wav}"))
    CommandSettings(command=("python3", "-I", "hear.py", "-c", "key={model}", "-e", "{wav}"), model="m")
    CommandSettings(command=("hear", "-c", "{wav}"))


def test_the_defaults_are_the_documented_limits() -> None:
    settings = CommandSettings(command=("p", "{wav}"))
    limits = (settings.timeout_seconds, settings.budget_seconds, settings.max_items, settings.max_words)
    assert limits == (180, 1800, 100, 2000)


def test_paths_start_from_the_config_and_links_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "hear"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    (tmp_path / "link").symlink_to(program)
    (tmp_path / "model.bin").write_text("weights")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("MISHEARD_MODELS", str(tmp_path / "models"))
    (tmp_path / "models" / "named").mkdir(parents=True)

    def resolved(*command: str, model: str | None = None) -> CommandSettings:
        return resolve_command(CommandSettings(command=command, model=model), tmp_path)

    assert resolved("hear", "{wav}").command[0] == str(program)
    assert resolved("./link", "../x/{wav}", "./model.bin").command == (
        str(tmp_path / "link"), "../x/{wav}", str(tmp_path / "model.bin"),
    )  # fmt: skip
    assert resolved("hear", "{wav}", "{model}", model="./model.bin").model == str(tmp_path / "model.bin")
    assert resolved("hear", "{wav}", "{model}", model="named").model == str(tmp_path / "models" / "named")
    for name in ("base.en", "x" * 300, "Systran/faster-whisper-tiny"):
        assert resolved("hear", "{wav}", "{model}", model=name).model == name
    for command, model in (
        (("nothing", "{wav}"), None),
        (("./nothing", "{wav}"), None),
        (("hear", "{wav}", "./nothing"), None),
        (("hear", "{wav}", "{model}"), "./nothing"),
        (("./nothing" + "x" * 300, "{wav}"), None),
        (("hear", "{wav}", "./nothing" + "x" * 300), None),
        (("hear", "{wav}", "{model}"), "./nothing" + "x" * 300),
    ):
        with pytest.raises(InputError, match="nothing"):
            resolved(*command, model=model)
    for command in (("./bin", "{wav}"), ("hear", "{wav}", "./bin")):
        with pytest.raises(InputError, match="is a folder"):
            resolved(*command)
