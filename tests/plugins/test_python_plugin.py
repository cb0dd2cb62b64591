"""A user's class: how it is found, what becomes of what it does, and what its fingerprint sees."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking import ask

from misheard.canonical import sha256_file
from misheard.errors import BackendError, ConfigError
from misheard.failures import FailureKind
from misheard.plugins.protocol import PLANNER, RENDERER, PluginRequest
from misheard.plugins.python_class import PythonPlugin
from misheard.plugins.settings import PythonPluginSettings

MODULE = """
import json, sys
class Base:
    def __init__(self, **options):
        self.options = options
class Options(Base):
    def plan(self, request):
        return {"options": self.options}
class Changes(Base):
    def plan(self, request):
        request["utterances"].append("more")
        self.options["list"].append(1)
        return {"n": len(request["utterances"]), "m": len(self.options["list"])}
class Raises(Base):
    def plan(self, request):
        raise ValueError("canary")
class Exits(Base):
    def plan(self, request):
        sys.exit("canary")
class Stops(Base):
    def plan(self, request):
        raise KeyboardInterrupt
class Returns(Base):
    def plan(self, request):
        value = []
        for _ in range(100_000):
            value = [value]
        cycle = {}
        cycle["canary"] = cycle
        return {
            "text": "canary", "none": None, "list": [1], "nan": {"x": float("nan")}, "inf": {"x": 1e999},
            "set": {"x": {1}}, "bytes": {"x": b"canary"}, "keys": {("a", 1): 1}, "mixed": {1: 1, "a": 2},
            "deep": {"x": value}, "cycle": cycle, "large": {"x": "canary" * 2_000_000},
        }[self.options["what"]]
class NeedsName:
    def __init__(self, name): pass
    def plan(self, request): return {}
class FailsToStart(Base):
    def __init__(self): raise RuntimeError("no model here")
    def plan(self, request): return {}
class Fingerprinted(Base):
    def plan(self, request): return {}
    def fingerprint(self): return self.options["own"]
class ListFingerprint(Fingerprinted):
    def fingerprint(self): return ["canary"]
class NanFingerprint(Fingerprinted):
    def fingerprint(self): return {"x": float("nan")}
class ExitFingerprint(Fingerprinted):
    def fingerprint(self): sys.exit(3)
class NoMethod: pass
class NotCallable: plan = 3
function = len
class Outer:
    class Inner(Base):
        def plan(self, request): return {"inner": True}
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the user's in the working folder, under a name of its own."""
    name = f"users_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


Plug = Callable[..., PythonPlugin]


@pytest.fixture
def plug(module: str, tmp_path: Path) -> Plug:
    def make(name: str, **options: Any) -> PythonPlugin:
        settings = PythonPluginSettings(target=f"{module}:{name}", options=options)
        return PythonPlugin(settings, PLANNER, tmp_path)

    return make


def test_options_are_keyword_arguments(module: str) -> None:
    settings = PythonPluginSettings(target=f"{module}:Options", options={"a": 1, "b": [True]})
    (found,) = ask(settings, [{}])
    assert json.loads(found.text or "") == {"options": {"a": 1, "b": [True]}}
    (found,) = ask(PythonPluginSettings(target=f"{module}:Outer.Inner"), [{}])
    assert found.text == '{"inner":true}'


def test_what_a_class_changes_is_its_own(module: str) -> None:
    settings = PythonPluginSettings(target=f"{module}:Changes", options={"list": []})
    payload = {"utterances": ["one"]}
    for _ in range(2):
        found = ask(settings, [payload, payload])
        assert [one.text for one in found] == ['{"m":1,"n":2}', '{"m":2,"n":2}']
    assert payload == {"utterances": ["one"]} and settings.options == {"list": []}


