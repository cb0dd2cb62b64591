"""What gate files and the small files of a soak share: closed parts, common values, problems in words."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from misheard.suite.problems import shown

_MAX_SECONDS = 86_400.0


class Part(BaseModel):
    """A part of such a file; unknown options are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _one_line(reason: str) -> str:
    if not (reason.isprintable() and reason.strip()):
        raise ValueError("a reason must be one line of text")
    return reason


Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(strict=True, gt=0.0, le=_MAX_SECONDS, allow_inf_nan=False)]
Span = Annotated[float, Field(strict=True, ge=0.0, le=_MAX_SECONDS, allow_inf_nan=False)]
Reason = Annotated[str, Field(strict=True, min_length=1, max_length=200), AfterValidator(_one_line)]

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


def in_words(detail: Mapping[str, Any], pattern: str) -> str:
    """Return one of pydantic's complaints in plain words.

    Args:
        detail: the complaint.
        pattern: what to say of a text that does not have the form that it must have.
    """
    words = pattern if detail["type"] == "string_pattern_mismatch" else _PLAIN_WORDS.get(detail["type"])
    if words is None:
        return str(detail["msg"]).removeprefix("Value error, ")
    return words.format_map(detail.get("ctx", {}))


def place_of(path: Sequence[int | str]) -> str:
    """Return where in a file something is, of the path that pydantic gives it: `guards[0].metric`."""
    # pydantic says where in a key something is wrong by a part of its own
    parts = [part for part in path if part != "[key]"]
    names = (f"[{part}]" if isinstance(part, int) else f".{shown(part)[1:-1]}" for part in parts)
    return "".join(names).removeprefix(".")
