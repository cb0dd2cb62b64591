"""Energy of the processor packages, from the kernel's powercap counters (Intel RAPL; AMD has the same files).

The counters are of the whole machine, in microjoules, and begin again at `max_energy_range_uj`. Most kernels
let root alone read them.
"""

from dataclasses import dataclass
from pathlib import Path

from misheard.telemetry.readings import Reading, Reason, none_for

POWERCAP = Path("/sys/class/powercap")


@dataclass(slots=True)
class _Domain:
    counter: Path
    range_uj: int
    before_uj: int


class Rapl:
    """Joules of all packages since the first reading."""

    def __init__(self, root: Path = POWERCAP) -> None:
        self._domains: list[_Domain] = []
        self._joules = 0.0
        self._failed: Reading | None = None
        try:
            self._domains = [_open(folder) for folder in _packages(root)]
        except (OSError, ValueError) as error:
            self._failed = _reason(error)
        if not self._domains and self._failed is None:
            self._failed = none_for(Reason.NO_RAPL)

    @property
    def packages(self) -> int:
        """How many are read."""
        return len(self._domains)

    def read(self) -> Reading:
        """Return the joules since the first reading; a counter that began again since the last is followed.

        Once a counter cannot be read, none is any more: what it missed would be missing for good.
        """
        if self._failed is not None:
            return self._failed
        try:
            for domain in self._domains:
                now = _number(domain.counter)
                passed = now - domain.before_uj
                self._joules += (passed if passed >= 0 else passed + domain.range_uj) / 1e6
                domain.before_uj = now
        except (OSError, ValueError) as error:
            self._failed = _reason(error)
            return self._failed
        return Reading(self._joules)


def _packages(root: Path) -> list[Path]:
    """Return the package domains; their parts (`core`, `dram`) and `psys`, the whole board, overlap them."""
    folders = sorted(root.glob("intel-rapl:*"))
    return [folder for folder in folders if (folder / "name").read_text().strip().startswith("package")]


def _open(folder: Path) -> _Domain:
    counter = folder / "energy_uj"
    return _Domain(counter, _number(folder / "max_energy_range_uj"), _number(counter))


def _number(path: Path) -> int:
    return int(path.read_text())


def _reason(error: OSError | ValueError) -> Reading:
    if isinstance(error, PermissionError):
        return none_for(Reason.NO_PERMISSION)
    return none_for(Reason.READ_ERROR, type(error).__name__)
