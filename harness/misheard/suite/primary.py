"""The metrics that a suite names as deciding."""

from collections.abc import Sequence
from pathlib import Path

from misheard.suite.header import Header
from misheard.suite.items import Item, Suite
from misheard.suite.problems import Problems, shown, suggestion


def check_primary(header: Header, items: Sequence[Item], where: str, problems: Problems) -> None:
    """Note every primary metric that a run over the suite does not report."""
    if not header.primary_metrics:
        return
    # the scorer takes longer to import than a small suite takes to load
    from misheard.metrics.content import suite_content
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
    scored = [
        rate.name for family in families(ScoringSettings(), {}, suite_content(suite)) for rate in family.rates
    ]
    for language, metric in header.primary_metrics.items():
        if metric not in scored:
            hint = suggestion(metric, scored)
            problems.add(
                where, f"primary names the metric {shown(metric)} for {language}, which is not scored{hint}"
            )
