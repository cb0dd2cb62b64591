"""Models that are there, incomplete, cut off, or on a hub that may not be asked."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from misheard.config import parse_config
from misheard.doctor.checks import Check, State
from misheard.doctor.memory import estimate
from misheard.doctor.models import check_models, named_models
from misheard.doctor.need import Need, read_need
from misheard.errors import BackendError
from misheard.run.preview import preview
from misheard.run.resolve import resolve_config

REVISION = "0" * 40


def write_ctranslate2(folder: Path, width: int = 64) -> Path:
    """Write a `model.bin` in CTranslate2's format with the tensors that say how large a Whisper is."""
    variables = {"encoder/conv1/weight": (width, 80, 3), "decoder/layer_0/ffn/weight": (width, width)}
    data = struct.pack("<I", 6) + text("WhisperSpec") + struct.pack("<II", 3, len(variables))
    for name, shape in variables.items():
        count = 2
        for size in shape:
            count *= size
        data += text(name) + struct.pack("<B", len(shape)) + struct.pack(f"<{len(shape)}I", *shape)
        data += struct.pack("<BI", 4, count) + bytes(count)
    return write(
        folder, {"model.bin": data + struct.pack("<I", 0), "config.json": b"{}", "tokenizer.json": b"{}"}
    )


def write_safetensors(folder: Path) -> Path:
    """Write a language model of one tensor."""
    config = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 8, "dtype": "bfloat16"}
    return write(
        folder,
        {
            "model.safetensors": safetensors(),
            "config.json": json.dumps(config).encode(),
            "tokenizer.json": b"{}",
            "chat_template.jinja": b"{{ messages }}",
        },
    )


