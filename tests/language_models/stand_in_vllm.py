"""Stands in for an interpreter with vLLM: answers what `find_vllm` asks, and serves a Unix socket as told.

The environment variable MISHEARD_STAND_IN says how: `serve`, `hang`, `exit`, `deaf` (serves, ignores
SIGTERM), `other` (serves another model), `dies` (ends at the second question), `mute` (transcribes nothing).
"""

import json
import os
import signal
import socketserver
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

HOW = os.environ.get("MISHEARD_STAND_IN", "serve")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    questions = 0

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        model = "other" if HOW == "other" else option("--served-model-name")
        pages = {
            "/health": {},
            "/version": {"version": "0.0.stand-in"},
            "/v1/models": {"data": [{"id": model, "object": "model", "max_model_len": 64}]},
        }
        self.reply(json.dumps(pages[self.path]).encode(), "application/json")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Handler.questions += 1
        if HOW == "dies" and Handler.questions > 1:
            os._exit(9)
        if self.path == "/v1/audio/transcriptions":
            reply = {"error": "no"} if HOW == "mute" else {"text": f" heard {len(body) // 3200} tenths"}
            self.reply(json.dumps(reply).encode(), "application/json")
            return
        choice = {"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}
        event = {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }
        self.reply(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode(), "text/event-stream")

    def reply(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


def main() -> None:
    if sys.argv[1] == "-c":
        os.write(1, json.dumps({"found": True, "cpu": True, "version": "0.32.0+cpu"}).encode())
        return
    os.write(2, f"arguments {json.dumps(sys.argv)}\n".encode())
    kept = (
        "VLLM_CPU_KVCACHE_SPACE",
        "HF_HUB_OFFLINE",
        "VLLM_NO_USAGE_STATS",
        "VLLM_LOGGING_LEVEL",
        "PYTHONPATH",
        "VLLM_BATCH_INVARIANT",
    )
    os.write(2, f"environment {json.dumps({name: os.environ.get(name) for name in kept})}\n".encode())
    if HOW == "exit":
        os.write(2, b"RuntimeError: no memory left for the cache\n")
        sys.exit(3)
    if HOW == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    os.write(2, f"processes {os.getpid()} {worker.pid}\n".encode())
    if HOW == "hang":
        time.sleep(600)
    Server(option("--uds"), Handler).serve_forever()


if __name__ == "__main__":
    main()
