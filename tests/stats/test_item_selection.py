from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_up_tables import AXES, make_items
from misheard.errors import InputError
from misheard.metrics.table import ItemInfo
from misheard.stats.selection import MAX_CELLS, Condition, parse_by, parse_where, slices_by, where_rows
from misheard.stats.slices import slice_items
from misheard.suite.items import ItemKind


def ids(items: tuple[ItemInfo, ...], rows: np.ndarray) -> set[str]:
    return {item.id for item, chosen in zip(items, rows, strict=True) if chosen}


def item(name: str, session: str | None = None, **conditions: str) -> ItemInfo:
    return ItemInfo(name, ItemKind.SPEECH, session, f"item:{name}", conditions, "0" * 64)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("noise=5dB", [("noise", ("5dB",), False)]),
        ("language=hi|ta", [("language", ("hi", "ta"), False)]),
        ("noise!=clean", [("noise", ("clean",), True)]),
        ("noise != clean , mic = phone", [("noise", ("clean",), True), ("mic", ("phone",), False)]),
        ("mic=(none)|phone", [("mic", (None, "phone"), False)]),
        (r"room=a\,b|c\|d|e=f", [("room", ("a,b", "c|d", "e=f"), False)]),
    ],
)
def test_filters_are_read_and_written_alike(text: str, expected: list[tuple[str, tuple[str], bool]]) -> None:
    conditions = parse_where(text)
    assert conditions == tuple(Condition(*parts) for parts in expected)
    assert parse_where(",".join(map(str, conditions))) == conditions


@pytest.mark.parametrize(
    "text",
    ["", "noise", "=5dB", "noise=", "noise!=", "noise=a||b", "noise=5dB,", "No=x", "noise>5", "a\n=b\0|"],
)
def test_filters_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="--where"):
        parse_where(text)


