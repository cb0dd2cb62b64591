"""Shared libraries and packages that are missing: from what a process said to what to install."""

import re
import sys
from pathlib import Path

from misheard.errors import INSTALL_ADVICE

DRIVER_ADVICE = "install the NVIDIA driver; a container needs --gpus all and the NVIDIA Container Toolkit"

_CUBLAS = "libcublas.so.12"
_SHARED = re.compile(r"\b(lib[\w+-]+)\.so(?:\.(\d+))?")
_NVIDIA = {
    "libcublas": "cublas", "libcublasLt": "cublas", "libcudart": "cuda-runtime", "libnvrtc": "cuda-nvrtc",
    "libcusparse": "cusparse", "libnvJitLink": "nvjitlink", "libcupti": "cuda-cupti",
}  # fmt: skip
"""Packages of those CUDA libraries whose number is CUDA's own."""

_SYSTEM = {
    "libsndfile": "install the system package libsndfile1, or pip install --force-reinstall soundfile",
    "libgomp": "install the system package libgomp1",
    "libcuda": DRIVER_ADVICE,
    "libnvidia-ml": DRIVER_ADVICE,
    "libcudnn": "pip install nvidia-cudnn-cu12 (nvidia-cudnn-cu13 for CUDA 13)",
    "libnccl": "pip install nvidia-nccl-cu12 (nvidia-nccl-cu13 for CUDA 13)",
}


def advice_for(said: str, otherwise: str = INSTALL_ADVICE) -> str:
    """Return what to install for what a process said when it failed; `otherwise` where that names nothing."""
    if "undefined symbol" in said:
        return f"two packages of it do not belong together; in a new environment: {otherwise}"
    if match := re.search(r"No module named '([\w.]+)'", said):
        return f"{match[1].split('.')[0]} is missing: {otherwise}"
    if (match := _SHARED.search(said)) is None:
        return otherwise
    name, number = match[1], match[2]
    if name in _NVIDIA:
        if f"{name}.so.{number}" == _CUBLAS:
            return cublas_advice()
        suffix = f"-cu{number}" if number and int(number) < 13 else ""  # since CUDA 13 without a number
        return f"pip install nvidia-{_NVIDIA[name]}{suffix}"
    return _SYSTEM.get(name, otherwise)


def cublas_advice() -> str:
    """Return how CTranslate2 gets its CUDA library: installed, it must still be found."""
    for folder in map(Path, sys.path):
        found = folder / "nvidia" / "cublas" / "lib"
        if (found / _CUBLAS).is_file():
            return f"it is installed and not found: export LD_LIBRARY_PATH={found}"
    return "pip install nvidia-cublas-cu12, and add its folder nvidia/cublas/lib to LD_LIBRARY_PATH"
