"""How probable speech is in a chunk of audio, by the Silero model inside the package silero-vad.

The weights are those of the package's own TorchScript model. They are computed with numpy, on the thread that
asks and no other: importing silero_vad sets the number of torch's threads to 1 for everybody in the process,
and a call of the TorchScript model costs several times as much, on as many threads as torch has.

Source of the network: `silero_vad/tinygrad_model.py` in the package, version 6.2.3.
"""

import hashlib
import importlib.util
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.soak.replay.values import CHUNK_SAMPLES, Chunk

FloatArray = npt.NDArray[np.float32]

_PACKAGE = "silero-vad"
_MODEL = "silero_vad.jit"
_CONTEXT = 64
_FRAME, _HOP = 256, 128
_BINS = _FRAME // 2 + 1
_STATE = 128
_FRAMES = np.lib.stride_tricks.sliding_window_view(
    np.pad(np.arange(_CONTEXT + CHUNK_SAMPLES), (0, _CONTEXT), "reflect"), _FRAME
)[::_HOP]
"""Which samples each of the four frames of a chunk holds, int[4, 256]: mirrored behind the last one."""
_STRIDES = (1, 2, 2, 1)
_SHAPES = {
    "stft.forward_basis_buffer": (2 * _BINS, 1, _FRAME),
    "encoder.0.reparam_conv.weight": (128, _BINS, 3),
    "encoder.0.reparam_conv.bias": (128,),
    "encoder.1.reparam_conv.weight": (64, 128, 3),
    "encoder.1.reparam_conv.bias": (64,),
    "encoder.2.reparam_conv.weight": (64, 64, 3),
    "encoder.2.reparam_conv.bias": (64,),
    "encoder.3.reparam_conv.weight": (_STATE, 64, 3),
    "encoder.3.reparam_conv.bias": (_STATE,),
    "decoder.rnn.weight_ih": (4 * _STATE, _STATE),
    "decoder.rnn.weight_hh": (4 * _STATE, _STATE),
    "decoder.rnn.bias_ih": (4 * _STATE,),
    "decoder.rnn.bias_hh": (4 * _STATE,),
    "decoder.decoder.2.weight": (1, _STATE, 1),
    "decoder.decoder.2.bias": (1,),
}


@dataclass(frozen=True, slots=True)
class _Layer:
    """A convolution: weight float32[out, 3 * in], tap by tap; bias; the rows of each output, int[n, 3]."""

    weight: FloatArray
    bias: FloatArray
    taps: npt.NDArray[np.int64]


