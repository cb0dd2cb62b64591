"""A local transcription server that behaves as scripted: one behaviour per upload, then good replies."""

import email.parser
import email.policy
import io
import json
import threading
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler"], None]


@dataclass
class Server:
    """What the server was asked, and what it does next."""

    url: str = ""
    model: str = "whisper"
    script: list[Behaviour] = field(default_factory=list)
    default: Behaviour | None = None
    fields: list[dict[str, str]] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    running: int = 0
    most_running: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            entry = {"id": self.server_state.model, "object": "model"}
            self.reply(200, json.dumps({"object": "list", "data": [entry]}).encode())
        else:
            self.server_state.elsewhere.append(self.path)
            self.reply(404, b"{}")

    def do_POST(self) -> None:
        state = self.server_state
        fields, frames = self.upload()
        with state.lock:
            if self.path != "/v1/audio/transcriptions":
                state.elsewhere.append(self.path)
            state.fields.append(fields)
            state.frames.append(frames)
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            behave = state.script.pop(0) if state.script else state.default or says("heard")
            state.running += 1
            state.most_running = max(state.most_running, state.running)
        try:
            behave(self)
        except OSError:
            self.close_connection = True
        finally:
            with state.lock:
                state.running -= 1

    def upload(self) -> tuple[dict[str, str], int]:
        """Return the text fields and the number of frames of the WAV file in the body."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
        fields, frames = {}, -1
        for part in message.iter_parts():
            name = part.get_param("name", header="content-disposition")
            raw = part.get_payload(decode=True)
            assert isinstance(raw, bytes)
            if name == "file":
                with wave.open(io.BytesIO(raw), "rb") as file:
                    assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
                    frames = file.getnframes()
            else:
                fields[str(name)] = raw.decode()
        return fields, frames

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        # A server that is shut down must not go on answering on a connection that is kept.
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.close_connection = True
        self.wfile.write(body)


def says(text: str, **fields: Any) -> Behaviour:
    return lambda handler: handler.reply(200, json.dumps({"text": text, **fields}).encode())


def replies(status: int, body: bytes = b"{}", **headers: str) -> Behaviour:
    return lambda handler: handler.reply(status, body, **headers)


def drops(handler: Handler) -> None:
    handler.close_connection = True
    handler.connection.close()


def hangs(handler: Handler) -> None:
    handler.server_state.release.wait(60)
    handler.close_connection = True


def floods(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    handler.close_connection = True
    for _ in range(100_000):
        handler.wfile.write(b'"' + b"x" * 65_536)


def trickles(handler: Handler) -> None:
    """One byte at a time, never an end: no single read takes long."""
    handler.send_response(200)
    handler.end_headers()
    handler.close_connection = True
    while not handler.server_state.release.wait(0.05):
        handler.wfile.write(b" ")


def echoes_length(handler: Handler) -> None:
    """Reply with the length of the upload, shorter ones later than longer ones."""
    frames = handler.server_state.frames[-1]
    time.sleep(0.05)
    handler.reply(200, json.dumps({"text": f"{frames} frames"}).encode())


@contextmanager
def serving(**options: Any) -> Iterator[Server]:
    """Serve on loopback while inside."""
    state = Server(**options)
    handler = type("BoundHandler", (Handler,), {"server_state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
