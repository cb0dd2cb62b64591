import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from misheard.processes.supervised import SupervisedServer
from process_states import is_alive, wait_until

HERE = Path(__file__).parent
STAND_IN = HERE / "stand_in_server.py"


def noted(pids: Path) -> dict[str, int]:
    lines = pids.read_text().splitlines() if pids.exists() else []
    return {name: int(pid) for name, pid in (line.split() for line in lines)}


def started(
    tmp_path: Path, *options: str, remove: Path | None = None
) -> tuple[SupervisedServer, dict[str, int]]:
    pids = tmp_path / "pids"
    server = SupervisedServer(
        [sys.executable, str(STAND_IN), str(pids), *options],
        env=os.environ,
        log=tmp_path / "server.log",
        grace_seconds=1.0,
        remove=remove,
    )
    assert wait_until(lambda: len(noted(pids)) == 4)
    return server, noted(pids)


@pytest.mark.parametrize("options", [(), ("deaf",)])
def test_stopping_leaves_no_process_and_no_folder(tmp_path: Path, options: tuple[str, ...]) -> None:
    folder = tmp_path / "socket folder"
    folder.mkdir()
    (folder / "vllm.sock").touch()
    server, pids = started(tmp_path, *options, remove=folder)
    assert server.server_pid == pids["server"] and server.exit_status() is None
    assert all(map(is_alive, pids.values()))
    assert os.getpgid(pids["server"]) == pids["server"] != os.getpgid(0)
    server.stop()
    assert not any(map(is_alive, pids.values()))
    assert server.exit_status() == "by request"
    assert not folder.exists()
    server.stop()


def test_a_server_that_ends_by_itself_takes_its_processes_along(tmp_path: Path) -> None:
    server, pids = started(tmp_path, "deaf", "exit", "3")
    assert wait_until(lambda: server.exit_status() is not None)
    assert server.exit_status() == "3"
    server.stop()
    assert server.exit_status() == "3"
    assert not any(map(is_alive, pids.values()))


def test_a_program_that_cannot_be_started_is_told_apart(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    server = SupervisedServer(["/no/such program"], env=os.environ, log=log, grace_seconds=1.0)
    assert wait_until(lambda: server.exit_status() is not None)
    assert (server.exit_status(), server.server_pid) == ("not started", None)
    assert "cannot start /no/such program" in server.log_tail(5)
    server.stop()


def test_the_log_tail_is_the_servers_own_and_safe_to_print(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("of an earlier server\n")
    server, _ = started(tmp_path)
    assert wait_until(lambda: "started" in server.log_tail(3))
    assert server.log_tail(3) == "CANARY[31m started"
    server.stop()


@pytest.mark.parametrize(
    ("end", "options"),
    [
        (signal.SIGKILL, ()),
        (signal.SIGKILL, ("deaf",)),
        (signal.SIGTERM, ("deaf",)),
        (signal.SIGINT, ()),
        (None, ("raise",)),
    ],
)
def test_the_server_does_not_outlive_the_run(
    tmp_path: Path, end: signal.Signals | None, options: tuple[str, ...]
) -> None:
    pids, folder = tmp_path / "pids", tmp_path / "socket"
    folder.mkdir()
    command = [sys.executable, str(HERE / "supervised_run.py"), str(pids), str(folder), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        assert run.stdout is not None
        supervisor = int(run.stdout.readline().split()[1])
        alive = noted(pids)
        if end is not None:
            assert all(map(is_alive, [supervisor, *alive.values()]))
            run.send_signal(end)
        run.wait(30)
    assert wait_until(lambda: not any(map(is_alive, [supervisor, *alive.values()])))
    assert wait_until(lambda: not folder.exists())


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_supervisor_ends_the_server(tmp_path: Path, end: signal.Signals) -> None:
    server, pids = started(tmp_path, "deaf")
    os.kill(server.supervisor_pid, end)
    assert wait_until(lambda: not any(map(is_alive, pids.values())))
    assert server.exit_status() == "by request"
    server.stop()


def test_the_servers_group_ends_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    server, pids = started(tmp_path, "deaf")
    os.kill(server.supervisor_pid, signal.SIGKILL)
    assert wait_until(lambda: not is_alive(pids["server"]))
    assert wait_until(lambda: server.exit_status() == "unknown")
    server.stop()
    assert wait_until(lambda: not any(is_alive(pids[name]) for name in ("server", "child", "grandchild")))
    os.kill(pids["daemon"], signal.SIGKILL)


def test_other_processes_are_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        server, _ = started(tmp_path)
        server.stop()
        assert bystander.poll() is None
        bystander.communicate(b"\n")
