"""How long each stage took per item: quantiles of the times that were measured."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from misheard.metrics.base import Arm
from misheard.stats.exact import quantile, quantile_upper_bound

_QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
_PER_ITEM = (
    "recognize_seconds", "correct_seconds", "llm_seconds", "first_token_seconds", "plan_seconds",
    "render_seconds",
)  # fmt: skip
_TOKENS = ("correct_prompt_tokens", "correct_completion_tokens", "prompt_tokens", "completion_tokens")


def summarise_latencies(
    timings: Mapping[Arm, Mapping[str, npt.NDArray[np.float64]]],
) -> dict[str, dict[str, dict[str, float | int | None]]]:
    """Return per arm and timing its quantiles, and per arm and kind of tokens their sum.

    Args:
        timings: float64[n] per arm and name; NaN where an item has none. What was shared from another arm
            counts there alone.

    `p95_upper_bound` is the distribution-free 95 % bound of the 95th percentile, None for under 59 items.
    What no item has is left out.
    """
    return {str(arm): found for arm, columns in timings.items() if (found := _of_arm(columns))}


def _of_arm(columns: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, dict[str, float | int | None]]:
    found: dict[str, dict[str, float | int | None]] = {}
    for name in (*_PER_ITEM, *_TOKENS):
        values = columns[name][np.isfinite(columns[name])]
        if not values.size:
            continue
        if name in _TOKENS:
            found[name] = {"n": int(values.size), "sum": int(values.sum())}
        else:
            found[name] = {
                "n": int(values.size),
                **{label: quantile(values, probability) for label, probability in _QUANTILES},
                "p95_upper_bound": quantile_upper_bound(values),
            }
    return found
