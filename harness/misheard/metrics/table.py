"""The counts of a whole run: what scoring produces and what every estimate, table and file is made from."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard.failures import Failure
from misheard.metrics.base import Arm, Counts
from misheard.suite.items import ItemKind

TIMING_COLUMNS = (
    "audio_seconds",
    "recognize_seconds",
    "llm_seconds",
    "first_token_seconds",
    "prompt_tokens",
    "completion_tokens",
    "correct_seconds",
    "correct_prompt_tokens",
    "correct_completion_tokens",
    "plan_seconds",
    "render_seconds",
)
"""Measured figures per item and arm; NaN where there is none (cached, failed, not applicable)."""


@dataclass(frozen=True, slots=True)
class ItemInfo:
    """An item without its texts.

    `sha256` covers decoded audio and truth: two runs compare only where it agrees. `resampling_unit` is the
    session, or the item itself where none is given.
    """

    id: str
    kind: ItemKind
    session: str | None
    resampling_unit: str
    conditions: Mapping[str, str]
    sha256: str


@dataclass(frozen=True, slots=True)
class ArmTable:
    """All items in one arm, in suite order.

    Attributes:
        failures: per item, what went wrong in this arm, or None.
        counts: per family, Counts with one row per item.
        timings: per name in TIMING_COLUMNS, float64[n].
        flags: per name (such as `token_limit`, `repetition`, `answer_truncated`), bool[n]: recorded, never
            acted on.
    """

    arm: Arm
    failures: tuple[Failure | None, ...]
    counts: Mapping[str, Counts]
    timings: Mapping[str, npt.NDArray[np.float64]]
    flags: Mapping[str, npt.NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class CountTable:
    """Items and the arms that were run over them."""

    items: tuple[ItemInfo, ...]
    arms: Mapping[Arm, ArmTable]
