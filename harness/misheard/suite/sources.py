"""Reading JSON, JSON lines and YAML that others wrote: bounded, strict, no text of theirs in messages."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from misheard.audio.files import open_regular
from misheard.strict_yaml import RefusedError, StrictLoader
from misheard.suite.problems import Problems, shown

MAX_JSONL_BYTES = 512 << 20
MAX_JSON_BYTES = 64 << 20
MAX_YAML_BYTES = 256 << 10
MAX_LINE_BYTES = 1 << 20

_BOM = b"\xef\xbb\xbf"


def read_json(path: Path, problems: Problems) -> Any:
    """Return the value of a JSON file; None, with the problem noted, where there is none."""
    raw = _read_bounded(path, MAX_JSON_BYTES, problems)
    return None if raw is None else parse_json(raw.removeprefix(_BOM), path.name, problems)


def read_json_lines(path: Path, problems: Problems) -> Iterator[tuple[str, Any]]:
    """Yield (`items.jsonl:12`, value) for every line that is JSON; note the others. Skips blank lines."""
    try:
        with open_regular(path) as file:
            size = 0
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                size += len(line)
                where = f"{path.name}:{number}"
                if size > MAX_JSONL_BYTES:
                    problems.add(
                        where, f"the file has more than {MAX_JSONL_BYTES >> 20} MiB; split the suite"
                    )
                    return
                if len(line) > MAX_LINE_BYTES:
                    problems.add(
                        where, f"the line has more than {MAX_LINE_BYTES >> 20} MiB; not read any further"
                    )
                    return
                line = line.removeprefix(_BOM) if number == 1 else line
                if line.strip():
                    value = parse_json(line, where, problems)
                    if value is not None:
                        yield where, value
    except OSError as error:
        problems.add(path.name, f"cannot be read: {error.strerror}")


def read_yaml(path: Path, problems: Problems) -> Any:
    """Return the value of a YAML file, in which every scalar is text; None, with the problem noted.

    Text only, because YAML would make a number of version 1.10 and `false` of the language `no`. Tags,
    anchors, aliases and duplicate keys are refused.
    """
    raw = _read_bounded(path, MAX_YAML_BYTES, problems)
    text = None if raw is None else _decode(raw.removeprefix(_BOM), path.name, problems)
    if text is None:
        return None
    try:
        loader = _TextLoader(text)
        try:
            value = loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path.name}:{mark.line + 1}" if mark is not None else path.name
        detail = str(error) if isinstance(error, RefusedError) else "not valid YAML"
        problems.add(place, detail)
        return None
    if value is None:
        problems.add(path.name, "the file is empty")
    return value


class _TextLoader(StrictLoader):
    """A strict loader without implicit types."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (a class attribute of PyYAML)

    def construct_scalar(self, node: Any) -> Any:
        # `key:` without a value
        return None if node.value == "" and node.style is None else super().construct_scalar(node)


class _RefusedValueError(ValueError):
    """JSON that Python would read, but a manifest may not hold."""


def parse_json(raw: bytes, where: str, problems: Problems) -> Any:
    """Return the value of JSON in UTF-8, no key twice, no NaN; None, with the problem noted, for others."""
    text = _decode(raw, where, problems)
    if text is None:
        return None
    text = text.rstrip(" \t\r\n")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno} " if "\n" in text else ""
        problems.add(where, f"not valid JSON at {line}column {error.colno}: {error.msg}")
    except _RefusedValueError as error:
        problems.add(where, str(error))
    except ValueError:
        problems.add(where, "a number has too many digits")
    except RecursionError:
        problems.add(where, "nested too deeply")
    else:
        if value is None:
            problems.add(where, "is null, not an object")
        return value
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _RefusedValueError(f"the key {shown(twice)} appears twice")
    return value


def _refuse_constant(name: str) -> Any:
    raise _RefusedValueError(f"{name} is not JSON")


def _read_bounded(path: Path, limit: int, problems: Problems) -> bytes | None:
    try:
        with open_regular(path) as file:
            raw = file.read(limit + 1)
    except OSError as error:
        problems.add(path.name, f"cannot be read: {error.strerror}")
        return None
    if len(raw) > limit:
        problems.add(path.name, f"the file has more than {limit} bytes")
        return None
    return raw


def _decode(raw: bytes, where: str, problems: Problems) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        lines_before = raw.count(b"\n", 0, error.start)
        column = error.start - raw.rfind(b"\n", 0, error.start)
        problems.add(
            where, f"not UTF-8 at {f'line {lines_before + 1}, ' if lines_before else ''}byte {column}"
        )
        return None
