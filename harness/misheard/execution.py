"""How a run is executed, what is measured beside it, and what it costs: config that decides no output."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Schedule = Literal["serial", "overlap"]
Mode = Literal["fast", "audit"]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class RaySettings(_Section):
    """Ray workers that recognize windows, with a model each.

    Attributes:
        address: of a Ray cluster that is already running, such as `10.0.0.5:6379`, or `auto` for the one of
            this machine; None starts one here. Ray's own `local` is refused: it would be reached by anybody.
        workers: how many.
        cpus_per_worker: CPUs that a worker takes in Ray's accounts.
        gpus_per_worker: GPUs likewise; None is 1, and 0 with `--cpu`.
    """

    address: Annotated[str, Field(pattern=r"^(auto|[A-Za-z0-9.\[\]:_-]{1,249}:[0-9]{1,5})$")] | None = None
    workers: Annotated[int, Field(ge=1, le=1024)] = 1
    cpus_per_worker: Annotated[float, Field(gt=0, le=1024)] = 1.0
    gpus_per_worker: Annotated[float, Field(ge=0, le=16)] | None = None


class ExecutionConfig(_Section):
    """In which order and by how many workers a run is executed; none of it changes what is recognized.

    Attributes:
        schedule: `serial` runs one stage after the other, and alone publishes energy and real-time factors;
            `overlap` answers the transcript arm while recognition still runs.
        mode: `audit` asks the engines for reproducible kernels, without caches between requests, and runs
            everything again to count what changes.
        repeats: how often an audit runs everything again.
        executor: `local` recognizes in this process, `ray` on Ray workers.
        ray: the workers.
        read_ahead: batches that are decoded and turned into features while another is inferred.
    """

    schedule: Schedule = "serial"
    mode: Mode = "fast"
    repeats: Annotated[int, Field(ge=1, le=10)] = 2
    executor: Literal["local", "ray"] = "local"
    ray: RaySettings = RaySettings()
    read_ahead: Annotated[int, Field(ge=0, le=64)] = 2

    @model_validator(mode="after")
    def _check_ray(self) -> "ExecutionConfig":
        if self.executor == "local" and self.ray != RaySettings():
            raise ValueError("ray: has no effect with executor local; say executor: ray")
        return self


class TelemetryConfig(_Section):
    """What is sampled while a run works.

    Attributes:
        enabled: whether anything is.
        interval_seconds: between two samples.
        idle_seconds: how long the machine is measured before anything is loaded; the power that it takes then
            is taken off the stages' energy. 0 measures no baseline.
    """

    enabled: bool = True
    interval_seconds: Annotated[float, Field(ge=0.05, le=60)] = 0.5
    idle_seconds: Annotated[float, Field(ge=0, le=60)] = 2.0


class PriceConfig(_Section):
    """What the machine or the tokens cost; a price that is not named makes no figure.

    Attributes:
        currency: named beside every amount.
        per_device_hour: of one device for an hour.
        per_million_prompt_tokens: of what a language model reads.
        per_million_completion_tokens: of what it writes.
    """

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    per_device_hour: Annotated[float, Field(ge=0, le=1e6)] | None = None
    per_million_prompt_tokens: Annotated[float, Field(ge=0, le=1e6)] | None = None
    per_million_completion_tokens: Annotated[float, Field(ge=0, le=1e6)] | None = None
