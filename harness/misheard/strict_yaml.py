"""YAML from hands that may be hostile: safe types, no tags, aliases, duplicate keys or deep nesting."""

from pathlib import Path
from typing import Any

import yaml

from misheard.errors import InputError

_MAX_DEPTH = 40
_MAX_SHOWN = 60


class RefusedError(yaml.YAMLError):
    """Valid YAML that is not allowed here; `problem_mark` says where."""

    def __init__(self, what: str, mark: Any) -> None:
        super().__init__(what)
        self.problem_mark = mark


class StrictLoader(yaml.SafeLoader):
    """A safe loader that refuses what nobody needs in a config and some can hurt with."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise RefusedError("anchors and aliases are not allowed", event.start_mark)
        if event.tag is not None:
            raise RefusedError("tags are not allowed", event.start_mark)
        if self.depth >= _MAX_DEPTH:
            raise RefusedError("nested too deeply", event.start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise RefusedError("a key is not text", key.start_mark)
            if key.value in seen:
                name = ascii(key.value[:_MAX_SHOWN])
                raise RefusedError(f"the key {name} appears twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load_strict(text: str) -> Any:
    """Return the one value of a YAML text.

    Raises yaml.YAMLError for what is no YAML or not allowed; its `problem_mark`, where there is one, says
    where. Numbers and dates that cannot be are errors too.
    """
    try:
        loader = StrictLoader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except (ValueError, OverflowError, RecursionError) as error:
        raise yaml.YAMLError("a number or date that cannot be") from error


def load_strict_file(path: Path, max_bytes: int) -> Any:
    """Return the one value of a YAML file. Raises InputError that says what is wrong with it, and where."""
    try:
        with path.open("rb") as file:
            raw = file.read(max_bytes + 1)  # a device does not say how much it holds
        if len(raw) > max_bytes:
            raise InputError(f"{path}: larger than {max_bytes} bytes")
        return load_strict(raw.decode("utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: {complaint(error)}") from error


def complaint(error: yaml.YAMLError) -> str:
    """Return what is wrong with a YAML text, and where."""
    mark = getattr(error, "problem_mark", None)
    place = "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"
    return f"{error}{place}" if isinstance(error, RefusedError) else f"not valid YAML{place}"
