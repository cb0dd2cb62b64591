"""The JSON schema that a reply is held to, as decoders take it."""

import json
from typing import Any


def reply_schema(schema: str) -> dict[str, Any]:
    """Return `Sampling.json_schema` with each object's properties in the order of its `required`.

    A decoder writes properties in the order of the schema, which canonical JSON has sorted: a plan's
    connections would come before the shapes that they join.
    """
    ordered: dict[str, Any] = _ordered(json.loads(schema))
    return ordered


def _ordered(value: Any) -> Any:
    if isinstance(value, list):
        return [_ordered(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    result = {name: _ordered(entry) for name, entry in value.items()}
    properties, required = result.get("properties"), result.get("required")
    if isinstance(properties, dict) and isinstance(required, list):
        first = {name: properties[name] for name in required if isinstance(name, str) and name in properties}
        result["properties"] = {**first, **properties}
    return result
