"""Connecting this process to a Ray cluster."""

import contextlib
import importlib.util
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

from misheard.errors import BackendError, install_advice
from misheard.run.executors.ray_local import ray_variables

_CONNECT_SECONDS = 5.0


def check_installed() -> None:
    """Raise BackendError where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise BackendError(f"execution.executor ray: Ray is not installed; {install_advice('ray')}")


def connect(address: str, *, own: bool) -> Any:
    """Connect this process to a Ray, a `LocalRay` or another, and return the library. Raises BackendError."""
    with ray_variables(own=own):
        import ray
        import ray._private.worker

        if ray.is_initialized():
            raise BackendError("execution.executor ray: this process is connected to a Ray already")
        # Ray prints what its workers die of on standard output, which is the report's; facts() counts it.
        ray._private.worker.print_to_stdstream = lambda *_, **__: None
        with _own_sigterm():
            try:
                ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
            except (ray.exceptions.RayError, OSError, RuntimeError, ValueError) as error:
                line = str(error).strip().split("\n", 1)[0]
                raise BackendError(
                    f"execution.ray.address: no connection to {address}: {line}; the same "
                    "Python and Ray must run there, and a node of it on this machine (`ray start`)"
                ) from error
    return ray


@contextlib.contextmanager
def _own_sigterm() -> Iterator[None]:
    """Put this process's own answer to SIGTERM back after Ray has set its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def check_reachable(address: str) -> None:
    """Raise BackendError where nothing listens: Ray itself tries for more than a minute."""
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdecimal():
        return  # `auto`: Ray looks for its node on this machine
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise BackendError(
            f"execution.ray.address: nothing answers at {address} ({error}); start Ray there, or leave the "
            "address out for one on this machine"
        ) from error
