"""Weights in 8 bits, for a model that has to travel: a third of their size, and not quite their values.

Each row of a matrix is scaled so that its largest value is 127. Both sides of a comparison load the weights
that come out again, so that it is as fair as with the published ones.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

Tensors = Mapping[str, npt.NDArray[np.generic]]

_SCALE = ".scale"


def pack_weights(tensors: Tensors, path: Path) -> None:
    """Write float tensors: those of two and more dimensions in 8 bits, the others as float16."""
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    for name, tensor in tensors.items():
        if tensor.ndim < 2:
            arrays[name] = tensor.astype(np.float16)
            continue
        rows = tensor.reshape(len(tensor), -1).astype(np.float32)
        scale = np.abs(rows).max(axis=1, keepdims=True) / 127
        scale[scale == 0] = 1
        arrays[name] = np.rint(rows / scale).astype(np.int8).reshape(tensor.shape)
        arrays[name + _SCALE] = scale.astype(np.float32)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def unpack_weights(path: Path) -> dict[str, npt.NDArray[np.float16]]:
    """Return what was packed, as float16."""
    with np.load(path, allow_pickle=False) as arrays:
        tensors = {}
        for name in arrays.files:
            if name.endswith(_SCALE):
                continue
            tensor = arrays[name]
            if tensor.dtype == np.int8:
                rows = tensor.reshape(len(tensor), -1) * arrays[name + _SCALE]
                tensor = rows.reshape(tensor.shape)
            tensors[name] = np.ascontiguousarray(tensor.astype(np.float16))
        return tensors
