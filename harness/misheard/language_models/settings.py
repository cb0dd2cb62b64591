"""Settings of the language-model backends, told apart by `kind`; a run config embeds them as they are."""

import ipaddress
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Revision = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
"""A commit of a model hub in full: a branch or a tag can move, so neither pins a model."""

_OWNED_OPTIONS = frozenset(
    {
        "--model", "--revision", "--served-model-name", "--uds", "--host", "--port",
        "--max-model-len", "--dtype", "--seed", "--generation-config", "--enable-log-requests", "--api-key",
    }
)  # fmt: skip
"""Options that the run sets itself, or that would write prompts or keys where they do not belong."""


def check_http_url(value: str) -> str:
    """Return a URL as it is. Raises ValueError for one with credentials, a query, or that is none."""
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be a URL such as http://127.0.0.1:8000/v1")
    if any(char.isspace() or not char.isprintable() for char in value):
        raise ValueError("must hold no spaces, line breaks or control characters")
    try:
        parts.port  # noqa: B018 - reading it is the check
    except ValueError:
        raise ValueError("must have a port from 0 to 65535, or none") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("must hold no credentials; name the key's environment variable in api_key_env")
    if parts.query or parts.fragment:
        raise ValueError("must have no query and no fragment")
    return value


def is_loopback(url: str) -> bool:
    """Return whether a URL's host is this machine by name or address."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EmbeddedSettings(_Settings):
    """A transformers model in this process, decoded greedily in left-padded batches.

    Attributes:
        model: a folder with config, tokenizer and safetensors weights, or an id of the model hub.
        revision: the commit of the hub; required for a hub id, useless for a folder.
        batch_size: most requests that are decoded together; part of the batch plan.
        device: `auto` takes CUDA where there is one.
        dtype: of weights and arithmetic; `auto` is float32 on a CPU and the checkpoint's type on CUDA.
        threads: CPU threads; None leaves the library's choice. The numerics may depend on it.
        max_context: most tokens of prompt and answer together; None takes the model's own limit.
    """

    kind: Literal["embedded"] = "embedded"
    model: str = Field(min_length=1)
    revision: Revision | None = None
    batch_size: int = Field(default=16, ge=1, le=1024)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    threads: int | None = Field(default=None, ge=1, le=1024)
    max_context: int | None = Field(default=None, ge=2)


class ServerSettings(_Settings):
    """A server that is already running, and how it is asked; see the classes below for the options."""

    base_url: str
    model: str = Field(min_length=1)
    api_key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    concurrency: int = Field(default=16, ge=1, le=1024)
    timeout_seconds: float = Field(default=120.0, gt=0, le=86_400)
    max_attempts: int = Field(default=4, ge=1, le=20)

    @field_validator("base_url")
    @classmethod
    def _plain_http_url(cls, value: str) -> str:
        return check_http_url(value).rstrip("/")

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine, so that no proxy may stand between."""
        return is_loopback(self.base_url)


class ApiSettings(ServerSettings):
    """A server that speaks the OpenAI chat API and is already running.

    Attributes:
        base_url: up to and including the version, e.g. `http://127.0.0.1:8000/v1`; without credentials.
        further_urls: more servers of the same model, which share the requests with the first; all must say
            that they are of the same version and have the same context.
        model: the id under which the server serves the model; verified before the run.
        api_key_env: name of the environment variable that holds the key; None sends no real key.
        concurrency: most requests in flight at one server.
        timeout_seconds: longest time for one attempt, from connecting to the last token.
        max_attempts: tries per request; only 408, 429, 5xx and connection errors are tried again.
        extra_sampling: send vLLM's further parameters (`top_k`, `min_p`, `repetition_penalty`) too; turn it
            off for servers that refuse unknown parameters.
        structured_output: hold replies that must be JSON to their schema (`response_format`); turn it off for
            servers that refuse that. Replies are checked either way.
    """

    kind: Literal["openai_api"] = "openai_api"
    further_urls: tuple[str, ...] = ()
    extra_sampling: bool = True
    structured_output: bool = True

    @field_validator("further_urls")
    @classmethod
    def _plain_http_urls(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check_http_url(url).rstrip("/") for url in value)

    @model_validator(mode="after")
    def _check_twice(self) -> "ApiSettings":
        if len(set(self.urls)) < len(self.urls):
            raise ValueError("further_urls: every server once, and base_url is one of them")
        return self

    @property
    def urls(self) -> tuple[str, ...]:
        """The base URLs of all servers."""
        return (self.base_url, *self.further_urls)


