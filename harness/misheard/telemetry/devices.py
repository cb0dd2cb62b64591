"""Which devices a process may use: `CUDA_VISIBLE_DEVICES`, read as CUDA reads it.

The rules are those of the CUDA programming guide (CUDA environment variables) and, where it is silent, of
`torch.cuda`, which reads the variable without starting CUDA: the kind of the first entry is that of the list,
numbers are read as C's strtoul does, an entry that names nothing ends the list, and a device that is named
twice hides all. Of MIG slices a process sees one alone, and beside one no whole device (NVIDIA's MIG guide,
CUDA device enumeration).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"[+-]?\d+")
_OLD_MIG = re.compile(r"MIG-(GPU-[^/]+)/(\d+)/(\d+)")

FASTEST_FIRST = "FASTEST_FIRST"
"""CUDA's own order where `CUDA_DEVICE_ORDER` says nothing; the driver's is PCI_BUS_ID."""


@dataclass(frozen=True, slots=True)
class MigSlice:
    """A compute instance of a device in MIG mode."""

    uuid: str
    gpu_instance: int
    compute_instance: int


@dataclass(frozen=True, slots=True)
class Gpu:
    """A device as the driver lists it, in the order of PCI buses.

    Attributes:
        index: its place in that order.
        uuid: `GPU-…`.
        name: of its model.
        mig: its MIG slices; None where MIG mode is off.
    """

    index: int
    uuid: str
    name: str
    mig: tuple[MigSlice, ...] | None = None


@dataclass(frozen=True, slots=True)
class Visible:
    """A device, or a slice of one, that a process may use."""

    gpu: Gpu
    slice: MigSlice | None = None

    @property
    def uuid(self) -> str:
        """The UUID that names it in a run's files."""
        return self.gpu.uuid if self.slice is None else self.slice.uuid


@dataclass(frozen=True, slots=True)
class Selection:
    """The devices in CUDA's order, as far as it is known.

    `is_certain` is False where a number picks among devices of different models and CUDA may count them
    in another order than the driver, fastest first.
    """

    devices: tuple[Visible, ...]
    is_certain: bool = True


def select(gpus: Sequence[Gpu], visible: str | None, order: str | None) -> Selection:
    """Return what a process may use.

    Args:
        gpus: all devices, in the driver's order.
        visible: value of `CUDA_VISIBLE_DEVICES`, None where it is not set.
        order: value of `CUDA_DEVICE_ORDER`, None where it is not set.
    """
    if visible is None:
        return Selection(_as_cuda_does([Visible(gpu) for gpu in gpus]))
    if visible.startswith("MIG-"):
        return Selection(_as_cuda_does(_named(visible, "MIG-", gpus)))
    if visible.startswith("GPU-"):
        return Selection(_as_cuda_does(_named(visible, "GPU-", gpus)))
    chosen = _numbered(visible, gpus)
    same_order = (order or FASTEST_FIRST) != FASTEST_FIRST or len({gpu.name for gpu in gpus}) < 2
    return Selection(_as_cuda_does(chosen), same_order or len(chosen) in (0, len(gpus)))


def _numbered(visible: str, gpus: Sequence[Gpu]) -> list[Visible]:
    numbers: list[int] = []
    for entry in visible.split(","):
        found = _NUMBER.match(entry.strip())
        number = int(found[0]) if found else -1
        if number in numbers:
            return []
        if number < 0:
            break
        numbers.append(number)
    chosen = []
    for number in numbers:
        if number >= len(gpus):
            break
        chosen.append(Visible(gpus[number]))
    return chosen


def _named(visible: str, kind: str, gpus: Sequence[Gpu]) -> list[Visible]:
    entries: list[str] = []
    for entry in visible.split(","):
        if entry in entries:
            return []
        if not entry.startswith(kind):
            break
        entries.append(entry)
    chosen: list[Visible] = []
    for entry in entries:
        matches = _matches(entry, kind, gpus)
        if len(matches) != 1:
            break
        if matches[0] in chosen:
            return []
        chosen.append(matches[0])
    return chosen


def _matches(entry: str, kind: str, gpus: Sequence[Gpu]) -> list[Visible]:
    if kind == "GPU-":
        return [Visible(gpu) for gpu in gpus if gpu.uuid.startswith(entry)]
    slices = [Visible(gpu, part) for gpu in gpus for part in gpu.mig or ()]
    if old := _OLD_MIG.fullmatch(entry):
        numbers = int(old[2]), int(old[3])
        return [
            found
            for found in slices
            if found.slice is not None
            and found.gpu.uuid == old[1]
            and (found.slice.gpu_instance, found.slice.compute_instance) == numbers
        ]
    return [found for found in slices if found.uuid.startswith(entry)]


def _as_cuda_does(chosen: Sequence[Visible]) -> tuple[Visible, ...]:
    """Put slices in the place of devices in MIG mode; where there is one, it alone is left."""
    devices: list[Visible] = []
    for found in chosen:
        if found.slice is not None or found.gpu.mig is None:
            devices.append(found)
        else:
            devices += [Visible(found.gpu, part) for part in found.gpu.mig]
    first_slice = next((found for found in devices if found.slice is not None), None)
    return tuple(devices) if first_slice is None else (first_slice,)
