"""Scoring and resampling kernels: arrays in, arrays out; numba and numpy only.

Importing this package imports neither: numpy comes with the first of its functions, and numba with the first
call that is large enough for it. `misheard_kernels.small_inputs` needs neither.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from misheard_kernels.alignment import AlignedPairs, Alignment, align, align_pairs
    from misheard_kernels.edit_distance import edit_counts, edit_distance_batch

__all__ = ["AlignedPairs", "Alignment", "align", "align_pairs", "edit_counts", "edit_distance_batch"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from misheard_kernels import alignment, edit_distance

    return getattr(alignment, name, None) or getattr(edit_distance, name)
