"""Which families are computed, and what decides their counts.

To add a metric, write one module with a `Family` and add one line to `families`. A change that can alter any
count raises `SCORER_VERSION`.
"""

import inspect
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.canonical import sha256_file
from misheard.metrics.answer_class import AnswerClass
from misheard.metrics.base import Family
from misheard.metrics.error_rates import cer, wer
from misheard.metrics.non_speech import NonSpeech
from misheard.metrics.propagation import Propagation
from misheard.metrics.quality import AnswerQuality, Scorer
from misheard.metrics.response import Response
from misheard.text.numerals import TEXT2NUM_VERSION
from misheard.text.profiles import profile_named
from misheard.text.tokenisers import CHARS, WORDS

SCORER_VERSION = 1

WORD_OVERLAP = "word_overlap_f1"


@dataclass(frozen=True, slots=True)
class ScoringSettings:
    """How outputs become counts.

    Attributes:
        profile: name of the normalisation profile (see `misheard.text.profiles`).
        response_scorer: function of (reference answer, answer) that returns a number from 0 to 1, used in
            every arm; None for the word-overlap F1.
        response_scorer_name: what reports call the scorer, such as its import path.
    """

    profile: str = "nfc"
    response_scorer: Scorer | None = None
    response_scorer_name: str = WORD_OVERLAP


def families(settings: ScoringSettings, abstentions: Mapping[str, Sequence[str]]) -> tuple[Family, ...]:
    """Return every family, in the order of reports. Raises InputError for a profile that does not exist.

    `abstentions` are the suite's, per language.
    """
    quality = AnswerQuality(settings.profile, settings.response_scorer)
    return (
        wer(settings.profile),
        cer(settings.profile),
        Response(quality),
        AnswerClass(abstentions),
        Propagation(quality),
        NonSpeech(),
    )


def scorer_description(settings: ScoringSettings, abstentions: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return all that decides the counts as JSON values; its sha256 is the scorer's fingerprint."""
    profile, fixed = profile_named(settings.profile), profile_named("nfc")
    return {
        "version": SCORER_VERSION,
        "profiles": {entry.name: entry.version for entry in (profile, fixed)},
        "profile": profile.name,
        "tokenisers": {entry.name: entry.version for entry in (WORDS, CHARS)},
        "response_scorer": settings.response_scorer_name,
        "response_scorer_source_sha256": _source_sha256(settings.response_scorer),
        "abstentions": {tag: list(phrases) for tag, phrases in abstentions.items()},
        "text2num": TEXT2NUM_VERSION,
        "unicode": unicodedata.unidata_version,
    }


def _source_sha256(scorer: Scorer | None) -> str | None:
    """Return the sha256 of the file that defines a scorer, where there is one: an edit changes the scorer."""
    if scorer is None:
        return None
    try:
        source = inspect.getsourcefile(inspect.unwrap(scorer))
    except TypeError:
        return None
    return sha256_file(Path(source)) if source and Path(source).is_file() else None
