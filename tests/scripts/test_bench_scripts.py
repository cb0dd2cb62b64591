"""The simulation says what it drew, and its file name is in nobody's way."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"


def test_numba_can_be_imported_by_a_script_beside_coverage_py() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import numba, misheard_kernels.resampling_parallel"
    done = subprocess.run(
        [sys.executable, "-c", code, str(BENCH)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def simulated() -> str:
    command = [str(BENCH / "coverage.py"), "--data-sets", "3", "--sessions", "5,8", "--processes", "1"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_simulation_prints_its_seed_and_sizes(simulated: str) -> None:
    assert "seed 20240607, 3 data sets a case, 10,000 resamples" in simulated
    assert len(re.findall(r"^\| [58] sessions", simulated, re.MULTILINE)) == 2 * (1 + 2 + 1) + 4


def test_nothing_ships_with_five_sessions(simulated: str) -> None:
    passed = simulated.split("How often", 1)[1].split("Smallest detectable", 1)[0]
    rows = re.findall(r"^\| 5 sessions \|(.*)\|$", passed, re.MULTILINE)
    assert len(rows) == 2
    assert all(cell.strip() == "0.0 (0.0)" for row in rows for cell in row.split("|"))
