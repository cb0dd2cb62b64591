"""The plan stage: utterances in, a request for a scene plan out; a reply in, a plan or a failure out."""

from collections.abc import Sequence
from typing import Any

from misheard.canonical import canonical_json
from misheard.failures import Failure, FailureKind, ItemFailedError
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.plugins.reply import parse_object
from misheard.scenes.fields import LONGEST_ID, SceneError
from misheard.scenes.reading import read_scene
from misheard.scenes.scene import Scene

_LABEL_CHARACTERS = 80
"""Longest label that a model is asked for; far below what a plan may hold, as models repeat themselves."""

_FENCE = "```"
_SHOWN_PROBLEMS = 3


def plan_schema(settings: LanguageModelPlannerSettings) -> str:
    """Return the JSON schema that a planning model is held to, as canonical JSON.

    `required` gives the order of the fields: shapes come before the connections that name them.
    """
    name = {"type": "string", "minLength": 1, "maxLength": LONGEST_ID}
    label = {"type": "string", "maxLength": _LABEL_CHARACTERS}
    shape = _object({"id": name, "kind": {"type": "string", "enum": list(settings.kinds)}, "label": label})
    connection = _object({"from": name, "to": name, "label": label})
    return canonical_json(
        _object(
            {
                "shapes": {"type": "array", "items": shape, "maxItems": settings.max_shapes},
                "connections": {"type": "array", "items": connection, "maxItems": settings.max_connections},
            }
        )
    )


def plan_values(utterances: Sequence[str], kinds: Sequence[str]) -> dict[str, str]:
    """Return the placeholders of a planning prompt: one utterance a line, and the kinds by name."""
    return {"transcript": "\n".join(utterances), "kinds": ", ".join(kinds)}


def plan_request(utterances: Sequence[str], language: str | None) -> dict[str, Any]:
    """Return what a user's planner gets: the utterances in order, the last one new, and their language."""
    return {"utterances": list(utterances), "language": language}


def read_plan_reply(text: str | None, failure: str | None, detail: str) -> Scene | Failure:
    """Return the plan of a reply, checked whoever made it, or why there is none; never raises.

    `text`, `failure` and `detail` are those of a completion. One code fence around the whole reply is taken
    off; with any other text around it a reply is `invalid_output`.
    """
    if text is None or failure is not None:
        return Failure("plan", FailureKind(failure or FailureKind.INVALID_OUTPUT), detail)
    try:
        return read_scene(parse_object(_without_fence(text.strip())))
    except ItemFailedError as error:
        return Failure("plan", error.kind, error.detail)
    except SceneError as error:
        return Failure("plan", FailureKind.INVALID_OUTPUT, problems_in_short("the plan", error))


def problems_in_short(what: str, error: SceneError) -> str:
    """Return the first problems of a reply in one line."""
    more = len(error.problems) - _SHOWN_PROBLEMS
    rest = [f"and {more} more"] if more > 0 else []
    return f"{what}: " + "; ".join([*error.problems[:_SHOWN_PROBLEMS], *rest])


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _without_fence(text: str) -> str:
    first, line_break, rest = text.partition("\n")
    language = first.removeprefix(_FENCE).strip()
    fenced = line_break and first.startswith(_FENCE) and rest.endswith(_FENCE)
    return rest.removesuffix(_FENCE) if fenced and (not language or language.isalnum()) else text
