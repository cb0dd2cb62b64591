"""A server of a session's own that may end during it: it is started again, once for all who need it."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from misheard.errors import BackendError
from misheard.language_models.several_servers import ServersGoneError
from misheard.soak.replay.server_process import is_running, kill

_POLL_SECONDS = 0.1


class Served(Protocol):
    """What has a server process of its own, below this process; `start` starts it, `close` takes it down."""

    @property
    def server_pid(self) -> int | None: ...

    def start(self) -> None: ...

    def fingerprint(self) -> dict[str, Any]: ...

    def close(self) -> None: ...


class KeptServer:
    """Keeps a server running until it is closed.

    When the server has ended, the first caller who sees it takes down what is left and starts it again; the
    others wait for that. It must then be the same: another fingerprint is an error.

    `section` is that of the config, which errors name. `restarts` bounds how often that happens between
    `__init__` and the end; the next end of the server is an error. `on_restart` gets the seconds from
    noticing the end to the new server's first answer, in the thread of the caller who saw it. All methods may
    be called from any thread; `start` by one at a time.
    """

    def __init__(
        self, served: Served, *, section: str, restarts: int, on_restart: Callable[[float], None]
    ) -> None:
        self._served = served
        self._section = section
        self._restarts = restarts
        self._on_restart = on_restart
        self._changed = threading.Condition()
        self._server = 0
        """Number of the server that is used; everything below is guarded by the condition."""
        self._restarting = False
        self._closed = True
        self._broken: str | None = None
        self._fingerprint: Mapping[str, Any] | None = None

    @property
    def serving_pid(self) -> int | None:
        """Process id of the server that is asked; None while there is none or it is started again."""
        with self._changed:
            return None if self._restarting or self._closed else self._served.server_pid

    @property
    def restarted(self) -> int:
        """How often the server was started again."""
        return self._server

    def start(self) -> None:
        """Start the server and remember what it is. Raises BackendError as `served` does."""
        self._served.start()
        with self._changed:
            self._fingerprint = self._served.fingerprint()
            self._closed, self._broken = False, None

    def fingerprint(self) -> dict[str, Any]:
        """Return what the server said after the first start, which every later one has to say too."""
        if self._fingerprint is None:
            raise RuntimeError("the start comes before fingerprint()")
        return dict(self._fingerprint)

    def close(self) -> None:
        """Take the server down, also one that is being started again; returns when nothing of it is left."""
        with self._changed:
            self._closed = True
            while self._restarting:
                kill(self._served.server_pid)  # so that starting it fails at once, in its own thread
                self._changed.wait(_POLL_SECONDS)
        self._served.close()

    @property
    def _closed_now(self) -> str:
        return f"{self._section}: closed while the session was running"

    def running(self) -> int:
        """Return the number of the server to ask; one that ended since it was last asked is started again."""
        while True:
            with self._changed:
                self._settle()
                server = self._server
            if is_running(self._served.server_pid) or not self.is_replaced(server, None):
                return server

    def is_replaced(self, server: int, error: Exception | None) -> bool:
        """Return whether another server than that one runs now, which is brought about where it has ended.

        Raises `error`, with which its call ended, where the server goes on.
        """
        with self._changed:
            self._settle()
            if self._server != server:
                return True
            if not isinstance(error, ServersGoneError) and is_running(self._served.server_pid):
                if error is not None:
                    raise error
                return False
            if self._server >= self._restarts:
                raise BackendError(
                    f"{self._section}: its server has ended {self._server + 1} times, and soak.restarts "
                    f"allows {self._restarts} restarts; its log says why"
                ) from error
            self._restarting = True
        self._restart()
        return True

    def _settle(self) -> None:
        """Wait until nobody restarts the server. Raises BackendError where it cannot be used any more."""
        self._changed.wait_for(lambda: not self._restarting)
        if self._closed:
            raise BackendError(self._closed_now)
        if self._broken is not None:
            raise BackendError(self._broken)

    def _restart(self) -> None:
        began = time.monotonic()
        broken: str | None = f"{self._section}: the server was not started again"
        try:
            self._served.close()
            self._start_again()
            broken = None
        except BackendError as error:
            broken = str(error)
            raise
        finally:
            with self._changed:
                self._broken = broken
                self._server += broken is None
                self._restarting = False
                self._changed.notify_all()
        self._on_restart(time.monotonic() - began)

    def _start_again(self) -> None:
        """Start the same server; none is left running where that fails."""
        try:
            self._served.start()
            now, before = self._served.fingerprint(), self.fingerprint()
            differing = sorted(name for name in {*now, *before} if now.get(name) != before.get(name))
            if differing:
                raise BackendError(
                    f"{self._section}: the server that was started again is another one; it differs in "
                    f"{', '.join(differing)}"
                )
            if self._closed:
                raise BackendError(self._closed_now)
        except BaseException:
            self._served.close()
            raise
