"""The structure of the project, read off its source: import directions, heavy libraries, privacy of paths."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "harness" / "misheard"

LEAVES = {"errors", "failures", "canonical", "command_lines", "strict_yaml"}
LAYERS = [
    {"cli", "cli_score", "commands", "standard_output", "__main__"},
    {"console", "doctor", "run", "report", "scoring", "gate", "judge", "soak", "api"},
    {"config", "config_problems", "stages", "stats", "metrics", "suite"},
    {
        "models", "execution", "soak_config", "recognizers", "language_models", "planners", "renderers",
        "plugins", "scenes", "audio", "text", "transcripts", "processes", "imports", "telemetry",
    },
]  # fmt: skip
HEAVY = {
    "av", "torch", "torchaudio", "transformers", "ctranslate2", "vllm", "openai", "httpx", "soundfile",
    "tokenizers", "networkx", "drawsvg",
    "huggingface_hub", "silero_vad", "matplotlib", "jinja2", "pynvml", "psutil", "numba", "pyarrow", "ray",
}  # fmt: skip


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def level(name: str) -> int:
    return next(index for index, layer in enumerate(LAYERS) if name in layer)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    own = part(path)
    targets = {
        name.split(".")[1] for name in imported(ast.parse(path.read_text())) if name.startswith("misheard.")
    }
    if own == "__init__" or own in LEAVES:
        assert targets <= (LEAVES | {"api"} if own == "__init__" else LEAVES)
        return
    for target in targets - LEAVES - {own}:
        assert level(target) >= level(own), f"{own} must not import {target}"


@pytest.mark.parametrize("path", sorted((ROOT / "kernels").rglob("*.py")), ids=lambda path: path.name)
def test_kernels_import_numpy_and_numba_alone(path: Path) -> None:
    names = {name.split(".")[0] for name in imported(ast.parse(path.read_text()))}
    assert not {name for name in names if name not in sys.stdlib_module_names} - {
        "numpy", "numba", "misheard_kernels",
    }  # fmt: skip


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, misheard.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


@pytest.mark.parametrize(
    "command",
    [
        "run", "score", "import", "report", "clips", "compare", "power", "gate", "doctor",
        "baseline promote", "baseline show", "judge template", "judge calibrate", "soak check",
        *(f"suite {name}" for name in (
            "init", "validate", "show", "import", "mix", "split", "rotate", "open", "lock", "diff",
        )),
    ],
)  # fmt: skip
def test_every_command_explains_itself(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "misheard", *command.split(), "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("Usage: ") or "Usage:" in done.stdout
    readme = (ROOT / "README.md").read_text()
    assert f"misheard {command}" in readme


def test_no_module_is_longer_than_one_sitting() -> None:
    long = {str(p.relative_to(PACKAGE)): n for p in modules() if (n := len(p.read_text().splitlines())) > 320}
    assert not long
