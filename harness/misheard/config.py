"""The run config: what a system is and which suite it runs over, read from YAML and validated at once."""

import copy
import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from misheard.errors import ConfigError, InputError, Problem
from misheard.language_models.settings import LanguageModelSettings
from misheard.metrics.base import Arm
from misheard.recognizers.settings import RecognizerSettings
from misheard.strict_yaml import complaint, load_strict, load_strict_file

OnFailure = Literal["exclude", "worst", "abort"]

_MAX_BYTES = 1024 * 1024

_KINDS = frozenset({"command", "ctranslate2", "fake", "embedded", "openai_api", "vllm"})
"""The tags that pydantic puts between a section and its option."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class RespondConfig(_Section):
    """The responder: how the language model is asked.

    Attributes:
        prompt: a prompt that ships with misheard, or a `.yaml` file relative to the config.
        max_tokens: longest answer, in tokens.
        seed: sent with every request; greedy decoding should not depend on it.
    """

    prompt: str = "respond-v1"
    max_tokens: Annotated[int, Field(ge=1, le=32_768)] = 64
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0


class ScoringConfig(_Section):
    """How outputs are scored.

    Attributes:
        profile: normalisation profile of references, transcripts and answers.
        response_scorer: `word_overlap_f1`, or `module:function` of your own: (reference, answer) -> [0, 1].
        resamples: bootstrap resamples per interval.
        seed: of the resampling.
    """

    profile: Literal["exact", "nfc", "plain", "spoken"] = "nfc"
    response_scorer: Annotated[str, Field(pattern=r"^(word_overlap_f1|[\w.]+:[\w.]+)$")] = "word_overlap_f1"
    resamples: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1


class RunConfig(_Section):
    """One system over one suite.

    Attributes:
        suite: folder, `suite.yaml` or `{"items": […]}` JSON; relative to the config file.
        recognizer: what hears.
        language_model: what answers; without one only recognition is measured.
        respond: how it is asked.
        arms: where the golden value enters.
        scoring: how outputs become counts.
        on_failure: `exclude` failed items from aggregates, score them as `worst`, or `abort` without report.
        fail_fast: stop at the first failed item, as `--fail-fast` does.
    """

    suite: str | None = None
    recognizer: RecognizerSettings
    language_model: LanguageModelSettings | None = None
    respond: RespondConfig = RespondConfig()
    arms: tuple[Arm, ...] = (Arm.AUDIO, Arm.TRANSCRIPT, Arm.CONTROL)
    scoring: ScoringConfig = ScoringConfig()
    on_failure: OnFailure = "exclude"
    fail_fast: bool = False

    @model_validator(mode="after")
    def _check_arms(self) -> "RunConfig":
        if len(set(self.arms)) != len(self.arms):
            raise ValueError("arms: each arm at most once")
        if Arm.AUDIO not in self.arms:
            raise ValueError("arms: audio must be among them; it is what the other arms are compared with")
        if Arm.CONTROL in self.arms and Arm.TRANSCRIPT not in self.arms:
            raise ValueError("arms: control repeats transcript, so transcript must be among them")
        return self


def load_config(path: Path, overrides: Sequence[str] = ()) -> RunConfig:
    """Read a config file and apply `a.b=value` overrides (values in YAML).

    Raises ConfigError with every problem, InputError where the file cannot be read.
    """
    data = load_strict_file(path, _MAX_BYTES)
    if not isinstance(data, dict):
        raise InputError(f"{path}: must be a mapping with at least the key recognizer")
    return parse_config(str(path), data, overrides)


def parse_config(source: str, data: dict[str, Any], overrides: Sequence[str] = ()) -> RunConfig:
    """Return the config that a mapping and `a.b=value` overrides make; `source` is named in errors.

    Raises ConfigError with every problem, InputError for an override that is none.
    """
    data = copy.deepcopy(data)
    for override in overrides:
        _override(data, override)
    try:
        return RunConfig.model_validate(data)
    except ValidationError as error:
        raise ConfigError(source, [_problem(detail) for detail in error.errors()]) from error


def _override(data: dict[str, Any], override: str) -> None:
    name, separator, value = override.partition("=")
    keys = name.split(".")
    if not separator or not all(keys):
        raise InputError(f"--set {override!r}: write it as a.b=value")
    section = data
    for key in keys[:-1]:
        child = section.setdefault(key, {})
        if not isinstance(child, dict):
            raise InputError(f"--set {name}: {key} is not a section")
        section = child
    try:
        section[keys[-1]] = load_strict(value)
    except yaml.YAMLError as error:
        raise InputError(f"--set {name}: the value: {complaint(error)}") from error


_PLAIN_WORDS = {
    "tuple_type": "must be a list, such as [a, b]",
    "union_tag_not_found": "needs a kind",
    "missing": "is missing",
}


def _problem(detail: Any) -> Problem:
    where = _place(detail["loc"])
    what = _PLAIN_WORDS.get(detail["type"], detail["msg"].removeprefix("Value error, "))
    if detail["type"] == "union_tag_invalid":
        what = f"there is no kind {detail['ctx']['tag']!r}; use one of {detail['ctx']['expected_tags']}"
    if detail["type"] == "string_pattern_mismatch" and where == "scoring.response_scorer":
        what = "must be word_overlap_f1, or module:function of your own"
    if detail["type"] == "extra_forbidden":
        known = _known_fields([str(part) for part in detail["loc"][:-1]])
        close = difflib.get_close_matches(str(detail["loc"][-1]), known, n=1)
        what = "unknown option" + (f"; did you mean {close[0]}?" if close else "")
    return Problem(where, what)


def _place(location: Sequence[str | int]) -> str:
    """Return the dotted name of an option; the kind that pydantic puts behind a section is no part of it."""
    parts = [str(part) for number, part in enumerate(location) if number != 1 or part not in _KINDS]
    return ".".join(parts) or "config"


def _known_fields(path: Sequence[str]) -> list[str]:
    """Return the option names of the section at `path`; backends appear in it under their kind."""
    schema: Any = RunConfig.model_json_schema()
    names = schema["properties"]
    if path:
        definitions = schema["$defs"].values()
        kinds = [
            properties
            for properties in (definition.get("properties", {}) for definition in definitions)
            if properties.get("kind", {}).get("const") == path[-1]
        ]
        titles = {"respond": "RespondConfig", "scoring": "ScoringConfig"}
        # A kind may name a recognizer and a language model: openai_api does.
        every = {name: None for properties in kinds for name in properties}
        names = every or schema["$defs"].get(titles.get(path[-1], ""), {}).get("properties", {})
    return list(names)
