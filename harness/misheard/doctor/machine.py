"""What the machine itself gives: folders that can be written, disk, memory, open files, shared memory."""

import contextlib
import itertools
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from misheard.doctor.checks import Check, Group, State
from misheard.doctor.devices import Device
from misheard.doctor.memory import CUDA_BYTES, GIB, LIBRARIES_BYTES, Estimate, estimate, gib
from misheard.doctor.models import hub_home
from misheard.doctor.need import Need, Part
from misheard.models import cache_dir

_LEAST_DISK = GIB
"""Below it a run of many recordings may fill the disk: journals, decoded windows, logs."""

_OTHER_FILES = 128
"""File descriptors of a run besides its requests: libraries, journals, recordings."""

_SHARED_BYTES = GIB
_CONTAINER_SHARED_BYTES = 64 * 2**20
"""What container engines give to /dev/shm unless told otherwise."""

_PARALLEL = (
    "--tensor-parallel-size",
    "-tp",
    "--pipeline-parallel-size",
    "-pp",
    "--data-parallel-size",
    "-dp",
)


def check_folders(runs: Path, uses_hub: bool) -> Iterator[Check]:
    """Check the folders that runs write to, and the disks that they are on."""
    yield _folder("cache", cache_dir(), "set MISHEARD_CACHE to another folder", State.BROKEN)
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        advice = "set NUMBA_CACHE_DIR to a folder that can be written; numba looks for another until then"
        yield _folder("numba cache", Path(chosen), advice, State.WARNING)
    if uses_hub:
        advice = "set HF_HOME to a folder that can be written; models of the hub cannot be kept until then"
        yield _folder("hub cache", hub_home(), advice, State.WARNING)
    yield _folder("runs", runs, "give misheard run --out a folder that can be written", State.WARNING)


def _folder(name: str, folder: Path, advice: str, otherwise: State) -> Check:
    """Check that a folder, or the nearest above it that is there, can be written, and has some space left."""
    folder = folder.absolute()
    existing = next((path for path in (folder, *folder.parents) if os.path.lexists(path)), Path("/"))
    try:
        with tempfile.TemporaryFile(dir=existing):
            free = shutil.disk_usage(existing).free
    except OSError as error:
        return Check(Group.MACHINE, name, otherwise, f"{folder}: cannot be written: {error.strerror}", advice)
    if free < _LEAST_DISK:
        space = f"{folder}: {gib(free)} of disk are left"
        return Check(Group.MACHINE, name, State.WARNING, space, "free some space there")
    return Check(Group.MACHINE, name, State.OK, f"{folder}, {gib(free)} of disk left")


def available_memory(root: Path = Path("/")) -> int | None:
    """Return how many bytes of RAM a process may still take: of the machine, or of its container if less.

    `root` is where /proc and /sys are. None where that is not told.
    """
    limits = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = (root / "proc/meminfo").read_text().splitlines()
        limits.append(int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]) * 1024)
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):
            folder = root / "sys/fs/cgroup"
            limits.append(int((folder / limit).read_text()) - int((folder / used).read_text()))
    return max(0, min(limits)) if limits else None


@dataclass(frozen=True, slots=True)
class _Place:
    """Memory that parts of a config share.

    Attributes:
        group, name: of its check.
        where: whose memory it is.
        free: bytes.
        base: what the libraries take, whatever the model; the explanation calls it `base_name`.
        parts: what each part takes there.
        uncounted: sections of which nothing is known yet.
        advice: what to do where they do not fit.
    """

    group: Group
    name: str
    where: str
    free: int
    base: int
    base_name: str
    parts: tuple[Estimate, ...]
    uncounted: tuple[str, ...]
    advice: str


def check_memory(need: Need | None, devices: Sequence[Device]) -> list[Check]:
    """Check free RAM, and free memory of the first device, against what the config's parts take."""
    free = available_memory()
    if need is None:
        found = "the system does not tell how much is free" if free is None else f"{gib(free)} of RAM free"
        return [Check(Group.MACHINE, "memory", State.OK, found)]
    on_cuda = [part for part in need.parts if devices and need.may_use_cuda(part)]
    places = []
    if free is not None:
        places.append(_ram(need, [part for part in need.parts if part not in on_cuda], free))
    if on_cuda and devices[0].free is not None:
        places.append(_first_device(on_cuda, devices[0].index, devices[0].free))
    return [_judge(place, need.config.execution.schedule == "serial") for place in places]


