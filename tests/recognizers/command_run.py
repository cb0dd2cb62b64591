"""A run in a process of its own, to be ended: starts a program that hangs, reports its ids, and waits for it.

python command_run.py PIDS [deaf]
"""

import os
import sys
import threading
import time
from pathlib import Path

import numpy as np

from misheard.recognizers.command import CommandRecognizer
from misheard.recognizers.protocol import AudioWindow
from misheard.recognizers.settings import CommandSettings

pids = Path(sys.argv[1])
stand_in = str(Path(__file__).with_name("stand_in_command.py"))
command = (sys.executable, stand_in, "hang", str(pids), *sys.argv[2:], "{wav}")
recognizer = CommandRecognizer(CommandSettings(command=command), cpu=True)
recognizer.load()


def tell() -> None:
    while len(pids.read_text().splitlines() if pids.exists() else []) < 4:
        time.sleep(0.01)
    runner = recognizer._runner
    assert runner is not None
    os.write(1, f"{runner.pid} {runner.folder}\n".encode())


threading.Thread(target=tell, daemon=True).start()
try:
    recognizer.recognize([AudioWindow(np.zeros(1600, np.float32), "en")])
finally:
    recognizer.close()
