"""How much memory a config takes, estimated before anything is loaded.

The factors were measured on a CPU: whisper-base and whisper-tiny.en on CTranslate2, and SmolLM2-135M on
transformers, in batches of 4 and 16. The estimates are within a third of what these took.
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
"""An allowance for what a vLLM server takes besides weights and key-value cache, on a CPU."""

_FRAMES = 1500
"""Positions of Whisper's encoder per window."""

_LIVE_STATES = 12
"""Encoder states that are live at once, counting those of the feed-forward layer four times."""

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

    def __str__(self) -> str:
        return f"{self.section} {gib(self.weights)} of weights and {gib(self.working)} to work in"


def gib(count: float) -> str:
    """Return a number of bytes in GiB, as it is shown."""
    return f"{count / GIB:.1f} GiB"


def estimate(part: Part, cuda: bool) -> Estimate | None:
    """Return what a part takes, on a CUDA device or the CPU; None where its weights are not here."""
    folder = snapshot_of(part)
    if folder is None:
        return None
    try:
        weights = read_weights(part.kind, folder)
        config = _config(folder)
    except (WeightsError, OSError, ValueError):
        return None
    if part.section == "recognizer":
        return _recognizer(part, weights, config, cuda)
    return _language_model(part, weights, config, cuda)


def _recognizer(part: Part, weights: Weights, config: dict[str, Any], cuda: bool) -> Estimate:
    """Weights, and per window the attention scores of one encoder layer and the states around it.

    CTranslate2 reads the file as it is and converts it, so that on a CPU both are in memory for a while.
    """
    settings = part.settings
    conv = weights.shapes.get("encoder/conv1/weight") or weights.shapes.get("model.encoder.conv1.weight")
    width = conv[0] if conv else int(config.get("d_model", 1280))
    dtype = str(getattr(settings, "compute_type" if cuda else "cpu_compute_type", None) or "float32")
    size = _BYTES.get(dtype, 4.0)
    activation = 2 if cuda and size <= 2 else 4
    window = (width // _HEAD * _FRAMES**2 + _LIVE_STATES * _FRAMES * width) * activation
    kept = weights.file_bytes if part.kind == "ctranslate2" and not cuda else 0
    beam = int(getattr(settings, "beam_size", 1))
    layers = 1 + max((int(n) for n in map(_decoder_layer, weights.shapes) if n is not None), default=31)
    cache = beam * layers * 2 * 448 * width * activation
    working = settings.batch_size * (window + cache)
    return Estimate(part.section, int(weights.parameters * size) + kept, working)


def _decoder_layer(name: str) -> str | None:
    for start, end in (("decoder/layer_", "/"), ("model.decoder.layers.", ".")):
        if name.startswith(start):
            number = name.removeprefix(start).partition(end)[0]
            return number if number.isdecimal() else None
    return None


def _language_model(part: Part, weights: Weights, config: dict[str, Any], cuda: bool) -> Estimate:
    """Weights, and the key-value cache with the attention scores of one layer for a batch."""
    settings = part.settings
    size = _dtype_bytes(str(settings.dtype), config, cuda, vllm=part.kind == "vllm")
    quantized = "quantization_config" in config
    held = weights.file_bytes if quantized else int(weights.parameters * size)
    heads = int(config.get("num_attention_heads", 32))
    width = int(config.get("head_dim") or int(config.get("hidden_size", 4096)) // heads)
    per_token = int(
        2
        * int(config.get("num_hidden_layers", 32))
        * int(config.get("num_key_value_heads", heads))
        * width
        * size
    )
    if part.kind == "vllm":
        if not cuda:
            return Estimate(part.section, held, settings.cpu_kv_cache_gib * GIB + VLLM_BYTES)
        longest = settings.max_model_len or int(config.get("max_position_embeddings", 4096))
        return Estimate(part.section, held, longest * per_token + CUDA_BYTES)
    tokens = min(_TOKENS, settings.max_context or _TOKENS)
    # The cache is copied when it grows.
    working = settings.batch_size * int(2 * tokens * per_token + heads * tokens**2 * size)
    return Estimate(part.section, held, working)


def _dtype_bytes(dtype: str, config: dict[str, Any], cuda: bool, *, vllm: bool) -> float:
    if dtype != "auto":
        return _BYTES.get(dtype, 4.0)
    if not cuda and not vllm:
        return 4.0
    own = _BYTES.get(str(config.get("dtype") or config.get("torch_dtype")), 2.0)
    return min(own, 2.0) if vllm else own


def _config(folder: Path) -> dict[str, Any]:
    config = json.loads((folder / "config.json").read_bytes())
    if not isinstance(config, dict):
        raise ValueError("config.json is no mapping")
    text = config.get("text_config")
    return {**config, **text} if isinstance(text, dict) else config
