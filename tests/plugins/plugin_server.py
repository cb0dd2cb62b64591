"""An endpoint on this machine that answers as a function of the test says."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler", dict[str, Any]], None]


@dataclass
class Endpoint:
    """What the endpoint was asked, and what it does: the script first, then the default."""

    default: Behaviour
    url: str = ""
    script: list[Behaviour] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    probes: int = 0
    most_running: int = 0
    release: threading.Event = field(default_factory=threading.Event)
    running: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    endpoint: Endpoint

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_OPTIONS(self) -> None:
        self.endpoint.probes += 1
        self.reply(405, b"")

    def do_POST(self) -> None:
        state = self.endpoint
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with state.lock:
            if self.path != "/plan":
                state.elsewhere.append(self.path)
            state.bodies.append(body)
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            behave = state.script.pop(0) if state.script else state.default
            state.running += 1
            state.most_running = max(state.most_running, state.running)
        try:
            behave(self, json.loads(body))
        except OSError:
            self.close_connection = True
        finally:
            with state.lock:
                state.running -= 1

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def answers(make: Callable[[dict[str, Any]], Any]) -> Behaviour:
    return lambda handler, request: handler.reply(200, json.dumps(make(request)).encode())


def says(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    return lambda handler, request: handler.reply(status, body, **headers)


def waits(handler: Handler, request: dict[str, Any]) -> None:
    handler.endpoint.release.wait(60)
    handler.close_connection = True


def drips(handler: Handler, request: dict[str, Any]) -> None:
    """Send a good reply, a byte at a time, for longer than anybody waits."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    while not handler.endpoint.release.is_set():
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)
    handler.close_connection = True


def floods(handler: Handler, request: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(160):
        handler.wfile.write(b" " * 65_536)
    handler.close_connection = True


def hangs_up(handler: Handler, request: dict[str, Any]) -> None:
    handler.close_connection = True
    handler.connection.close()


@contextmanager
def endpoint(default: Behaviour) -> Iterator[Endpoint]:
    state = Endpoint(default)
    handler = type("_Handler", (Handler,), {"endpoint": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/plan"
    try:
        yield state
    finally:
        state.release.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
