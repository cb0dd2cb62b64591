"""Asks the NVIDIA driver for itself and its devices: a row for it, or for why not, and a row per device."""

import os
from collections.abc import Iterator

from misheard.doctor.probes import die_with_parent, tell
from misheard.telemetry.devices import Gpu, Visible, select
from misheard.telemetry.nvml import Nvml, nvml_session
from misheard.telemetry.readings import Reading


def main() -> None:
    """Ask, and say which devices a process of this environment may use."""
    with nvml_session() as session:
        if isinstance(session, Reading):
            tell(failed=session.reason, detail=session.detail)
            return
        tell(**session.versions())
        gpus = session.gpus()
        chosen = select(gpus, os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("CUDA_DEVICE_ORDER"))
        hidden = [device for device in _all(gpus) if device not in chosen.devices]
        for device in (*chosen.devices, *hidden):
            tell(**_facts(session, device), visible=device not in hidden)


def _all(gpus: tuple[Gpu, ...]) -> Iterator[Visible]:
    """Yield the devices; one in MIG mode is its slices."""
    for gpu in gpus:
        if gpu.mig is None:
            yield Visible(gpu)
        else:
            yield from (Visible(gpu, part) for part in gpu.mig)


def _facts(session: Nvml, device: Visible) -> dict[str, object]:
    memory, capability = session.memory(device), session.capability(device)
    return {
        "index": device.gpu.index,
        "name": device.gpu.name,
        "uuid": device.uuid,
        "is_slice": device.slice is not None,
        "free": None if isinstance(memory, Reading) else memory.free_bytes,
        "total": None if isinstance(memory, Reading) else memory.total_bytes,
        "capability": None if isinstance(capability, Reading) else ".".join(map(str, capability)),
    }


if __name__ == "__main__":
    die_with_parent()
    main()