def safetensors() -> bytes:
    header = json.dumps({"a": {"dtype": "BF16", "shape": [4, 8], "data_offsets": [0, 64]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(64)


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def text(value: str) -> bytes:
    return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"


def need(base: Path, cpu: bool = True, **sections: Any) -> Need:
    return read_need(parse_config("config", {"recognizer": {"kind": "fake"}, **sections}), base, cpu)


def only(checks: list[Check], name: str) -> Check:
    (check,) = (check for check in checks if check.name == name)
    return check


def test_complete_models_are_ok(tmp_path: Path) -> None:
    write_ctranslate2(tmp_path / "ears")
    write_safetensors(tmp_path / "mind")
    checks = check_models(
        need(
            tmp_path,
            recognizer={"kind": "ctranslate2", "model": "./ears"},
            language_model={"kind": "embedded", "model": "./mind"},
            judge={"language_model": {"kind": "vllm", "model": "./mind"}},
        )
    )
    assert {check.name: check.state for check in checks} == {
        "recognizer.model": State.OK,
        "language_model.model": State.OK,
        "judge.language_model.model": State.OK,
    }


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


@pytest.mark.parametrize(
    ("name", "harm", "found"),
    [
        ("model.bin", Path.unlink, "model.bin cannot be read: No such file"),
        ("model.bin", cut, "model.bin is cut off"),
        ("model.bin", lambda path: path.write_bytes(b""), "model.bin is empty"),
        (
            "model.bin",
            lambda path: path.write_bytes(b"version https://git-lfs.github.com"),
            "Git LFS pointer",
        ),
        ("model.bin", lambda path: path.write_bytes(b"garbage " * 100), "no model of CTranslate2"),
        ("tokenizer.json", Path.unlink, "tokenizer.json is missing"),
        ("config.json", lambda path: path.write_text("{"), "config.json is cut off"),
    ],
)
def test_a_whisper_that_lacks_something(tmp_path: Path, name: str, harm: Any, found: str) -> None:
    harm(write_ctranslate2(tmp_path / "ears") / name)
    checks = check_models(need(tmp_path, recognizer={"kind": "ctranslate2", "model": "./ears"}))
    check = only(checks, "recognizer.model")
    assert check.state is State.BROKEN and check.advice
    assert found in check.found and str(tmp_path / "ears") in check.found


@pytest.mark.parametrize("kind", ["embedded", "vllm"])
@pytest.mark.parametrize(
    ("name", "harm", "found"),
    [
        ("model.safetensors", Path.unlink, "no .safetensors weights"),
        ("model.safetensors", cut, "model.safetensors is cut off"),
        ("model.safetensors", lambda path: path.write_bytes(b"\xff" * 40), "cut off, or no safetensors file"),
        ("tokenizer.json", Path.unlink, "is missing"),
        ("chat_template.jinja", Path.unlink, "no chat template"),
    ],
)
def test_a_language_model_that_lacks_something(
    tmp_path: Path, kind: str, name: str, harm: Any, found: str
) -> None:
    harm(write_safetensors(tmp_path / "mind") / name)
    checks = check_models(need(tmp_path, language_model={"kind": kind, "model": "./mind"}))
    check = only(checks, "language_model.model")
    assert check.state is State.BROKEN and found in check.found


def test_a_part_of_the_weights_that_is_missing(tmp_path: Path) -> None:
    folder = write_safetensors(tmp_path / "mind")
    index = {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    checks = check_models(need(tmp_path, language_model={"kind": "embedded", "model": "./mind"}))
    assert "1 of 2 weight files are missing: model-2.safetensors" in checks[0].found


def test_a_speech_model_on_transformers_needs_no_chat_template(tmp_path: Path) -> None:
    folder = write_safetensors(tmp_path / "ears")
    (folder / "chat_template.jinja").unlink()
    config = need(tmp_path, recognizer={"kind": "transformers", "model": "./ears"})
    assert "generation_config.json is missing" in check_models(config)[0].found
    (folder / "generation_config.json").write_text("{}")
    assert check_models(config)[0].state is State.OK


def write_hugging_face(folder: Path) -> Path:
    """Write the files of a Whisper as its authors publish it."""
    whisper = json.dumps({"model_type": "whisper"}).encode()
    names = ("generation_config.json", "tokenizer.json")
    files = {"model.safetensors": safetensors(), "config.json": whisper, **dict.fromkeys(names, b"{}")}
    return write(folder, files)


@pytest.mark.parametrize(
    ("kind", "make", "found", "advice"),
    [
        ("transformers", write_ctranslate2, "in CTranslate2 form",
         "use kind: ctranslate2, or convert it with scripts/convert_whisper"),
        ("vllm", write_ctranslate2, "in CTranslate2 form", "use kind: ctranslate2"),
        ("ctranslate2", write_hugging_face, "in Hugging Face form",
         "use kind: transformers, or convert it with ct2"),
    ],
)  # fmt: skip
def test_a_whisper_in_the_other_form_is_called_that_by_doctor_and_by_a_dry_run(
    tmp_path: Path, make_suite: Callable[..., Path], kind: str, make: Any, found: str, advice: str
) -> None:
    make(tmp_path / "ears")
    config = need(tmp_path, recognizer={"kind": kind, "model": "./ears"}).config
    check = only(check_models(read_need(config, tmp_path, True)), "recognizer.model")
    assert check.state is State.BROKEN
    assert check.found == f"{tmp_path / 'ears'}: this is a Whisper {found}" and advice in check.advice
    with pytest.raises(BackendError, match=rf"recognizer\.model: .*this is a Whisper {found}; {advice}"):
        preview(resolve_config(config, tmp_path), make_suite(), None, cpu=True)


@pytest.mark.parametrize(
    ("sections", "lacking"),
    [
        ({"recognizer": {"kind": "ctranslate2", "model": "./ears"}},
         "recognizer.model: .*has no tokenizer.json"),
        ({"recognizer": {"kind": "transformers", "model": "./mind"}},
         "recognizer.model: .*has no generation_config.json"),
        ({"recognizer": {"kind": "vllm", "model": "./none"}}, "recognizer.model: .*has no config.json"),
        ({"judge": {"language_model": {"kind": "vllm", "model": "./mind"}}},
         "^judge.language_model.model: .*no chat template"),
    ],
)  # fmt: skip
def test_a_dry_run_looks_for_the_files_of_models(
    tmp_path: Path, make_suite: Callable[..., Path], sections: dict[str, Any], lacking: str
) -> None:
    (write_ctranslate2(tmp_path / "ears") / "tokenizer.json").unlink()
    (write_safetensors(tmp_path / "mind") / "chat_template.jinja").unlink()
    (tmp_path / "none").mkdir()
    config = need(tmp_path, **sections).config
    with pytest.raises(BackendError, match=lacking) as raised:
        preview(resolve_config(config, tmp_path), make_suite(), None, cpu=True)
    assert raised.value.exit_code == 2


def test_models_that_are_nowhere_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISHEARD_MODELS", str(tmp_path))
    checks = check_models(
        need(
            tmp_path,
            recognizer={"kind": "ctranslate2", "model": "ears"},
            judge={"language_model": {"kind": "embedded", "model": "./mind"}},
        )
    )
    assert [(check.name, check.state) for check in checks] == [
        ("recognizer.model", State.BROKEN),
        ("judge.language_model.model", State.BROKEN),
    ]
    assert "scripts/fetch_models" in checks[0].advice
    assert f"no folder {tmp_path / 'mind'}" in checks[1].found and "config's folder" in checks[1].advice


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_a_hub_that_may_not_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    model = {"kind": "embedded", "model": "some/mind", "revision": REVISION}
    (online,) = check_models(need(tmp_path, language_model=model))
    assert (online.state, online.advice) == (State.MISSING, "the run downloads it")

    monkeypatch.setenv(variable, "1")
    (offline,) = check_models(need(tmp_path, language_model=model))
    assert offline.state is State.BROKEN
    assert f"hf download some/mind --revision {REVISION}" in offline.advice

    write_safetensors(tmp_path / "hub" / "models--some--mind" / "snapshots" / REVISION)
    (there,) = check_models(need(tmp_path, language_model=model))
    assert there.state is State.OK


@pytest.mark.parametrize(
    ("sections", "name"),
    [
        ({"respond": {"prompt": "./none.py.yaml"}}, "files"),
        ({"judge": {"meaning_prompt": "none.py"}, "language_model": {"kind": "fake"}}, "files"),
        ({}, None),
        ({"plan": {"kind": "command", "command": ["./none.py"]}}, "files"),
        ({"recognizer": {"kind": "command", "command": ["./none.py", "{wav}"]}}, "recognizer"),
    ],
)
def test_programs_and_prompts_that_are_not_there(
    tmp_path: Path, sections: dict[str, Any], name: str | None
) -> None:
    broken = [check for check in check_models(need(tmp_path, **sections)) if check.state is State.BROKEN]
    assert [check.name for check in broken] == ([name] if name else [])
    assert all("none.py" in check.found and check.advice for check in broken)


def test_outputs_that_were_imported_are_not_run_again(tmp_path: Path) -> None:
    ears = {"kind": "imported", "name": "theirs", "outputs_sha256": "0" * 64}
    (check,) = check_models(need(tmp_path, recognizer=ears))
    assert check.state is State.BROKEN and "cannot be run again" in check.found


def test_a_suite_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    (check,) = check_models(need(tmp_path, suite="suite"))
    assert check.state is State.WARNING and "--suite" in check.advice
    (tmp_path / "suite").mkdir()
    assert check_models(need(tmp_path, suite="suite"))[0].state is State.OK


def test_named_models_are_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISHEARD_MODELS", str(tmp_path))
    (none,) = named_models()
    assert none.state is State.MISSING and "scripts/fetch_models" in none.advice
    write_ctranslate2(tmp_path / "ears")
    cut(write_safetensors(tmp_path / "mind") / "model.safetensors")
    assert {check.name: check.state for check in named_models()} == {"ears": State.OK, "mind": State.WARNING}


def test_larger_batches_and_formats_are_estimated_larger(tmp_path: Path) -> None:
    write_ctranslate2(tmp_path / "ears")
    found = {}
    for dtype in ("int8", "float32"):
        for batch in (1, 8):
            ears = {"kind": "ctranslate2", "model": "./ears", "cpu_compute_type": dtype, "batch_size": batch}
            found[dtype, batch] = estimate(need(tmp_path, recognizer=ears).recognizer, cuda=False)
    parameters = 64 * 80 * 3 + 64 * 64
    size = (tmp_path / "ears" / "model.bin").stat().st_size
    assert found["int8", 1].weights == parameters + size
    assert found["float32", 1].weights == 4 * parameters + size
    assert found["int8", 8].working == 8 * found["int8", 1].working > 0


@pytest.mark.models
def test_the_demo_models_are_complete_and_known(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISHEARD_MODELS", str(models_dir))
    checks = {check.name: check for check in named_models()}
    assert checks["whisper-base"].state is checks["smollm2-135m-instruct"].state is State.OK
    config = need(
        models_dir,
        recognizer={"kind": "ctranslate2", "model": "whisper-base", "batch_size": 4},
        language_model={"kind": "embedded", "model": "smollm2-135m-instruct"},
    )
    found = [check.found for check in check_models(config)]
    assert "73 million parameters" in found[0]
    assert "135 million parameters" in found[1]
