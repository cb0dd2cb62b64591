"""Pairing by item id: two tables over identical suites, brought into one order."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from misheard.errors import NotComparableError
from misheard.metrics.base import Counts
from misheard.metrics.table import ArmTable, CountTable, ItemInfo

MAX_NAMED_IDS = 20


def check_same_items(a: Sequence[ItemInfo], b: Sequence[ItemInfo]) -> None:
    """Raise NotComparableError unless both lists hold the same ids with the same audio and truth."""
    hashes_a = {item.id: item.sha256 for item in a}
    hashes_b = {item.id: item.sha256 for item in b}
    kinds = {
        "only in A": sorted(hashes_a.keys() - hashes_b.keys()),
        "only in B": sorted(hashes_b.keys() - hashes_a.keys()),
        "other audio or truth": sorted(
            identifier
            for identifier in hashes_a.keys() & hashes_b.keys()
            if hashes_a[identifier] != hashes_b[identifier]
        ),
    }
    if any(kinds.values()):
        lines = [f"  {kind} ({len(ids)}): {named_ids(ids)}" for kind, ids in kinds.items() if ids]
        raise NotComparableError(
            "the two runs are not over the same items; run both systems over one version of the suite\n"
            + "\n".join(lines)
        )


def named_ids(ids: Sequence[str]) -> str:
    """Return ids for a message: the first MAX_NAMED_IDS, and how many more."""
    named = ", ".join(ids[:MAX_NAMED_IDS])
    more = len(ids) - MAX_NAMED_IDS
    return f"{named} and {more} more" if more > 0 else named


def reorder(table: CountTable, items: Sequence[ItemInfo]) -> CountTable:
    """Return the table with its rows in the order of `items`, which has the same ids."""
    places = {item.id: place for place, item in enumerate(table.items)}
    order = np.array([places[item.id] for item in items], dtype=np.intp)
    return CountTable(
        items=tuple(table.items[place] for place in order),
        arms={name: _reorder_arm(arm, order) for name, arm in table.arms.items()},
    )


def _reorder_arm(arm: ArmTable, order: npt.NDArray[np.intp]) -> ArmTable:
    return ArmTable(
        arm=arm.arm,
        failures=tuple(arm.failures[place] for place in order),
        counts={name: Counts(c.values[order], c.present[order]) for name, c in arm.counts.items()},
        timings={name: values[order] for name, values in arm.timings.items()},
        flags={name: values[order] for name, values in arm.flags.items()},
    )
