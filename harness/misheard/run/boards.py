"""What stands on the boards of one arm, read from the journals of plans and of boards, in suite order."""

from collections.abc import Mapping, Sequence
from typing import Any

from misheard.failures import Failure
from misheard.metrics.base import Arm
from misheard.run.replies import Replies
from misheard.scenes.scene import EMPTY_SCENE, Scene
from misheard.stages.plan import read_plan_reply
from misheard.stages.render import Drawn, read_render_reply
from misheard.suite.items import Item


def planned(arm: Arm, item: Item, plans: Replies) -> Scene | Failure | None:
    """Return an item's plan in an arm, in the plan arm the golden one; None where it was not planned."""
    if arm is Arm.PLAN:
        return item.plan
    row = plans.of(arm, item.id)
    return None if row is None else read_plan_reply(row["text"], row["failure"], row["detail"])


def steps_of(items: Sequence[Item], in_sessions: bool) -> list[list[Item]]:
    """Return items in steps, each with at most one item of a session; a single step without sessions."""
    if not in_sessions:
        return [list(items)]
    steps: list[list[Item]] = []
    depth: dict[str, int] = {}
    for item in items:
        place = depth.get(item.resampling_unit, 0)
        depth[item.resampling_unit] = place + 1
        if place == len(steps):
            steps.append([])
        steps[place].append(item)
    return steps


class Boards:
    """The boards of one arm as they are drawn, item after item.

    An item whose rendering failed leaves its session's board as it was.
    """

    def __init__(self) -> None:
        self.drawn: dict[str, Drawn] = {}
        self.failures: dict[str, Failure] = {}
        self._boards: dict[str, Scene] = {}

    def before(self, item: Item) -> Scene:
        """Return what stands on the board that an item is drawn on."""
        return self._boards.get(item.resampling_unit, EMPTY_SCENE)

    def add(self, item: Item, in_sessions: bool, row: Mapping[str, Any] | None) -> None:
        """Add what the renderer replied for an item; nothing where it was not asked."""
        if row is None:
            return
        found = read_render_reply(self.before(item), row["text"], row["failure"], row["detail"])
        if isinstance(found, Failure):
            self.failures[item.id] = found
            return
        self.drawn[item.id] = found
        if in_sessions:
            self._boards[item.resampling_unit] = found.board


def read_boards(arm: Arm, items: Sequence[Item], in_sessions: bool, boards: Replies) -> Boards:
    """Return the boards of an arm as the journal has them; `items` are those with a golden plan."""
    read = Boards()
    for step in steps_of(items, in_sessions):
        for item in step:
            read.add(item, in_sessions, boards.of(arm, item.id))
    return read
