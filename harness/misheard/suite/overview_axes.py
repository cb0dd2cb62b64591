"""Which axes are looked at together, and which combinations of values are declared: a bounded number."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import prod

from misheard.suite.items import Suite

MAX_PAIRED_AXES = 12
MAX_DECLARED = 10_000


def paired_axes(suite: Suite) -> list[tuple[str, str]]:
    """Return the pairs of axes that both have two values or more; none where more than MAX_PAIRED_AXES do."""
    several = [axis for axis, values in suite.axes.items() if len(values) > 1]
    return list(combinations(several, 2)) if len(several) <= MAX_PAIRED_AXES else []


def declared_cells(suite: Suite, axes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the combinations of declared values; none where there are more than MAX_DECLARED."""
    values = [suite.axes[axis] for axis in axes]
    if prod(map(len, values)) <= MAX_DECLARED:
        yield from product(*values)
