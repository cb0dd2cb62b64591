"""scripts/convert_gguf unpacks what ggml's own package packs, and refuses what it would unpack wrongly.

That the demo's model comes out as transformers unpacks it is what the hashes in scripts/models.toml say,
which scripts/fetch_models checks.
"""

import importlib
import json
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

gguf = pytest.importorskip("gguf", reason="needs the extra dev")
safetensors = pytest.importorskip("safetensors.torch", reason="needs the extra run")
tokenizers = pytest.importorskip("tokenizers", reason="needs the extra run")
torch = pytest.importorskip("torch", reason="needs the extra run")

SCRIPT = Path(__file__).parents[2] / "scripts" / "convert_gguf"
WIDTH, HEADS, KEY_HEADS, INNER, LAYERS = 64, 4, 2, 96, 2
TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "h", "e", "l", "o", "Ġ", "he", "ll", "Ġo"]
Q4_1, Q8_0 = gguf.GGMLQuantizationType.Q4_1, gguf.GGMLQuantizationType.Q8_0
SHAPES = {
    "attn_norm": (WIDTH,),
    "ffn_norm": (WIDTH,),
    "ffn_down": (WIDTH, INNER),
    "ffn_gate": (INNER, WIDTH),
    "ffn_up": (INNER, WIDTH),
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (WIDTH * KEY_HEADS // HEADS, WIDTH),
    "attn_v": (WIDTH * KEY_HEADS // HEADS, WIDTH),
    "attn_output": (WIDTH, WIDTH),
}


def write_model(path: Path, kind: Any = Q4_1, **changes: Any) -> None:
    """Write a small Llama with random weights, as ggml's package does; `changes` replace its metadata."""
    said = {"architecture": "llama", "pre": "smollm", "template": "{{ messages }}", **changes}
    writer = gguf.GGUFWriter(path, said["architecture"])
    writer.add_name("tiny")
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(said["pre"])
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, 3, 3] + [1] * (len(TOKENS) - 3))
    writer.add_token_merges(["h e", "l l", "Ġ o"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_space_prefix(False)
    if said["template"]:
        writer.add_chat_template(said["template"])
    random = np.random.default_rng(7)
    shapes = {"token_embd": (len(TOKENS), WIDTH), "output_norm": (WIDTH,)}
    shapes |= {f"blk.{layer}.{name}": shape for layer in range(LAYERS) for name, shape in SHAPES.items()}
    for name, shape in shapes.items():
        plain = random.normal(size=shape).astype(np.float32)
        stored = None if len(shape) == 1 else Q8_0 if name == "token_embd" else kind
        packed = plain if stored is None else gguf.quants.quantize(plain, stored)
        writer.add_tensor(f"{name}.weight", packed, raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def convert(*arguments: object) -> str:
    """Run the script in this process; return what it said where it refused."""
    loader = SourceFileLoader("convert_gguf", str(SCRIPT))
    script = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(script)
    try:
        script.main([str(argument) for argument in arguments])
    except SystemExit as exit_:
        return str(exit_)
    return ""


@pytest.fixture(autouse=True)
def no_bytecode_beside_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


@pytest.fixture
def gguf_file(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPT.parent / "lib"))
    return importlib.import_module("gguf_file")


def test_metadata_and_every_number_are_those_that_ggmls_package_reads(
    gguf_file: ModuleType, tmp_path: Path
) -> None:
    write_model(tmp_path / "tiny.gguf")
    ours, its = gguf_file.GgufFile(tmp_path / "tiny.gguf"), gguf.GGUFReader(tmp_path / "tiny.gguf")
    fields = {name: field.contents() for name, field in its.fields.items() if not name.startswith("GGUF.")}
    assert ours.metadata == fields
    expected = {
        tensor.name: gguf.quants.dequantize(tensor.data, tensor.tensor_type) for tensor in its.tensors
    }
    found = dict(ours.tensors())
    assert list(found) == list(expected)
    for name, tensor in found.items():
        assert tensor.dtype == np.float32 and np.array_equal(tensor, expected[name]), name


def test_the_folder_has_what_the_metadata_says_in_the_same_bytes_with_numpy_alone(tmp_path: Path) -> None:
    write_model(tmp_path / "tiny.gguf")
    hidden = "import sys; sys.modules |= dict.fromkeys(('torch', 'transformers', 'safetensors', 'gguf'))"
    code = (
        f"{hidden}; sys.argv = sys.argv[1:]; import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    command = [sys.executable, "-c", code, str(SCRIPT), str(tmp_path / "tiny.gguf"), str(tmp_path / "a")]
    assert subprocess.run(command, check=False).returncode == 0
    assert convert(tmp_path / "tiny.gguf", tmp_path / "b") == ""
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    config = json.loads((tmp_path / "a" / "config.json").read_text())
    assert (config["num_key_value_heads"], config["head_dim"], config["vocab_size"]) == (2, 16, len(TOKENS))
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "a" / "tokenizer.json"))
    assert tokenizer.encode("<|im_start|>hello o").ids == [1, 8, 9, 6, 10]


def test_tensors_are_named_and_turned_as_transformers_wants_them(tmp_path: Path) -> None:
    write_model(tmp_path / "tiny.gguf")
    assert convert(tmp_path / "tiny.gguf", tmp_path / "a") == ""
    weights = safetensors.load_file(tmp_path / "a" / "model.safetensors")
    its = {tensor.name: tensor for tensor in gguf.GGUFReader(tmp_path / "tiny.gguf").tensors}
    plain = {name: gguf.quants.dequantize(tensor.data, tensor.tensor_type) for name, tensor in its.items()}
    assert len(weights) == len(plain)
    for ours, theirs in (
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("mlp.up_proj", "ffn_up"),
    ):
        rows = plain[f"blk.1.{theirs}.weight"]
        if theirs != "ffn_up":  # even rows of a head come first, then odd ones
            heads = rows.reshape(-1, 16, WIDTH)
            rows = np.concatenate([heads[:, 0::2], heads[:, 1::2]], axis=1).reshape(rows.shape)
        expected = torch.from_numpy(rows).to(torch.bfloat16)
        assert torch.equal(weights[f"model.layers.1.{ours}.weight"], expected), ours


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"architecture": "gemma"}, "general.architecture is 'gemma'; only 'llama' is read"),
        ({"pre": "qwen2"}, "tokenizer.ggml.pre is 'qwen2'; only 'smollm' is read"),
        ({"kind": gguf.GGMLQuantizationType.Q5_0}, "is of ggml's type 6; read are F32, Q4_1 and Q8_0"),
        ({"template": ""}, "does not say 'tokenizer.chat_template'"),
    ],
)
def test_what_it_cannot_unpack_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write_model(tmp_path / "tiny.gguf", **changes)
    assert message in convert(tmp_path / "tiny.gguf", tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize("share", [0.01, 0.2, 0.9])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, share: float) -> None:
    write_model(tmp_path / "tiny.gguf")
    content = (tmp_path / "tiny.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(content[: int(share * len(content))])
    assert "cut off" in convert(tmp_path / "cut.gguf", tmp_path / "folder")
    (tmp_path / "cut.gguf").write_bytes(b"something else")
    assert "is no GGUF file of version 3" in convert(tmp_path / "cut.gguf", tmp_path / "folder")
