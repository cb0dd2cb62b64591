"""When numba is imported, and what happens where its cache cannot be written."""

import os
import subprocess
import sys

import pytest

SMALL = """
import sys
import numpy as np
import misheard_kernels
assert not [name for name in sys.modules if name.split(".")[0] in ("numba", "scipy", "misheard")]
rng = np.random.default_rng(0)
for length, symbols in ((12, 500), (70, 30)):
    flat = rng.integers(0, symbols, 60 * length).astype(np.int32)
    other = np.where(rng.random(len(flat)) < 0.2, 1, flat).astype(np.int32)
    offsets = np.arange(61) * length
    counts = misheard_kernels.edit_counts(flat, offsets, other, offsets)
    assert counts[:, [0, 1, 3]].sum() == len(flat)
print("numba" in sys.modules)
"""

COMPILED = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from misheard_kernels.batches import count_batch
flat = np.array([1, 2, 3], dtype=np.int32)
other = np.array([2, 3, 4], dtype=np.int32)
offsets = np.array([0, 3])
print(count_batch(flat, offsets, other, offsets, threads=1).tolist())
for warning in caught:
    print(warning.category.__name__, warning.message)
"""


def run(script: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout.splitlines()


def test_small_inputs_never_import_numba():
    assert run(SMALL) == ["False"]


@pytest.mark.parametrize("attempt", ["without a locator", "full disk"])
def test_an_unwritable_cache_gives_one_warning_and_the_same_counts(attempt, tmp_path):
    script = COMPILED
    environment = {}
    if attempt == "without a locator":
        # the only place allowed is one that cannot be made, also for root
        environment["NUMBA_CACHE_LOCATOR_CLASSES"] = "UserProvidedCacheLocator"
        environment["NUMBA_CACHE_DIR"] = "/proc/self/none"
    else:
        environment["NUMBA_CACHE_DIR"] = str(tmp_path)
        script = f"""
import numba.core.caching
def full(*_):
    raise OSError(28, "No space left on device")
numba.core.caching.IndexDataCacheFile.save = full
{COMPILED}"""
    lines = run(script, **environment)
    assert lines[0] == "[[0, 1, 1, 2]]"
    assert len(lines) == 2
    assert lines[1].startswith("RuntimeWarning compiled kernels cannot be cached on disk")
    assert "NUMBA_CACHE_DIR" in lines[1]


def test_a_writable_cache_is_used(tmp_path):
    assert run(COMPILED, NUMBA_CACHE_DIR=str(tmp_path)) == ["[[0, 1, 1, 2]]"]
    assert any(tmp_path.rglob("*.nbi"))
