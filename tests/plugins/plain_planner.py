"""A user's planner three times over: a class, a program (`python plain_planner.py`), and an endpoint.

It makes a box of every utterance and an arrow from each to the next.
"""

import json
import sys
from typing import Any


class Planner:
    """The planner as a class; `kind` is an option of it."""

    def __init__(self, kind: str = "box") -> None:
        self.kind = kind

    def plan(self, request: dict[str, Any]) -> dict[str, Any]:
        utterances = request["utterances"]
        language = request["language"] or "?"
        return {
            "shapes": [
                {"id": f"s{number}", "kind": self.kind, "label": f"{language}: {text}"}
                for number, text in enumerate(utterances)
            ],
            "connections": [
                {"from": f"s{number}", "to": f"s{number + 1}", "label": ""}
                for number in range(len(utterances) - 1)
            ],
        }


class Renderer:
    """A renderer that adds every shape of the plan and no arrow."""

    def render(self, request: dict[str, Any]) -> dict[str, Any]:
        there = {shape["id"] for shape in request["board"]["shapes"]}
        new = [shape for shape in request["plan"]["shapes"] if shape["id"] not in there]
        return {"operations": [{"op": "add_shape", **shape} for shape in new]}


def main() -> None:
    request = json.load(sys.stdin)
    json.dump(Renderer().render(request) if "board" in request else Planner().plan(request), sys.stdout)


if __name__ == "__main__":
    main()
