"""The examples of docs/suite-format.md are suites."""

import re
from pathlib import Path

from misheard.suite.manifest import load_suite

PAGE = Path(__file__).parents[2] / "docs" / "suite-format.md"


def test_the_examples_load(tmp_path: Path) -> None:
    header, items, single = re.findall(r"```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "suite.yaml").write_text(header)
    (tmp_path / "items.jsonl").write_text(items)
    (tmp_path / "single.json").write_text(single)
    suite = load_suite(tmp_path, require_audio=False)
    assert (suite.version, [item.id for item in suite.items]) == ("1.2", ["q01", "b01", "n01"])
    assert suite.items[1].plan is not None and len(suite.items[1].plan.connections) == 1
    assert suite.glossary == {"en": ("Kubernetes", "payment service")}
    assert len(load_suite(tmp_path / "single.json", require_audio=False).items) == 1
