"""What a split keeps together: the items of a session, and what was derived from one recording."""

from collections.abc import Iterable

from misheard.suite.items import Item


def units_of(items: Iterable[Item]) -> dict[str, tuple[str, ...]]:
    """Return the ids of each unit, units and ids in suite order.

    A unit is a session; an item without one is a unit of its own. An item derived from another
    (`misheard suite mix`) belongs to its source's unit, because both have the same reference. Where a
    derived item has another session than its source, the two sessions are one unit, named after the first.
    """
    items = list(items)
    known = {item.id: item for item in items}
    joined: dict[str, str] = {}

    def leader(unit: str) -> str:
        while unit in joined:
            unit = joined[unit]
        return unit

    for item in items:
        source = known.get(item.source) if item.source is not None else None
        if source is not None:
            first, second = leader(source.resampling_unit), leader(item.resampling_unit)
            if first != second:
                joined[second] = first
    members: dict[str, list[str]] = {}
    for item in items:
        members.setdefault(leader(item.resampling_unit), []).append(item.id)
    return {unit: tuple(ids) for unit, ids in members.items()}
