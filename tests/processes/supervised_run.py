"""A run in a process of its own, to be killed: starts the stand-in server under supervision and waits.

python supervised_run.py PIDS FOLDER [OPTION ...]
"""

import os
import sys
import time
from pathlib import Path

from misheard.processes.supervised import SupervisedServer

pids, folder, options = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
stand_in = Path(__file__).with_name("stand_in_server.py")
server = SupervisedServer(
    [sys.executable, str(stand_in), str(pids), *(option for option in options if option != "raise")],
    env=os.environ,
    log=pids.with_suffix(".log"),
    grace_seconds=1.0,
    remove=folder,
)
while len(pids.read_text().splitlines() if pids.exists() else []) < 4:
    time.sleep(0.01)
os.write(1, f"supervisor {server.supervisor_pid}\n".encode())
if "raise" in options:
    raise RuntimeError("the run failed")
time.sleep(600)
