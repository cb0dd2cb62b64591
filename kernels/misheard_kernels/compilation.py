"""How kernels are compiled; importing this module imports numba."""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_warned = False


def compiled(*signature: Any, **options: Any) -> Callable[[Function], Function]:
    """Return a decorator: `numba.njit` without the interpreter lock, cached on disk where that is possible.

    With a signature the function is compiled, or loaded from the cache, at once. Where no cache folder can be
    written the function is compiled for this process alone, and the first such function gives a warning.
    numba checks a cached function against its own source file only: keep a kernel and what it calls in one
    module.
    """

    def decorate(function: Function) -> Function:
        try:
            return _njit(function, *signature, cache=True, **options)
        except (RuntimeError, OSError) as error:
            if isinstance(error, RuntimeError) and "cannot cache" not in str(error):
                raise
            _warn_once()
            return _njit(function, *signature, cache=False, **options)

    return decorate


def internal(function: Function) -> Function:
    """Compile a function that only compiled functions call: it becomes part of them and their cache."""
    return _njit(function, forceinline=True)


def _njit(function: Function, *signature: Any, **options: Any) -> Function:
    kernel: Function = njit(*signature, nogil=True, **options)(function)
    return kernel


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "compiled kernels cannot be cached on disk and are compiled again in every process; "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            RuntimeWarning,
            stacklevel=4,
        )
