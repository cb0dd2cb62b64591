"""Pictures of scenes: well-formed, the same bytes each time, and nothing on top of anything else."""

import itertools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from made_boards import BOARDS

from misheard.scenes.arrows import arrows, outline
from misheard.scenes.layout import Box, place
from misheard.scenes.scene import EMPTY_SCENE, Connection, Scene, Shape
from misheard.scenes.wrapping import is_right_to_left, text_width, wrap

pytest.importorskip("drawsvg", reason="needs the extra run")
from misheard.scenes.drawing import draw_svg

SVG = "{http://www.w3.org/2000/svg}"

SIZES = st.tuples(st.floats(40, 300), st.floats(20, 400))
GRAPHS = st.integers(1, 14).flatmap(
    lambda count: st.tuples(
        st.lists(SIZES, min_size=count, max_size=count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=24),
    )
)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - made here


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}text")]


def scene(*labels: str, arrow: str = "") -> Scene:
    shapes = tuple(Shape(str(number), "box", label) for number, label in enumerate(labels))
    return Scene(shapes, tuple(Connection(one.id, two.id, arrow) for one, two in itertools.pairwise(shapes)))


def overlap(one: Box, two: Box) -> bool:
    return (
        abs(one.x - two.x) < (one.width + two.width) / 2
        and abs(one.y - two.y) < (one.height + two.height) / 2
    )


@given(BOARDS)
def test_every_board_is_a_document_with_its_labels_and_one_head_per_arrow(board: Scene) -> None:
    svg = draw_svg(board)
    assert draw_svg(board) == svg
    root = parsed(svg)
    shapes = [element.text for element in root.iter(f"{SVG}text")]
    labels = [one.label for one in (*board.shapes, *board.connections)]
    assert sorted(filter(None, labels)) == sorted(map(str, shapes))
    lines = [element for element in root.iter(f"{SVG}path") if element.get("fill") == "none"]
    assert len(lines) == len(board.connections)


def test_an_empty_board_is_a_picture() -> None:
    root = parsed(draw_svg(EMPTY_SCENE))
    assert float(root.get("width", "0")) > 0 and [child.tag for child in root if len(child.attrib)] == [
        f"{SVG}rect"
    ]


def test_markup_in_labels_and_ids_stays_text() -> None:
    evil = '</text><script href="http://x">&amp;"'
    drawn = draw_svg(Scene((Shape(evil, "cloud", evil),), (Connection(evil, evil, evil),)))
    root = parsed(drawn)
    assert "".join(texts(drawn)) == 2 * evil.replace(" ", "")
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg",
        "defs",
        "rect",
        "path",
        "text",
    }
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if "href" in name or name.startswith("on")}
    assert "url(" not in drawn


def test_a_picture_does_not_depend_on_the_order_of_sets() -> None:
    code = (
        "import hashlib; from misheard.scenes.drawing import draw_svg; from misheard.scenes.scene import *;"
        "ids = [f'id {n}' for n in range(40)];"
        "shapes = tuple(Shape(i, 'box', i) for i in ids);"
        "ends = tuple(Connection(ids[n * 7 % 40], ids[n * n % 40], str(n)) for n in range(90));"
        "print(hashlib.sha256(draw_svg(Scene(shapes, ends)).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("label", "direction"),
    [
        ("قاعدة", "rtl"), ("שרת API", "rtl"), ("3 مرات", "rtl"), ("डेटाबेस", "ltr"), ("API שרת", "ltr"),
        ("42", "ltr"),
    ],
)  # fmt: skip
def test_a_label_runs_as_its_first_letter_does(label: str, direction: str) -> None:
    assert is_right_to_left(label) == (direction == "rtl")
    root = parsed(draw_svg(scene(label, "plain", arrow=label)))
    found = {element.text: element.get("direction") for element in root.iter(f"{SVG}text")}
    assert found == {label: direction, "plain": "ltr"}


def test_every_line_of_a_label_runs_as_the_label_does() -> None:
    root = parsed(draw_svg(scene("قاعدة البيانات الرئيسية PostgreSQL")))
    found = [(element.text, element.get("direction")) for element in root.iter(f"{SVG}text")]
    assert found == [("قاعدة البيانات", "rtl"), ("الرئيسية", "rtl"), ("PostgreSQL", "rtl")]


def test_a_connection_without_an_end_is_not_drawn() -> None:
    one = Shape("a", "box", "A")
    assert draw_svg(Scene((one,), (Connection("a", "b", "x"),))) == draw_svg(Scene((one,)))


@pytest.mark.parametrize("kind", ["box", "circle", "diamond", "note", "cloud"])
def test_kinds_have_outlines_of_their_own_that_hold_the_label(kind: str) -> None:
    label = "five words on one shape"
    svg = draw_svg(Scene((Shape("a", kind, label),)))
    others = {
        draw_svg(Scene((Shape("a", other, label),)))
        for other in {"box", "circle", "diamond", "note", "cloud"} - {kind}
    }
    assert svg not in others
    box = Box(0.0, 0.0, 200.0, 100.0)
    for towards in ((400.0, 0.0), (0.0, -300.0), (90.0, 170.0)):
        x, y = outline(kind, box, towards)
        assert x * towards[1] == pytest.approx(y * towards[0])
        across, down = abs(x) / 100, abs(y) / 50
        norm = {"circle": across**2 + down**2, "diamond": across + down}.get(kind, max(across, down))
        assert norm == pytest.approx(1.0)


