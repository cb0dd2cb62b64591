"""Dividing a suite into a sealed holdout, a regression set, a reserve and the rolling rest.

By whole units (`misheard.suite.units`), stratified by every condition and by kind, and by seed alone: the
same items and seed give the same sets.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from misheard.errors import InputError, count_of
from misheard.suite.balancing import FloatArray, Target, choose_units
from misheard.suite.items import Item
from misheard.suite.selection import SetName
from misheard.suite.split import Split, Unit
from misheard.suite.units import units_of

MIN_HOLDOUT, MAX_HOLDOUT = 0.05, 0.10


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of a suite's items that the sets should have; the rolling set is the rest."""

    holdout: float = 0.07
    regression: float = 0.2
    reserve: float = 0.0


@dataclass(frozen=True, slots=True)
class Strata:
    """Items per unit and stratum. Stratum 0 is all items; the others are the kinds and the axes' values."""

    names: tuple[tuple[str, str], ...]
    counts: Mapping[str, tuple[int, ...]]

    def totals(self, units: Iterable[str]) -> FloatArray:
        """Return the items of some units per stratum, float64[strata]."""
        rows = [self.counts[unit] for unit in units]
        sums: FloatArray = np.array(rows, dtype=np.float64).reshape(len(rows), len(self.names)).sum(axis=0)
        return sums


def strata_of(items: Sequence[Item], axes: Mapping[str, Sequence[str]]) -> Strata:
    """Count the items of every unit by kind and by each condition."""
    names = [("", "all items"), ("kind", "speech"), ("kind", "non_speech")]
    names += [(axis, value) for axis, values in axes.items() for value in values]
    places = {name: index for index, name in enumerate(names)}
    known = {item.id: item for item in items}
    counts = {}
    for unit, ids in units_of(items).items():
        row = [0] * len(names)
        for identifier in ids:
            item = known[identifier]
            row[0] += 1
            row[places["kind", str(item.kind)]] += 1
            for axis, value in item.conditions.items():
                row[places[axis, value]] += 1
        counts[unit] = tuple(row)
    return Strata(tuple(names), counts)


def split_items(items: Sequence[Item], axes: Mapping[str, Sequence[str]], shares: Shares, seed: int) -> Split:
    """Divide items into sets.

    Raises InputError where the shares cannot be, or where no whole sessions with 5 to 10 % of the items are
    found.
    """
    _check_shares(shares)
    strata = strata_of(items, axes)
    members = units_of(items)
    all_items = strata.totals(members)
    free = dict(strata.counts)
    sets: dict[str, SetName] = {}
    wanted = [
        (SetName.HOLDOUT, shares.holdout, MIN_HOLDOUT, MAX_HOLDOUT),
        (SetName.REGRESSION, shares.regression, 0.0, 1.0),
        (SetName.RESERVE, shares.reserve, 0.0, 1.0),
    ]
    for name, share, lowest, highest in wanted:
        target = Target(all_items * share, lowest * all_items[0], highest * all_items[0])
        chosen = choose_units(free, target, seed, name)
        if name is SetName.HOLDOUT:
            _check_holdout(strata.totals(chosen)[0], all_items[0], strata)
        sets.update(dict.fromkeys(chosen, name))
        for unit in chosen:
            del free[unit]
    if not free:
        raise InputError(
            "nothing is left for the rolling set; ask for smaller shares, or record more sessions"
        )
    units = {unit: Unit(sets.get(unit, SetName.ROLLING), ids) for unit, ids in members.items()}
    return Split(
        seed,
        {"holdout": shares.holdout, "regression": shares.regression, "reserve": shares.reserve},
        0,
        units,
    )


def _check_shares(shares: Shares) -> None:
    if not MIN_HOLDOUT <= shares.holdout <= MAX_HOLDOUT:
        raise InputError(f"--holdout {shares.holdout:g}: must be from {MIN_HOLDOUT} to {MAX_HOLDOUT}")
    for name, share in (("regression", shares.regression), ("reserve", shares.reserve)):
        if not 0 <= share < 1:
            raise InputError(f"--{name} {share:g}: must be at least 0 and below 1")
    taken = shares.holdout + shares.regression + shares.reserve
    if taken >= 1:
        raise InputError(
            f"--holdout, --regression and --reserve make {taken:g}; the rolling set needs a share"
        )


def _check_holdout(items: float, of: float, strata: Strata) -> None:
    if MIN_HOLDOUT * of <= items <= MAX_HOLDOUT * of:
        return
    smallest = min(row[0] for row in strata.counts.values())
    raise InputError(
        f"no whole sessions with {MIN_HOLDOUT:.0%} to {MAX_HOLDOUT:.0%} of the items are found: the nearest "
        f"have {items:.0f} of {of:.0f} items, and the smallest of {count_of(len(strata.counts), 'session')} "
        f"has {smallest}. A holdout takes about {round(1 / MAX_HOLDOUT)} sessions or more of similar size: "
        "record other speakers, rooms or microphones, and run the suite whole until then. Do not cut "
        "sessions up: parts of one are not independent, and would stand on both sides of the seal"
    )


def extend_split(
    split: Split, items: Sequence[Item], to: SetName
) -> tuple[Split, tuple[str, ...], tuple[str, ...]]:
    """Put the units that a split does not know into a set; take off what is gone from the suite.

    No item that has a set gets another. Returns the new split, the ids that were put into a set, and the ids
    that were taken off. Raises InputError where an item is in another session than before.
    """
    members = units_of(items)
    listed = {identifier: name for name, unit in split.units.items() for identifier in unit.items}
    moved = [i for name, ids in members.items() for i in ids if listed.get(i, name) != name]
    if moved:
        raise InputError(
            f"item {moved[0]} is in another session than when the suite was split "
            f"({count_of(len(moved), 'such item')}); "
            "put the session back, or remove the split and split anew"
        )
    units = {}
    for name, ids in members.items():
        known = split.units.get(name)
        units[name] = Unit(to, ids, split.rotation) if known is None else replace(known, items=ids)
    added = tuple(i for ids in members.values() for i in ids if i not in listed)
    present = {i for ids in members.values() for i in ids}
    return replace(split, units=units), added, tuple(i for i in listed if i not in present)
