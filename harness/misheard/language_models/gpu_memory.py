"""How much of a GPU's memory a vLLM server may take, from what is free when it is started.

vLLM counts `--gpu-memory-utilization` against the device's whole memory, and refuses to start where that much
is not free. Its default fits a device that nobody else uses.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from misheard.errors import BackendError

GIB = 2**30
LARGEST_FRACTION = 0.9
"""About what vLLM takes by default of a device that is all its own: 0.92 in version 0.32."""
LEFT_ALONE_BYTES = GIB
"""Not asked for: the server's CUDA context, which it makes before it looks what is free, takes some of it."""
WORKING_BYTES = GIB
"""Least memory beside the weights, for activations and the key-value cache; large models need more."""

_FLOAT_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
_LOADED_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "auto": 2}
"""Bytes per number once loaded; by default vLLM loads float32 weights in half precision."""
_LARGEST_HEADER = 100 * 2**20


@dataclass(frozen=True, slots=True)
class Gpu:
    """A device that the server may use: sizes in bytes; `capability` is CUDA's, None where not told."""

    name: str
    free_bytes: int
    total_bytes: int
    capability: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class MemoryShare:
    """The fraction for `--gpu-memory-utilization`, and a sentence for the user that says why."""

    fraction: float
    note: str


def memory_share(
    gpus: Sequence[Gpu], weights_bytes: int | None, *, section: str, split: int = 1, part: float = 1.0
) -> MemoryShare:
    """Return how much a server may take of each of its devices.

    `weights_bytes` is of the whole model, which is split over `split` devices; None where it is unknown.
    `part` is the share of the free memory that this server gets where another one is to follow. `section` of
    the config is named in errors.

    Raises BackendError where the weights and a working minimum do not fit.
    """
    least = min(gpus, key=lambda gpu: (gpu.free_bytes - LEFT_ALONE_BYTES) / gpu.total_bytes)
    usable = max(least.free_bytes - LEFT_ALONE_BYTES, 0) * part
    fraction = math.floor(min(usable / least.total_bytes, LARGEST_FRACTION) * 1000) / 1000
    needed = None if weights_bytes is None else weights_bytes // split
    lacking = [gpu for gpu in gpus if fraction * gpu.total_bytes < (needed or 0) + WORKING_BYTES]
    if lacking:
        raise BackendError(_too_little(section, lacking[0], needed, part))
    took = "" if part == 1.0 else f", of which it gets {part:g} as another server follows"
    weights = "unknown" if needed is None else _gib(needed)
    return MemoryShare(
        fraction,
        f"{section}: vLLM may take {fraction:g} of {_named(gpus, least)}: {_gib(least.free_bytes)} of "
        f"{_gib(least.total_bytes)} were free when it was started{took}; {_gib(LEFT_ALONE_BYTES)} is left "
        f"alone; its weights: {weights}",
    )


def read_weights_bytes(folder: Path, dtype: str) -> int | None:
    """Return the bytes that a folder's safetensors weights take once loaded as `dtype`, None where unknown.

    Floating-point numbers are converted on loading; quantized ones stay as they are stored.
    """
    try:
        return sum(_tensor_bytes(file, _LOADED_BYTES[dtype]) for file in _weight_files(folder))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _weight_files(folder: Path) -> list[Path]:
    """Return the files that are loaded: those of the index where there is one, as others may hold copies."""
    index = folder / "model.safetensors.index.json"
    if index.is_file() and index.stat().st_size <= _LARGEST_HEADER:
        return [
            folder / Path(name).name for name in set(json.loads(index.read_bytes())["weight_map"].values())
        ]
    files = sorted(folder.glob("*.safetensors"))
    return [file for file in files if not file.name.startswith("consolidated")] or files


def _tensor_bytes(file: Path, loaded: int) -> int:
    """Read the header: its length in 8 bytes, then JSON with the type, shape and offsets of each tensor."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if length > _LARGEST_HEADER:
            raise ValueError("the header is too long")
        header = json.loads(opened.read(length))
    total = 0
    for name, tensor in header.items():
        if name != "__metadata__":
            start, end = tensor["data_offsets"]
            stored = _FLOAT_BYTES.get(tensor["dtype"])
            total += end - start if stored is None else (end - start) // stored * loaded
    return total


def _too_little(section: str, gpu: Gpu, needed: int | None, part: float) -> str:
    has = "" if part == 1.0 else f", of which this server gets {part:g}"
    needs = f"at least {_gib(WORKING_BYTES)} to work with"
    if needed is not None:
        needs = f"{_gib(needed)} for its weights and {needs}"
    return (
        f"{section}: {gpu.name} has {_gib(gpu.free_bytes)} of {_gib(gpu.total_bytes)} free{has}, "
        f"{_gib(LEFT_ALONE_BYTES)} of it is left alone, and the model needs {needs}. Set execution.schedule: "
        "serial, so that the recognizer's memory is free by then; or choose a smaller model; or end the "
        "programs that use this GPU (nvidia-smi lists them)"
    )


def _named(gpus: Sequence[Gpu], least: Gpu) -> str:
    return least.name if len(gpus) == 1 else f"each of {len(gpus)} GPUs, the fullest of them {least.name}"


def _gib(size: int) -> str:
    return f"{size / GIB:.1f} GiB"