@pytest.mark.parametrize(("name", "error"), [("Raises", "ValueError"), ("Exits", "SystemExit")])
def test_what_a_class_raises_fails_one_request_without_its_words(module: str, name: str, error: str) -> None:
    settings = PythonPluginSettings(target=f"{module}:{name}")
    first, second = ask(settings, [{}, {}])
    assert (first.text, first.failure, first.detail) == (
        None, FailureKind.PLANNER_ERROR, f"plan() raised {error}",
    )  # fmt: skip
    assert second.failure is FailureKind.PLANNER_ERROR


def test_ctrl_c_is_no_failure_of_a_class(plug: Plug) -> None:
    plugin = plug("Stops")
    plugin.start()
    with pytest.raises(KeyboardInterrupt):
        list(plugin.complete([PluginRequest("a", {})]))


@pytest.mark.parametrize(
    "what",
    ["text", "none", "list", "nan", "inf", "set", "bytes", "keys", "mixed", "deep", "cycle", "large"],
)
def test_what_is_no_json_object_is_invalid_output_and_is_not_quoted(module: str, what: str) -> None:
    settings = PythonPluginSettings(target=f"{module}:Returns", options={"what": what})
    (found,) = ask(settings, [{}])
    assert (found.text, found.failure) == (None, FailureKind.INVALID_OUTPUT)
    assert found.detail and "canary" not in found.detail


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("Nothing", "has no class Nothing"),
        ("NoMethod", r"has no method plan\(request\)"),
        ("NotCallable", r"has no method plan\(request\)"),
        ("function", "is no class but builtin_function_or_method"),
    ],
)
def test_what_is_no_planner_is_found_before_the_run(plug: Plug, name: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=f"plan.target: .*{complaint}"):
        plug(name).check()


@pytest.mark.parametrize("target", ["no_such_module_anywhere:Planner", "..:a", "a..b:c"])
def test_a_module_that_is_none_is_named(tmp_path: Path, target: str) -> None:
    with pytest.raises(ConfigError, match=r"plan\.target: "):
        PythonPlugin(PythonPluginSettings(target=target), PLANNER, tmp_path).check()


@pytest.mark.parametrize(("name", "said"), [("NeedsName", "TypeError"), ("FailsToStart", "no model here")])
def test_a_class_that_cannot_be_made_says_why(plug: Plug, name: str, said: str) -> None:
    plugin = plug(name)
    plugin.check()
    with pytest.raises(BackendError, match=f"plan.target: .*{said}"):
        plugin.start()


def test_a_renderer_has_a_method_of_another_name(module: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"render.target: .*no method render\(request\)"):
        PythonPlugin(PythonPluginSettings(target=f"{module}:Options"), RENDERER, tmp_path).check()


def test_the_fingerprint_sees_source_options_and_what_the_class_says(
    plug: Plug, module: str, tmp_path: Path
) -> None:
    def fingerprint(name: str, **options: Any) -> dict[str, Any]:
        plugin = plug(name, **options)
        plugin.start()
        plugin.close()
        return plugin.fingerprint()

    plain = fingerprint("Options", key="secret canary")
    assert plain["source_sha256"] == sha256_file(tmp_path / f"{module}.py")
    assert plain["own"] is None and "canary" not in json.dumps(plain)
    one, two = (fingerprint("Fingerprinted", own={"model": model}) for model in ("m1", "m2"))
    assert (one["own"], two["own"]) == ({"model": "m1"}, {"model": "m2"})
    assert len({json.dumps(each) for each in (plain, one, two, fingerprint("Options"))}) == 4
    (tmp_path / f"{module}.py").write_text(MODULE + "\n")
    assert fingerprint("Options", key="secret canary") != plain


@pytest.mark.parametrize("name", ["ListFingerprint", "NanFingerprint", "ExitFingerprint"])
def test_a_fingerprint_that_is_none_ends_the_start(plug: Plug, name: str) -> None:
    with pytest.raises(BackendError, match=r"fingerprint\(\) of"):
        plug(name).start()


def test_a_class_is_found_beside_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"beside_{abs(hash(tmp_path))}"
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / f"{name}.py").write_text(MODULE)
    PythonPlugin(PythonPluginSettings(target=f"{name}:Options"), PLANNER, tmp_path / "configs").check()
