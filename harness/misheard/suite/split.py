"""`split.json`: which unit of a suite is in which set.

    {"format": "misheard-split", "format_version": 1, "seed": 7,
     "shares": {"holdout": 0.07, "regression": 0.2, "reserve": 0.0}, "rotation": 0,
     "units": {"session:anna": {"set": "holdout", "items": ["q01", "q02"], "rotation": 0},
               "item:n01": {"set": "rolling", "items": ["n01"], "rotation": 0}}}

Units carry the ids of their items, so that an item whose session is edited is noticed instead of moved to
another set. A unit's `rotation` is the one that brought it to its set. There is no text of items here.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.canonical import write_atomic
from misheard.errors import counted
from misheard.suite.item_reader import ID
from misheard.suite.items import Item
from misheard.suite.problems import Problems, shown, suggestion
from misheard.suite.selection import SetName
from misheard.suite.sources import read_json
from misheard.suite.units import units_of

FORMAT, FORMAT_VERSION = "misheard-split", 1
SHARES = ("holdout", "regression", "reserve")
MAX_SEED = 2**63 - 1
_MAX_ROTATION = 1_000_000
_FIELDS = ("format", "format_version", "seed", "shares", "rotation", "units")
_UNIT_FIELDS = ("set", "items", "rotation")
_MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class Unit:
    """A session, or an item without one: its set, its items, and the rotation that brought it there."""

    set: SetName
    items: tuple[str, ...]
    rotation: int = 0


@dataclass(frozen=True, slots=True)
class Split:
    """An assignment of units to sets. `shares` are those asked for when it was made."""

    seed: int
    shares: Mapping[str, float]
    rotation: int
    units: Mapping[str, Unit]

    def document(self) -> dict[str, Any]:
        """Return `split.json` as JSON values."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "seed": self.seed,
            "shares": dict(self.shares),
            "rotation": self.rotation,
            "units": {
                name: {"set": str(unit.set), "items": list(unit.items), "rotation": unit.rotation}
                for name, unit in self.units.items()
            },
        }


def write_split(path: Path, split: Split) -> None:
    """Replace `split.json`, a unit a line."""
    document = split.document()
    units = document.pop("units")
    head = json.dumps(document, sort_keys=True)[:-1]
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(units[name])}" for name in sorted(units))
    write_atomic(path, f'{head},\n "units": {{\n{lines}\n }}}}\n')


def read_split(path: Path, problems: Problems) -> Split | None:
    """Read `split.json`; None, with every problem noted, where it is not one."""
    document = read_json(path, problems)
    if document is None:
        return None
    before = problems.count
    reader = _Reader(path.name, problems)
    split = reader.split(document)
    return split if problems.count == before else None


