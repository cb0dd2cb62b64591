"""Golden plans of items: scenes under stricter rules than those of planners, with every problem noted."""

from typing import Any

from misheard.scenes.reading import SceneError, check_golden, read_scene
from misheard.scenes.scene import Scene
from misheard.suite.fields import Fields

_PLAN_FIELDS = ("shapes", "connections")
_PART_FIELDS = {"shapes": ("id", "kind", "label"), "connections": ("from", "to", "label")}


def read_golden_plan(value: Any, fields: Fields) -> Scene | None:
    """Return the scene that the field `plan` of an item gives; None where a problem was noted.

    A planner may say more than is asked; in a suite an unknown field is a field that was misspelt.
    """
    problems = _unknown_fields(value)
    scene = None
    try:
        scene = read_scene(value)
    except SceneError as error:
        problems += error.problems
    else:
        problems += check_golden(scene)
    for problem in problems:
        fields.problem(f"plan: {problem}")
    return None if problems else scene


def _unknown_fields(value: Any) -> list[str]:
    if not isinstance(value, dict):
        return []
    problems = _unknown("", value, _PLAN_FIELDS)
    for name, known in _PART_FIELDS.items():
        parts = value.get(name)
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            problems += _unknown(f"{name}[{index}]: ", part, known)
    return problems


def _unknown(place: str, part: Any, known: tuple[str, ...]) -> list[str]:
    if not isinstance(part, dict) or set(part) <= set(known):
        return []
    return [f"{place}has an unknown field; known are {', '.join(known)}"]
