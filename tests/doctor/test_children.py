"""Children that end well, abort, hang, print garbage or leave others behind."""

import os
import sys
import time
from pathlib import Path

import pytest

from misheard.doctor.child import Child, Outcome, run_children


def run(code: str, seconds: float = 20.0, stdin: str = "") -> Outcome:
    ((number, outcome),) = run_children([Child((sys.executable, "-c", code), seconds, stdin=stdin)])
    assert number == 0
    return outcome


def test_rows_are_the_lines_that_are_objects() -> None:
    outcome = run("print('noise'); print('[1]'); print('{\"a\": 1}'); print('{torn'); print('{\"b\": 2}')")
    assert outcome.rows == [{"a": 1}, {"b": 2}]
    assert (outcome.how, outcome.status, outcome.problem) == ("exited", 0, "")


def test_standard_input_is_read() -> None:
    assert run("import sys; print(sys.stdin.read())", stdin="é{}").stdout == "é{}\n"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os; os.abort()", "the process was killed by SIGABRT"),
        (
            "import os, sys; sys.stderr.write('libcublas is not found'); sys.stderr.flush(); os.abort()",
            "the process was killed by SIGABRT; its last words: libcublas is not found",
        ),
        ("import os; os.kill(os.getpid(), 9)", "the process was killed by SIGKILL"),
        ("import sys; sys.exit(3)", "exit status 3"),
        ("raise ValueError('first\\x1b[31m second')", "ValueError: first\\x1b[31m second"),
    ],
)
def test_how_a_child_ended_is_said(code: str, problem: str) -> None:
    assert run(code).problem == problem


def test_a_child_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = (
        "import os, subprocess, sys, time\n"
        "inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{inner.pid}}')\n"
        "sys.stderr.write('loading\\n'); sys.stderr.flush()\n"
        "time.sleep(600)"
    )
    outcome = run(code, seconds=2.0)
    assert (outcome.how, outcome.status) == ("timeout", None)
    assert outcome.problem == "no answer after 2 s; it was ended; its last words: loading"
    assert not [pid for pid in pids.read_text().split() if alive(int(pid))]


def test_a_process_that_a_child_leaves_behind_neither_delays_nor_survives(tmp_path: Path) -> None:
    pids = tmp_path / "pid"
    code = (
        "import subprocess, sys\n"
        "inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'w').write(str(inner.pid))\n"
        "print('{\"done\": 1}')"
    )
    outcome = run(code, seconds=60.0)
    assert (outcome.how, outcome.rows) == ("exited", [{"done": 1}])
    assert not alive(int(pids.read_text()))


def test_output_without_end_is_kept_to_its_last_part() -> None:
    outcome = run("while True: print('x' * 1000)", seconds=1.0)
    assert outcome.how == "timeout"
    assert 1000 < len(outcome.stdout) <= 65_536


def test_a_program_that_is_not_there_is_a_problem() -> None:
    outcomes = [outcome for _, outcome in run_children([Child(("/nowhere/python",), 5.0)])]
    assert [one.problem for one in outcomes] == ["/nowhere/python: No such file or directory"]


def test_two_run_at_a_time_and_each_is_told_apart(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "own = os.path.join(sys.argv[1], str(os.getpid())); open(own, 'w').close()\n"
        'print(\'{"beside": %d, "number": %s}\' % (len(os.listdir(sys.argv[1])), sys.argv[2]), flush=True)\n'
        "time.sleep(0.2); os.remove(own)"
    )
    children = [Child((sys.executable, "-c", code, str(tmp_path), str(n)), 20.0) for n in range(5)]
    found = {number: outcome.rows[0] for number, outcome in run_children(children)}
    assert {number: row["number"] for number, row in found.items()} == {n: n for n in range(5)}
    assert max(row["beside"] for row in found.values()) <= 2


def test_closing_ends_what_still_runs(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    running = run_children(
        [Child((sys.executable, "-c", "pass"), 20.0), Child((sys.executable, "-c", code), 600.0)]
    )
    next(running)
    while not pid.exists() or not pid.read_text():
        time.sleep(0.02)
    running.close()  # type: ignore[attr-defined]
    assert not alive(int(pid.read_text()))


def alive(pid: int) -> bool:
    """Return whether a process lives; it may take a moment until it is gone from the table."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state in "ZX":
            return False
        time.sleep(0.02)
    os.kill(pid, 9)
    return True