class VllmServerSettings(_Settings):
    """How a vLLM server of the run is started and asked; see the classes below for the options."""

    model: str = Field(min_length=1)
    revision: Revision | None = None
    served_name: str = Field(default="model", pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$")
    python: Path | None = None
    max_model_len: int | None = Field(default=None, ge=2)
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    seed: int = Field(default=0, ge=0, lt=2**32)
    startup_seconds: float = Field(default=900.0, gt=0, le=86_400)
    concurrency: int = Field(default=64, ge=1, le=1024)
    timeout_seconds: float = Field(default=300.0, gt=0, le=86_400)
    max_attempts: int = Field(default=3, ge=1, le=20)
    stop_seconds: float = Field(default=15.0, gt=0, le=600)
    cpu_kv_cache_gib: int = Field(default=2, ge=1)
    extra_args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _options_are_the_users(self) -> "VllmServerSettings":
        if owned := sorted(self.options & _OWNED_OPTIONS):
            raise ValueError(f"extra_args: the run sets {', '.join(owned)} itself; use the other settings")
        return self

    @property
    def options(self) -> frozenset[str]:
        """The names of the options in `extra_args`, without their values."""
        return frozenset(argument.split("=", 1)[0].replace("_", "-") for argument in self.extra_args)

    def has_option(self, option: str) -> bool:
        """Return whether `extra_args` has the option, or `--no-` in front of it."""
        return option in self.options or option.replace("--", "--no-", 1) in self.options

    def option_value(self, *names: str) -> str | None:
        """Return the value that `extra_args` give the option last, under any of its names."""
        value = None
        for argument, following in zip(self.extra_args, (*self.extra_args[1:], ""), strict=False):
            name, separator, joined = argument.partition("=")
            if name.replace("_", "-") in names:
                value = joined if separator else following
        return value


class VllmSettings(VllmServerSettings):
    """A vLLM server that the run starts, owns and takes down.

    Attributes:
        model: a folder with config, tokenizer and safetensors weights, or an id of the model hub.
        revision: the commit of the hub; required for a hub id, useless for a folder.
        served_name: id under which the server serves the model.
        python: interpreter of the environment that has vLLM; None is the one of this run.
        max_model_len: most tokens of prompt and answer together; None takes the model's own limit.
        dtype: of weights and arithmetic, as vLLM names it.
        seed: of the engine; every request carries its own besides.
        startup_seconds: longest wait for the server to be ready.
        concurrency: most requests in flight.
        timeout_seconds: longest time for one attempt of one request.
        max_attempts: tries per request; only 408, 429, 5xx and connection errors are tried again.
        stop_seconds: time for the server to end by itself before it is killed.
        cpu_kv_cache_gib: memory for the key-value cache on a CPU, in GiB.
        extra_args: further options of the server, e.g. `["--tensor-parallel-size", "2"]`.
        env: further environment variables of the server.
    """

    kind: Literal["vllm"] = "vllm"


class FakeSettings(_Settings):
    """Answers without a model, for tests and for trying configs; see `language_models.fake`.

    Attributes:
        answers: answer per text of the last user message; a text that is not listed is answered by `default`.
        default: the answer to everything else; None answers with the last user message itself.
        failures: failure kind per text of the last user message, in place of an answer.
        delay_seconds: time that every request takes.
        batch_size: most requests at a time; None takes any number, as a server does.
    """

    kind: Literal["fake"] = "fake"
    answers: dict[str, str] = Field(default_factory=dict)
    default: str | None = None
    failures: dict[str, Literal["timeout", "llm_error", "prompt_too_long", "invalid_output"]] = Field(
        default_factory=dict
    )
    delay_seconds: float = Field(default=0.0, ge=0, le=60)
    batch_size: int | None = Field(default=None, ge=1)


LanguageModelSettings = Annotated[
    EmbeddedSettings | ApiSettings | VllmSettings | FakeSettings, Field(discriminator="kind")
]
"""What a run config holds under `language_model`."""
