"""What the driver's answer, and the CUDA checks of the libraries, mean."""

from misheard.doctor.checks import Check, Group, State, absent, one_line
from misheard.doctor.child import Outcome
from misheard.doctor.devices import Device, Devices
from misheard.doctor.libraries import DRIVER_ADVICE, advice_for, cublas_advice
from misheard.doctor.memory import gib

_CPU = "or run with --cpu"
_VISIBLE = "CUDA_VISIBLE_DEVICES"
_FAILURES = {
    "library_missing": ("cannot be asked: nvidia-ml-py is not installed", "pip install nvidia-ml-py", False),
    "no_driver": (
        "no NVIDIA driver answers",
        f"{DRIVER_ADVICE}; one that is installed and not loaded needs a reboot or modprobe nvidia; {_CPU}",
        False,
    ),
    "no_permission": (
        "no permission to ask the NVIDIA driver",
        "let this user read and write /dev/nvidia* (often: the group video or render); "
        "a container needs --gpus all",
        True,
    ),
    "driver_mismatch": (
        "the loaded NVIDIA driver and its libraries are of different versions",
        "the driver was updated while it was in use: reboot, or load its kernel modules again",
        True,
    ),
}
"""By failure: what is found, the advice, and whether something is there that does not work."""


def check_driver(devices: Devices, needed: bool) -> list[Check]:
    """Say what the driver told of itself and of each device; `needed` by a config that cannot do without."""
    if devices.failed:
        return [_failure(devices, needed)]
    found = f"{devices.driver or 'version not told'}, runs CUDA up to {devices.cuda or 'a version not told'}"
    checks = [Check(Group.GPU, "driver", State.OK, found, seconds=devices.seconds)]
    checks += [_device(device) for device in devices.devices]
    if not devices.devices:
        found = "the driver knows none"
        checks.append(Check(Group.GPU, "devices", absent(needed), found, "run with --cpu"))
    elif not devices.visible:
        advice = f"unset {_VISIBLE}, or set it to an index or a UUID from above"
        state = State.BROKEN if needed else State.WARNING
        checks.append(Check(Group.GPU, "devices", state, f"{_VISIBLE} hides all of them", advice))
    return checks


def _failure(devices: Devices, needed: bool) -> Check:
    detail = one_line(devices.detail or devices.failed)
    unknown = (detail, advice_for(detail, "look at nvidia-smi and dmesg; a reboot may help"), True)
    found, advice, present = _FAILURES.get(devices.failed, unknown)
    state = State.BROKEN if present else absent(needed)
    return Check(Group.GPU, "driver", state, found, advice, devices.seconds)


def _device(device: Device) -> Check:
    memory = "memory not told"
    if device.free is not None and device.total is not None:
        memory = f"{gib(device.free)} of {gib(device.total)} free"
    parts = [one_line(device.name), one_line(device.uuid), memory]
    if device.capability is not None:
        parts.append(f"compute capability {device.capability}")
    if not device.visible:
        parts.append("a process sees one slice alone" if device.is_slice else f"hidden by {_VISIBLE}")
    return Check(Group.GPU, f"device {device.index}", State.OK, ", ".join(parts))


def check_torch_cuda(outcome: Outcome, devices: Devices, needed: bool, asked: bool) -> list[Check]:
    """Say whether torch computes on a device.

    `needed` by a config that cannot do without, `asked` where no config is at hand: a build of torch that
    should find a device and does not is broken then, and otherwise the run goes on on the CPU.
    """
    facts = {name: value for row in outcome.rows for name, value in row.items()}
    if "cuda" not in facts or not (needed or devices.visible):
        return []  # torch itself did not come, which has a line of its own; or there is nothing to find
    name, built = "CUDA of torch", facts["cuda"]
    state = State.BROKEN if needed or (asked and built is not None) else State.WARNING
    if built is None:
        found = "this build of torch knows no CUDA"
        advice = "pip install --force-reinstall torch, from an index with CUDA builds"
    elif not facts["available"]:
        found = f"torch was built for CUDA {built} and finds no device it can use"
        if devices.cuda is not None:
            found += f"; the driver runs CUDA up to {devices.cuda}"
        advice = "see the lines of the driver and its devices; does nvidia-smi show them here?"
        if devices.cuda is not None and _version(str(built)) > _version(devices.cuda):
            advice = f"update the driver, or install a torch that was built for CUDA {devices.cuda} or older"
    elif facts.get("right"):
        return [
            Check(Group.GPU, name, State.OK, f"built for CUDA {built}, computes", seconds=outcome.seconds)
        ]
    else:
        state = State.BROKEN
        found = one_line(str(facts.get("kernel") or outcome.problem or "computes wrong sums"))
        advice = advice_for(found, "install a torch that was built for this device and driver")
    return [Check(Group.GPU, name, state, found, advice, outcome.seconds)]


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdecimal())


def check_ctranslate2_cuda(outcome: Outcome, needed: bool) -> list[Check]:
    """Say what the check said that every run on CUDA begins with; `needed` by a config that wants CUDA."""
    name = "CUDA of ctranslate2"
    if not outcome.problem:
        found = "finds a device and libcublas.so.12"
        return [Check(Group.GPU, name, State.OK, found, seconds=outcome.seconds)]
    if "no CUDA device" in outcome.problem and not needed:
        found, advice = "finds no device, so that it computes on the CPU", "see the driver's line"
        return [Check(Group.GPU, name, State.WARNING, found, advice, outcome.seconds)]
    advice = advice_for(outcome.problem, cublas_advice())
    if "no CUDA device" in outcome.problem:
        advice = f"see the driver's line; {_CPU}"
    return [Check(Group.GPU, name, State.BROKEN, outcome.problem, advice, outcome.seconds)]


def check_numba_cuda(outcome: Outcome, devices: Devices) -> list[Check]:
    """Say whether numba compiles for a device; edits are counted on the CPU where it does not."""
    name = "numba-cuda"
    facts = {key: value for row in outcome.rows for key, value in row.items()}
    if facts.get("right"):
        return [Check(Group.GPU, name, State.OK, "compiles and computes", seconds=outcome.seconds)]
    if facts.get("available") is False and not devices.visible:
        return [Check(Group.GPU, name, State.OK, "installed; without a device it is not used")]
    found = outcome.problem or "finds no device it can use"
    major = (devices.cuda or "12").partition(".")[0]
    advice = f"pip install 'numba-cuda[cu{major}]'; edits are counted on the CPU until then"
    return [Check(Group.GPU, name, State.WARNING, found, advice, outcome.seconds)]
