"""Settings of the recognizers, as they stand under `recognizer:` in a run config."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from misheard.language_models.settings import ServerSettings, VllmServerSettings
from misheard.processes.variables import check_variables
from misheard.recognizers.command_template import check_template

Device = Literal["auto", "cpu", "cuda"]
ComputeType = Literal["float16", "bfloat16", "float32", "int8", "int8_float16", "int8_bfloat16"]


class CTranslate2Settings(BaseModel):
    """Whisper on CTranslate2: batches across files, greedy unless a beam is asked for.

    Attributes:
        model: a folder with `model.bin`, the name of a folder in the model cache, or a hub id.
        revision: 40-digit commit of a hub id; required for hub ids.
        device: `auto` takes a CUDA device where there is one.
        compute_type: number format of the weights on a GPU.
        cpu_compute_type: number format of the weights on a CPU; `int8` is about twice as fast as `float32`.
        threads: CPU threads; 0 takes as many as the process may use.
        batch_size: windows per batch.
        beam_size: hypotheses that are followed at once; 1 decodes greedily, as every recognizer here does by
            default.
        n_best: hypotheses of the beam that are kept for the corrector and the metrics of the list; 1 keeps
            none but the transcript.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Literal["ctranslate2"] = "ctranslate2"
    model: str
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    device: Device = "auto"
    compute_type: ComputeType = "float16"
    cpu_compute_type: Literal["int8", "float32", "int16"] = "int8"
    threads: Annotated[int, Field(ge=0, le=1024)] = 0
    batch_size: Annotated[int, Field(ge=1, le=4096)] = 16
    beam_size: Annotated[int, Field(ge=1, le=16)] = 1
    n_best: Annotated[int, Field(ge=1, le=16)] = 1

    @model_validator(mode="after")
    def _check_n_best(self) -> "CTranslate2Settings":
        if self.n_best > self.beam_size:
            raise ValueError(
                f"n_best: {self.n_best} hypotheses need a beam_size of at least {self.n_best}, "
                f"not {self.beam_size}"
            )
        return self


class TransformersSettings(BaseModel):
    """Whisper in torch, by transformers: batches across files, greedy.

    Attributes:
        model: a folder with `model.safetensors`, the name of a folder in the model cache, or a hub id.
        revision: 40-digit commit of a hub id; required for hub ids.
        device: `auto` takes a CUDA device where there is one.
        dtype: number format of weights and inference on a GPU.
        cpu_dtype: number format on a CPU.
        threads: CPU threads of torch in this process; 0 leaves them as they are.
        batch_size: windows per batch.
        compile: decode in static shapes, as one CUDA graph per step; on a CPU without a graph, to no use but
            tests.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Literal["transformers"] = "transformers"
    model: str
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    device: Device = "auto"
    dtype: Literal["float16", "bfloat16", "float32"] = "float16"
    cpu_dtype: Literal["float32", "bfloat16"] = "float32"
    threads: Annotated[int, Field(ge=0, le=1024)] = 0
    batch_size: Annotated[int, Field(ge=1, le=4096)] = 16
    compile: bool = False


class FakeRecognizerSettings(BaseModel):
    """A recognizer without a model, for tests and for trying a config.

    Attributes:
        transcripts: text by the sha256 of a window's samples (`fake.samples_sha256`); other windows get words
            that are derived from their hash, so that the same audio always gives the same text.
        n_best: hypotheses, the best first, by the same key, of windows that have several.
        delay_seconds: pause per batch.
        memory_windows: largest batch that fits into memory; None has no bound.
        batch_size: windows per batch.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Literal["fake"] = "fake"
    transcripts: dict[str, str] = {}
    n_best: dict[str, Annotated[tuple[str, ...], Field(min_length=1, max_length=16)]] = {}
    delay_seconds: Annotated[float, Field(ge=0, le=60)] = 0.0
    memory_windows: Annotated[int, Field(ge=0, le=4096)] | None = None
    batch_size: Annotated[int, Field(ge=1, le=4096)] = 16

    @model_validator(mode="after")
    def _check_one_text(self) -> "FakeRecognizerSettings":
        if twice := self.transcripts.keys() & self.n_best.keys():
            raise ValueError(f"n_best: {min(twice)} is among the transcripts too; give it once")
        return self