def _ram(need: Need, parts: Sequence[Part], free: int) -> _Place:
    """Return what the parts take of RAM; workers of the run load the recognizer and the libraries each."""
    copies = need.copies(need.recognizer)
    counted = [
        one.times(need.copies(part)) for part in parts if (one := estimate(part, cuda=False)) is not None
    ]
    advice = "close other programs, or choose smaller models, a smaller batch_size or fewer workers"
    base, name = LIBRARIES_BYTES * copies, "libraries"
    uncounted = _uncounted(parts, counted)
    return _Place(Group.MACHINE, "memory", "RAM", free, base, name, tuple(counted), uncounted, advice)


def _first_device(parts: Sequence[Part], index: int, free: int) -> _Place:
    """Return what the parts take of the device that they share: each takes the first that it sees."""
    counted = [one for part in parts if (one := estimate(part, cuda=True)) is not None]
    advice = (
        "end other programs on the device, choose another with CUDA_VISIBLE_DEVICES, or choose smaller "
        "models, a smaller batch_size or max_model_len"
    )
    where, uncounted = f"device {index}", _uncounted(parts, counted)
    return _Place(Group.GPU, "GPU memory", where, free, CUDA_BYTES, "CUDA", tuple(counted), uncounted, advice)


def _uncounted(parts: Sequence[Part], counted: Sequence[Estimate]) -> tuple[str, ...]:
    known = {one.section for one in counted}
    return tuple(part.section for part in parts if part.hub_id is not None and part.section not in known)


def _judge(place: _Place, serial: bool) -> Check:
    """Compare: an estimate that does not fit is a warning, as it may be wrong; the weights' own size is not.

    In a serial run one part is loaded after the other.
    """
    together = max if serial else sum
    wanted = place.base + together([one.total for one in place.parts] or [0])
    surely = together([one.weights for one in place.parts] or [0])
    explained = "; ".join([f"{place.base_name} {gib(place.base)}", *map(str, place.parts)])
    found = f"about {gib(wanted)} of {gib(place.free)} free on {place.where} ({explained}"
    found += "; one part after the other)" if serial and len(place.parts) > 1 else ")"
    if place.uncounted:
        found += f"; {' and '.join(place.uncounted)} not counted: no weights here yet"
    if surely > place.free:
        advice = f"the weights alone do not fit; {place.advice}"
        return Check(place.group, place.name, State.BROKEN, found, advice)
    if wanted > place.free:
        return Check(place.group, place.name, State.WARNING, found, f"it may not fit; {place.advice}")
    return Check(place.group, place.name, State.OK, found)


def check_files(need: Need | None) -> list[Check]:
    """Check the limit of open files against the requests in flight."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return [Check(Group.MACHINE, "open files", State.OK, "no limit")]
    wanted = _OTHER_FILES
    if need is not None:
        sections = [*(part.settings for part in need.parts), need.config.plan, need.config.render]
        wanted += sum(int(getattr(section, "concurrency", 0)) for section in sections)
    found = f"{soft} may be open, about {wanted} are needed"
    if soft >= wanted:
        return [Check(Group.MACHINE, "open files", State.OK, found)]
    advice = f"ulimit -n {wanted}, or lower concurrency"
    if hard != resource.RLIM_INFINITY and hard < wanted:
        advice = f"raise the hard limit ({hard}) to {wanted}, then {advice}"
    return [Check(Group.MACHINE, "open files", State.BROKEN, found, advice)]


def check_shared_memory(need: Need | None, folder: Path = Path("/dev/shm")) -> list[Check]:  # noqa: S108
    """Check /dev/shm where a vLLM server of the config spreads over devices: its workers talk through it."""
    if need is None or not any(_is_parallel(part) for part in need.parts):
        return []
    advice = "start the container with --ipc=host, or --shm-size 8g"
    try:
        size = shutil.disk_usage(folder).total
    except OSError as error:
        found = f"{folder}: {error.strerror}"
        return [Check(Group.MACHINE, "shared memory", State.BROKEN, found, advice)]
    found = f"{folder} has {gib(size)}"
    if size >= _SHARED_BYTES:
        return [Check(Group.MACHINE, "shared memory", State.OK, found)]
    state = State.BROKEN if size <= _CONTAINER_SHARED_BYTES else State.WARNING
    return [Check(Group.MACHINE, "shared memory", state, f"{found}; vLLM's workers share more", advice)]


def _is_parallel(part: Part) -> bool:
    arguments: tuple[str, ...] = getattr(part.settings, "extra_args", ())
    words = [word for argument in arguments for word in argument.split("=", 1)]
    return any(
        word.replace("_", "-") in _PARALLEL and following != "1"
        for word, following in itertools.pairwise(words)
    )
