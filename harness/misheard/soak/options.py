"""Small YAML files of a soak: limits and mappings, with every problem at once and its place."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from misheard.errors import InputError, Problem, SoakError
from misheard.strict_yaml import load_strict_file
from misheard.suite.problems import shown, suggestion

_MAX_BYTES = 256 * 1024

_PLAIN_WORDS = {
    "missing": "is missing",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "tuple_type": "must be a list",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "string_type": "must be text",
    "finite_number": "must be a finite number",
    "string_pattern_mismatch": "is no name of a field, such as data.turn_id",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "greater_than": "must be over {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must have at least {min_length} entry",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
}


class Part(BaseModel):
    """A part of such a file; unknown options are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


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
    words = _PLAIN_WORDS.get(detail["type"])
    if detail["type"] == "extra_forbidden":
        what = "unknown option" + (suggestion(str(path[-1]), kind.model_fields) if len(path) == 1 else "")
    elif words is not None:
        what = words.format_map(detail.get("ctx", {}))
    else:
        what = detail["msg"].removeprefix("Value error, ")
    return Problem(".".join(shown(str(part))[1:-1] for part in path) or "file", what)
