"""What the headers of weight files say: sizes, and whether the files are all there. No weights are read."""

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

_CT2_BYTES = {0: 4, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2}
"""Bytes per value by CTranslate2's type ids: float32, int8, int16, int32, float16, bfloat16."""

_LARGEST_HEADER = 100_000_000
"""What safetensors itself takes."""

_POINTER = b"version https://git-lfs"


class WeightsError(Exception):
    """A weight file that is missing, cut off or no weight file; the message says which and what."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Numbers of a model: values, bytes on disk, and, where a header tells, shapes by tensor name."""

    parameters: int
    file_bytes: int
    shapes: dict[str, tuple[int, ...]]


def read_ctranslate2(path: Path) -> Weights:
    """Walk through the variables of a `model.bin`.

    The format is that of `ctranslate2.specs.model_spec.ModelSpec._serialize`. Raises WeightsError.
    """
    size = _size(path)
    shapes: dict[str, tuple[int, ...]] = {}
    try:
        with path.open("rb") as file:
            _number(file, "I")  # version of the format
            _name(file)
            _number(file, "I")  # revision of the model
            for _ in range(_number(file, "I")):
                name = _name(file)
                shapes[name] = tuple(_number(file, "I") for _ in range(_number(file, "B")))
                each = _CT2_BYTES[_number(file, "B")]
                count = _number(file, "I")
                if count != each * math.prod(shapes[name]):
                    raise WeightsError(f"{path.name} is no model of CTranslate2")
                file.seek(count, 1)
                if file.tell() > size:
                    raise WeightsError(f"{path.name} is cut off after {_mib(size)}")
    except (struct.error, KeyError, UnicodeDecodeError) as error:
        raise WeightsError(f"{path.name} is cut off, or no model of CTranslate2") from error
    except OSError as error:
        raise WeightsError(f"{path.name} cannot be read: {error.strerror}") from error
    return Weights(sum(map(math.prod, shapes.values())), size, shapes)


def read_safetensors(folder: Path) -> Weights:
    """Add up the safetensors files of a folder, by its index where it has one. Raises WeightsError."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise WeightsError(f"{index.name} cannot be read") from error
        files = [folder / str(name) for name in names]
        if lacking := [file.name for file in files if not file.is_file()]:
            raise WeightsError(f"{len(lacking)} of {len(files)} weight files are missing: {lacking[0]} …")
    else:
        files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise WeightsError("there are no .safetensors weights; other formats are not loaded")
    parameters, shapes = 0, {}
    for file in files:
        for name, shape in _safetensors_shapes(file).items():
            shapes[name] = shape
            parameters += math.prod(shape)
    return Weights(parameters, sum(file.stat().st_size for file in files), shapes)


def _safetensors_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes in a file whose length is what its header says. Raises WeightsError."""
    size = _size(path)
    try:
        with path.open("rb") as file:
            length = _number(file, "Q")
            if length > min(size, _LARGEST_HEADER):
                raise WeightsError(f"{path.name} is cut off, or no safetensors file")
            header: dict[str, Any] = json.loads(file.read(length))
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        end = max((int(entry["data_offsets"][1]) for entry in tensors.values()), default=0)
        shapes = {name: tuple(map(int, entry["shape"])) for name, entry in tensors.items()}
    except OSError as error:
        raise WeightsError(f"{path.name} cannot be read: {error.strerror}") from error
    except (struct.error, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise WeightsError(f"{path.name} is cut off, or no safetensors file") from error
    if size != 8 + length + end:
        raise WeightsError(f"{path.name} is cut off: {_mib(size)} of {_mib(8 + length + end)}")
    return shapes


def _size(path: Path) -> int:
    """Return a file's size. Raises WeightsError where it is not there, empty or only a pointer."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            if file.read(len(_POINTER)) == _POINTER:
                raise WeightsError(
                    f"{path.name} is a Git LFS pointer, not the weights: run git lfs pull there"
                )
    except OSError as error:
        raise WeightsError(f"{path.name} cannot be read: {error.strerror}") from error
    if not size:
        raise WeightsError(f"{path.name} is empty")
    return size


def _number(file: BinaryIO, form: str) -> int:
    value: int = struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))[0]
    return value


def _name(file: BinaryIO) -> str:
    return file.read(_number(file, "H")).rstrip(b"\0").decode()


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