@given(
    st.lists(
        st.lists(st.text("a,|\\=!(é ", min_size=1).map(str.strip).filter(bool), min_size=1, max_size=3),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
)
def test_any_value_can_be_written(values: list[list[str]], negated: bool) -> None:
    conditions = tuple(Condition("noise", tuple(group), negated) for group in values)
    assert parse_where(",".join(map(str, conditions))) == conditions


def test_rows_fulfil_every_condition() -> None:
    items = make_items(4, 2, 3)
    assert ids(items, where_rows(items, AXES, parse_where("noise=15dB,mic=phone"))) == {"q003", "q007"}
    assert ids(items, where_rows(items, AXES, parse_where("kind=non_speech"))) == {
        "noise0",
        "noise1",
        "noise2",
    }
    assert ids(items, where_rows(items, AXES, parse_where("session=s1|s2,noise=clean"))) == {"q002", "q004"}
    assert where_rows(items, AXES, ()).all()
    assert not where_rows(items, AXES, parse_where("noise=5dB")).any()


def test_items_without_a_value_are_not_the_value_and_can_be_asked_for() -> None:
    items = (item("a", mic="phone"), item("b"), item("c", mic="laptop"))
    assert ids(items, where_rows(items, AXES, parse_where("mic!=phone"))) == {"b", "c"}
    assert ids(items, where_rows(items, AXES, parse_where("mic=(none)"))) == {"b"}
    assert ids(items, where_rows(items, AXES, parse_where("mic!=(none)"))) == {"a", "c"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nois=5dB", "unknown axis 'nois' \\(did you mean 'noise'"),
        ("noise=15db", "no value '15db' on the axis noise \\(did you mean '15dB'"),
        ("noise=quiet", "no value 'quiet' on the axis noise \\(known: 'clean', '15dB', '5dB'\\)"),
        ("session=s9", "no value 's9' on the axis session"),
    ],
)
def test_what_does_not_exist_is_answered_with_what_does(text: str, message: str) -> None:
    items = make_items(2, 2, 1)
    with pytest.raises(InputError, match=message):
        where_rows(items, AXES, parse_where(text))


def test_a_slice_per_combination_of_declared_values_also_without_items() -> None:
    cells = slices_by(make_items(2, 3, 0), AXES, ["noise", "mic"])
    assert [(cell.axis, cell.value, cell.items) for cell in cells] == [
        ("noise,mic", "clean,laptop", 2),
        ("noise,mic", "clean,phone", 1),
        ("noise,mic", "15dB,laptop", 1),
        ("noise,mic", "15dB,phone", 2),
        ("noise,mic", "5dB,laptop", 0),
        ("noise,mic", "5dB,phone", 0),
    ]
    assert cells[1].conditions == (("noise", "clean"), ("mic", "phone"))


def test_combinations_with_missing_and_undeclared_values_are_there_where_items_are() -> None:
    items = (
        item("a", noise="clean"),
        item("b", mic="car", noise="clean"),
        item("c", mic="phone", noise="5dB"),
    )
    cells = slices_by(items, {"noise": ("clean",), "mic": ("phone",)}, ["noise", "mic"])
    assert [(cell.value, cell.items) for cell in cells] == [
        ("clean,phone", 0),
        ("clean,car", 1),
        ("clean,(none)", 1),
        ("5dB,phone", 1),
    ]


@pytest.mark.parametrize("axis", [*AXES, "kind"])
def test_one_axis_gives_the_slices_of_the_matrix(axis: str) -> None:
    items = make_items(2, 3, 2)
    declared = {axis: AXES[axis]} if axis in AXES else {}
    expected = slice_items(items, declared)
    found = slices_by(items, declared, [axis])
    assert [(c.conditions, c.rows.tolist()) for c in found] == [
        (c.conditions, c.rows.tolist()) for c in expected
    ]


def test_sessions_are_an_axis() -> None:
    cells = slices_by(make_items(2, 3, 1), AXES, ["session"])
    assert [(cell.value, cell.items) for cell in cells] == [("s0", 3), ("s1", 3), (None, 1)]


def test_unknown_axes_and_too_many_combinations_are_refused() -> None:
    items = make_items(2, 3, 1)
    with pytest.raises(InputError, match="unknown axis 'nose' \\(did you mean 'noise'"):
        slices_by(items, AXES, ["nose"])
    wide = {f"a{n}": tuple(map(str, range(40))) for n in range(30)}
    for by in (["a0", "a1"], list(wide)):
        with pytest.raises(InputError, match=f"at most {MAX_CELLS}"):
            slices_by(items, wide, by)
    many = tuple(item(f"i{n}", session=f"s{n}") for n in range(MAX_CELLS + 1))
    with pytest.raises(InputError, match=f"{MAX_CELLS + 1} combinations"):
        slices_by(many, {}, ["session"])


@pytest.mark.parametrize("text", ["", "noise,", "noise,noise", " , "])
def test_axes_must_be_named_and_differ(text: str) -> None:
    with pytest.raises(InputError, match="--by"):
        parse_by(text)
    assert parse_by("language, noise") == ("language", "noise")


conditions = st.fixed_dictionaries(
    {}, optional={"noise": st.sampled_from(["clean", "5dB", "odd"]), "mic": st.sampled_from(["phone", "car"])}
)


@settings(deadline=None, max_examples=60)
@given(st.lists(conditions, max_size=12), st.permutations(["noise", "mic", "kind"]))
def test_every_item_is_in_exactly_one_slice_and_in_the_right_one(
    rows: list[dict[str, str]], by: list[str]
) -> None:
    axes = {"noise": ("clean", "5dB"), "mic": ("phone",)}
    items = tuple(item(f"i{n}", **row) for n, row in enumerate(rows))
    cells = slices_by(items, axes, by)
    assert sum((cell.rows.astype(int) for cell in cells), np.zeros(len(items), int)).tolist() == [1] * len(
        items
    )
    for cell in cells:
        for place in np.flatnonzero(cell.rows):
            values = {**items[place].conditions, "kind": "speech"}
            assert dict(cell.conditions) == {axis: values.get(axis) for axis in by}
    declared = {**axes, "kind": ("speech", "non_speech")}
    for combination in product(*(declared[axis] for axis in by)):
        assert sum(tuple(v for _, v in cell.conditions) == combination for cell in cells) == 1
