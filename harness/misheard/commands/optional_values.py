"""Options whose value may be left out: `--html` for the usual file, `--html FILE.html` for another."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from typer.core import TyperCommand

USUAL = ""
"""The value of an option that was given without one."""


class OptionalValues(TyperCommand):
    """A command with options that take the next argument where it ends like a file of theirs.

    That is how `report --html runs/base` still names a run. `--html=FILE` takes any name.
    """

    endings: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(with_values(args, self.endings)))


def with_values(args: Sequence[str], endings: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield arguments with USUAL behind each option of `endings` that has no value of its own."""
    literal = False
    for place, argument in enumerate(args):
        yield argument
        literal = literal or argument == "--"
        if literal or argument not in endings:
            continue
        following = args[place + 1] if place + 1 < len(args) else ""
        if following.startswith("-") or not following.lower().endswith(tuple(endings[argument])):
            yield USUAL
