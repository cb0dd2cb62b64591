"""The checks by name, in the order in which they run, with the seconds that they may take on a GPU."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gpu_checks.lines import Line


@dataclass(frozen=True)
class Check:
    """Where a check is, what it is expected to take, and when it counts as hanging, in seconds.

    The functions are imported where they run: in a process of their own.
    """

    module: str
    function: str
    expected: float
    limit: float

    def load(self) -> Callable[[Any], Iterator[Line]]:
        module = importlib.import_module(f"gpu_checks.{self.module}")
        function: Callable[[Any], Iterator[Line]] = getattr(module, self.function)
        return function


CHECKS = {
    "parity": Check("parity", "check", 30, 150),
    "oom": Check("memory", "check", 20, 120),
    "kernels": Check("kernels", "check", 30, 150),
    "telemetry": Check("sensors", "check", 25, 90),
    "read-ahead": Check("reading", "check", 20, 120),
    "throughput": Check("throughput", "check_tiny", 40, 180),
    "large": Check("throughput", "check_large", 90, 300),
}
