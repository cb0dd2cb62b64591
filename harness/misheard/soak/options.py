"""Small YAML files of a soak: limits and mappings, with every problem at once and its place."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from misheard.errors import InputError, Problem, SoakError
from misheard.gate.options import Part, in_words, place_of
from misheard.strict_yaml import load_strict_file
from misheard.suite.problems import suggestion

_MAX_BYTES = 256 * 1024

_PATTERN = "is no name of a field, such as data.turn_id"

Whole = TypeVar("Whole", bound=Part)


def load_part(path: Path, kind: type[Whole], wanted: str) -> Whole:
    """Read a file that holds one part, as a whole.

    Args:
        path: YAML.
        kind: what it is.
        wanted: value of its key `format`.

    Raises SoakError with every problem, InputError where the file cannot be read or is no YAML mapping.
    """
    data = load_strict_file(path, _MAX_BYTES)
    if not isinstance(data, dict) or data.get("format") != wanted:
        raise InputError(f"{path}: must be a mapping with the key format: {wanted}")
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise SoakError(str(path), [_problem(detail, kind) for detail in error.errors()]) from error


def _problem(detail: Any, kind: type[Part]) -> Problem:
    path = detail["loc"]
    if detail["type"] == "extra_forbidden":
        what = "unknown option" + (suggestion(str(path[-1]), kind.model_fields) if len(path) == 1 else "")
    else:
        what = in_words(detail, _PATTERN)
    return Problem(place_of(path) or "file", what)
