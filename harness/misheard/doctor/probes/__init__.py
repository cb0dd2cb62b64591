"""Programs that `misheard doctor` runs in children: each prints what it finds as rows of JSON.

python -P -m misheard.doctor.probes.NAME [ARGUMENT ...]
"""

import ctypes
import json
import signal
import sys

_PR_SET_PDEATHSIG = 1


def tell(**row: object) -> None:
    """Print a row at once: the next line of the program may abort the process."""
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


def die_with_parent() -> None:
    """End this process when the one that started it ends, however that ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
