"""A run in a process of its own, to be ended: starts a program that hangs, and tells the ids of what runs.

python plugin_run.py PIDS [deaf]
"""

import os
import sys
import threading
import time
from pathlib import Path

from misheard.plugins.command import CommandPlugin
from misheard.plugins.protocol import PLANNER, PluginRequest
from misheard.plugins.settings import CommandPluginSettings

pids = Path(sys.argv[1])
program = str(Path(__file__).with_name("stand_in_plugin.py"))
plugin = CommandPlugin(
    CommandPluginSettings(command=(sys.executable, program, "hang", str(pids), *sys.argv[2:])), PLANNER
)
plugin.start()


def tell() -> None:
    while len(pids.read_text().splitlines() if pids.exists() else []) < 3:
        time.sleep(0.01)
    runner = plugin._runner
    assert runner is not None
    os.write(1, f"{runner.pid} {runner.folder}\n".encode())


threading.Thread(target=tell, daemon=True).start()
try:
    list(plugin.complete([PluginRequest("a", {"utterances": ["canary"]})]))
finally:
    plugin.close()