class _Reader:
    """Validates a document field by field."""

    def __init__(self, name: str, problems: Problems) -> None:
        self._name, self._problems = name, problems

    def _problem(self, what: str) -> None:
        self._problems.add(self._name, what)

    def split(self, document: Any) -> Split | None:
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            self._problem("was not written by misheard suite split")
            return None
        if document.get("format_version") != FORMAT_VERSION:
            self._problem(f"is not of the version {FORMAT_VERSION} that this misheard reads")
            return None
        self._known(document, _FIELDS, "")
        rotation = self._integer(document, "rotation", _MAX_ROTATION, "")
        return Split(
            seed=self._integer(document, "seed", MAX_SEED, ""),
            shares=self._shares(document.get("shares")),
            rotation=rotation,
            units=self._units(document.get("units"), rotation),
        )

    def _known(self, record: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        for name in record:
            if name not in known:
                self._problem(f"{where}unknown field {shown(name)}{suggestion(name, known)}")

    def _integer(self, record: Mapping[str, Any], name: str, most: int, where: str) -> int:
        value = record.get(name)
        if type(value) is not int or not 0 <= value <= most:
            self._problem(f"{where}{name} must be a whole number from 0 to {most}")
            return 0
        return value

    def _shares(self, shares: Any) -> dict[str, float]:
        if not isinstance(shares, dict) or set(shares) != set(SHARES):
            self._problem(f"shares must give {', '.join(SHARES)}")
            return {}
        wrong = [
            name for name in SHARES if type(shares[name]) not in (int, float) or not 0 <= shares[name] <= 1
        ]
        for name in wrong:
            self._problem(f"shares: {name} must be a number from 0 to 1")
        return {} if wrong else {name: float(shares[name]) for name in SHARES}

    def _units(self, units: Any, rotation: int) -> dict[str, Unit]:
        if not isinstance(units, dict):
            self._problem("units must be an object")
            return {}
        owners: dict[str, str] = {}
        out = {}
        for name, record in units.items():
            where = f"unit {shown(name)}: "
            if not name.startswith(("session:", "item:")):
                self._problem(f"{where}must be called session:NAME or item:ID")
            if not isinstance(record, dict):
                self._problem(f"{where}must be an object")
                continue
            self._known(record, _UNIT_FIELDS, where)
            since = self._integer(record, "rotation", rotation, where)
            out[name] = Unit(self._set(record.get("set"), where), self._items(record, where), since)
            for identifier in out[name].items:
                if owners.setdefault(identifier, name) != name:
                    self._problem(f"{where}item {identifier} is in {shown(owners[identifier])} too")
        return out

    def _set(self, name: Any, where: str) -> SetName:
        try:
            return SetName(name)
        except ValueError:
            self._problem(f"{where}set must be one of {', '.join(SetName)}")
            # Whatever cannot be read is sealed, until the problem ends the loading anyway.
            return SetName.HOLDOUT

    def _items(self, record: Mapping[str, Any], where: str) -> tuple[str, ...]:
        items = record.get("items")
        valid = isinstance(items, list) and all(isinstance(i, str) and ID.fullmatch(i) for i in items)
        if not isinstance(items, list) or not valid or not items or len(set(items)) < len(items):
            self._problem(f"{where}items must be a list of different ids")
            return ()
        return tuple(items)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A split laid over the items of a suite.

    Attributes:
        sets: the set of every item whose unit the split knows and lists it in.
        unassigned: ids of the items whose units are new.
        gone: ids that the split lists and the suite lacks.
        moved: ids whose unit is not the one that the split lists them in.
    """

    sets: Mapping[str, SetName]
    unassigned: tuple[str, ...]
    gone: tuple[str, ...]
    moved: tuple[str, ...]


def assign(split: Split, items: Iterable[Item]) -> Assignment:
    """Lay a split over items. A new item of a known unit is in that unit's set."""
    listed = {identifier: name for name, unit in split.units.items() for identifier in unit.items}
    sets: dict[str, SetName] = {}
    unassigned: list[str] = []
    moved: list[str] = []
    found: set[str] = set()
    for name, ids in units_of(items).items():
        found.update(ids)
        moved.extend(identifier for identifier in ids if listed.get(identifier, name) != name)
        if name in split.units:
            sets.update(dict.fromkeys(ids, split.units[name].set))
        else:
            unassigned.extend(ids)
    gone = tuple(identifier for identifier in listed if identifier not in found)
    for identifier in moved:
        sets.pop(identifier, None)
    return Assignment(sets, tuple(unassigned), gone, tuple(moved))


def note_misfits(assignment: Assignment, name: str, problems: Problems) -> None:
    """Note where a split and its suite do not fit together."""
    if assignment.moved:
        problems.add(
            name,
            f"{_counted(assignment.moved)} in another session than when the suite was split: "
            f"{named(assignment.moved)}; put the session back, or remove {name} and split anew",
        )
    unassigned = [i for i in assignment.unassigned if i not in set(assignment.moved)]
    if unassigned:
        problems.add(
            name,
            f"{_counted(unassigned)} in no set: {named(unassigned)}; "
            "put new items into one with misheard suite split SUITE --extend",
        )
    if assignment.gone:
        problems.add(
            name,
            f"{_counted(assignment.gone)} gone from the suite: {named(assignment.gone)}; "
            "bring them back, or take them off the split with misheard suite split SUITE --extend",
        )


def named(ids: Sequence[str]) -> str:
    """Return up to 20 ids, and how many more there are."""
    more = len(ids) - _MAX_NAMED
    return ", ".join(ids[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _counted(ids: Sequence[str]) -> str:
    return counted(len(ids), "item is", "items are")
