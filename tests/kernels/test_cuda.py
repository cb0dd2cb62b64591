"""The CUDA kernels: in numba's simulator everywhere, and on a device where there is one."""

import os
import subprocess
import sys

import numpy as np
import pytest
from token_pairs import CORPORA, arrays, noisy_pairs, random_pairs

from misheard_kernels import edit_counts, edit_distance_batch

pytest.importorskip("numba_cuda", reason="needs the extra cuda")

SCRIPT = """
import sys
import numpy as np
from misheard_kernels import cuda
sides = [np.array(list(map(int, line.split())), dtype) for line, dtype in zip(
    sys.stdin, (np.int32, np.int64, np.int32, np.int64))]
cuda._MOST_BLOCKS = int(sys.argv[1])
counts = cuda.edit_counts(*sides)
assert np.array_equal(cuda.edit_distance_batch(*sides), counts[:, :3].sum(axis=1))
print(*counts.ravel())
"""


def counts_in_simulator(pairs: list, blocks: int) -> np.ndarray:
    text = "\n".join(" ".join(map(str, side.tolist())) for side in arrays(pairs))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(blocks)],
        input=text, capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
    )  # fmt: skip
    return np.array(done.stdout.split(), dtype=np.int64).reshape(-1, 4)


@pytest.mark.parametrize("blocks", [1, 3, 4096])
def test_the_simulated_device_counts_as_the_processor_does(blocks):
    pairs = [([], []), ([], [1, 2]), ([1, 2, 3], [])]
    pairs += random_pairs(1, 12, 6, 2) + noisy_pairs(2, 6, 12, 30)
    assert np.array_equal(counts_in_simulator(pairs, blocks), edit_counts(*arrays(pairs)))


def test_no_pairs_need_no_device():
    assert counts_in_simulator([], 1).shape == (0, 4)


@pytest.mark.gpu
@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
def test_the_device_counts_as_the_processor_does(corpus):
    cuda = pytest.importorskip("misheard_kernels.cuda")
    from numba import cuda as target

    if not target.is_available():
        pytest.skip("needs a CUDA device")
    sides = arrays(corpus)
    assert np.array_equal(cuda.edit_counts(*sides), edit_counts(*sides))
    assert np.array_equal(cuda.edit_distance_batch(*sides), edit_distance_batch(*sides))
