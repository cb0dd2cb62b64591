"""docs/metrics.md defines every rate that a report can have, and none besides."""

import re
from pathlib import Path

from misheard.metrics.content import SuiteContent, SystemContent
from misheard.metrics.registry import ScoringSettings, families

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text("utf-8")
CONTENT = SuiteContent(
    scripts=True, entities=True, mixed=True, char_scripts=("Hani",), scored_alone=("Hani", "Latn"), plans=True
)
SYSTEMS = (
    SystemContent(corrects=True, n_best=True, judged=("meaning", "answer")),
    SystemContent(corrects=True, scenes=True),
)
FAMILIES = {
    family.name: [rate.name for rate in family.rates]
    for system in SYSTEMS
    for family in families(ScoringSettings(), {}, CONTENT, system)
}
RATES = {name for rates in FAMILIES.values() for name in rates}


def defined() -> set[str]:
    """Return the names in definitions: first cells of tables and code of prose, with patterns filled in."""
    names = set(re.findall(r"`([\w*]+)`", PAGE.split("## Alignment")[1]))
    for error_rate in [name for name in FAMILIES if f"{name}_bounded" in FAMILIES[name]]:
        names |= {name.replace("*", error_rate, 1) for name in names if name.startswith("*_")}
    for kind in ("numbers", "entities", "latn"):
        names |= {name.replace("pier_X", f"pier_{kind}") for name in names if name.startswith("pier_X")}
    return names


def test_every_rate_is_defined() -> None:
    assert RATES - defined() == set()


def test_every_family_has_a_heading() -> None:
    headed = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^## .*famil.*$", PAGE, re.MULTILINE))))
    assert headed == {re.sub("_(hani|latn)$", "_SCRIPT", name) for name in FAMILIES}


def test_tables_define_only_what_there_is() -> None:
    cells = re.findall(r"^\| (`.*?) \|", PAGE.split("## Alignment")[1], re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", cell))}
    assert named - RATES - {"pier_X", "pier_X_insertion_rate"} == set()
