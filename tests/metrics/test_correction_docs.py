"""docs/correction.md names the options, problems and rates that there are."""

import re
from pathlib import Path

import yaml

from misheard.config import parse_config
from misheard.metrics.content import SuiteContent, SystemContent
from misheard.metrics.registry import ScoringSettings, families
from misheard.stages import correct

PAGE = (Path(__file__).parents[2] / "docs" / "correction.md").read_text()
BLOCKS = dict(re.findall(r"```(yaml|sh)\n(.*?)```", PAGE, re.DOTALL))


def test_the_example_is_a_config() -> None:
    config = parse_config("docs", yaml.safe_load(BLOCKS["yaml"]))
    assert config.correct is not None
    assert config.correct.n_best
    assert [str(arm) for arm in config.possible_arms] == ["audio", "uncorrected", "transcript", "control"]


def test_the_command_changes_the_demo_config() -> None:
    overrides = re.findall(r"--set (\S+)", BLOCKS["sh"])
    demo = yaml.safe_load((Path(__file__).parents[2] / "configs" / "demo.yaml").read_text())
    config = parse_config("demo", demo, overrides)
    assert config.language_model is None
    assert config.recognizer.model_dump()["n_best"] == 5


def test_every_rate_of_correction_and_lists_is_there() -> None:
    content = SuiteContent(mixed=True, char_scripts=("Hani",), scored_alone=("Hani", "Latn"))
    system = SystemContent(corrects=True, n_best=True)
    named = {"correction", "token_change_latn", "n_best"}
    wanted = {
        rate.name
        for family in families(ScoringSettings(), {}, content, system)
        for rate in family.rates
        if family.name in named or rate.name == family.name.removesuffix("_corrected") + "_corrected"
    }
    assert len(wanted) == 7 + 1 + 3 + 3
    listed = {
        name for row in re.findall(r"^\| (`.*?) \|", PAGE, re.M) for name in re.findall(r"`(\w+)`", row)
    }
    assert wanted <= listed
    assert {correct.INVALID_OUTPUT, correct.TRUNCATED, correct.NOT_A_TRANSCRIPT} <= listed


def test_the_figures_of_the_rule_are_those_of_its_table() -> None:
    table = re.findall(r"^\| (\w+)[^|]*\| (\d+) +\| (\d+) +\|$", correct.__doc__ or "", re.M)
    told = re.search(r"keeps (\d+) of (\d+)\s+corrections, (.*?) of (.*?) refusals", PAGE, re.DOTALL)
    assert told is not None
    kept = {kind: (n, of) for kind, n, of in table}
    assert kept["correction"] == told.group(1, 2)
    assert kept["refusal"] == told.group(3, 4)
    for kind in ("translation", "answer"):
        n, of = kept[kind]
        assert re.search(rf"{n} of {of}\s+{kind}s", PAGE), kind
