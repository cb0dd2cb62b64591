"""What pydantic found wrong with a config, in the words of its file: options, sections and kinds."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from misheard.errors import Problem

Schema = Mapping[str, Any]

_SECTION = "must be a section with options (a mapping)"

_PLAIN_WORDS = {
    "tuple_type": "must be a list, such as [a, b]",
    "union_tag_not_found": "needs a kind",
    "missing": "is missing",
    "model_type": _SECTION,
    "model_attributes_type": _SECTION,
    "dict_type": _SECTION,
}


def describe(detail: Mapping[str, Any], schema: Schema) -> Problem:
    """Return one of pydantic's complaints in plain words; `schema` is the JSON schema of the whole config."""
    where = _place(detail["loc"], schema)
    what = _PLAIN_WORDS.get(detail["type"], detail["msg"].removeprefix("Value error, "))
    if detail["type"] == "union_tag_invalid":
        what = f"there is no kind {detail['ctx']['tag']!r}; use one of {detail['ctx']['expected_tags']}"
    if detail["type"] == "string_pattern_mismatch" and where == "scoring.response_scorer":
        what = "must be word_overlap_f1, or module:function of your own"
    if detail["type"] == "extra_forbidden":
        what = _unknown(detail["loc"], schema)
    return Problem(where, what)


def _unknown(location: Sequence[str | int], schema: Schema) -> str:
    """Say of an option that a section does not have whose it is, or which one is meant."""
    *path, option = map(str, location)
    kinds = _kinds(_at(path[:-1], schema), schema) if path else {}
    if path and path[-1] in kinds:
        others = [kind for kind, section in kinds.items() if option in section["properties"]]
        if others:
            return _of_another_kind(_place(location[:-1], schema), path[-1], others, kinds)
    known = _at(path, schema).get("properties", {})
    close = difflib.get_close_matches(option, known, n=1)
    return "unknown option" + (f"; did you mean {close[0]}?" if close else "")


def _of_another_kind(section: str, kind: str, others: Sequence[str], kinds: Mapping[str, Schema]) -> str:
    needs = "".join(f", {name}: ..." for name in kinds[kind].get("required", ()) if name != "kind")
    return (
        f"is an option of kind {' and '.join(others)}, not of {kind}; "
        f"to change the whole section: --set '{section}={{kind: {kind}{needs}}}'"
    )


def _place(location: Sequence[str | int], schema: Schema) -> str:
    """Return the dotted name of an option; the kind that pydantic puts behind a section is no part of it."""
    parts = []
    for index, name in enumerate(map(str, location)):
        if index == 0 or name not in _kinds(_at(list(map(str, location[:index])), schema), schema):
            parts.append(name)
    return ".".join(parts) or "config"


def _at(path: Sequence[str], schema: Schema) -> Schema:
    """Return the schema of what stands at `path`, kinds included; an empty one where there is none."""
    found = schema
    for name in path:
        kinds = _kinds(found, schema)
        found = kinds.get(name) or _resolved(found, schema).get("properties", {}).get(name, {})
    return _resolved(found, schema)


def _kinds(found: Schema, schema: Schema) -> dict[str, Schema]:
    """Return the schemas of a section by kind; none where it is of one kind only."""
    for choice in (found, *found.get("anyOf", ())):
        if mapping := choice.get("discriminator", {}).get("mapping"):
            return {kind: _resolved({"$ref": ref}, schema) for kind, ref in mapping.items()}
    return {}


def _resolved(found: Schema, schema: Schema) -> Schema:
    """Follow a reference, also that of a section that may be left out."""
    for choice in (found, *found.get("anyOf", ())):
        if "$ref" in choice:
            definition: Schema = schema["$defs"][choice["$ref"].rpartition("/")[2]]
            return definition
    return found
