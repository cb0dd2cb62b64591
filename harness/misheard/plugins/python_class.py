"""A class of the user's as a plug-in, in this process."""

import contextlib
import copy
import inspect
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from misheard.canonical import canonical_json, sha256_file, sha256_json
from misheard.errors import BackendError
from misheard.failures import ItemFailedError
from misheard.imports import load_object, option_error
from misheard.language_models.protocol import Completion
from misheard.plugins.protocol import PluginRequest, PluginRole
from misheard.plugins.reply import encode_reply
from misheard.plugins.settings import PythonPluginSettings

_CALL = threading.Lock()
"""Standard output and the working folder are those of the process: one call at a time has them."""


class PythonPlugin:
    """Calls a method of an instance of the user's class, one request after the other.

    It runs in this process, so nothing can end a call that does not return; a command has a time limit.
    """

    batch_size: int | None = None

    def __init__(self, settings: PythonPluginSettings, role: PluginRole, base: Path) -> None:
        self._settings = settings
        self._base = base
        self._role = role
        self._instance: Any = None
        self._fingerprint: dict[str, Any] | None = None

    def check(self) -> None:
        """Import the class. Raises ConfigError where there is none, or none with the method."""
        self._load()

    def start(self) -> None:
        """Make an instance with the options. Raises ConfigError, and BackendError where the class raises."""
        made = self._load()
        options = copy.deepcopy(self._settings.options)
        self._instance = self._guarded(lambda: made(**options), "the class")
        self._fingerprint = {
            "kind": "python",
            "target": self._settings.target,
            "source_sha256": _source_sha256(made),
            "options_sha256": sha256_json(self._settings.model_dump(mode="json")["options"]),
            "own": self._own_fingerprint(),
        }

    def fingerprint(self) -> dict[str, Any]:
        """Return the class, the content of its source file, its options, and its own fingerprint."""
        if self._fingerprint is None:
            raise RuntimeError("start() comes before fingerprint()")
        return self._fingerprint

    def complete(self, requests: Sequence[PluginRequest]) -> Iterator[Completion]:
        """Yield one completion per request, in order."""
        if self._instance is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        for request in requests:
            yield self._complete_one(request)

    def close(self) -> None:
        """Forget the instance."""
        self._instance = None

    def _complete_one(self, request: PluginRequest) -> Completion:
        started = time.perf_counter()
        text, failure, detail = None, None, ""
        try:
            text = encode_reply(self._call(copy.deepcopy(request.payload)))
        except ItemFailedError as error:
            failure, detail = error.kind, error.detail
        return Completion(request.key, text, failure, detail, seconds=time.perf_counter() - started)

    def _call(self, payload: dict[str, Any]) -> object:
        """Return what the method returns. Raises ItemFailedError without the words of what it raised.

        What it prints goes to standard error, and the working folder is as before afterwards.
        """
        try:
            with _CALL, contextlib.chdir(Path.cwd()), contextlib.redirect_stdout(sys.stderr):
                return getattr(self._instance, self._role.name)(payload)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a user's class raises is one request's failure
            detail = f"{self._role.name}() raised {type(error).__name__[:80]}"
            raise ItemFailedError(self._role.error, detail) from None

    def _load(self) -> Any:
        name = self._role.name
        option = f"{name}.target"
        made = load_object(self._settings.target, option, "class", "my_planners:Planner", self._base)
        if not inspect.isclass(made):
            raise option_error(option, f"{self._settings.target} is no class but {type(made).__name__}")
        if not callable(getattr(made, name, None)):
            raise option_error(option, f"{self._settings.target} has no method {name}(request)")
        return made

    def _guarded(self, call: Callable[[], Any], what: str) -> Any:
        """Return what a call of the user's code returns. Raises BackendError where it raises."""
        try:
            return call()
        except (Exception, SystemExit) as error:
            raise BackendError(
                f"{self._role.name}.target: {what} {self._settings.target} raised "
                f"{type(error).__name__}: {error}"
            ) from error

    def _own_fingerprint(self) -> dict[str, Any] | None:
        own = getattr(self._instance, "fingerprint", None)
        if not callable(own):
            return None
        returned = self._guarded(own, "fingerprint() of")
        try:
            return _plain(returned)
        except (TypeError, ValueError, RecursionError) as error:
            raise BackendError(
                f"{self._role.name}.target: fingerprint() of {self._settings.target} must return a dict of "
                "JSON values"
            ) from error


def _plain(returned: object) -> dict[str, Any]:
    if not isinstance(returned, dict):
        raise TypeError("no dict")
    plain: dict[str, Any] = json.loads(canonical_json(returned))
    return plain


def _source_sha256(made: type) -> str | None:
    """Return the sha256 of the file that defines a class; None where there is none, as in an extension."""
    file = getattr(sys.modules.get(made.__module__), "__file__", None)
    return sha256_file(Path(file)) if file is not None and Path(file).is_file() else None
