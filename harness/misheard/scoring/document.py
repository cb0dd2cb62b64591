"""Scored files as JSON values: corpus sums, rates with reasons, distributions, intervals, items, confusions.

The items and confusions belong to the user's own files and are printed where the user asked for them; run
reports have nothing of the kind.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from misheard.api import Score
from misheard.scoring.files import ScoredFiles, SystemScore
from misheard.scoring.texts import TextSettings
from misheard.text.profiles import profile_named

if TYPE_CHECKING:
    from misheard.scoring.intervals import FileIntervals

Document = dict[str, Any]

FORMAT = "misheard/score/1"
ITEM_COLUMNS = (
    "substitutions", "deletions", "insertions", "hits", "errors", "reference_units", "hypothesis_units",
    "rate",
)  # fmt: skip


def files_document(
    scored: ScoredFiles,
    intervals: "FileIntervals | None",
    statistics: Document | None,
    confusions: int | None = None,
    *,
    with_items: bool = True,
    alignments: int | None = 0,
) -> Document:
    """Return the document.

    `confusions` says how many of each kind; None leaves them out. `statistics` are the settings of
    `intervals`; both are None where none were estimated. `alignments` says how many of each system's items
    with errors hold theirs, None for all of them; at 0 no item has such a field.
    """
    settings, reference = scored.settings, scored.reference
    return {
        "format": FORMAT,
        "profile": {"name": settings.profile, "version": profile_named(settings.profile).version},
        "unit": settings.unit,
        "language": settings.language,
        "number_words": _number_words(settings),
        "costs": settings.costs,
        "annotations": settings.annotations,
        "alternatives": scored.alternatives,
        "missing": scored.missing,
        "pairs": len(scored.pairs.ids),
        "reference": {
            "file": reference.name,
            "format": reference.format,
            "utterances": len(reference.texts),
        },
        "statistics": statistics,
        "hypotheses": [
            {
                **system_document(system),
                "intervals": None if intervals is None else _intervals(intervals.rates[place]),
                "confusions": None if confusions is None else _confusions(system, confusions),
                "items": item_documents(scored, system, alignments) if with_items else None,
            }
            for place, system in enumerate(scored.systems)
        ],
        "comparisons": [] if intervals is None else _comparisons(scored, intervals),
    }


def _number_words(settings: TextSettings) -> str | None:
    """Return what becomes of number words, `digits` or `kept`; None where the profile does not read them."""
    if settings.profile != "spoken":
        return None
    from misheard.text.numeral_words import reads_number_words

    return "digits" if reads_number_words(settings.language) else "kept"


def system_document(system: SystemScore) -> Document:
    """Return the corpus figures of one system."""
    score = system.score
    with_errors = len(system.with_errors)
    return {
        "file": system.name,
        "format": system.transcripts.format,
        "paired_by": system.paired_by,
        "missing": system.missing,
        "substitutions": score.substitutions,
        "deletions": score.deletions,
        "insertions": score.insertions,
        "hits": score.hits,
        "errors": score.errors,
        "reference_units": score.reference_units,
        "hypothesis_units": score.hypothesis_units,
        "rate": score.rate,
        "reason": None if score.reference_units else "no_reference_units",
        "utterances_with_errors": with_errors,
        "sentence_error_rate": with_errors / len(score.items) if score.items else None,
        "distribution": distribution(score),
    }


def item_documents(scored: ScoredFiles, system: SystemScore, alignments: int | None = 0) -> list[Document]:
    """Return the counts of each pair, in the order of the references; `alignments` as in `files_document`."""
    documents: list[Document] = []
    for identifier, item in zip(scored.pairs.ids, system.score.items, strict=True):
        row = dict(zip(ITEM_COLUMNS, item_row(item), strict=True))
        documents.append({"id": identifier, **row})
    if alignments != 0:
        aligned = set(system.with_errors[:alignments])
        for place, document in enumerate(documents):
            steps = system.score.alignments[place] if place in aligned else None
            document["alignment"] = None if steps is None else [step._asdict() for step in steps]
    return documents


def item_row(item: Sequence[int]) -> list[float | int | None]:
    """Return one pair's figures in the order of ITEM_COLUMNS; the rate is None for an empty reference."""
    substitutions, deletions, insertions, hits = item
    errors, units = substitutions + deletions + insertions, substitutions + deletions + hits
    return [*item, errors, units, substitutions + insertions + hits, errors / units if units else None]


def distribution(score: Score) -> Document:
    """Return n, mean, median and 95th percentile (linear interpolation) of the pairs' own rates."""
    rates = sorted(rate for item in score.items if (rate := item_row(item)[-1]) is not None)
    if not rates:
        return {"n": 0, "mean": None, "p50": None, "p95": None}
    mean = math.fsum(rates) / len(rates)
    return {"n": len(rates), "mean": mean, "p50": _quantile(rates, 0.5), "p95": _quantile(rates, 0.95)}


def _quantile(ascending: Sequence[float], share: float) -> float:
    place = share * (len(ascending) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ascending) - 1)
    return ascending[low] + (ascending[high] - ascending[low]) * (place - low)


def _intervals(intervals: Any) -> Document | None:
    from misheard.report.values import intervals_document

    return intervals_document(intervals)


def _comparisons(scored: ScoredFiles, intervals: "FileIntervals") -> list[Document]:
    return [
        {
            "a": scored.systems[one.a].name,
            "b": scored.systems[one.b].name,
            "a_rate": scored.systems[one.a].score.rate,
            "b_rate": scored.systems[one.b].score.rate,
            "difference": one.difference,
            "n": len(scored.pairs.ids),
            "units": intervals.units,
            "resampled": "sessions" if intervals.by_session else "utterances",
            "intervals": _intervals(one.intervals),
            "verdict": str(one.verdict),
        }
        for one in intervals.differences
    ]


def _confusions(system: SystemScore, most: int) -> Document:
    from misheard.scoring.alignments import confusions_of

    score = system.score
    found = confusions_of(score.alignments[place] for place in system.with_errors).most_frequent(most)
    return {
        "substitutions": [
            {"reference": said, "hypothesis": heard, "count": count}
            for (said, heard), count in found.substitutions.items()
        ],
        "deletions": [{"reference": said, "count": count} for said, count in found.deletions.items()],
        "insertions": [{"hypothesis": heard, "count": count} for heard, count in found.insertions.items()],
    }
