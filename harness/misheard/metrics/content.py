"""What a suite and a system have to score: it decides which families a run counts, before it runs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from misheard.suite.items import Suite
from misheard.text.numeral_words import reads_number_words
from misheard.text.scripts import expanded_scripts
from misheard.text.tokenisers import DEFAULT_CHAR_SCRIPTS

_MIXED_METRIC = "mer"
_LATIN = "Latn"


@dataclass(frozen=True, slots=True)
class SuiteContent:
    """The parts of a suite that metrics depend on.

    Attributes:
        scripts: whether any item declares the scripts that its transcript may use.
        entities: whether any item lists entities.
        mixed: whether mixed tokens are scored: the suite names `char_scripts`, or `mer` as the primary metric
            of a language.
        char_scripts: the scripts that mixed tokens count by character.
        scored_alone: the scripts that get an error rate of their own.
        plans: whether any item has a golden plan.
    """

    scripts: bool = False
    entities: bool = False
    mixed: bool = False
    char_scripts: tuple[str, ...] = ()
    scored_alone: tuple[str, ...] = ()
    plans: bool = False

    @property
    def scored_by_word(self) -> tuple[str, ...]:
        """The scripts scored alone whose tokens are words: those of the embedded language."""
        return tuple(script for script in self.scored_alone if script not in self.char_scripts)

    def as_json(self) -> dict[str, Any]:
        """Return the content as JSON values, for the description of the scorer.

        `plans`, which came later, is left out where there are none, so that older fingerprints hold.
        """
        values = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}
        return {name: v for name, v in values.items() if v or name != "plans"}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "SuiteContent":
        """Return the content that `as_json` described."""
        return cls(
            scripts=values["scripts"],
            entities=values["entities"],
            mixed=values["mixed"],
            char_scripts=tuple(values["char_scripts"]),
            scored_alone=tuple(values["scored_alone"]),
            plans=bool(values.get("plans", False)),
        )


@dataclass(frozen=True, slots=True)
class SystemContent:
    """The parts of a system that metrics depend on, as its config has them.

    Attributes:
        corrects: whether it has a corrector.
        n_best: whether its recognizer gives a list of hypotheses.
        scenes: whether it plans and draws scenes.
        judged: the judge's questions; none without a judge.
    """

    corrects: bool = False
    n_best: bool = False
    scenes: bool = False
    judged: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the parts that there are as JSON values, for the description of the scorer."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items() if v}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "SystemContent":
        """Return the content that `as_json` described; that of a description without one is empty."""
        parts = {name: bool(values.get(name, False)) for name in ("corrects", "n_best", "scenes")}
        return cls(**parts, judged=tuple(values.get("judged", ())))


NO_SYSTEM = SystemContent()
"""A system that hears and answers, and does nothing else."""


def number_words_kept(suite: Suite) -> list[str | None]:
    """Return the languages whose number words `spoken` leaves as they are; None for items without one."""
    languages = {item.language for item in suite.items if item.is_speech}
    kept = {tag for tag in languages if not reads_number_words(tag)}
    return sorted(kept, key=lambda tag: (tag is None, tag or ""))


def suite_content(suite: Suite) -> SuiteContent:
    """Return what a suite has to score.

    The scripts scored alone are those that items declare; where none does, Latin and those by character.
    Raises InputError for a script that is not known.
    """
    declared = expanded_scripts({script for item in suite.items for script in item.scripts})
    mixed = suite.char_scripts is not None or _MIXED_METRIC in suite.primary_metrics.values()
    chosen = DEFAULT_CHAR_SCRIPTS if suite.char_scripts is None else suite.char_scripts
    by_character = expanded_scripts(chosen) if mixed else ()
    alone = declared or tuple(sorted({*by_character, _LATIN}))
    return SuiteContent(
        scripts=bool(declared),
        entities=any(item.entities for item in suite.items),
        mixed=mixed,
        char_scripts=by_character,
        scored_alone=alone if mixed else (),
        plans=any(item.plan is not None for item in suite.items),
    )
