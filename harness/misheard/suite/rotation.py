"""Rotating the rolling set: some of its sessions retire, as many items enter from the reserve.

The regression set and the holdout stay as they are. What retires is chosen so that every condition loses the
same share of its items, what enters so that every condition gets back what it lost.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from misheard.errors import InputError, counted
from misheard.suite.balancing import FloatArray, Target, choose_units
from misheard.suite.items import Item
from misheard.suite.selection import SetName
from misheard.suite.split import Split, Unit
from misheard.suite.splitting import Strata, strata_of


@dataclass(frozen=True, slots=True)
class Rotation:
    """A rotated split, and the units that changed their set; those in `returned` were retired before."""

    split: Split
    retired: tuple[str, ...]
    entered: tuple[str, ...]
    returned: tuple[str, ...]


def rotate(
    split: Split,
    items: Sequence[Item],
    axes: Mapping[str, Sequence[str]],
    *,
    share: float,
    seed: int,
    reuse: bool = False,
) -> Rotation:
    """Replace a share of the rolling set.

    With `reuse`, what was retired comes back where the reserve is not enough, what rested longest first.
    Raises InputError where the share cannot be, or where too few items are there to enter.
    """
    if not 0 < share <= 1:
        raise InputError(f"--share {share:g}: must be above 0 and at most 1")
    strata = strata_of(items, axes)
    rolling = _units(split, SetName.ROLLING)
    number = split.rotation + 1
    retired = _retiring(split, strata, share, seed)
    if not rolling:
        raise InputError(
            "the rolling set has no items to replace; put new ones into it with misheard suite split SUITE "
            "--extend"
        )
    if not retired:
        smallest = min(strata.counts[unit][0] for unit in rolling)
        raise InputError(
            f"--share {share:g}: comes to no whole session, since the smallest of the rolling set has "
            f"{smallest} of its {strata.totals(rolling)[0]:.0f} items; ask for more"
        )
    entered = _entering(split, strata, retired, seed, reuse=reuse)
    returned = tuple(unit for unit in entered if split.units[unit].set is SetName.RETIRED)
    units = dict(split.units)
    units |= {unit: _moved(units[unit], SetName.RETIRED, number) for unit in retired}
    units |= {unit: _moved(units[unit], SetName.ROLLING, number) for unit in entered}
    return Rotation(replace(split, rotation=number, units=units), retired, entered, returned)


def _entering(
    split: Split, strata: Strata, retired: Sequence[str], seed: int, *, reuse: bool
) -> tuple[str, ...]:
    """Return the units that take the place of those that retire."""
    lost = strata.totals(retired)
    pool = list(_units(split, SetName.RESERVE))
    rested = sorted(_units(split, SetName.RETIRED), key=lambda unit: (split.units[unit].rotation, unit))
    have = strata.totals(pool)[0]
    while reuse and have < lost[0] and rested:
        since = split.units[rested[0]].rotation
        back = [unit for unit in rested if split.units[unit].rotation == since]
        pool += back
        rested = rested[len(back) :]
        have = strata.totals(pool)[0]
    if have < lost[0]:
        raise InputError(
            f"{counted(round(lost[0]), 'item is', 'items are')} to be replaced, and "
            f"{counted(round(have), 'is', 'are')} in reserve"
            f"{' or retired' if reuse else ''}: {_ways_out(split, strata, seed, have, rested)}"
        )
    return choose_units(
        {unit: strata.counts[unit] for unit in pool},
        _exactly(lost),
        seed,
        f"enter:{split.rotation + 1}",
    )


def _ways_out(split: Split, strata: Strata, seed: int, have: float, rested: Sequence[str]) -> str:
    """Return what can be done about a reserve of `have` items that is not enough; `rested` may come back."""
    ways = ["add recordings, and put them there with misheard suite split SUITE --extend --to reserve"]
    if rested:
        ways.append("bring retired items back with --reuse")
    if not split.rotation and not split.shares["reserve"]:
        ways.append(
            "where nothing has been run over the sets yet, remove the split and make one with --reserve 0.2"
        )
    if share := _possible_share(split, strata, seed, have):
        ways.append(f"ask for --share {share:.2f}")
    return "; or ".join(ways)


def _possible_share(split: Split, strata: Strata, seed: int, have: float) -> float | None:
    """Return the largest share in hundredths whose whole sessions `have` items replace; None without one."""
    rolling = _units(split, SetName.ROLLING)
    for percent in range(math.floor(100 * have / strata.totals(rolling)[0]), 0, -1):
        retired = _retiring(split, strata, percent / 100, seed)
        if retired and strata.totals(retired)[0] <= have:
            return percent / 100
    return None


def _retiring(split: Split, strata: Strata, share: float, seed: int) -> tuple[str, ...]:
    """Return the units of the rolling set that retire."""
    rolling = _units(split, SetName.ROLLING)
    target = _exactly(strata.totals(rolling) * share)
    return choose_units({u: strata.counts[u] for u in rolling}, target, seed, f"retire:{split.rotation + 1}")


def _exactly(items: FloatArray) -> Target:
    """Return a target whose number of items comes before its strata."""
    return Target(items, items[0], items[0])


def _units(split: Split, name: SetName) -> tuple[str, ...]:
    return tuple(unit for unit, record in split.units.items() if record.set is name)


def _moved(unit: Unit, name: SetName, rotation: int) -> Unit:
    return replace(unit, set=name, rotation=rotation)
