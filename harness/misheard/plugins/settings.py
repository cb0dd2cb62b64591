"""Settings of a user's own planner or renderer, told apart by `kind`."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from misheard.canonical import canonical_json
from misheard.language_models.settings import check_http_url
from misheard.processes.variables import check_variables


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class PythonPluginSettings(_Settings):
    """A class of the user's, in this process.

    Attributes:
        target: `module:Class`; the module is installed, or lies in the working folder or beside the config.
        options: keyword arguments of the class.
    """

    kind: Literal["python"] = "python"
    target: str
    options: dict[str, Any] = {}

    @field_validator("target")
    @classmethod
    def _check_target(cls, value: str) -> str:
        if re.fullmatch(r"[\w.]+:[\w.]+", value) is None:
            raise ValueError("must read module:Class, such as my_planners:Planner")
        return value

    @field_validator("options")
    @classmethod
    def _check_options(cls, value: dict[str, Any]) -> dict[str, Any]:
        try:
            canonical_json(value)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("must be values that JSON has: no dates, and only finite numbers") from None
        return value


class CommandPluginSettings(_Settings):
    """A program: a fresh process per request, JSON on standard input and on standard output.

    Attributes:
        command: the program and its arguments; no shell reads them. Relative paths start from the config.
        timeout_seconds: longest time for one request.
        version_command: a command that prints the program's version; what it prints is part of the system.
        inherit_env, env: as in the recognizer of the kind `command`.
    """

    kind: Literal["command"] = "command"
    command: tuple[str, ...]
    timeout_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    version_command: tuple[str, ...] = ()
    inherit_env: tuple[str, ...] | None = None
    env: dict[str, str] = {}

    @field_validator("command", "version_command")
    @classmethod
    def _check_command(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if "" in value[:1] or (not value and info.field_name == "command"):
            raise ValueError("must begin with a program")
        if any("\0" in argument for argument in value):
            raise ValueError("holds a NUL character")
        return value

    @field_validator("env")
    @classmethod
    def _check_env(cls, value: dict[str, str]) -> dict[str, str]:
        return check_variables(value)


class HttpPluginSettings(_Settings):
    """An HTTP endpoint that is already running: a POST of JSON per request, JSON back.

    Attributes:
        url: where to post, without credentials.
        api_key_env: name of the environment variable that holds a bearer token; None sends none.
        version: what the user calls the endpoint's version; part of the system.
        timeout_seconds: longest time for one attempt.
        max_attempts: tries per request; only 408, 429, 5xx and connection errors are tried again.
        concurrency: most requests in flight.
    """

    kind: Literal["http"] = "http"
    url: str
    api_key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    version: str = ""
    timeout_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    max_attempts: Annotated[int, Field(ge=1, le=20)] = 3
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 4

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        return check_http_url(value)


PluginSettings = PythonPluginSettings | CommandPluginSettings | HttpPluginSettings
"""A user's own part, without its tag: planners and renderers add kinds of their own."""
