"""The metrics that a suite names as deciding, and the languages of its items, which they go by."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from misheard.suite.header import Header
from misheard.suite.items import Item, Suite
from misheard.suite.problems import Problems, shown, suggestion
from misheard.text.languages import primary_subtag

_BY_CHARACTER = frozenset({"ja", "km", "lo", "ml", "my", "ta", "th", "yue", "zh"})
_LANGUAGE_AXIS = "language"


def usual_metric(language: str | None) -> str:
    """Return `cer` for a language whose words are long or not separated, else `wer`."""
    return "cer" if primary_subtag(language) in _BY_CHARACTER else "wer"


def without_language(items: Iterable[Item]) -> list[Item]:
    """Return the speech items that have no language."""
    return [item for item in items if item.is_speech and item.language is None]


def without_primary(suite: Suite) -> list[str | None]:
    """Return the languages of speech items that have no primary metric, None for items without a language.

    Where the suite declares no axis `language`, one metric decides over all its items.
    """
    spoken = {item.language for item in suite.items if item.is_speech}
    if len(suite.primary_metrics) == 1 and _LANGUAGE_AXIS not in suite.axes:
        return []
    return sorted(spoken - suite.primary_metrics.keys(), key=lambda tag: (tag is None, tag or ""))


def check_primary(header: Header, items: Sequence[Item], where: str, problems: Problems) -> None:
    """Note every primary metric that a run over the suite does not report."""
    if not header.primary_metrics:
        return
    # the scorer takes longer to import than a small suite takes to load
    from misheard.metrics.content import NO_SYSTEM, SystemContent, suite_content
    from misheard.metrics.registry import ScoringSettings, families

    suite = Suite(
        name=header.name,
        version=header.version,
        root=Path(),
        axes=header.axes,
        items=tuple(items),
        primary_metrics=header.primary_metrics,
        char_scripts=header.char_scripts,
    )
    content = suite_content(suite)
    systems = (NO_SYSTEM, SystemContent(scenes=True)) if content.plans else (NO_SYSTEM,)
    scored = [
        rate.name
        for system in systems
        for family in families(ScoringSettings(), {}, content, system)
        for rate in family.rates
    ]
    for language, metric in header.primary_metrics.items():
        if metric not in scored:
            hint = suggestion(metric, scored)
            problems.add(
                where, f"primary names the metric {shown(metric)} for {language}, which is not scored{hint}"
            )
