"""Scoring and resampling kernels: arrays in, arrays out; numba and numpy only.

Importing this package imports numpy alone; numba is imported by the first call that is large enough for it.
"""

from misheard_kernels.edit_distance import edit_counts

__all__ = ["edit_counts"]
