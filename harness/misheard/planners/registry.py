"""From settings to a planner of the user's; the run's language model plans through `stages.plan`."""

from pathlib import Path

from misheard.planners.settings import PluginPlannerSettings
from misheard.plugins.protocol import PLANNER, Plugin
from misheard.plugins.registry import make_plugin


def make_planner(settings: PluginPlannerSettings, base: Path) -> Plugin:
    """Return the planner that the settings describe, not yet started; relative paths start from `base`.

    Raises InputError for a program or a file that is not there.
    """
    return make_plugin(settings, PLANNER, base)
