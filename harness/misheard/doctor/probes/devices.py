"""Asks the NVIDIA driver for itself and its devices (nvidia-ml-py, imported as `pynvml`)."""

from typing import Any

from misheard.doctor.probes import die_with_parent, tell


def main() -> None:
    """Print a row for the driver, or for why it cannot be asked, and a row per device."""
    try:
        import pynvml
    except ImportError:
        tell(failed="no_library")
        return
    try:
        pynvml.nvmlInit()
    except Exception as error:  # noqa: BLE001 - the classes are made at run time
        tell(failed=type(error).__name__.removeprefix("NVMLError_"), reason=str(error))
        return
    try:
        cuda = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        tell(
            driver=_text(pynvml.nvmlSystemGetDriverVersion()),
            cuda=f"{cuda // 1000}.{cuda % 1000 // 10}",
        )
        for index in range(pynvml.nvmlDeviceGetCount()):
            try:
                tell(index=index, **_device(pynvml, index))
            except pynvml.NVMLError as error:
                tell(index=index, error=str(error))
    finally:
        pynvml.nvmlShutdown()


def _device(pynvml: Any, index: int) -> dict[str, Any]:
    """Return what is known of one device; what a device does not tell is None."""
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    parts = _parts(pynvml, handle)
    memory = _asked(pynvml, lambda: pynvml.nvmlDeviceGetMemoryInfo(handle))
    capability = _asked(pynvml, lambda: pynvml.nvmlDeviceGetCudaComputeCapability(handle))
    return {
        "name": _text(pynvml.nvmlDeviceGetName(handle)),
        "uuid": _text(pynvml.nvmlDeviceGetUUID(handle)),
        "free": None if memory is None else int(memory.free),
        "total": None if memory is None else int(memory.total),
        "capability": None if capability is None else f"{capability[0]}.{capability[1]}",
        "parts": parts,
    }


def _parts(pynvml: Any, handle: Any) -> list[dict[str, Any]] | None:
    """Return the MIG devices of a device; None where it is not divided."""
    mode = _asked(pynvml, lambda: pynvml.nvmlDeviceGetMigMode(handle))
    if mode is None or mode[0] != 1:
        return None
    found = []
    for number in range(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        part = _asked(pynvml, lambda n=number: pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, n))
        if part is None:
            continue
        memory = _asked(pynvml, lambda p=part: pynvml.nvmlDeviceGetMemoryInfo(p))
        found.append(
            {
                "uuid": _text(pynvml.nvmlDeviceGetUUID(part)),
                "free": None if memory is None else int(memory.free),
                "total": None if memory is None else int(memory.total),
            }
        )
    return found


def _asked(pynvml: Any, ask: Any) -> Any:
    """Return an answer; None where the driver has none for this device."""
    try:
        return ask()
    except pynvml.NVMLError:
        return None


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    die_with_parent()
    main()
