"""Settings of the recognizers, as they stand under `recognizer:` in a run config."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Device = Literal["auto", "cpu", "cuda"]
ComputeType = Literal["float16", "bfloat16", "float32", "int8", "int8_float16", "int8_bfloat16"]


class CTranslate2Settings(BaseModel):
    """Whisper on CTranslate2: batches across files, greedy.

    Attributes:
        model: a folder with `model.bin`, the name of a folder in the model cache, or a hub id.
        revision: 40-digit commit of a hub id; required for hub ids.
        device: `auto` takes a CUDA device where there is one.
        compute_type: number format of the weights on a GPU.
        cpu_compute_type: number format of the weights on a CPU; `int8` is about twice as fast as `float32`.
        threads: CPU threads; 0 takes as many as the process may use.
        batch_size: windows per batch.
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


class FakeRecognizerSettings(BaseModel):
    """A recognizer without a model, for tests and for trying a config.

    Attributes:
        transcripts: text by the sha256 of a window's samples (`fake.samples_sha256`); other windows get words
            that are derived from their hash, so that the same audio always gives the same text.
        delay_seconds: pause per batch.
        batch_size: windows per batch.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Literal["fake"] = "fake"
    transcripts: dict[str, str] = {}
    delay_seconds: Annotated[float, Field(ge=0, le=60)] = 0.0
    batch_size: Annotated[int, Field(ge=1, le=4096)] = 16


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


LocalRecognizerSettings = CTranslate2Settings | FakeRecognizerSettings
"""Recognizers that can be run."""

RecognizerSettings = Annotated[
    CTranslate2Settings | FakeRecognizerSettings | ImportedRecognizerSettings, Field(discriminator="kind")
]
