"""A Ray of the run's own: reachable from this machine alone, and with a token; gone with the run."""

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from misheard.errors import BackendError
from misheard.processes.supervised import SupervisedServer

LOG_NAME = "ray.log"
LOOPBACK = "127.0.0.1"

_START_SECONDS = 120.0
_POLL_SECONDS = 0.05
_GRACE_SECONDS = 1.0
_TAIL_LINES = 10
_LONGEST_FOLDER = 40
"""Ray adds some 60 bytes for its sockets, and the kernel allows 107."""


class LocalRay:
    """A Ray head node that ends with this process, however that ends.

    All its servers listen on 127.0.0.1 and ask for a token that only this process and its own know. Its
    temporary files, logs of workers included, are in a folder that only this user can enter and that is
    removed in the end; what it says while it starts goes to `logs/ray.log`.
    """

    def __init__(self, logs: Path, *, cpus: int, gpus: int | None, store_bytes: int) -> None:
        """`gpus` is None for as many as Ray finds; `store_bytes` bounds what is on its way to workers."""
        self._log = logs / LOG_NAME
        self._folder = _private_folder()
        command = [
            sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block",
            "--node-ip-address", LOOPBACK, "--port", "0",
            "--include-dashboard", "false", "--include-log-monitor", "false", "--disable-usage-stats",
            "--num-cpus", str(cpus), *([] if gpus is None else ["--num-gpus", str(gpus)]),
            "--object-store-memory", str(store_bytes), "--temp-dir", str(self._folder),
        ]  # fmt: skip
        try:
            logs.mkdir(parents=True, exist_ok=True)
            self._server = SupervisedServer(
                command,
                env={**_inherited(os.environ), **own_variables()},
                log=self._log,
                grace_seconds=_GRACE_SECONDS,
                remove=self._folder,
            )
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    @property
    def folder(self) -> Path:
        """Where Ray keeps its sockets and logs."""
        return self._folder

    def wait(self) -> str:
        """Return the address when Ray is up. Raises BackendError, with what it logged, where it is not."""
        deadline = time.monotonic() + _START_SECONDS
        told = self._folder / "ray_current_cluster"
        while not (address := _read(told)):
            status = self._server.exit_status()
            if status is not None or time.monotonic() >= deadline:
                what = "was not ready in time" if status is None else f"ended (exit status {status})"
                raise BackendError(
                    f"execution.executor ray: the local Ray {what}; see {self._log}; its last lines:\n"
                    f"{self._server.log_tail(_TAIL_LINES)}"
                )
            time.sleep(_POLL_SECONDS)
        return address

    def stop(self) -> None:
        """End Ray and all that it started; returns when they are gone. Further calls do nothing."""
        self._server.stop()


@contextlib.contextmanager
def ray_variables(*, own: bool) -> Iterator[None]:
    """Set what Ray reads when it is imported and when it connects: to a `LocalRay`, or to another Ray."""
    wanted = own_variables() if own else {"RAY_USAGE_STATS_ENABLED": "0"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def own_variables() -> dict[str, str]:
    """Return the environment in which a process can talk to a `LocalRay` of this one."""
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": _token(),
        "RAY_USAGE_STATS_ENABLED": "0",
        # Else Ray replaces 127.0.0.1 by another address of this machine and listens on every interface.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    }


@cache
def _token() -> str:
    """Return the token of all Rays of this process: Ray reads it once."""
    return secrets.token_hex(32)


def _inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a run's variables without those that are meant for another Ray."""
    return {name: value for name, value in environment.items() if not name.startswith("RAY_")}


def _private_folder() -> Path:
    """Return a new folder that only this user can enter, with a path short enough for Ray's sockets."""
    for parent in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 - mkdtemp makes a private folder in it
        with contextlib.suppress(OSError):
            folder = Path(tempfile.mkdtemp(prefix="misheard-", dir=parent))
            if len(str(folder)) <= _LONGEST_FOLDER:
                return folder
            folder.rmdir()
    raise BackendError("no folder for Ray's sockets can be made; set TMPDIR to a short, writable path")


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        return ""
