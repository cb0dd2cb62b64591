"""Reading a gate file: every problem at once, each with its place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from misheard.canonical import sha256_json
from misheard.errors import GateError, InputError, Problem
from misheard.gate.spec import (
    FORMAT,
    AnyOfClaim,
    Failures,
    Gate,
    Guard,
    Latency,
    PrimaryClaim,
    RequiredSlices,
)
from misheard.strict_yaml import load_strict_file
from misheard.suite.problems import shown, suggestion

_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class GateFile:
    """A gate with the name of its file and the fingerprint of what it says."""

    name: str
    sha256: str
    gate: Gate


def load_gate(path: Path) -> GateFile:
    """Read a gate file.

    Raises GateError with every problem, InputError where the file cannot be read or is no YAML mapping.
    """
    data = load_strict_file(path, _MAX_BYTES)
    if not isinstance(data, dict):
        raise InputError(f"{path}: must be a mapping with the key format: {FORMAT}")
    try:
        gate = Gate.model_validate(data)
    except ValidationError as error:
        raise GateError(str(path), [_problem(detail) for detail in error.errors()]) from error
    return GateFile(path.name, sha256_json(gate.model_dump(mode="json")), gate)


_PARTS: dict[str, type[BaseModel]] = {
    "primary": PrimaryClaim,
    "primary_any_of": AnyOfClaim,
    "guards": Guard,
    "latency": Latency,
    "failures": Failures,
    "required_slices": RequiredSlices,
}

_PLAIN_WORDS = {
    "missing": "is missing",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "float_type": "must be a number, such as 0.02",
    "int_type": "must be a whole number",
    "string_type": "must be text",
    "finite_number": "must be a finite number",
    "string_pattern_mismatch": "is not the name of an axis",
    "too_short": "must have at least {min_length} entry",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "greater_than": "must be over {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
"""What pydantic's kinds of errors say here, with values of their context."""


def _problem(detail: Any) -> Problem:
    kind, path = detail["type"], detail["loc"]
    words = _PLAIN_WORDS.get(kind)
    what = (
        detail["msg"].removeprefix("Value error, ")
        if words is None
        else words.format_map(detail.get("ctx", {}))
    )
    if kind == "extra_forbidden":
        part = _PARTS.get(str(path[0]), Gate) if len(path) > 1 else Gate
        what = f"unknown option{suggestion(str(path[-1]), part.model_fields)}"
    return Problem(_place(path) or "gate", what)


def _place(path: tuple[int | str, ...]) -> str:
    """Return where in the file something is: `guards[0].metric`."""
    names = (f"[{part}]" if isinstance(part, int) else f".{shown(part)[1:-1]}" for part in path)
    return "".join(names).removeprefix(".")
