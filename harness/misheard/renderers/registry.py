"""From settings to a renderer: the one that ships with misheard, or the user's."""

from pathlib import Path

from misheard.plugins.protocol import RENDERER, Plugin
from misheard.plugins.registry import make_plugin
from misheard.plugins.settings import PluginSettings
from misheard.renderers.board import BoardRenderer
from misheard.renderers.settings import BoardRendererSettings


def make_renderer(settings: BoardRendererSettings | PluginSettings | None, base: Path) -> Plugin:
    """Return the renderer that the settings describe, not yet started; relative paths start from `base`.

    None is the one that ships with misheard. Raises InputError for a program or a file that is not there.
    """
    if settings is None or isinstance(settings, BoardRendererSettings):
        return BoardRenderer()
    return make_plugin(settings, RENDERER, base)
