"""In what two reports were scored differently, and how one is scored as the other was."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.command_lines import path_argument
from misheard.suite.problems import shown

_OPTIONS = {
    "profile": "scoring.profile",
    "response_scorer": "scoring.response_scorer",
    "on_failure": "on_failure",
}
"""What of a scorer `misheard score RUN --set` changes, and the option that does it."""

_FOLLOWING = {"profiles", "number_words_kept", "response_scorer_source_sha256", "sha256"}
"""What of a scorer goes by those options, and by the versions of what is installed."""


@dataclass(frozen=True, slots=True)
class Change:
    """An option of scoring that has one value in a first report and another in a second."""

    option: str
    before: str
    after: str

    @property
    def name(self) -> str:
        """What the option is called in a sentence."""
        return self.option.removeprefix("scoring.").replace("_", " ")

    def __str__(self) -> str:
        return f"{self.name} {shown(self.before)} and {shown(self.after)}"


def option_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the options in which two scorers differ, those that a user can set."""
    return tuple(
        Change(option, str(first.get(key)), str(second.get(key)))
        for key, option in _OPTIONS.items()
        if first.get(key) != second.get(key)
    )


def score_command(run: Path, settings: Iterable[tuple[str, str]]) -> str:
    """Return the command that scores a run with options."""
    words = [f"--set {shlex.quote(f'{option}={value}')}" for option, value in settings]
    return " ".join(["misheard score", path_argument(run), *words])


def difference(
    first: tuple[Path, Mapping[str, Any]], second: tuple[Path, Mapping[str, Any]], keys: Iterable[str]
) -> str:
    """Say in which of some keys two scorers differ, and how both are scored alike.

    What a user can set comes first, with the command; what only follows from it is not named.
    """
    changes = option_changes(first[1], second[1])
    set_by_user = {key for key, option in _OPTIONS.items() if option in {change.option for change in changes}}
    others = sorted({*keys} - set_by_user - (_FOLLOWING if changes else set()))
    return f"{', '.join([*map(str, changes), *others])}; {_advice(first[0], second[0], changes, others)}"


def _advice(first: Path, second: Path, changes: Sequence[Change], others: Sequence[str]) -> str:
    if changes:
        back = [(change.option, change.before) for change in changes]
        return f"score the second as the first was: {score_command(second, back)}"
    if any(name.startswith(("abstentions", "content")) for name in others):
        return "these come from the suite: run both over the same"
    return f"score both with this version: {score_command(first, ())}; {score_command(second, ())}"
