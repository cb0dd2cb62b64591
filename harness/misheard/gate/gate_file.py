"""Reading a gate file: every problem at once, each with its place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from misheard.canonical import sha256_json
from misheard.errors import GateError, InputError, Problem
from misheard.gate.options import Part, in_words, place_of
from misheard.gate.spec import (
    FORMAT,
    AnyOfClaim,
    Failures,
    Gate,
    Guard,
    Latency,
    PrimaryClaim,
    RequiredSlices,
    SoakSection,
)
from misheard.soak.limits import Limits
from misheard.strict_yaml import load_strict_file
from misheard.suite.problems import suggestion

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
    # a gate without a soak is what it was before there were soaks
    told = gate.model_dump(mode="json", exclude={"soak"} if gate.soak is None else None)
    return GateFile(path.name, sha256_json(told), gate)


_PARTS: dict[str, type[Part]] = {
    "primary": PrimaryClaim,
    "primary_any_of": AnyOfClaim,
    "guards": Guard,
    "latency": Latency,
    "failures": Failures,
    "required_slices": RequiredSlices,
    "soak": SoakSection,
}
_SOAK_LIMITS = ("soak", "limits")


def _problem(detail: Any) -> Problem:
    path = detail["loc"]
    what = in_words(detail, "is not the name of an axis")
    if detail["type"] == "extra_forbidden":
        part = (
            Limits if path[:2] == _SOAK_LIMITS else _PARTS.get(str(path[0]), Gate) if len(path) > 1 else Gate
        )
        what = f"unknown option{suggestion(str(path[-1]), part.model_fields)}"
    return Problem(place_of(path) or "gate", what)
