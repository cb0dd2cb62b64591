"""The example planner: on the references of the whiteboard suite its plans are the golden ones."""

import importlib.util
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.scenes.reading import read_scene
from misheard.scenes.scene import Scene
from misheard.stages.plan import plan_request
from misheard.suite.items import Item
from misheard.suite.manifest import load_suite

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "planners" / "rules.py"
ITEMS = [item for item in load_suite(ROOT / "configs" / "whiteboard").items if item.plan is not None]

UNLISTED = [item for item in ITEMS if "," not in item.reference]
"""Those without a list, whose commas part the names."""

WORDS = (
    "draw", "connect", "a", "an", "box", "called", "and", ",", ".", "to", "from", "arrow", "नाम", "का",
    "डिब्बा", "को", "से", "என்ற", "பெட்டி", "എന്ന", "പെട്ടി", "مربع", "اسمه", "اربط", "مع",
)  # fmt: skip

_spec = importlib.util.spec_from_file_location("rules_example", FILE)
assert _spec is not None and _spec.loader is not None
rules = importlib.util.module_from_spec(_spec)
sys.modules["rules_example"] = rules
_spec.loader.exec_module(rules)


def planned(*utterances: str, language: str | None = "en") -> dict[str, Any]:
    reply: dict[str, Any] = rules.RulePlanner().plan(plan_request(utterances, language))
    return reply


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_on_a_reference_the_plan_is_the_golden_one(item: Item) -> None:
    assert read_scene(planned(item.reference, language=item.language)) == item.plan


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_a_language_that_is_not_said_is_found(item: Item) -> None:
    assert read_scene(planned(item.reference, language=None)) == item.plan


@pytest.mark.parametrize("item", UNLISTED, ids=lambda item: item.id)
def test_case_and_missing_punctuation_change_nothing_but_case(item: Item) -> None:
    heard = item.reference.upper().replace(".", "").replace("।", "")
    scene = read_scene(planned(heard, language=item.language))
    assert item.plan is not None
    assert [shape.label.casefold() for shape in scene.shapes] == [
        s.label.casefold() for s in item.plan.shapes
    ]
    assert [(c.source, c.target) for c in scene.connections] == [
        (c.source, c.target) for c in item.plan.connections
    ]


def test_a_misheard_label_leaves_a_connection_without_its_end() -> None:
    plan = planned("Draw a box called log in and a box called database. Connect login to database.")
    assert [shape["label"] for shape in plan["shapes"]] == ["log in", "database"]
    (connection,) = plan["connections"]
    assert connection["from"] not in {shape["id"] for shape in plan["shapes"]}
    assert connection["to"] == "s2"


def test_a_session_goes_on() -> None:
    plan = planned(
        "Draw a box called login.", "Add a box called database.", "Connect login to database.",
        "Draw a box called Login.",
    )  # fmt: skip
    assert [shape["label"] for shape in plan["shapes"]] == ["login", "database"]
    assert plan["connections"] == [{"from": "s1", "to": "s2", "label": ""}]


@pytest.mark.parametrize("text", ["", " ", "hello there", "connect to", "a box called", "draw an arrow from"])
@pytest.mark.parametrize("language", [*rules.GRAMMARS, None, "fr", "en-GB"])
def test_what_describes_no_scene_is_an_empty_board(text: str, language: str | None) -> None:
    assert read_scene(planned(text, language=language)) == Scene()


@settings(max_examples=200, deadline=None)
@given(
    words=st.lists(
        st.sampled_from(WORDS) | st.text(max_size=4),
        max_size=30,
    ),
    language=st.sampled_from([*rules.GRAMMARS, None]),
)
def test_any_words_make_a_scene(words: list[str], language: str | None) -> None:
    text = " ".join(words)
    plan = planned(text, language=language)
    assert len({shape["id"] for shape in plan["shapes"]}) == len(plan["shapes"])
    assert json.loads(json.dumps(plan)) == plan


def request() -> bytes:
    return json.dumps(plan_request([ITEMS[0].reference], "en")).encode()


def test_the_command_answers_the_request_on_its_standard_input() -> None:
    done = subprocess.run([sys.executable, str(FILE)], input=request(), capture_output=True, check=True)
    assert read_scene(json.loads(done.stdout)) == ITEMS[0].plan


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    command = [sys.executable, str(FILE), "--serve", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def post(url: str, body: bytes) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=30) as reply:  # noqa: S310
        return bytes(reply.read())


def test_the_endpoint_answers_a_post(endpoint: str) -> None:
    assert endpoint.startswith("http://127.0.0.1:")
    assert read_scene(json.loads(post(endpoint, request()))) == ITEMS[0].plan


@pytest.mark.parametrize("body", [b"not json", b"{}", b"[]", b'{"utterances": 7}', b"null"])
def test_the_endpoint_refuses_what_is_no_request_and_goes_on(endpoint: str, body: bytes) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(endpoint, body)
    assert refused.value.code == 400
    refused.value.close()
    assert post(endpoint, request())
