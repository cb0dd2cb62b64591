"""Programs that stand in for what doctor looks into: libraries, drivers and interpreters that go wrong."""

from pathlib import Path

NVML = '''
"""A stand-in for nvidia-ml-py: what INIT raises, or the devices of GPUS."""
from types import SimpleNamespace

GIB = 2**30
INIT, GPUS = {init}, {gpus}
nvmlMemory_v2 = 2

class NVMLError(Exception):
    def __init__(self, value):
        self.value = value

class NVMLLibraryMismatchError(Exception):
    pass

def nvmlInit():
    if INIT:
        raise NVMLError(INIT)

def nvmlShutdown():
    pass

def nvmlSystemGetDriverVersion():
    return "580.65.06"

def nvmlSystemGetCudaDriverVersion():
    return 13000

def nvmlDeviceGetCount():
    return len(GPUS)

def nvmlDeviceGetHandleByIndex(index):
    return GPUS[index]

def nvmlDeviceGetUUID(handle):
    return handle["uuid"]

def nvmlDeviceGetName(handle):
    return handle["name"]

def nvmlDeviceGetMemoryInfo(handle, version=None):
    if handle["free"] is None:
        raise NVMLError(4)
    return SimpleNamespace(free=handle["free"] * GIB, total=80 * GIB, used=0)

def nvmlDeviceGetCudaComputeCapability(handle):
    return (9, 0)

def nvmlDeviceGetMigMode(handle):
    if "parts" not in handle:
        raise NVMLError(3)
    return [1, 1]

def nvmlDeviceGetMaxMigDeviceCount(handle):
    return 7

def nvmlDeviceGetMigDeviceHandleByIndex(handle, number):
    if number >= len(handle["parts"]):
        raise NVMLError(6)
    return handle["parts"][number]

def nvmlDeviceGetGpuInstanceId(handle):
    return 1

def nvmlDeviceGetComputeInstanceId(handle):
    return 0
'''


def write_nvml(folder: Path, *gpus: dict[str, object], init: int = 0) -> None:
    """Write a `pynvml` into a folder of PYTHONPATH; `init` is the error that it begins with."""
    (folder / "pynvml.py").write_text(NVML.format(init=init, gpus=list(gpus)))


def gpu(index: int, **facts: object) -> dict[str, object]:
    return {"uuid": f"GPU-{index}aaa", "name": "NVIDIA H100", "free": 70, **facts}


def write_program(path: Path, code: str) -> Path:
    """Write an interpreter that runs one program, whatever it is asked to run."""
    path.write_text(f"#!/bin/sh\n{code}\n")
    path.chmod(0o755)
    return path
