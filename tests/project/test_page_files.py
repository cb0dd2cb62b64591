"""Files that pages show are files that misheard reads: run configs, the gate, the suite."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from misheard.config import RunConfig, parse_config
from misheard.gate.gate_file import load_gate
from misheard.suite.manifest import load_suite

DOCS = Path(__file__).parents[2] / "docs"
WHOLE = {"recognizer": {"kind": "fake"}, "language_model": {"kind": "fake"}}
"""What a page leaves out."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def configs(text: str) -> Iterator[dict[str, Any]]:
    """Yield the configs of a block: a section that comes again is another choice of the same."""
    config: dict[str, Any] = {}
    for part in re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]:
        section = yaml.safe_load(part)
        if config.keys() & section.keys():
            yield config
            config = {name: value for name, value in config.items() if name not in section}
        config |= section
    yield config


SHOWN = [
    pytest.param(config, id=f"{page.stem}-{'-'.join(config)}")
    for page in sorted(DOCS.glob("*.md"))
    for text in blocks(page, "yaml")
    for config in configs(text)
    if config and config.keys() <= RunConfig.model_fields.keys()
]


@pytest.mark.parametrize("config", SHOWN)
def test_a_part_of_a_config_is_one(config: dict[str, Any]) -> None:
    parse_config("page", {**WHOLE, **config})


def test_most_pages_on_systems_show_one() -> None:
    assert len(SHOWN) > 15


def test_the_gate_is_one(tmp_path: Path) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text(blocks(DOCS / "gate.md", "yaml")[0], "utf-8")
    load_gate(gate)


def test_the_suite_is_one(tmp_path: Path) -> None:
    page = DOCS / "suite-format.md"
    (header,) = blocks(page, "yaml")
    items, one_file = blocks(page, "json")
    (tmp_path / "suite.yaml").write_text(header, "utf-8")
    (tmp_path / "items.jsonl").write_text(items, "utf-8")
    (tmp_path / "clips.json").write_text(one_file, "utf-8")
    for name in re.findall(r'"(?:audio|wav)": "(.*?)"', items + one_file):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [item.id for item in load_suite(tmp_path).items] == ["q01", "b01", "n01"]
    assert [item.id for item in load_suite(tmp_path / "clips.json").items] == ["q01"]
