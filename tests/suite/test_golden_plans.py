"""Golden plans of items: read under the rules of scenes, kept by what writes suites, never quoted."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_suites import HEADER, read_rows, rows_of, write_suite

import command_line
from misheard.errors import SuiteError
from misheard.scenes.scene import Connection, Scene, Shape
from misheard.suite.changes import changes_between
from misheard.suite.items import Item
from misheard.suite.lock import ASPECTS, PLAN, make_lock, read_lock, write_lock
from misheard.suite.manifest import load_suite
from misheard.suite.writing import items_jsonl, suite_yaml

SECRET = "zirconium xylophone"  # noqa: S105  (stands for labels that must not leak)
WORDS = ("zirconium", "xylophone")

PLAN_JSON: dict[str, Any] = {
    "shapes": [{"id": "a", "kind": "box", "label": "login"}, {"id": "b", "kind": "circle", "label": "தகவல்"}],
    "connections": [{"from": "a", "to": "b"}, {"from": "b", "to": "a", "label": "reads"}],
}
SCENE = Scene(
    (Shape("a", "box", "login"), Shape("b", "circle", "தகவல்")),
    (Connection("a", "b"), Connection("b", "a", "reads")),
)


def with_plans(folder: Path, *plans: Any, **fields: Any) -> Path:
    rows = rows_of(1, len(plans))
    for row, plan in zip(rows, plans, strict=True):
        row.update(plan=plan, **fields)
    return write_suite(folder, rows)


def edited(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(PLAN_JSON), **changes}


def problems(folder: Path) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        load_suite(folder)
    assert all(str(problem).startswith("item q00-") for problem in caught.value.problems)
    return [str(problem) for problem in caught.value.problems]


def test_a_plan_is_read_and_a_label_of_a_connection_may_be_left_out(tmp_path: Path) -> None:
    first, second = load_suite(with_plans(tmp_path, PLAN_JSON, None)).items
    assert first.plan == SCENE
    assert second.plan is None


def test_nothing_to_draw_is_a_plan(tmp_path: Path) -> None:
    assert load_suite(with_plans(tmp_path, {"shapes": []})).items[0].plan == Scene()


def test_written_and_read_again_it_is_the_same(tmp_path: Path) -> None:
    suite = load_suite(with_plans(tmp_path / "a", PLAN_JSON))
    again = tmp_path / "b"
    again.mkdir()
    (again / "suite.yaml").write_text(suite_yaml(suite))
    (again / "items.jsonl").write_text(items_jsonl(suite.items))
    assert replace(load_suite(again, require_audio=False), root=suite.root) == suite


@pytest.mark.parametrize(
    "plan",
    [
        SECRET,
        [SECRET],
        7,
        {},
        {"connections": []},
        {"shapes": [], "conections": []},
        {SECRET: SECRET},
        edited(title=SECRET),
        edited(shapes=SECRET),
        edited(shapes=[SECRET]),
        edited(
            shapes=[{"id": "a", "kind": "box", "label": SECRET}, {"id": "a", "kind": "box", "label": SECRET}]
        ),
        edited(shapes=[{"id": "a", "kind": "box", "label": " "}], connections=[]),
        edited(shapes=[{"id": "a", "kind": SECRET, "label": SECRET}], connections=[]),
        edited(shapes=[{"id": "a", "kind": "box"}], connections=[]),
        edited(shapes=[{"id": "a", "kind": "box", "label": SECRET * 10_000}], connections=[]),
        edited(connections=[{"from": "a", "to": SECRET}]),
        edited(connections=[{"from": "a", "label": SECRET}]),
        edited(connections=[{"from": "a", "to": "b", "label": [SECRET]}]),
        edited(connections={"from": "a", "to": "b"}),
        edited(connections=[{"from": "a", "to": "b", "lable": SECRET}]),
        edited(connections=[{"from": "a", "to": "b"}, {"from": "a", "to": "b"}]),
    ],
)
def test_what_is_no_golden_plan_is_named_without_a_label(tmp_path: Path, plan: Any) -> None:
    found = problems(with_plans(tmp_path, plan, PLAN_JSON))
    assert all("plan" in problem for problem in found)
    assert not any(word in problem for problem in found for word in WORDS)


def test_all_problems_of_a_plan_are_named_at_once(tmp_path: Path) -> None:
    shapes = [{"id": "a", "kind": "box", "label": ""}, {"id": "b", "kind": 7, "label": "x"}, {"label": "x"}]
    assert len(problems(with_plans(tmp_path, {"shapes": shapes, "connections": [{"from": "a"}]}))) >= 3


def test_clips_without_speech_have_none(tmp_path: Path) -> None:
    (found,) = problems(with_plans(tmp_path, PLAN_JSON, kind="non_speech", reference=""))
    assert found == "item q00-0 (items.jsonl:1): plan must be left out for a non_speech item"


def test_items_of_the_single_file_form_have_none(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"x")
    item = {"id": "a", "wav": "a.wav", "reference": "x", "plan": PLAN_JSON}
    (tmp_path / "s.json").write_text(json.dumps({"items": [item]}))
    with pytest.raises(SuiteError, match="unknown field 'plan'"):
        load_suite(tmp_path / "s.json")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["shapes", "connections", "id", "kind", "label", "from", "to"]) | st.text(max_size=3)
records = st.dictionaries(names, values | st.sampled_from(["a", "b", "box"]), max_size=5)
plans = values | st.fixed_dictionaries(
    {"shapes": st.lists(records | values, max_size=3), "connections": st.lists(records | values, max_size=3)}
)


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plans")


@settings(max_examples=300, deadline=None)
@given(plan=plans)
def test_plans_of_any_content_end_with_a_suite_or_an_error(shared_folder: Path, plan: Any) -> None:
    try:
        (item,) = load_suite(with_plans(shared_folder, plan)).items
    except SuiteError as error:
        str(error).encode()
        if not error.problems:
            pytest.fail("an error without a problem")
        return
    assert item.plan is None if plan is None else isinstance(item.plan, Scene)


def test_items_without_a_plan_have_the_fingerprints_of_older_items(tmp_path: Path) -> None:
    item = Item(id="a", audio="a.wav", reference="x")
    assert "plan" not in item.truth()
    assert replace(item, plan=SCENE).truth()["plan"]["connections"][0]["label"] == ""
    root = write_suite(tmp_path, rows_of(2))
    assert all(set(hashes) == {*ASPECTS, "set"} for hashes in make_lock(root).items.values())


def test_the_lock_knows_changes_of_a_plan_and_no_label(tmp_path: Path) -> None:
    root = with_plans(tmp_path, PLAN_JSON, None)
    before = make_lock(root)
    assert set(before.items["q00-0"]) == {*ASPECTS, PLAN, "set"}
    rows = read_rows(root)
    rows[0]["plan"]["shapes"][0]["label"] = SECRET
    rows[1]["plan"] = PLAN_JSON
    write_suite(root, rows)
    after = make_lock(root)
    both = ["item q00-0: plan changed", "item q00-1: plan changed"]
    assert [str(edit) for edit in changes_between(before, after).edits] == both
    assert [str(edit) for edit in changes_between(after, before).edits] == both
    write_lock(root / "suite.lock", after)
    assert read_lock(root / "suite.lock") == after
    assert not any(word.encode() in (root / "suite.lock").read_bytes() for word in WORDS)


def test_the_labels_of_a_connection_left_out_and_empty_are_the_same_plan(tmp_path: Path) -> None:
    spelled = edited(connections=[{**c, "label": c.get("label", "")} for c in PLAN_JSON["connections"]])
    a, b = (make_lock(with_plans(tmp_path / name, plan)) for name, plan in (("a", PLAN_JSON), ("b", spelled)))
    assert not changes_between(a, b).edits


def misheard(*arguments: object) -> str:
    done = command_line.misheard(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def recorded(root: Path) -> Path:
    """A suite with recordings that decode, one plan and a glossary."""
    np, soundfile = pytest.importorskip("numpy"), pytest.importorskip("soundfile")
    rows = rows_of(20, 1)
    rows[1]["plan"] = edited(
        shapes=[{**shape, "label": f"{SECRET} {shape['id']}"} for shape in PLAN_JSON["shapes"]]
    )
    (root / "audio").mkdir(parents=True)
    noise = np.random.default_rng(1).uniform(-0.3, 0.3, 16_000)
    for number, row in enumerate(rows):
        soundfile.write(root / row["audio"], np.roll(noise, number), 16_000)
    return write_suite(root, rows, {**HEADER, "glossary": {"en": [SECRET]}})


def test_show_counts_plans_and_prints_no_label(tmp_path: Path) -> None:
    root = recorded(tmp_path / "s")
    printed = misheard("suite", "show", root, "--json", tmp_path / "show.json")
    assert "\n1 with a golden plan\n" in printed
    document = (tmp_path / "show.json").read_text()
    assert json.loads(document)["golden_plans"] == 1
    assert not any(word in printed + document for word in WORDS)


def test_mixing_and_splitting_keep_plan_and_glossary(tmp_path: Path) -> None:
    root = recorded(tmp_path / "s")
    misheard("suite", "mix", root, tmp_path / "mixed", "--snr", "clean,10", "--noise", "white")
    mixed = load_suite(tmp_path / "mixed")
    original = load_suite(root)
    assert mixed.glossary == original.glossary == {"en": (SECRET,)}
    planned = [item for item in mixed.items if item.plan is not None]
    assert len(planned) == 2
    assert {item.plan for item in planned} == {original.items[1].plan}
    misheard("suite", "split", root)
    assert load_suite(root, subset="unsealed").glossary == original.glossary
