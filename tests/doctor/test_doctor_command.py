"""The command: with and without a config, on narrow terminals, as JSON, and its exit codes."""

import http.server
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from children import write_program
from rich.console import Console
from rich.text import Text
from test_models import need, write_safetensors

from misheard.commands.doctor import doctor as command
from misheard.doctor import examine
from misheard.doctor.checks import Check, Group, State
from misheard.doctor.child import Outcome, run_children
from misheard.doctor.steps import Step, all_steps
from misheard.doctor.terminal import as_json, render_group, summary
from misheard.errors import InputError, install_advice


def doctor(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "misheard", "doctor", *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


def test_a_config_is_checked_for_what_it_needs_alone(make_config: Callable[..., Path]) -> None:
    done = doctor(make_config(), "--cpu", "--json")
    found = json.loads(done.stdout)
    names = [check["name"] for check in found["checks"]]
    assert (done.returncode, found["ok"], done.stderr) == (0, True, "")
    assert "numba" in names and "libsndfile" in names
    assert not {"torch", "vllm", "driver", "transformers", "openai"} & set(names)
    assert set(found["checks"][0]) == {"group", "name", "state", "found", "advice", "seconds"}


def test_a_config_that_does_not_run_says_why(
    tmp_path: Path,
    make_config: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_safetensors(tmp_path / "mind")
    python = write_program(tmp_path / "python", "echo 'cannot load libcublas.so.12' >&2; kill -ABRT $$")
    model = {"kind": "vllm", "model": "./mind", "python": str(python)}
    every = examine.all_steps
    monkeypatch.setattr(
        examine, "all_steps", lambda *given: [step for step in every(*given) if "vLLM" in step.title]
    )
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(typer.Exit) as ended:
        command(make_config(language_model=model), cpu=True)
    shown = capsys.readouterr().out
    assert ended.value.exit_code == 1
    assert "BROKEN   vllm" in shown and "SIGABRT" in shown and "nvidia-cublas-cu12" in shown
    # a long path is folded at any place
    assert "config.yamlwillnotrun:vllm" in "".join(shown.split())
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("config", "options", "said"),
    [
        (None, {"cpu": True}, "name the config"),
        ("none.yaml", {}, "none.yaml"),
        ("config.yaml", {"settings": ["recognizer.kind=nothing"]}, "there is no kind"),
    ],
)
def test_bad_usage_is_refused(
    tmp_path: Path, make_config: Callable[..., Path], config: str | None, options: dict[str, Any], said: str
) -> None:
    make_config()
    with pytest.raises(InputError, match=said):
        command(None if config is None else tmp_path / config, **options)


def test_an_extra_is_advised_once_behind_all_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = [
        Check(Group.RECOGNITION, name, State.MISSING, "is not installed", install_advice(extra))
        for name, extra in (("torch", "run"), ("ray", "ray"), ("soundfile", "run"))
    ]
    other = Check(Group.MACHINE, "open files", State.WARNING, "256", "ulimit -n 4096")
    monkeypatch.setattr(examine, "examine", lambda *_, **__: iter([lacking, [other]]))
    command()
    out = capsys.readouterr().out
    words = " ".join(out.split())
    extras = (("run", "torch, soundfile"), ("ray", "ray"))
    assert " ".join(f"-> {install_advice(extra)} brings {names}" for extra, names in extras) in words
    assert words.count("pip install 'misheard") == len(extras)
    assert "-> ulimit -n 4096" in words and out.splitlines()[-1] == "nothing is broken"
    command(as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert [check["advice"] for check in found["checks"]] == [check.advice for check in (*lacking, other)]


@pytest.mark.models
@pytest.mark.slow
def test_this_machine_is_looked_at_as_a_whole(models_dir: Path) -> None:
    done = doctor("--json", MISHEARD_VLLM_PYTHON=sys.executable)  # a real server takes 20 s of CPU time
    found = json.loads(done.stdout)
    checks = {check["name"]: check for check in found["checks"]}
    assert done.returncode == (0 if found["ok"] else 1)
    for name in ("numba", "libsndfile", "FFmpeg", "torch", "ctranslate2", "transformers", "openai"):
        assert checks[name]["state"] == "ok", checks[name]
    assert checks["whisper-base"]["state"] == "ok"
    assert checks["driver"]["state"] in ("ok", "missing")
    assert checks["vllm"]["state"] in ("ok", "missing")
    order = [str(group) for group in Group]
    groups = [order.index(check["group"]) for check in found["checks"]]
    assert groups == sorted(groups)


def titles(steps: list[Step]) -> set[str]:
    return {step.title.partition(" (")[0] for step in steps}


@pytest.mark.parametrize(
    ("sections", "there", "not_there"),
    [
        (
            {},
            set(),
            {"torch", "ctranslate2", "transformers", "vLLM", "openai", "networkx", "ray", "model hub"},
        ),
        ({"recognizer": {"kind": "ctranslate2", "model": "x"}}, {"ctranslate2", "torch"}, {"transformers"}),
        ({"recognizer": {"kind": "transformers", "model": "x"}}, {"transformers", "torch"}, {"ctranslate2"}),
        ({"recognizer": {"kind": "vllm", "model": "x"}}, {"vLLM", "openai"}, {"torch"}),
        ({"language_model": {"kind": "embedded", "model": "x"}}, {"transformers", "torch"}, {"openai"}),
        ({"judge": {"language_model": {"kind": "vllm", "model": "x"}}}, {"vLLM", "openai"}, {"torch"}),
        (
            {"language_model": {"kind": "openai_api", "base_url": "http://127.0.0.1:1/v1", "model": "x"}},
            {"language_model", "openai"},
            {"torch", "vLLM"},
        ),
        (
            {"plan": {"kind": "http", "url": "http://127.0.0.1:1/"}},
            {"plan", "networkx"},
            {"render"},
        ),
        (
            {"plan": {"kind": "python", "target": "a:B"}, "render": {"kind": "python", "target": "a:B"}},
            {"plan", "render"},
            {"networkx"},
        ),
        ({"execution": {"executor": "ray"}}, {"ray"}, set()),
    ],
)
def test_a_config_is_asked_for_what_it_needs_alone(
    tmp_path: Path, sections: dict[str, Any], there: set[str], not_there: set[str]
) -> None:
    found = titles(all_steps(need(tmp_path, **sections), None, tmp_path))
    assert there <= found
    assert not not_there & found
    assert {"kernels", "soundfile", "memory", "folders"} <= found


@pytest.mark.parametrize(("with_config", "state"), [(False, State.MISSING), (True, State.BROKEN)])
def test_ray_that_is_not_there_is_listed_and_broken_only_where_a_config_needs_it(
    tmp_path: Path, with_config: bool, state: State
) -> None:
    wanted = need(tmp_path, execution={"executor": "ray"}) if with_config else None
    step = next(step for step in all_steps(wanted, None, tmp_path) if step.title == "ray")
    (check,) = step.checks(Outcome("exited", 1, 0.1, '{"package": "ray", "absent": true}'))
    assert (check.name, check.state) == ("ray", state) and "misheard[ray]" in check.advice


@pytest.fixture
def server() -> Iterator[str]:
    """A server that serves one model."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"object": "list", "data": [{"id": "served", "object": "model"}]}'
            self.send_response(200 if self.path == "/v1/models" else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_address[1]}/v1"
    listening.shutdown()
    listening.server_close()


def test_servers_of_a_config_must_serve_its_model(tmp_path: Path, server: str) -> None:
    pytest.importorskip("openai", reason="needs the extra run")
    model = {"kind": "openai_api", "base_url": server, "model": "served"}
    ears = {"kind": "openai_api", "base_url": server, "model": "other"}
    steps = [
        step
        for step in all_steps(need(tmp_path, recognizer=ears, language_model=model), None, tmp_path)
        if step.title in ("recognizer", "language_model")
    ]
    found = {}
    for number, outcome in run_children([step.child for step in steps if step.child is not None]):
        (found[steps[number].title],) = steps[number].checks(outcome)
    assert found["language_model"].state is State.OK
    assert (found["recognizer"].group, found["recognizer"].state) == (Group.RECOGNITION, State.BROKEN)
    assert "does not serve other" in found["recognizer"].found


@pytest.mark.parametrize(
    ("sections", "title", "said"),
    [
        ({"plan": {"kind": "python", "target": "deadly:Planner"}}, "plan", "SIGABRT"),
        ({"scoring": {"response_scorer": "no_such_module:score"}}, "response scorer", "no_such_module"),
        ({"scoring": {"response_scorer": "math:sqrt"}}, "response scorer", ""),
    ],
)
def test_code_of_the_user_is_imported_in_a_child(
    tmp_path: Path, sections: dict[str, Any], title: str, said: str
) -> None:
    (tmp_path / "deadly.py").write_text("import os\nos.abort()\n")
    steps = all_steps(need(tmp_path, **sections), None, tmp_path)
    step = next(step for step in steps if step.title == title)
    assert step.child is not None
    ((_, outcome),) = run_children([step.child])
    (check,) = step.checks(outcome)
    assert check.state is (State.BROKEN if said else State.OK)
    assert said in check.found


LONG = Check(
    Group.LANGUAGE_MODEL, "vllm", State.BROKEN,
    "vllm 0.33.0, torch 2.14.1 (/opt/environments/vllm/bin/python) does not start: libcudart.so.13",
    "pip install nvidia-cuda-runtime, or make an environment with vllm of its own and name its interpreter",
)  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("colours", [False, True])
def test_lines_wrap_between_words_and_say_their_state_without_colours(width: int, colours: bool) -> None:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system="standard" if colours else None, highlight=False)
    console.print(render_group([LONG], width), soft_wrap=True, end="")
    assert ("\x1b[" in out.getvalue()) == colours
    plain = Text.from_ansi(out.getvalue()).plain
    assert max(map(len, plain.splitlines())) <= width
    words = " ".join(plain.split())
    assert words.startswith("language model BROKEN vllm vllm 0.33.0")
    assert LONG.found in words and LONG.advice in words


@pytest.mark.parametrize(
    ("state", "ok"), [(State.OK, True), (State.WARNING, True), (State.MISSING, True), (State.BROKEN, False)]
)
def test_only_what_is_broken_fails(state: State, ok: bool) -> None:
    check = Check(Group.GPU, "driver", state, "found")
    assert json.loads(as_json([check]))["ok"] is ok
    assert ("will not run: driver" in summary([check], "c.yaml")) == (not ok)
    assert ("broken: driver" in summary([check], None)) == (not ok)
