"""Settings of the renderers, as they stand under `render:` in a run config."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from misheard.plugins.settings import CommandPluginSettings, HttpPluginSettings, PythonPluginSettings


class BoardRendererSettings(BaseModel):
    """The renderer that ships with misheard: it draws every shape and every connection that has both ends."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Literal["board"] = "board"


RendererSettings = Annotated[
    BoardRendererSettings | PythonPluginSettings | CommandPluginSettings | HttpPluginSettings,
    Field(discriminator="kind"),
]
