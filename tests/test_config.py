"""Run configs: every problem at once, with the option's name, and no value of a text in a message."""

from pathlib import Path

import pytest

from misheard.config import RunConfig, load_config
from misheard.errors import ConfigError, InputError
from misheard.metrics.base import Arm

CONFIGS = Path(__file__).parents[1] / "configs"

MINIMAL = "recognizer: {kind: fake}\n"


def load(tmp_path: Path, text: str, *overrides: str) -> RunConfig:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return load_config(path, overrides)


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.name)
def test_every_config_that_ships_is_valid(path: Path) -> None:
    others = {"command-exact": "command", "cpu-vllm-whisper": "vllm", "gpu-vllm-whisper": "vllm"}
    assert load_config(path).recognizer.kind == others.get(path.stem, "ctranslate2")


def test_the_defaults_are_the_three_arms(tmp_path: Path) -> None:
    config = load(tmp_path, MINIMAL)
    assert config.chosen_arms == (Arm.AUDIO, Arm.TRANSCRIPT, Arm.CONTROL)
    assert config.on_failure == "exclude"
    assert config.language_model is None


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        ("recognizer: {kind: fake, batch_sise: 3}\n", ["recognizer.batch_sise", "mean batch_size?"]),
        ("recogniser: {kind: fake}\n", ["recogniser", "mean recognizer?", "recognizer: is missing"]),
        (MINIMAL + "respond: {max_tokens: 0, promt: x}\n", ["respond.max_tokens", "respond.promt", "prompt"]),
        (MINIMAL + "language_model: {kind: parrot}\n", ["language_model", "embedded"]),
        (MINIMAL + "arms: [transcript]\n", ["audio must be among them"]),
        (MINIMAL + "arms: [audio, control]\n", ["transcript must be among them"]),
        (MINIMAL + "arms: [audio, audio]\n", ["each arm at most once"]),
        (MINIMAL + "scoring: {profile: fancy, response_scorer: 'os system'}\n",
         ["scoring.profile", "scoring.response_scorer"]),
        ("recognizer: {kind: ctranslate2, model: a/b, revision: main}\n", ["revision"]),
        ("recognizer: {kind: command, command: p, timeout_seconds: 0}\n",
         ["recognizer.command: must be a list", "recognizer.timeout_seconds"]),
        ("recognizer: {kind: command, command: [p, '{file}']}\n", ["recognizer: {file} is no placeholder"]),
        ("recognizer: {kind: openai_api, model: m, base_url: x, retries_per_rum: 1}\n",
         ["recognizer.base_url", "retries_per_run?"]),
    ],
)  # fmt: skip
def test_every_problem_is_named(tmp_path: Path, text: str, complaints: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    for complaint in complaints:
        assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "override", "complaint"),
    [
        (
            "recognizer: {kind: ctranslate2, model: m, cpu_compute_type: int8}\n",
            "recognizer.kind=transformers",
            "recognizer.cpu_compute_type: is an option of kind ctranslate2, not of transformers; to change "
            "the whole section: --set 'recognizer={kind: transformers, model: ...}'",
        ),
        (
            "recognizer: {kind: transformers, model: m, compile: true}\n",
            "recognizer.kind=fake",
            "recognizer.compile: is an option of kind transformers, not of fake; to change the whole "
            "section: --set 'recognizer={kind: fake}'",
        ),
        (
            MINIMAL + "judge: {language_model: {kind: vllm, model: m, extra_args: [--x]}}\n",
            "judge.language_model.kind=embedded",
            "judge.language_model.extra_args: is an option of kind vllm, not of embedded; to change the "
            "whole section: --set 'judge.language_model={kind: embedded, model: ...}'",
        ),
        (MINIMAL, "execution.ray.worker=2", "execution.ray.worker: unknown option; did you mean workers?"),
        (MINIMAL, "judge.language_model={kind: vllm, modle: m}", "language_model.modle: unknown option; did"),
    ],
)
def test_an_option_that_a_section_lacks_is_found_in_its_other_kinds(
    tmp_path: Path, text: str, override: str, complaint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, override)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    "section",
    [
        "recognizer", "language_model", "correct", "respond", "plan", "render", "judge", "execution",
        "execution.ray", "telemetry", "price", "scoring", "judge.language_model",
    ],
)  # fmt: skip
def test_a_section_without_options_is_said_in_plain_words(tmp_path: Path, section: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, MINIMAL, f"{section}=2")
    assert f"  {section}: must be a section with options (a mapping)" in str(caught.value)


@pytest.mark.parametrize("section", ["recognizer", "respond", "execution", "telemetry", "price", "scoring"])
def test_an_empty_section_is_said_in_plain_words(tmp_path: Path, section: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, (MINIMAL if section != "recognizer" else "") + f"{section}:\n")
    assert f"  {section}: must be a section with options (a mapping)" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"a: [", "not valid YAML at line"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"- 1", "must be a mapping"),
        (b"", "must be a mapping"),
        (b"recognizer: !!python/object/apply:os.system [true]", "tags are not allowed"),
        (b"[" * 100_000, "nested too deeply|not valid YAML"),
        (b"# " + b"x" * 2_000_000, "larger than"),
    ],
)
def test_a_file_that_is_no_config_is_one_clear_error(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        load_config(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        load_config(tmp_path / "nowhere.yaml")


def test_overrides_reach_any_depth_and_may_make_sections(tmp_path: Path) -> None:
    config = load(
        tmp_path, MINIMAL, "respond.max_tokens=7", "language_model.kind=fake", "arms=[audio]", "suite=x=y"
    )
    assert config.respond.max_tokens == 7
    assert config.language_model is not None
    assert config.arms == (Arm.AUDIO,)
    assert config.suite == "x=y"


@pytest.mark.parametrize(
    "override", ["respond", "=3", "a..b=1", "recognizer.kind.x=1", "respond.seed=[", "x=1"]
)
def test_an_override_that_cannot_be_is_refused(tmp_path: Path, override: str) -> None:
    with pytest.raises(InputError):
        load(tmp_path, MINIMAL, override)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: &x [1]\nb: *x\n", "anchors and aliases"),
        ("on_failure: worst\non_failure: exclude\n", "appears twice"),
        ("x: 2001-13-45\n", "not valid YAML|cannot be"),
        ("x: " + "9" * 5000 + "\n", "not valid YAML|cannot be"),
        ("arms: " + "[" * 60 + "]" * 60, "nested too deeply"),
    ],
)
def test_yaml_that_can_hurt_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        load(tmp_path, text)
    if text.startswith("x: "):
        with pytest.raises(InputError):
            load(tmp_path, MINIMAL, "x=" + text.strip().removeprefix("x: "))
