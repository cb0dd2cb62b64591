"""What a suite says once for all its items: `suite.yaml`, or nothing for the single-file form."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from misheard.errors import InputError
from misheard.suite.fields import LANGUAGE, SCRIPT, Fields
from misheard.suite.items import ItemKind
from misheard.suite.problems import Problems, shown
from misheard.text.scripts import expanded_scripts

MAX_TERMS, MAX_TERM_CHARACTERS = 500, 80
"""Of a language in the glossary: it goes into every prompt of a corrector that is told of it."""

_FIELDS = (
    "name",
    "version",
    "defaults",
    "conditions",
    "gate_axes",
    "primary",
    "abstentions",
    "char_scripts",
    "glossary",
)
_DEFAULT_FIELDS = ("kind", "language", "scripts", "session", "conditions")
_AXIS = re.compile(r"[a-z][a-z0-9_]{0,39}")
KIND = re.compile("|".join(ItemKind))
KIND_EXAMPLE = " or ".join(ItemKind)
LANGUAGE_EXAMPLE = "a language tag such as en"
SCRIPT_EXAMPLE = "a script code such as Latn"


@dataclass(frozen=True, slots=True)
class Shared:
    """The fields that items and defaults have in common; None where not given."""

    kind: ItemKind | None = None
    language: str | None = None
    scripts: tuple[str, ...] | None = None
    session: str | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Header:
    """The validated content of `suite.yaml`."""

    name: str
    version: str
    defaults: Shared = Shared()
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gate_axes: tuple[str, ...] = ()
    primary_metrics: Mapping[str, str] = field(default_factory=dict)
    abstentions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    char_scripts: tuple[str, ...] | None = None
    glossary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_header(record: Mapping[str, Any], where: str, problems: Problems) -> Header:
    """Validate what `suite.yaml` holds; wrong fields are noted and left out."""
    fields = Fields(record, _FIELDS, where, problems)
    for name in ("name", "version"):
        if not fields.given(name):
            fields.problem(f"{name} is missing")
    axes = _read_axes(fields)
    gate_axes = fields.texts("gate_axes") or ()
    for axis in gate_axes:
        if axis not in axes:
            fields.problem(
                f"gate_axes names the undeclared axis {shown(axis)}{fields.suggestion(axis, list(axes))}"
            )
    primary = fields.labels_by_name("primary")
    abstentions = fields.texts_by_name("abstentions")
    glossary = _read_glossary(fields)
    for name, by_language in (("primary", primary), ("abstentions", abstentions), ("glossary", glossary)):
        for language in by_language:
            if not LANGUAGE.fullmatch(language):
                fields.problem(f"{name} has the key {shown(language)}, which is not {LANGUAGE_EXAMPLE}")
    return Header(
        name=fields.label("name") or "",
        version=fields.label("version") or "",
        defaults=_read_defaults(record, axes, where, problems),
        axes=axes,
        gate_axes=gate_axes,
        primary_metrics=primary,
        abstentions=abstentions,
        char_scripts=_scripts(fields, "char_scripts"),
        glossary=glossary,
    )


def read_shared(fields: Fields, axes: Mapping[str, tuple[str, ...]]) -> Shared:
    """Validate the fields that items and defaults have in common."""
    kind = fields.code("kind", KIND, KIND_EXAMPLE)
    conditions = {
        axis: value
        for axis, value in fields.labels_by_name("conditions").items()
        if _is_declared(axis, value, axes, fields)
    }
    return Shared(
        kind=None if kind is None else ItemKind(kind),
        language=fields.code("language", LANGUAGE, LANGUAGE_EXAMPLE),
        scripts=_scripts(fields, "scripts"),
        session=fields.label("session"),
        conditions=conditions,
    )


def _scripts(fields: Fields, name: str) -> tuple[str, ...] | None:
    codes = fields.codes(name, SCRIPT, SCRIPT_EXAMPLE)
    try:
        expanded_scripts(codes or ())
    except InputError as error:
        fields.problem(f"{name}: {error}")
        return None
    return codes


def _is_declared(axis: str, value: str, axes: Mapping[str, tuple[str, ...]], fields: Fields) -> bool:
    if axis not in axes:
        fields.problem(
            f"conditions names the undeclared axis {shown(axis)}{fields.suggestion(axis, list(axes))}"
        )
        return False
    if value not in axes[axis]:
        hint = fields.suggestion(value, axes[axis])
        fields.problem(f"conditions gives {axis} the undeclared value {shown(value)}{hint}")
        return False
    return True


def _read_axes(fields: Fields) -> dict[str, tuple[str, ...]]:
    axes = fields.texts_by_name("conditions")
    for axis, values in axes.items():
        if not _AXIS.fullmatch(axis):
            fields.problem(f"conditions has the axis {shown(axis)}; use lower-case letters, digits and _")
        if not values:
            fields.problem(f"conditions declares no values for {shown(axis)}")
        if len(set(values)) < len(values):
            fields.problem(f"conditions declares a value of {shown(axis)} twice")
        if any(len(value) > 80 or not value.isprintable() for value in values):
            fields.problem(
                f"conditions has a value of {shown(axis)} that is not one line of 1 to 80 characters"
            )
    return axes


def _read_glossary(fields: Fields) -> dict[str, tuple[str, ...]]:
    glossary = fields.texts_by_name("glossary")
    for language, terms in glossary.items():
        where = f"glossary.{shown(language)[1:-1]}"
        if len(terms) > MAX_TERMS:
            fields.problem(f"{where} has {len(terms)} terms, more than {MAX_TERMS}")
        if len(set(terms)) < len(terms):
            fields.problem(f"{where} has a term twice")
        for place, term in enumerate(terms):
            if len(term) > MAX_TERM_CHARACTERS or not term.isprintable():
                fields.problem(f"{where}[{place}] is not one line of 1 to {MAX_TERM_CHARACTERS} characters")
    return glossary


def _read_defaults(
    record: Mapping[str, Any], axes: Mapping[str, tuple[str, ...]], where: str, problems: Problems
) -> Shared:
    defaults = record.get("defaults")
    if defaults is None:
        return Shared()
    if not isinstance(defaults, dict):
        problems.add(where, "defaults must be an object")
        return Shared()
    return read_shared(Fields(defaults, _DEFAULT_FIELDS, f"{where} defaults", problems), axes)