class SileroVad:
    """Probability of speech, chunk after chunk: each depends on those before it since the last `reset`."""

    def __init__(self) -> None:
        """Read the model. Raises BackendError where the package is missing, or holds another network."""
        path = _model_path()
        content = path.read_bytes()
        self._fingerprint = {
            "name": _PACKAGE,
            "version": metadata.version(_PACKAGE),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        weights = _weights(content)
        self._basis = weights["stft.forward_basis_buffer"][:, 0, :]
        self._layers = list(_layers(weights))
        self._gates = np.concatenate(
            [weights["decoder.rnn.weight_ih"], weights["decoder.rnn.weight_hh"]], axis=1
        )
        self._gate_bias = weights["decoder.rnn.bias_ih"] + weights["decoder.rnn.bias_hh"]
        self._output = weights["decoder.decoder.2.weight"][0, :, 0]
        self._output_bias = weights["decoder.decoder.2.bias"][0]
        self.reset()

    def fingerprint(self) -> dict[str, str]:
        """Return what decides the probabilities: package, version, sha256 of the model."""
        return dict(self._fingerprint)

    def reset(self) -> None:
        """Forget what was heard."""
        self._context = np.zeros(_CONTEXT, np.float32)
        self._hidden = np.zeros(_STATE, np.float32)
        self._cell = np.zeros(_STATE, np.float32)

    def probability(self, chunk: Chunk) -> float:
        """Return the probability that the next chunk of the session holds speech."""
        samples = chunk.samples
        if samples.shape != (CHUNK_SAMPLES,):
            raise ValueError(f"a chunk has {CHUNK_SAMPLES} samples, and not the shape {samples.shape}")
        heard = np.concatenate([self._context, samples])
        self._context = heard[-_CONTEXT:]
        values = _spectrum(heard, self._basis)
        for layer in self._layers:
            values = _convolved(values, layer)
        self._remember(values[0])
        return float(_sigmoid(np.maximum(self._hidden, 0) @ self._output + self._output_bias))

    def _remember(self, values: FloatArray) -> None:
        """Take a step of the LSTM cell, float32[128]; its gates come in torch's order."""
        inputs = np.concatenate([values, self._hidden])
        entry, kept, new, shown = np.split(np.einsum("ij,j->i", self._gates, inputs) + self._gate_bias, 4)
        self._cell = _sigmoid(kept) * self._cell + _sigmoid(entry) * np.tanh(new)
        self._hidden = _sigmoid(shown) * np.tanh(self._cell)


def _model_path() -> Path:
    # The package is found without importing it, which would change torch's threads.
    spec = importlib.util.find_spec("silero_vad")
    folders = (spec.submodule_search_locations if spec is not None else None) or ()
    for folder in folders:
        path = Path(folder) / "data" / _MODEL
        if path.is_file():
            return path
    raise BackendError(f"speech is found with the package {_PACKAGE}, which is not here: {INSTALL_ADVICE}")


def _weights(content: bytes) -> dict[str, FloatArray]:
    """Return the weights of the model for 16 kHz."""
    try:
        import torch
    except (ImportError, OSError) as error:
        raise BackendError(f"the model {_MODEL} is read with torch ({error}): {INSTALL_ADVICE}") from error
    with warnings.catch_warnings():
        # torch advises an export, which the package does not ship.
        warnings.filterwarnings("ignore", "`torch.jit.load` ")
        model: Any = torch.jit.load(io.BytesIO(content), map_location="cpu")
    state = {name.removeprefix("_model."): tensor for name, tensor in model.state_dict().items()}
    weights = {name: state[name].numpy().copy() for name in _SHAPES if name in state}
    if {name: weight.shape for name, weight in weights.items()} != _SHAPES:
        raise BackendError(
            f"{_PACKAGE} {metadata.version(_PACKAGE)} holds another network than the one that is known here; "
            f"install version 6.2.3: pip install {_PACKAGE}==6.2.3"
        )
    return weights


def _layers(weights: dict[str, FloatArray]) -> Iterator[_Layer]:
    rows = len(_FRAMES)
    for index, stride in enumerate(_STRIDES):
        weight = weights[f"encoder.{index}.reparam_conv.weight"].transpose(0, 2, 1)
        taps = np.arange(0, rows, stride)[:, None] + np.array([-1, 0, 1])
        # what lies before and after the rows is the row of zeros that is put behind them
        taps = np.where((taps < 0) | (taps >= rows), rows, taps)
        bias = weights[f"encoder.{index}.reparam_conv.bias"]
        yield _Layer(weight.reshape(len(weight), -1).copy(), bias, taps)
        rows = len(taps)


def _spectrum(samples: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the magnitudes of float32[576] as float32[4, 129]."""
    parts = np.einsum("ij,kj->ik", samples[_FRAMES], basis)
    magnitudes: FloatArray = np.hypot(parts[:, :_BINS], parts[:, _BINS:])
    return magnitudes


def _convolved(values: FloatArray, layer: _Layer) -> FloatArray:
    """Return float32[n, out] of float32[m, in]: three taps, zeros at both ends, ReLU."""
    windows = np.concatenate([values, np.zeros_like(values[:1])])[layer.taps].reshape(len(layer.taps), -1)
    # einsum computes on this thread; a matrix product may wake the threads of BLAS for 0.1 ms of work.
    rectified: FloatArray = np.maximum(np.einsum("ij,kj->ik", windows, layer.weight) + layer.bias, 0)
    return rectified


def _sigmoid(values: Any) -> Any:
    return 1 / (1 + np.exp(-values))
