"""Settings of the planners, as they stand under `plan:` in a run config."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from misheard.plugins.settings import CommandPluginSettings, HttpPluginSettings, PythonPluginSettings

PlanScope = Literal["item", "session"]
"""What a plan is made from: one utterance, or all of a session up to the item's own, in suite order."""

ShapeKind = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class _Scope(BaseModel):
    """What every planner shares.

    Attributes:
        scope: what a plan is made from: an `item`'s own utterance, or all of its `session` up to it, in suite
            order, where the board goes on from one plan to the next.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    scope: PlanScope = "item"


class LanguageModelPlannerSettings(_Scope):
    """The run's language model as planner, held to the schema of a plan where the backend can.

    Attributes:
        prompt: a prompt that ships with misheard, or a `.yaml` file relative to the config.
        max_tokens: longest plan, in tokens; a plan that is cut is `invalid_output`.
        seed: sent with every request.
        kinds: the kinds of shapes that the model may use.
        max_shapes: most shapes of a plan.
        max_connections: most connections of a plan.
    """

    kind: Literal["language_model"] = "language_model"
    prompt: str = "plan-v1"
    max_tokens: Annotated[int, Field(ge=1, le=32_768)] = 512
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    kinds: Annotated[tuple[ShapeKind, ...], Field(min_length=1)] = ("box", "circle", "diamond", "note")
    max_shapes: Annotated[int, Field(ge=1, le=500)] = 24
    max_connections: Annotated[int, Field(ge=0, le=1_000)] = 48


class PythonPlannerSettings(PythonPluginSettings, _Scope):
    """A class of the user's with `plan(request)`."""


class CommandPlannerSettings(CommandPluginSettings, _Scope):
    """A program of the user's."""


class HttpPlannerSettings(HttpPluginSettings, _Scope):
    """An endpoint of the user's."""


PluginPlannerSettings = PythonPlannerSettings | CommandPlannerSettings | HttpPlannerSettings

PlannerSettings = Annotated[
    LanguageModelPlannerSettings | PythonPlannerSettings | CommandPlannerSettings | HttpPlannerSettings,
    Field(discriminator="kind"),
]
