"""From settings to a plug-in. A new kind is a settings class, a module and one case here."""

from pathlib import Path
from typing import TypeVar

from misheard.plugins.protocol import Plugin, PluginRole
from misheard.plugins.settings import CommandPluginSettings, PluginSettings, PythonPluginSettings
from misheard.processes.locate import locate_command

Settings = TypeVar("Settings", bound=PluginSettings)


def locate_plugin(settings: Settings, role: PluginRole, base: Path) -> Settings:
    """Return the settings with absolute paths; relative ones start from `base`.

    Raises InputError for a program or a file that is not there.
    """
    if not isinstance(settings, CommandPluginSettings):
        return settings
    return settings.model_copy(
        update={
            name: locate_command(f"{role.name}.{name}", getattr(settings, name), base)
            for name in ("command", "version_command")
        }
    )


def make_plugin(settings: PluginSettings, role: PluginRole, base: Path) -> Plugin:
    """Return the plug-in that the settings describe, not yet started.

    Raises InputError for a program or a file that is not there.
    """
    located = locate_plugin(settings, role, base)
    if isinstance(located, PythonPluginSettings):
        from misheard.plugins.python_class import PythonPlugin

        return PythonPlugin(located, role, base)
    if isinstance(located, CommandPluginSettings):
        from misheard.plugins.command import CommandPlugin

        return CommandPlugin(located, role)
    from misheard.plugins.http import HttpPlugin

    return HttpPlugin(located, role)
