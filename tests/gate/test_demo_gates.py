"""The demo's gate files and the one of the docs: valid, fit for the suite, true to what is said of them."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from misheard.gate.decide import decide_gate
from misheard.gate.gate_file import load_gate
from misheard.gate.spec import Gate, Guard, PrimaryClaim, RequiredSlices, SoakSection
from misheard.gate.verdict import Outcome

CONFIGS = Path(__file__).parents[2] / "configs"
GATES = sorted((CONFIGS / "demo").glob("gate-*.yaml"))


def run(config: Path, out: Path, *more: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "misheard", "run", str(config), "--cpu", "--out", str(out), *more],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", GATES, ids=lambda path: path.stem)
def test_every_gate_of_the_demo_is_valid(path: Path) -> None:
    assert load_gate(path).gate.waived_axes.keys() == {"speed"}


def test_every_gate_of_the_demo_fits_its_suite(tmp_path: Path, make_config: Callable[..., Path]) -> None:
    config, suite = make_config(), str(CONFIGS / "demo")
    for name in ("a", "b"):
        run(config, tmp_path / name, "--suite", suite)
    verdicts = {path.stem: decide_gate(path, tmp_path / "a", str(tmp_path / "b"), tmp_path) for path in GATES}
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == {
        "gate-no-loss": Outcome.SHIP,
        "gate-improve": Outcome.NO_SHIP,
        "gate-quality": Outcome.NO_SHIP,
    }


def test_the_gate_of_the_docs_is_valid(tmp_path: Path) -> None:
    page = (CONFIGS.parent / "docs" / "gate.md").read_text("utf-8")
    (example,) = [text for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "format:" in text]
    (tmp_path / "gate.yaml").write_text(example)
    gate = load_gate(tmp_path / "gate.yaml").gate
    assert {name for name in type(gate).model_fields if getattr(gate, name)} == {
        "format", "primary", "guards", "latency", "failures", "required_slices", "waived_axes",
        "soak",
    }  # fmt: skip


def test_the_docs_name_every_option_and_outcome() -> None:
    page = (CONFIGS.parent / "docs" / "gate.md").read_text("utf-8")
    names = {
        *Gate.model_fields,
        *Guard.model_fields,
        *PrimaryClaim.model_fields,
        *RequiredSlices.model_fields,
        *SoakSection.model_fields,
    }
    assert {
        name for name in names | set(Outcome) if f"`{name}" not in page and f"{name}:" not in page
    } == set()


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_checkpoints_of_the_demo_ship_do_not_ship_and_cannot_be_told_apart(
    tmp_path: Path, models_dir: Path
) -> None:
    for name, model in (("base", "whisper-base"), ("tiny", "whisper-tiny.en")):
        run(
            CONFIGS / "demo.yaml", tmp_path / name,
            "--set", f"recognizer.model={model}", "--set", "arms=[audio, transcript]",
        )  # fmt: skip
    codes = {
        path.stem: subprocess.run(
            [sys.executable, "-m", "misheard", "gate", str(path), "base", "--baseline", "tiny"],
            capture_output=True, check=False, cwd=tmp_path,
        ).returncode
        for path in GATES
    }  # fmt: skip
    assert codes == {"gate-no-loss": 0, "gate-quality": 1, "gate-improve": 3}
