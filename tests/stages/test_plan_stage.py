"""The plan stage: the schema, the request, and what of any reply becomes a plan."""

import json
import string

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.failures import Failure, FailureKind
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.scenes.scene import EMPTY_SCENE, Connection, Scene, Shape
from misheard.stages.plan import plan_request, plan_schema, plan_values, read_plan_reply

PLAN = Scene((Shape("s1", "box", "लॉगिन"), Shape("s2", "note", "b")), (Connection("s1", "s2", "to"),))
REPLY = json.dumps(PLAN.as_json())


def schema(**options: object) -> dict[str, object]:
    settings = LanguageModelPlannerSettings.model_validate(options)
    found: dict[str, object] = json.loads(plan_schema(settings))
    jsonschema.Draft202012Validator.check_schema(found)
    return found


def fits(value: object, **options: object) -> bool:
    return jsonschema.Draft202012Validator(schema(**options)).is_valid(value)


def test_the_schema_takes_plans_and_nothing_else() -> None:
    plan = PLAN.as_json()
    assert fits(plan) and fits(EMPTY_SCENE.as_json())
    assert not fits({"shapes": []}) and not fits({**plan, "note": 1})
    assert not fits(plan, kinds=["box"]) and fits(plan, kinds=["box", "note"])
    assert not fits(plan, max_shapes=1) and not fits(plan, max_connections=0)
    for name in ("id", "kind", "label"):
        assert not fits({"shapes": [{**plan["shapes"][0], name: 1}], "connections": []})
        assert not fits(
            {"shapes": [{k: v for k, v in plan["shapes"][0].items() if k != name}], "connections": []}
        )


TEXT = st.text(string.ascii_letters + " कா你", max_size=90)
ROW = st.fixed_dictionaries({"id": TEXT, "kind": st.sampled_from(["box", "note", "Box", ""]), "label": TEXT})


@given(st.lists(ROW, max_size=3))
def test_what_fits_the_schema_is_a_plan(rows: list[dict[str, str]]) -> None:
    value = {"shapes": rows, "connections": []}
    found = read_plan_reply(json.dumps(value), None, "")
    assert isinstance(found, Scene) or not fits(value)


def test_shapes_are_asked_for_before_connections() -> None:
    assert schema()["required"] == ["shapes", "connections"]


def test_utterances_stand_one_a_line() -> None:
    assert plan_values(["one {kinds}", "दो"], ("box", "note")) == {
        "transcript": "one {kinds}\nदो", "kinds": "box, note",
    }  # fmt: skip
    assert plan_request(("one", "दो"), "hi") == {"utterances": ["one", "दो"], "language": "hi"}
    assert plan_request((), None) == {"utterances": [], "language": None}


@pytest.mark.parametrize(
    "text",
    [
        REPLY,
        f"\n {REPLY} \n",
        f"```json\n{REPLY}\n```",
        f"```\n{json.dumps(PLAN.as_json(), indent=2)}\n```\n",
        f"``` JSON \r\n{REPLY}\r\n```",
        json.dumps({**PLAN.as_json(), "reason": "canary"}),
    ],
)
def test_a_reply_is_a_plan_with_or_without_a_fence(text: str) -> None:
    assert read_plan_reply(text, None, "") == PLAN


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("", "the reply is empty"),
        (" \n", "the reply is empty"),
        ("canary", "the reply is no JSON"),
        (f"Here is the plan: {REPLY}", "the reply is no JSON"),
        (f"{REPLY} canary", "the reply is no JSON"),
        (f"```json canary\n{REPLY}\n```", "the reply is no JSON"),
        (f"```json\n{REPLY}", "the reply is no JSON"),
        ("```json\n```", "the reply is empty"),
        ("```", "the reply is no JSON"),
        (REPLY[:-4], "the reply is no JSON"),
        ("[" * 100_000, "the reply is no JSON"),
        ('["canary"]', "the reply is no JSON object"),
        ('{"shapes": [], "shapes": []}', "the reply has a field twice"),
        ('{"shapes": NaN}', "the reply holds a number that is not finite"),
        ("{}", "the plan: shapes: is missing"),
        (
            json.dumps({"shapes": [{"id": "canary"}] * 3}),
            "the plan: shapes[0].kind: is missing; shapes[0].label: is missing; shapes[1].kind: is missing; "
            "and 3 more",
        ),
    ],
)  # fmt: skip
def test_anything_else_is_invalid_output_and_is_not_quoted(text: str, detail: str) -> None:
    assert read_plan_reply(text, None, "") == Failure("plan", FailureKind.INVALID_OUTPUT, detail)


def test_a_failed_request_stays_what_it_is() -> None:
    for kind in FailureKind:
        assert read_plan_reply(None, str(kind), "why") == Failure("plan", kind, "why")
    assert read_plan_reply(None, None, "") == Failure("plan", FailureKind.INVALID_OUTPUT, "")


def test_a_wild_plan_is_a_plan() -> None:
    wild = Scene((Shape("a", "box", ""), Shape("a", "box", "")), (Connection("b", "c"), Connection("b", "c")))
    assert read_plan_reply(json.dumps(wild.as_json()), None, "") == wild


@given(st.text(max_size=60) | st.text('{}[]",:`\n \\shapes', max_size=60))
def test_no_text_is_anything_but_a_plan_or_a_failure(text: str) -> None:
    assert isinstance(read_plan_reply(text, None, ""), Scene | Failure)
