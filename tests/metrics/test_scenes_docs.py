"""The example of docs/scenes.md, and that the page names every rate."""

import json
import re
from pathlib import Path

import pytest
from made_scenes import drawn
from scored_rows import named_rates

from misheard.metrics.scene import SceneMatch
from misheard.metrics.scene_propagation import ScenePropagation
from misheard.scenes.operations import AddShape, Connect, apply
from misheard.scenes.reading import check_golden, read_scene
from misheard.scenes.scene import Scene

PAGE = (Path(__file__).parents[2] / "docs" / "scenes.md").read_text(encoding="utf-8")
GOLDEN, PLAN = (read_scene(json.loads(block)) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
EXAMPLE = {
    name: int(hits) / int(of)
    for name, hits, of in re.findall(r"^\| `(\w+)` \| (\d+) / (\d+) \|", PAGE, re.MULTILINE)
}


def test_the_example():
    assert check_golden(GOLDEN) == []
    steps = [*(AddShape(shape) for shape in PLAN.shapes), *(Connect(one) for one in PLAN.connections)]
    applied = apply(Scene(), steps)
    row = drawn(GOLDEN, applied.board, plan=PLAN, refused=len(applied.refused))
    rates = named_rates(SceneMatch(), [row])
    assert rates == {name: pytest.approx(value) for name, value in EXAMPLE.items()}


@pytest.mark.parametrize("family", [SceneMatch(), ScenePropagation()], ids=lambda family: family.name)
def test_every_rate_is_defined(family):
    definitions = PAGE.replace("\n", " ")
    assert {rate.name for rate in family.rates} <= set(re.findall(r"`(\w+)`", definitions))
