"""The sets that a split divides a suite into, and which of them a loaded suite holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class SetName(StrEnum):
    """The sets of a split. An item is in exactly one."""

    HOLDOUT = "holdout"
    REGRESSION = "regression"
    ROLLING = "rolling"
    RESERVE = "reserve"
    RETIRED = "retired"


OpenSubset = Literal["open", "regression", "rolling", "unsealed"]
"""What can be loaded without an opening of the holdout."""

SETS_OF_SUBSET: Mapping[str, tuple[SetName, ...]] = {
    "open": (SetName.REGRESSION, SetName.ROLLING),
    "regression": (SetName.REGRESSION,),
    "rolling": (SetName.ROLLING,),
    "unsealed": (SetName.REGRESSION, SetName.ROLLING, SetName.RESERVE, SetName.RETIRED),
    "holdout": (SetName.HOLDOUT,),
}

_LEFT_OUT = {
    SetName.HOLDOUT: "sealed",
    SetName.REGRESSION: "in the regression set",
    SetName.ROLLING: "in the rolling set",
    SetName.RESERVE: "in reserve",
    SetName.RETIRED: "retired",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of a split suite was loaded.

    Attributes:
        subset: a key of `SETS_OF_SUBSET`.
        rotation: how often the rolling set has been rotated.
        counts: items per set of the whole suite.
        left_out: ids of the items that were not loaded, with their sets.
    """

    subset: str
    rotation: int
    counts: Mapping[SetName, int]
    left_out: Mapping[str, SetName]

    @property
    def sealed(self) -> int:
        """How many items the holdout has."""
        return self.counts[SetName.HOLDOUT]

    def note(self) -> str:
        """Return what was left out, such as `4 items sealed, 2 retired`; empty where that is nothing."""
        parts = [
            (self.counts[name], said)
            for name, said in _LEFT_OUT.items()
            if name not in SETS_OF_SUBSET[self.subset] and self.counts[name]
        ]
        if not parts:
            return ""
        (count, said), *rest = parts
        return ", ".join(
            [f"{count} item{'' if count == 1 else 's'} {said}", *(f"{n} {what}" for n, what in rest)]
        )
