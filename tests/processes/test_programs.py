"""What a program reads from standard input."""

import os
import sys
from collections.abc import Iterator

import pytest

from misheard.processes.programs import MAX_STDIN_BYTES, Ended, ProgramRunner

COPY = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"


@pytest.fixture
def runner() -> Iterator[ProgramRunner]:
    made = ProgramRunner()
    yield made
    made.close()


def run(runner: ProgramRunner, code: str, stdin: bytes | None) -> Ended:
    ended = runner.run(
        [sys.executable, "-c", code], dict(os.environ), timeout=60.0, stdout_limit=2**20, stdin=stdin
    )
    assert (ended.how, ended.status) == ("exited", 0)
    return ended


@pytest.mark.parametrize("stdin", [b"", b"\0\xff\n\n", b"x" * 1_000_000, "नमस्ते".encode()])
def test_a_program_reads_all_that_is_given(runner: ProgramRunner, stdin: bytes) -> None:
    assert run(runner, COPY, stdin).stdout == stdin


def test_without_anything_given_standard_input_is_at_its_end(runner: ProgramRunner) -> None:
    assert run(runner, COPY, b"before").stdout == b"before"
    assert run(runner, COPY, None).stdout == b""


def test_a_program_need_not_read(runner: ProgramRunner) -> None:
    assert run(runner, "print('done')", b"x" * 5_000_000).stdout == b"done\n"


def test_more_than_the_limit_is_refused(runner: ProgramRunner) -> None:
    with pytest.raises(ValueError, match="16777216 bytes"):
        run(runner, COPY, b"x" * (MAX_STDIN_BYTES + 1))


def test_what_is_given_lies_in_no_folder(runner: ProgramRunner) -> None:
    code = "import os; print(os.readlink('/proc/self/fd/0'), os.listdir())"
    assert run(runner, code, b"canary").stdout.startswith(b"/memfd:stdin")