class CommandSettings(BaseModel):
    """Any program: a fresh process per recording, which prints the transcript.

    Attributes:
        command: the program and its arguments, one by one; no shell reads them. `{wav}` is the recording's
            file, `{model}`, `{language}` and `{device}` are what their options say; `{{` and `}}` are braces.
            The program is a path or a name in PATH; arguments that begin with `./` or `../` are files.
        cpu_arguments: further arguments where the run is on the CPU (`--cpu`), such as `[--cpu]`.
        model: what `{model}` is: a path, the name of something in the model cache, or a name that the program
            knows.
        device: what `{device}` is; `cpu` with `--cpu`.
        unknown_language: what `{language}` is for an item whose language the suite does not say.
        audio: what `{wav}` is: `decoded`, the recording as every recognizer hears it, as 16-bit mono WAV at
            16 kHz; or `original`, the suite's own file.
        output: `json`, one row with `text`, `audio_ms`, `load_ms` and `transcribe_ms`; or `text`, the
            transcript alone.
        version_command: a command that prints the program's version; what it prints is part of the system.
        timeout_seconds: longest time for one recording.
        budget_seconds: longest time for all programs of the run together.
        max_items: largest suite that is begun.
        max_words: longest transcript.
        inherit_env: names of the environment variables that the program gets; none: all but network proxies.
        env: further environment variables.
        batch_size: 1; every recording has a process of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Literal["command"] = "command"
    command: tuple[str, ...]
    cpu_arguments: tuple[str, ...] = ()
    model: Annotated[str, Field(min_length=1)] | None = None
    device: Device = "auto"
    unknown_language: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,31}$")] = "auto"
    audio: Literal["decoded", "original"] = "decoded"
    output: Literal["json", "text"] = "json"
    version_command: tuple[str, ...] = ()
    timeout_seconds: Annotated[float, Field(gt=0, le=86_400)] = 180.0
    budget_seconds: Annotated[float, Field(gt=0, le=604_800)] = 1_800.0
    max_items: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    max_words: Annotated[int, Field(ge=1, le=1_000_000)] = 2_000
    inherit_env: tuple[str, ...] | None = None
    env: dict[str, str] = {}
    batch_size: Literal[1] = 1

    @field_validator("model")
    @classmethod
    def _check_model(cls, value: str | None) -> str | None:
        if value is not None and (value.startswith("-") or "\0" in value):
            raise ValueError("must not begin with - (a program would take it for an option), nor hold NUL")
        return value

    @field_validator("env")
    @classmethod
    def _check_env(cls, value: dict[str, str]) -> dict[str, str]:
        return check_variables(value)

    @field_validator("version_command")
    @classmethod
    def _check_version_command(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if value and check_template(value):
            raise ValueError("must hold no placeholder")
        return value

    @model_validator(mode="after")
    def _check_placeholders(self) -> "CommandSettings":
        used = check_template((*self.command, *self.cpu_arguments) if self.command else ())
        if "wav" not in used:
            raise ValueError("command: no argument holds {wav}, so the program would not get the recording")
        if ("model" in used) != (self.model is not None):
            raise ValueError("model: {model} in the command and the option model need each other")
        return self


class TranscriptionServerSettings(ServerSettings):
    """A server that speaks the OpenAI transcription API and is already running.

    Attributes:
        base_url: up to and including the version, e.g. `http://127.0.0.1:8000/v1`; without credentials.
        model: the id under which the server serves the model; verified before the run.
        api_key_env: name of the environment variable that holds the key; None sends no real key.
        concurrency: most requests in flight.
        timeout_seconds: longest time for one attempt, from connecting to the whole reply.
        max_attempts: tries per window; only 408, 429, 5xx and connection errors are tried again.
        retries_per_run: most such further tries of the whole run; after them every failure is final.
        response_format: `json`, or `verbose_json` for servers that tell probabilities.
        max_words: longest transcript of a window.
        batch_size: windows per batch, which is journaled as a whole.
    """

    kind: Literal["openai_api"] = "openai_api"
    concurrency: int = Field(default=8, ge=1, le=1024)
    retries_per_run: int = Field(default=100, ge=0, le=1_000_000)
    response_format: Literal["json", "verbose_json"] = "json"
    max_words: int = Field(default=2_000, ge=1, le=1_000_000)
    batch_size: int = Field(default=32, ge=1, le=4096)


class VllmRecognizerSettings(VllmServerSettings):
    """A vLLM server with a speech model, such as Whisper, that the run starts, owns and takes down.

    Attributes:
        model: a folder with config, tokenizer and safetensors weights, or an id of the model hub.
        revision: the commit of the hub; required for a hub id, useless for a folder.
        served_name: id under which the server serves the model.
        python: interpreter of the environment that has vLLM with its audio packages (`vllm[audio]`); None is
            the one of this run.
        max_model_len: most tokens of a window's prompt and transcript; None takes the model's own limit.
        dtype: of weights and arithmetic, as vLLM names it.
        seed: of the engine; decoding is greedy.
        startup_seconds: longest wait for the server to be ready.
        concurrency: most requests in flight.
        timeout_seconds: longest time for one attempt of one window.
        max_attempts: tries per window; only 408, 429, 5xx and connection errors are tried again.
        retries_per_run: most such further tries of the whole run; after them every failure is final.
        stop_seconds: time for the server to end by itself before it is killed.
        cpu_kv_cache_gib: memory for the key-value cache on a CPU, in GiB.
        extra_args: further options of the server, e.g. `["--tensor-parallel-size", "2"]`.
        env: further environment variables of the server.
        max_words: longest transcript of a window.
        batch_size: windows per batch, which is journaled as a whole.
    """

    kind: Literal["vllm"] = "vllm"
    retries_per_run: int = Field(default=100, ge=0, le=1_000_000)
    max_words: int = Field(default=2_000, ge=1, le=1_000_000)
    batch_size: int = Field(default=64, ge=1, le=4096)


class ImportedRecognizerSettings(BaseModel):
    """Outputs that were made elsewhere (`misheard import`); nothing that could be run again.

    Attributes:
        name: what reports call the system.
        outputs_sha256: of the imported file.
        batch_size: without meaning; every recognizer has one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Literal["imported"] = "imported"
    name: str
    outputs_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    batch_size: Literal[1] = 1


LocalRecognizerSettings = (
    CTranslate2Settings
    | TransformersSettings
    | CommandSettings
    | TranscriptionServerSettings
    | VllmRecognizerSettings
    | FakeRecognizerSettings
)
"""Recognizers that can be run."""

RecognizerSettings = Annotated[
    CTranslate2Settings
    | TransformersSettings
    | CommandSettings
    | TranscriptionServerSettings
    | VllmRecognizerSettings
    | FakeRecognizerSettings
    | ImportedRecognizerSettings,
    Field(discriminator="kind"),
]


def gives_n_best(settings: RecognizerSettings) -> bool:
    """Whether a recognizer gives lists of hypotheses, as its settings say."""
    match settings:
        case CTranslate2Settings():
            return settings.n_best > 1
        case FakeRecognizerSettings():
            return bool(settings.n_best)
        case _:
            return False
