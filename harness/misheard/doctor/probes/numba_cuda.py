"""Compiles a kernel for a CUDA device with numba and runs it; needs the extra `cuda`."""

from misheard.doctor.probes import die_with_parent, tell


def main() -> None:
    """Compile for the device and run."""
    import numpy as np
    from numba import cuda

    if not cuda.is_available():
        tell(available=False)
        return

    @cuda.jit
    def successors(numbers):  # type: ignore[no-untyped-def]  # numba types it
        number = cuda.grid(1)
        if number < numbers.size:
            numbers[number] += 1

    on_device = cuda.to_device(np.arange(4))
    successors[1, 32](on_device)
    tell(available=True, right=on_device.copy_to_host().tolist() == [1, 2, 3, 4])


if __name__ == "__main__":
    die_with_parent()
    main()
