"""The GPUs that a server will use: how much of their memory is free, and what they can."""

from collections.abc import Mapping

from misheard.language_models.gpu_memory import Gpu
from misheard.telemetry.devices import FASTEST_FIRST, Visible, select
from misheard.telemetry.nvml import Nvml, nvml_session
from misheard.telemetry.readings import SENTENCES, Reading

_ORDER = "CUDA_DEVICE_ORDER"


def read_gpus(env: Mapping[str, str], count: int) -> tuple[Gpu, ...] | str:
    """Return the first `count` devices that a process with this environment sees, or why they are unknown.

    `env` decides through `CUDA_VISIBLE_DEVICES` and `CUDA_DEVICE_ORDER`.
    """
    with nvml_session() as session:
        if isinstance(session, Reading):
            return _why(session)
        all_gpus, order = session.gpus(), env.get(_ORDER)
        selection = select(all_gpus, env.get("CUDA_VISIBLE_DEVICES"), order)
        devices = selection.devices[:count]
        if len(devices) < count:
            return f"the driver shows {len(selection.devices)} of {count} devices"
        models = {device.gpu.name for device in selection.devices}
        by_speed = (order or FASTEST_FIRST) == FASTEST_FIRST
        if not selection.is_certain or (by_speed and len(models) > 1 and count < len(selection.devices)):
            return f"CUDA may count these devices in another order than the driver; set {_ORDER}=PCI_BUS_ID"
        found = [_read(session, device) for device in devices]
        unknown = next((reason for reason in found if isinstance(reason, str)), None)
        return unknown or tuple(gpu for gpu in found if isinstance(gpu, Gpu))


def _read(session: Nvml, visible: Visible) -> Gpu | str:
    memory = session.memory(visible)
    if isinstance(memory, Reading):
        return _why(memory)
    capability = session.capability(visible)
    return Gpu(
        f"GPU {visible.gpu.index} ({visible.gpu.name})",
        free_bytes=memory.free_bytes,
        total_bytes=memory.total_bytes,
        capability=None if isinstance(capability, Reading) else capability,
    )


def _why(reading: Reading) -> str:
    return SENTENCES[reading.reason] if reading.reason else "unknown"
