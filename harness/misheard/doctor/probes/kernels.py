"""Compiles a kernel as the scoring kernels are compiled, and says whether that could be kept on disk."""

import warnings

from misheard.doctor.probes import die_with_parent, tell


def main() -> None:
    """Compile with numba, once."""
    import numba

    from misheard_kernels.compilation import compiled

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        @compiled("int64(int64)")
        def successor(number: int) -> int:
            return number + 1

        value = successor(1)
    uncached = any("cannot be cached" in str(warning.message) for warning in caught)
    tell(numba=numba.__version__, right=value == 2, uncached=uncached)


if __name__ == "__main__":
    die_with_parent()
    main()
