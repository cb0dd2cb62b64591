"""A Whisper with random weights and the shape of a large one: good for speed, not for words."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Shape:
    """Sizes of a Whisper; the vocabulary is that of the tokenizer it borrows."""

    name: str
    width: int
    layers: int
    heads: int
    mels: int


LARGE = Shape("large-v3 shape", 1280, 32, 20, 128)
"""That of Whisper large-v3, but for the 2 tokens that its vocabulary has more."""

SMALL = Shape("small random shape", 64, 2, 2, 80)


def make_random(shape: Shape, source: Path, folder: Path, device: str, dtype: str) -> Path:
    """Write a model of random weights to `folder`, with the tokenizer of `source`.

    Its texts never end by themselves: the end is among the tokens that are never chosen, so that whoever
    decodes does so for the same number of tokens.
    """
    import torch
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    published = json.loads((source / "config.json").read_text("utf-8"))
    config = WhisperConfig(
        **{
            **published,
            "num_mel_bins": shape.mels,
            "d_model": shape.width,
            "encoder_layers": shape.layers,
            "decoder_layers": shape.layers,
            "encoder_attention_heads": shape.heads,
            "decoder_attention_heads": shape.heads,
            "encoder_ffn_dim": 4 * shape.width,
            "decoder_ffn_dim": 4 * shape.width,
        }
    )
    torch.manual_seed(7)
    with torch.device(device):
        model = WhisperForConditionalGeneration(config)
    model.to(getattr(torch, dtype)).save_pretrained(folder)
    generation = json.loads((source / "generation_config.json").read_text("utf-8"))
    end = generation["eos_token_id"]
    generation["suppress_tokens"] = sorted({*(generation["suppress_tokens"] or ()), end})
    generation.pop("alignment_heads", None)
    (folder / "generation_config.json").write_text(json.dumps(generation), "utf-8")
    features = json.loads((source / "preprocessor_config.json").read_text("utf-8"))
    features["feature_size"] = shape.mels
    (folder / "preprocessor_config.json").write_text(json.dumps(features), "utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(source / name, folder / name)
    return folder
