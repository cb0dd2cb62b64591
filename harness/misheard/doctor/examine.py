"""Makes the checks and yields them group by group."""

from collections.abc import Callable, Iterator
from pathlib import Path

from misheard.doctor.checks import Check, Group
from misheard.doctor.child import run_children
from misheard.doctor.devices import Devices, read_devices
from misheard.doctor.need import Need
from misheard.doctor.steps import Step, all_steps, asks_for_devices, probe


def examine(
    need: Need | None, runs: Path = Path("runs"), begin: Callable[[str], None] = lambda _: None
) -> Iterator[list[Check]]:
    """Yield the checks of each group as soon as all of them are made; `need` is that of a config, or None.

    `begin` is told what is looked at next; `runs` is the folder of new runs.
    """
    begin("GPU")
    steps = all_steps(need, _ask_driver() if asks_for_devices(need) else None, runs)
    found: dict[int, list[Check]] = {}
    shown: set[Group] = set()
    for number, checks in _run(steps, begin):
        found[number] = checks
        for group in Group:
            waits = any(group in step.groups for index, step in enumerate(steps) if index not in found)
            if waits:
                break
            if group in shown:
                continue
            shown.add(group)
            of_group = [
                check for index in _in_order(steps) for check in found.get(index, ()) if check.group is group
            ]
            if of_group:
                yield of_group


def _in_order(steps: list[Step]) -> list[int]:
    """Return the order of the lines in a group: what was looked at here comes before what children said."""
    return sorted(range(len(steps)), key=lambda index: steps[index].child is not None)


def _ask_driver() -> Devices:
    ((_, outcome),) = run_children([probe("devices")])
    return read_devices(outcome)


def _run(steps: list[Step], begin: Callable[[str], None]) -> Iterator[tuple[int, list[Check]]]:
    for number, step in enumerate(steps):
        if step.child is None:
            yield number, step.checks(None)
    numbered = [(number, step.child) for number, step in enumerate(steps) if step.child is not None]
    waiting = {number for number, _ in numbered}
    begin(_title(steps, waiting))
    for index, outcome in run_children([child for _, child in numbered]):
        number = numbered[index][0]
        yield number, steps[number].checks(outcome)
        waiting.remove(number)
        begin(_title(steps, waiting))


def _title(steps: list[Step], waiting: set[int]) -> str:
    """Return what is looked at: the first two, which are those that run, as they were started in order."""
    return ", ".join(steps[number].title for number in sorted(waiting)[:2])
