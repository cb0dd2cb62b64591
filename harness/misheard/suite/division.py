"""How a split divides a suite, in numbers: items per set, and how evenly each condition is represented."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from misheard.errors import count_of
from misheard.suite.items import Item
from misheard.suite.selection import SetName
from misheard.suite.split import Split
from misheard.suite.splitting import MAX_HOLDOUT, MIN_HOLDOUT, strata_of

_NOT_MEASURED = (SetName.RETIRED,)


@dataclass(frozen=True, slots=True)
class Division:
    """Items per set, in all and per condition.

    Attributes:
        units: sessions, and items without one, per set.
        items: items per set.
        conditions: items per set of each stratum that has items, such as `noise=5dB`.
        warnings: what whole sessions could not balance.
    """

    units: Mapping[SetName, int]
    items: Mapping[SetName, int]
    conditions: Mapping[str, Mapping[SetName, int]]
    warnings: tuple[str, ...]


def divide(split: Split, items: Sequence[Item], axes: Mapping[str, Sequence[str]]) -> Division:
    """Count the items of every set and condition."""
    strata = strata_of(items, axes)
    names = [f"{axis}={value}" if axis else "" for axis, value in strata.names]
    table = {name: dict.fromkeys(SetName, 0) for name in names}
    for unit, counts in strata.counts.items():
        for name, count in zip(names, counts, strict=True):
            table[name][split.units[unit].set] += count
    total = table.pop("")
    units = {name: sum(unit.set is name for unit in split.units.values()) for name in SetName}
    conditions = {name: sets for name, sets in table.items() if sum(sets.values())}
    return Division(units, total, conditions, tuple(_warnings(total, conditions)))


def mixing_note(items: Iterable[Item]) -> str:
    """Return what whoever splits a suite has to know about the tiers that `misheard suite mix` derives."""
    if any(item.source is not None for item in items):
        return (
            "the suite that the tiers were mixed from has the recordings that are sealed here, and no seal: "
            "run and tune on the tiers alone"
        )
    return (
        "for noise tiers, mix first, then split the tiers: tiers mixed from this suite before have the "
        "recordings that are sealed now, and no seal; tiers mixed from now on lack them"
    )


def _warnings(total: Mapping[SetName, int], conditions: Mapping[str, Mapping[SetName, int]]) -> list[str]:
    out = []
    share = _share(total)
    if not MIN_HOLDOUT <= share <= MAX_HOLDOUT:
        out.append(f"the holdout has {share:.1%} of the items, not {MIN_HOLDOUT:.0%} to {MAX_HOLDOUT:.0%}")
    for name in (SetName.HOLDOUT, SetName.REGRESSION):
        absent = [
            f"{condition} ({count_of(sum(sets.values()), 'item')})"
            for condition, sets in conditions.items()
            if total[name] and not sets[name]
        ]
        if absent:
            out.append(f"the {name} set has nothing of {', '.join(absent)}")
    if not total[SetName.RESERVE]:
        out.append(
            "the reserve is empty, and misheard suite rotate takes from it: a split with --reserve keeps a "
            "share back, --extend --to reserve adds new items"
        )
    furthest = max(conditions, key=lambda c: abs(_share(conditions[c]) - share), default=None)
    if furthest is not None and _share(conditions[furthest]) != share:
        sets = conditions[furthest]
        out.append(
            f"furthest from the holdout's {share:.1%}: {furthest}, {sets[SetName.HOLDOUT]} of "
            f"{_present(sets)} items ({_share(sets):.1%})"
        )
    return out


def _present(sets: Mapping[SetName, int]) -> int:
    return sum(count for name, count in sets.items() if name not in _NOT_MEASURED)


def _share(sets: Mapping[SetName, int]) -> float:
    """Return the holdout's share of what is not retired."""
    present = _present(sets)
    return sets[SetName.HOLDOUT] / present if present else 0.0