@pytest.mark.parametrize(
    "ends",
    [
        [(0, number) for number in range(1, 500)],
        [(number, (number + 1) % 500) for number in range(500)],
        [(number * 7 % 500, number * number % 500) for number in range(1_000)],
        [(0, 0)] * 1_000,
        [],
    ],
    ids=["star", "ring", "tangle", "loops", "apart"],
)
def test_the_largest_scenes_are_drawn(ends: Sequence[tuple[int, int]]) -> None:
    shapes = tuple(Shape(str(number), "box", "ம" * 200) for number in range(500))
    arrows_ = (Connection(str(a), str(b), str(n)) for n, (a, b) in enumerate(ends))
    root = parsed(draw_svg(Scene(shapes, tuple(arrows_))))
    assert sum(1 for one in root.iter(f"{SVG}rect")) == 501


@given(GRAPHS)
def test_no_shape_stands_on_another_and_all_stand_in_the_frame(
    graph: tuple[list[tuple[float, float]], list[tuple[int, int]]],
) -> None:
    sizes, ends = graph
    layout = place(sizes, ends, 70.0)
    assert [(box.width, box.height) for box in layout.boxes] == sizes
    assert not any(overlap(*pair) for pair in itertools.combinations(layout.boxes, 2))
    for box in layout.boxes:
        assert box.x - box.width / 2 >= -0.01 and box.x + box.width / 2 <= layout.width + 0.01
        assert box.y - box.height / 2 >= -0.01 and box.y + box.height / 2 <= layout.height + 0.01


@given(GRAPHS)
def test_an_arrow_passes_beside_the_shapes_between_its_ends(
    graph: tuple[list[tuple[float, float]], list[tuple[int, int]]],
) -> None:
    sizes, ends = graph
    layout = place(sizes, ends, 70.0)
    for points in filter(None, layout.routes):
        for enters, leaves in zip(points[::2], points[1::2], strict=True):
            top, bottom = sorted((enters[1], leaves[1]))
            assert enters[0] == leaves[0]
            for box in layout.boxes:
                if top < box.y < bottom:
                    assert abs(box.x - enters[0]) > box.width / 2


@given(GRAPHS)
def test_arrows_end_on_the_outlines_of_their_shapes(
    graph: tuple[list[tuple[float, float]], list[tuple[int, int]]],
) -> None:
    sizes, ends = graph
    layout = place(sizes, ends, 70.0)
    made = arrows(["box"] * len(sizes), layout.boxes, ends, layout.routes)
    for (source, target), arrow in zip(ends, made, strict=True):
        for index, (x, y) in ((source, arrow.curves[0][0]), (target, arrow.curves[-1][3])):
            box = layout.boxes[index]
            reach = max(abs(x - box.x) / (box.width / 2), abs(y - box.y) / (box.height / 2))
            assert reach <= 1.0 + 1e-9
        assert all(one[3] == two[0] for one, two in itertools.pairwise(arrow.curves))


def test_arrows_that_close_a_circle_lead_up_and_all_others_down() -> None:
    layout = place([(80.0, 40.0)] * 4, [(0, 1), (1, 2), (2, 0), (2, 3)], 70.0)
    heights = [box.y for box in layout.boxes]
    assert heights == sorted(heights) and len(set(heights)) == 4
    assert [route is not None and len(route) for route in layout.routes] == [0, 0, 2, 0]


def test_arrows_between_the_same_shapes_do_not_hide_each_other() -> None:
    shapes = (Shape("a", "box", "A"), Shape("b", "box", "B"))
    ends = [
        Connection("a", "b", "x"),
        Connection("a", "b", "y"),
        Connection("b", "a", "z"),
        Connection("a", "a", "v"),
    ]
    drawn = draw_svg(Scene(shapes, (*ends, Connection("a", "a", "w"))))
    paths = re.findall(r'<path d="(M[^"]+)" fill="none"', drawn)
    assert len(set(paths)) == 5
    places = [(float(e.get("x", "")), float(e.get("y", ""))) for e in parsed(drawn).iter(f"{SVG}text")]
    assert len(set(places)) == 7


@given(st.text(max_size=120), st.floats(2, 20))
def test_lines_hold_the_whole_label_and_break_no_character(label: str, width: float) -> None:
    lines = wrap(label, width)
    assert "".join("".join(lines).split()) == "".join(label.split())
    clusters = [cluster for word in label.split() for cluster in regex.findall(r"\X", word)]
    assert [c for line in lines for word in line.split() for c in regex.findall(r"\X", word)] == clusters
    longest = max(map(text_width, clusters), default=0.0)
    assert all(text_width(line) <= max(width, longest) + 1e-9 for line in lines)


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("", []),
        ("  ", []),
        ("one two three", ["one two", "three"]),
        ("数据库服务器", ["数据库服", "务器"]),
        ("क्ष" * 8, ["क्ष" * 3, "क्ष" * 3, "क्ष" * 2]),
        ("unbreakable", ["unbreak", "able"]),
    ],
)
def test_where_labels_break(label: str, lines: list[str]) -> None:
    assert wrap(label, 4.4) == lines
