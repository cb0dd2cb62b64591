"""A session in a process of its own, to be killed: stops a server and the process below it, and waits.

python stopped_run.py LOG
"""

import json
import os
import sys
import time
from pathlib import Path

from misheard.processes.supervised import SupervisedServer
from misheard.processes.tree import descendants
from misheard.soak.replay.server_process import StoppedServer

CHILD = "import time; time.sleep(600)"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"

server = SupervisedServer(
    [sys.executable, "-c", PARENT], env=os.environ, log=Path(sys.argv[1]), grace_seconds=0.4
)
pid = server.server_pid
while pid is None or not descendants(pid):
    time.sleep(0.02)
StoppedServer().stop(pid, 600.0)
pids = [server.supervisor_pid, pid, *descendants(pid)]
while {Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids[1:]} != {"T"}:
    time.sleep(0.02)
os.write(1, (json.dumps(pids) + "\n").encode())
if sys.stdin.readline().strip() == "end":
    server.stop()
else:
    time.sleep(600)
