"""What a GGUF file holds: its metadata, and its tensors unpacked to float32. Needs numpy and nothing else.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; blocks of quantised numbers: ggml-quants.c
there. Version 3, little endian, and the three kinds of tensors that the demo's model has.
"""

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

MAGIC, VERSION = b"GGUF", 3
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
ALIGNMENT = 32
BLOCK = 32


class GgufError(Exception):
    """A file that cannot be unpacked; the message says why."""


@dataclass(frozen=True)
class Kind:
    """How a tensor is stored: `numbers` in `bytes`, which `unpack` turns into float32."""

    numbers: int
    bytes: int
    unpack: Callable[[npt.NDArray[np.uint8]], Floats]


def _plain(blocks: npt.NDArray[np.uint8]) -> Floats:
    return blocks.view("<f4")


def _q4_1(blocks: npt.NDArray[np.uint8]) -> Floats:
    """Unpack a scale, a minimum and 32 numbers of 4 bits: the low halves of 16 bytes, then the high ones."""
    scale, least = (blocks[:, at : at + 2].view("<f2").astype(np.float32) for at in (0, 2))
    halves = np.hstack([blocks[:, 4:] & 15, blocks[:, 4:] >> 4]).astype(np.float32)
    return scale * halves + least


def _q8_0(blocks: npt.NDArray[np.uint8]) -> Floats:
    """Unpack a scale and 32 signed bytes."""
    return blocks[:, :2].view("<f2").astype(np.float32) * blocks[:, 2:].view(np.int8).astype(np.float32)


KINDS = {0: Kind(1, 4, _plain), 3: Kind(BLOCK, 20, _q4_1), 8: Kind(BLOCK, 34, _q8_0)}


class GgufFile:
    """A GGUF file, read into memory.

    Attributes:
        metadata: values by key; arrays are lists.
    """

    def __init__(self, path: Path) -> None:
        """Read the file's header. Raises GgufError where it is no GGUF, or another version of it."""
        self._content = path.read_bytes()
        self._at = len(MAGIC)
        try:
            if not self._content.startswith(MAGIC) or self._number("I") != VERSION:
                raise GgufError(f"{path} is no GGUF file of version {VERSION}")
            tensors, values = self._number("Q"), self._number("Q")
            self.metadata: dict[str, Any] = {
                self._string(): self._value(self._number("I")) for _ in range(values)
            }
            self._places = dict(self._place() for _ in range(tensors))
        except struct.error:
            raise GgufError(f"{path} is cut off") from None
        alignment = self.metadata.get("general.alignment", ALIGNMENT)
        self._start = -(-self._at // alignment) * alignment

    def tensors(self) -> Iterator[tuple[str, Floats]]:
        """Yield names and float32 tensors, rows first. Raises GgufError for kinds that are not read."""
        for name, (shape, number, offset) in self._places.items():
            kind = KINDS.get(number)
            if kind is None:
                raise GgufError(f"{name} is of ggml's type {number}; read are F32, Q4_1 and Q8_0")
            size = math.prod(shape) // kind.numbers * kind.bytes
            first = self._start + offset
            if first + size > len(self._content):
                raise GgufError(f"{name} is cut off")
            stored = np.frombuffer(self._content, np.uint8, size, first)
            yield name, kind.unpack(stored.reshape(-1, kind.bytes)).reshape(shape)

    def _place(self) -> tuple[str, tuple[tuple[int, ...], int, int]]:
        name = self._string()
        sizes = [self._number("Q") for _ in range(self._number("I"))]
        return name, (tuple(reversed(sizes)), self._number("I"), self._number("Q"))

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._string()
        if kind == ARRAY:
            inner, count = self._number("I"), self._number("Q")
            return [self._value(inner) for _ in range(count)]
        if kind not in NUMBERS:
            raise GgufError(f"a value has type {kind}, which GGUF does not have")
        return self._number(NUMBERS[kind])

    def _number(self, form: str) -> Any:
        (value,) = struct.unpack_from(f"<{form}", self._content, self._at)
        self._at += struct.calcsize(f"<{form}")
        return value

    def _string(self) -> str:
        size = self._number("Q")
        self._at += size
        return self._content[self._at - size : self._at].decode()
