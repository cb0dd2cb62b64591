"""A recognizer program that prints what a table says, as one JSON row.

    python canned_program.py table=FILE WAV [--cpu]

FILE is JSON: by the name of the WAV file without its suffix, the row to print, or what to do instead
(`{"exit": STATUS}`, `{"sleep": SECONDS}`). On a CPU inference takes four times as long.
"""

import json
import sys
import time
from pathlib import Path

row = json.loads(Path(sys.argv[1].removeprefix("table=")).read_text())[Path(sys.argv[2]).stem]
if "exit" in row:
    sys.stderr.write("CANARY: what was heard\n")
    sys.exit(row["exit"])
time.sleep(row.pop("sleep", 0.0))
if "--cpu" in sys.argv[3:]:
    row["transcribe_ms"] *= 4
sys.stdout.write(json.dumps(row))
