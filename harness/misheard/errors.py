"""Every exception that misheard raises on purpose, and the exit code each one ends the process with.

    MisheardError
    ├── InputError            2   bad usage or bad input: a file, an item, an option
    │   ├── SuiteError        2   one or more problems of a suite, all listed
    │   ├── ConfigError       2   one or more problems of a run config, all listed
    │   ├── GateError         2   one or more problems of a gate file, all listed
    │   └── SoakError         2   one or more problems of a trace, its mapping or its limits, with their lines
    ├── BackendError          2   a model, server or library that the config asks for cannot be used here
    ├── ScorerError           2   a custom scorer broke its contract
    ├── NotComparableError    4   two runs, or a run and a suite, that do not belong together
    ├── IncompleteRunError    4   a run directory without everything that the command needs
    └── RunAbortedError       1   stopped by --fail-fast or --on-failure abort

Messages name the item, file or option, what is wrong and what to do. They never hold transcript text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]
"""Where the sources of this package are checked out, if they are."""


def counted(count: int, one: str, many: str) -> str:
    """Return a count before what is counted: `1 row is`, `2 rows are`."""
    return f"{count} {one if count == 1 else many}"


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun in the right number."""
    return counted(count, noun, f"{noun}s")


def install_advice(extra: str) -> str:
    """Return how an extra of misheard is installed; what serves this copy of the package comes first."""
    package, checkout = f"pip install 'misheard[{extra}]'", f"pip install '.[{extra}]'"
    if is_checkout(_CHECKOUT):
        return f"{checkout} in the checkout (elsewhere: {package})"
    return f"{package} (in a checkout: {checkout})"


@cache
def is_checkout(folder: Path) -> bool:
    """Whether a folder has a pyproject.toml, and that is misheard's."""
    try:
        text = (folder / "pyproject.toml").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return re.search(r'^name = "misheard"$', text, re.MULTILINE) is not None


def is_install_advice(advice: str) -> bool:
    """Whether an advice is to install an extra, and nothing else."""
    extra = re.search(r"\[([^\]]*)\]", advice)
    return extra is not None and advice == install_advice(extra[1])


INSTALL_ADVICE = install_advice("run")
"""What to do where the base install is not enough."""


class MisheardError(Exception):
    """Base class; `exit_code` is what the command line ends with."""

    exit_code = 1


class InputError(MisheardError):
    """Bad usage or bad input."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where it is (`item q07`, `items.jsonl:12`, `recognizer.model`), and what."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class ProblemsError(InputError):
    """Several problems found in one pass over one source."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        lines = [f"{source}: {count_of(len(self.problems), 'problem')}"]
        super().__init__("\n".join([*lines, *(f"  {problem}" for problem in self.problems)]))


class SuiteError(ProblemsError):
    """A suite that cannot be used; lists every problem."""


class ConfigError(ProblemsError):
    """A run config that cannot be used; lists every problem."""


class GateError(ProblemsError):
    """A gate file that cannot be used; lists every problem."""


class SoakError(ProblemsError):
    """A trace of a session, a mapping of one or a file of limits that cannot be used; lists the problems."""


class BackendError(MisheardError):
    """A model, server or library that the config asks for cannot be used on this machine."""

    exit_code = 2


class ScorerError(MisheardError):
    """A custom scorer returned something else than a finite number in [0, 1], or raised."""

    exit_code = 2


class NotComparableError(MisheardError):
    """Two runs, or a run and a suite, that do not belong together; names the ids that differ."""

    exit_code = 4


class IncompleteRunError(MisheardError):
    """A run directory that lacks what the command needs."""

    exit_code = 4


class RunAbortedError(MisheardError):
    """The run was told to stop at a failed item, and an item failed."""

    exit_code = 1
