"""The render stage of a run: every plan on a board, and a drawing of every board.

In a session of plans the board goes on, so that the k-th plan of every session is drawn before any next one.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from misheard.canonical import sha256_json, write_atomic
from misheard.failures import Failure
from misheard.metrics.base import Arm
from misheard.plugins.protocol import Plugin, PluginRequest
from misheard.run.asking import Asker, Phase
from misheard.run.boards import Boards, planned, steps_of
from misheard.run.context import RunContext
from misheard.run.journal import Journal
from misheard.run.plugged import Plugged
from misheard.run.replies import Replies
from misheard.scenes.scene import EMPTY_SCENE, Scene
from misheard.stages.render import read_render_reply, render_request
from misheard.suite.items import Item


def render_suite(context: RunContext, renderer: Plugin, plans: Replies) -> None:
    """Render every plan in every arm that the journal lacks, and draw the boards.

    Raises BackendError where the renderer cannot be used and RunAbortedError where the failure policy
    says so.
    """
    context.pin("render", {"stage": "render", "renderer": renderer.fingerprint()})
    with contextlib.closing(Journal(context.directory.boards)) as journal:
        asker = Asker(context, "render", journal, Plugged(renderer), render_failure)
        for arm in context.arms:
            boards = Boards()
            for number, items in enumerate(steps_of(context.scenes, context.in_sessions)):
                requests = _requests(arm, items, boards, plans, renderer)
                phase = Phase(f"{arm}.{number}", arm, f"rendering, {arm} arm")
                with context.clock.measure("renderer"):
                    rows = asker.run(phase, requests)
                for item in items:
                    boards.add(item, context.in_sessions, rows.get(item.id))
            with context.clock.measure("drawing"):
                _draw(context, arm, boards)


def _requests(
    arm: Arm, items: Sequence[Item], boards: Boards, plans: Replies, renderer: Plugin
) -> dict[str, PluginRequest]:
    requests = {}
    for item in items:
        plan = planned(arm, item, plans)
        if isinstance(plan, Scene):
            payload = render_request(boards.before(item), plan)
            key = sha256_json([renderer.fingerprint(), payload, str(arm), item.id])
            requests[item.id] = PluginRequest(key, payload)
    return requests


def render_failure(row: Mapping[str, Any]) -> Failure | None:
    """Return what is wrong with a completion of the board journal; None for one that can be drawn."""
    found = read_render_reply(EMPTY_SCENE, row["text"], row["failure"], row["detail"])
    return found if isinstance(found, Failure) else None


def _draw(context: RunContext, arm: Arm, boards: Boards) -> None:
    """Write an arm's boards as SVG. They show labels, so they lie in the journal."""
    from misheard.scenes.drawing import draw_svg

    folder = context.directory.drawings / str(arm)
    folder.mkdir(parents=True, exist_ok=True)
    context.progress.begin(f"drawing, {arm} arm", len(boards.drawn))
    for item, drawn in boards.drawn.items():
        write_atomic(folder / f"{item}.svg", draw_svg(drawn.board))
        context.progress.advance(1)
