"""One row of an edit-distance table at a time, with numpy.

A row holds the lowest cost of having read some reference and each prefix of the hypothesis. Costs are
integers that pack counts in order of weight, so that the lowest integer is the best alignment.
"""

import numpy as np
import numpy.typing as npt

IntRow = npt.NDArray[np.int64]


def token_ids(*texts: tuple[str, ...]) -> list[IntRow]:
    """Return the tokens of each text as ids that are equal where the tokens are: int64[length] each."""
    ids: dict[str, int] = {}
    return [np.array([ids.setdefault(token, len(ids)) for token in text], dtype=np.int64) for text in texts]


def prefix_costs(costs: IntRow) -> IntRow:
    """Return the cost of inserting everything up to each place: int64[n + 1], 0 at the start."""
    prefix = np.zeros(len(costs) + 1, dtype=np.int64)
    np.cumsum(costs, out=prefix[1:])
    return prefix


def after_insertions(candidates: IntRow, prefix: IntRow) -> IntRow:
    """Return a row with insertions allowed after each candidate; `prefix` is of their costs."""
    lowest: IntRow = np.minimum.accumulate(candidates - prefix)
    return lowest + prefix
