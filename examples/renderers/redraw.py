#!/usr/bin/env python3
"""A renderer that wipes the board and draws the plan anew, for `misheard`.

    render: {kind: python, target: "redraw:RedrawRenderer"}          # a class; a copy lies beside the config
    render: {kind: command, command: [python3, ./redraw.py]}         # JSON on standard input and output

A request is `{"board": SCENE, "plan": SCENE}`, the reply `{"operations": […]}`: what is done to the board,
step by step. The board refuses steps that it cannot take, such as an arrow that lacks an end. Standard
library only.
"""

import json
import sys
from typing import Any


class RedrawRenderer:
    """Removes every shape, with its arrows, and adds everything that is planned."""

    def render(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the operations that lead from the board to the plan."""
        plan = request["plan"]
        return {
            "operations": [
                *({"op": "remove", "id": shape["id"]} for shape in request["board"]["shapes"]),
                *({"op": "add_shape", **shape} for shape in plan["shapes"]),
                *({"op": "connect", **connection} for connection in plan["connections"]),
            ]
        }


if __name__ == "__main__":
    json.dump(RedrawRenderer().render(json.load(sys.stdin)), sys.stdout)
