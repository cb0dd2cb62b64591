"""A local HTTP server that behaves as scripted: one behaviour per chat request, then good answers."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler"], None]


@dataclass
class ChatServer:
    """What the server was asked, and what it does next."""

    url: str = ""
    model: str = "m"
    models_body: bytes | None = None
    max_model_len: int | None = None
    version: str | None = None
    script: list[Behaviour] = field(default_factory=list)
    default: Behaviour | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)
    kill: Callable[[], None] = lambda: None
    running: int = 0
    most_running: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    chat: ChatServer
    number: int

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            entry: dict[str, Any] = {"id": self.chat.model, "object": "model"}
            if self.chat.max_model_len is not None:
                entry["max_model_len"] = self.chat.max_model_len
            self.reply(200, self.chat.models_body or json.dumps({"object": "list", "data": [entry]}).encode())
        elif self.path == "/version" and self.chat.version:
            self.reply(200, json.dumps({"version": self.chat.version}).encode())
        else:
            self.reply(200 if self.path == "/health" else 404, b"{}")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.chat.lock:
            self.number = len(self.chat.bodies)
            self.chat.bodies.append(body)
            self.chat.headers.append({name.lower(): value for name, value in self.headers.items()})
            behave = self.chat.script.pop(0) if self.chat.script else self.chat.default or answers("yes")
            self.chat.running += 1
            self.chat.most_running = max(self.chat.most_running, self.chat.running)
        try:
            behave(self)
        except OSError:
            self.close_connection = True
            self.chat.hung_up.set()
        finally:
            with self.chat.lock:
                self.chat.running -= 1

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def start_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, value: Any) -> None:
        data = value if isinstance(value, str) else json.dumps(value)
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()


def chunk(content: str | None = None, finish_reason: str | None = None, **delta: Any) -> dict[str, Any]:
    text = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": {**text, **delta}, "finish_reason": finish_reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def usage(prompt: Any, completion: Any) -> dict[str, Any]:
    return {**chunk(), "choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}}


def answers(
    text: str, *, finish_reason: str = "stop", prompt_tokens: int = 7, delay: float = 0.0
) -> Behaviour:
    """Stream the text word by word, with usage."""

    def behave(handler: Handler) -> None:
        time.sleep(delay)
        words = text.split(" ")
        events = [chunk(word if n == 0 else f" {word}") for n, word in enumerate(words)]
        streams(*events, chunk(finish_reason=finish_reason), usage(prompt_tokens, len(words)), "[DONE]")(
            handler
        )

    return behave


def streams(*events: Any) -> Behaviour:
    def behave(handler: Handler) -> None:
        handler.start_stream()
        for event in events:
            handler.event(event)

    return behave


def status(code: int, message: str = "CANARY", **headers: str) -> Behaviour:
    body = json.dumps({"error": {"message": message, "type": "x", "code": code}}).encode()
    return lambda handler: handler.reply(code, body, **headers)


def raw(body: bytes, **headers: str) -> Behaviour:
    return lambda handler: handler.reply(200, body, **headers)


def drops(*events: Any) -> Behaviour:
    """Break the connection after some events of a chunked stream, or before any reply."""

    def behave(handler: Handler) -> None:
        handler.close_connection = True
        if events:
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            for event in events:
                data = f"data: {json.dumps(event)}\n\n".encode()
                handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    return behave


def hangs(*events: Any) -> Behaviour:
    """Send some events, then nothing, until the test ends or the client hangs up."""

    def behave(handler: Handler) -> None:
        handler.start_stream()
        for event in events:
            handler.event(event)
        while not handler.chat.release.wait(0.05):
            handler.wfile.write(b": still here\n\n")
            handler.wfile.flush()

    return behave


def endless(line: bytes) -> Behaviour:
    def behave(handler: Handler) -> None:
        handler.start_stream()
        while not handler.chat.release.is_set():
            handler.wfile.write(line)

    return behave


@contextmanager
def serving(**options: Any) -> Iterator[ChatServer]:
    chat = ChatServer(**options)
    handler = type("BoundHandler", (Handler,), {"chat": chat})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    chat.url = f"http://127.0.0.1:{server.server_address[1]}/v1"

    def kill() -> None:
        """Listen no more, as a server that is killed; what it was working on is left to fail."""
        server.shutdown()
        server.server_close()

    chat.kill = kill
    try:
        yield chat
    finally:
        chat.release.set()
        server.shutdown()
        thread.join()
        server.server_close()
