"""What changed between two states of a suite: additions, which are allowed, and edits, each by its name.

Names, ids and sets are said; nothing of a text is known here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misheard.errors import Problem
from misheard.suite.lock import ASPECTS, PLAN, Lock
from misheard.suite.problems import shown

_MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs in B. `allowed` takes nothing away from what A measured; `edits` may."""

    allowed: tuple[Problem, ...]
    edits: tuple[Problem, ...]

    @property
    def added_items(self) -> tuple[str, ...]:
        """Ids of the items that only B has."""
        return tuple(change.where.removeprefix("item ") for change in self.allowed if change.what == _ADDED)

    def named_edits(self) -> str:
        """Return the first edits in one line each, and how many more there are."""
        lines = [f"  {edit}" for edit in self.edits[:_MAX_NAMED]]
        more = len(self.edits) - _MAX_NAMED
        return "\n".join([*lines, *([f"  and {more} more"] if more > 0 else [])])


_ADDED = "added"


def changes_between(a: Lock, b: Lock, *, audio: bool = True) -> Changes:
    """Return what changed from A to B. With `audio` False recordings are not looked at."""
    found = _Found()
    _compare_headers(a, b, found)
    _compare_splits(a.split, b.split, found)
    _compare_openings(a.openings, b.openings, found)
    aspects = [aspect for aspect in (*ASPECTS, PLAN) if audio or aspect != "audio"]
    both_split = a.split is not None and b.split is not None
    for name in sorted({*a.items, *b.items}):
        _compare_item(name, a.items.get(name), b.items.get(name), aspects, both_split, found)
    return Changes(tuple(found.allowed), tuple(found.edits))


class _Found:
    """Changes as they are found."""

    def __init__(self) -> None:
        self.allowed: list[Problem] = []
        self.edits: list[Problem] = []

    def allow(self, where: str, what: str) -> None:
        self.allowed.append(Problem(where, what))

    def edit(self, where: str, what: str) -> None:
        self.edits.append(Problem(where, what))


def _compare_item(
    name: str,
    old: Mapping[str, str | None] | None,
    new: Mapping[str, str | None] | None,
    aspects: Sequence[str],
    both_split: bool,
    found: _Found,
) -> None:
    where = f"item {name}"
    if old is None:
        found.allow(where, _ADDED)
        return
    if new is None:
        found.edit(where, "removed")
        return
    changed = [aspect for aspect in aspects if old.get(aspect) != new.get(aspect)]
    if changed == ["audio"] and new["audio"] is None:
        found.edit(where, "the recording is not there")
    elif changed:
        found.edit(where, f"{', '.join(changed)} changed")
    if both_split and old["set"] != new["set"]:
        found.edit(where, f"moved from {old['set']} to {new['set']}")


def _compare_headers(a: Lock, b: Lock, found: _Found) -> None:
    for name, old, new in (("name", a.name, b.name), ("version", a.version, b.version)):
        if old != new:
            found.allow("header", f"{name} {shown(old)} is now {shown(new)}")
    _compare_axes(a.header["axes"], b.header["axes"], found)
    for name in ("primary_metrics", "abstentions", "glossary"):
        _compare_by_language(name, a.header, b.header, found)
    for name in ("gate_axes", "char_scripts"):
        if a.header[name] != b.header[name]:
            found.edit("header", f"{name} changed")


def _compare_axes(old: Mapping[str, list[str]], new: Mapping[str, list[str]], found: _Found) -> None:
    for axis in sorted({*old, *new}):
        if axis not in old:
            found.allow("header", f"axis {shown(axis)} added")
        elif axis not in new:
            found.edit("header", f"axis {shown(axis)} removed")
        else:
            for value in sorted({*new[axis]} - {*old[axis]}):
                found.allow("header", f"value {shown(value)} of the axis {shown(axis)} added")
            for value in sorted({*old[axis]} - {*new[axis]}):
                found.edit("header", f"value {shown(value)} of the axis {shown(axis)} removed")


def _compare_by_language(name: str, a: Mapping[str, Any], b: Mapping[str, Any], found: _Found) -> None:
    """Compare what is said per language. For a language that no item had it is an addition, else an edit."""
    before, after = a.get(name, {}), b.get(name, {})
    for language in sorted({*before, *after}):
        old, new = before.get(language), after.get(language)
        if old is None and language not in a["languages"]:
            found.allow("header", f"{name} of {shown(language)} added")
        elif old != new:
            found.edit("header", f"{name} of {shown(language)} changed")


def _compare_splits(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, found: _Found) -> None:
    if old is None and new is not None:
        found.edit("split", "the suite was split")
    elif old is not None and new is None:
        found.edit("split", "removed")
    elif old is not None and new is not None and old != new:
        rotated = {**old, "rotation": None} == {**new, "rotation": None}
        what = (
            f"rotated from {old['rotation']} to {new['rotation']}" if rotated else "the suite was split anew"
        )
        found.edit("split", what)


def _compare_openings(old: Sequence[str], new: Sequence[str], found: _Found) -> None:
    if list(new[: len(old)]) != list(old):
        found.edit("openings", "entries of the log were removed or edited")
    elif len(new) > len(old):
        count = len(new) - len(old)
        found.allow("openings", f"{count} {'entry' if count == 1 else 'entries'} added")
