"""When the compiled kernels pay: loading them takes about as long as a second-long job takes without them.

Results are the same with and without them. Work done without them is added up over the life of a process, so
that many small jobs load them in the end too, and never pay more than twice what the better choice would
have.
"""

import sys

LOADING_SECONDS = 0.5
"""Importing numba and loading compiled kernels from their cache."""

_COMPILED = ("misheard_kernels.batches", "misheard_kernels.interning_compiled")

_spent = 0.0


def compiled_loaded() -> bool:
    """Return whether compiled kernels are there already, so that nothing need be estimated."""
    return any(name in sys.modules for name in _COMPILED)


def compiled_pays(seconds: float) -> bool:
    """Return whether to use compiled kernels for a job that takes about `seconds` without them."""
    global _spent
    if compiled_loaded():
        return True
    if _spent + seconds > LOADING_SECONDS:
        return True
    _spent += seconds
    return False
