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
from misheard.metrics import entities, points_of_interest, script_mismatch
from misheard.metrics.answer_class import AnswerClass
from misheard.metrics.base import Family
from misheard.metrics.bursts import Bursts
from misheard.metrics.compounds import Compounds
from misheard.metrics.content import NO_SYSTEM, SuiteContent, SystemContent
from misheard.metrics.correction_effect import CorrectedRates, CorrectionEffect, TokenChange
from misheard.metrics.error_categories import ErrorCategories
from misheard.metrics.error_rates import cer, wer
from misheard.metrics.information import Information
from misheard.metrics.judge import judge_families
from misheard.metrics.mixed_error_rate import mer, one_script
from misheard.metrics.n_best import NBest
from misheard.metrics.non_speech import NonSpeech
from misheard.metrics.propagation import Propagation
from misheard.metrics.quality import AnswerQuality, Scorer
from misheard.metrics.response import Response
from misheard.metrics.scene import SceneMatch
from misheard.metrics.scene_propagation import ScenePropagation
from misheard.metrics.segments import Segments
from misheard.metrics.transcripts import Split, Transcripts
from misheard.text.numerals import TEXT2NUM_VERSION
from misheard.text.profiles import profile_named
from misheard.text.scripts import regex_version
from misheard.text.tokenisers import CHARS, WORDS, mixed_tokeniser, words

SCORER_VERSION = 5

WORD_OVERLAP = "word_overlap_f1"
NO_CONTENT = SuiteContent()


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


def families(
    settings: ScoringSettings,
    abstentions: Mapping[str, Sequence[str]],
    content: SuiteContent = NO_CONTENT,
    system: SystemContent = NO_SYSTEM,
) -> tuple[Family, ...]:
    """Return every family, in the order of reports. Raises InputError for a profile that does not exist.

    `abstentions` are the suite's, per language; `content` says what else it has to score, and `system` what
    there is of the system.
    """
    quality = AnswerQuality(settings.profile, settings.response_scorer)
    in_words = Transcripts(settings.profile, words)
    return (
        wer(settings.profile),
        cer(settings.profile),
        *_mixed_families(settings.profile, content),
        *_correction_families(settings.profile, content, system),
        *_list_families(settings.profile, content, system),
        *_entity_families(content, system, in_words),
        points_of_interest.numbers(in_words),
        *_script_families(content, system),
        Information(in_words),
        ErrorCategories(in_words),
        Bursts(in_words),
        Compounds(in_words),
        *_answer_families(quality, abstentions, system),
        *_scene_families(content, system),
        NonSpeech(),
        Segments(),
        *judge_families(system.judged),
    )


def _mixed_families(profile: str, content: SuiteContent) -> tuple[Family, ...]:
    if not content.mixed:
        return ()
    in_mixed = Transcripts(profile, mixed_tokeniser(content.char_scripts).split)
    return (
        mer(profile, content.char_scripts),
        *(one_script(profile, script, content.char_scripts) for script in content.scored_alone),
        *(points_of_interest.script_words(script, in_mixed) for script in content.scored_by_word),
    )


def _correction_families(profile: str, content: SuiteContent, system: SystemContent) -> tuple[Family, ...]:
    if not system.corrects:
        return ()
    split = _tokens(content)
    return (
        CorrectedRates(wer(profile)),
        CorrectedRates(cer(profile)),
        *((CorrectedRates(mer(profile, content.char_scripts)),) if content.mixed else ()),
        CorrectionEffect(profile, split),
        *(TokenChange(script, profile, split) for script in content.scored_by_word),
    )


def _list_families(profile: str, content: SuiteContent, system: SystemContent) -> tuple[Family, ...]:
    return (NBest(profile, _tokens(content)),) if system.n_best else ()


def _tokens(content: SuiteContent) -> Split:
    """Return what makes the tokens of a transcript: mixed ones where the suite scores those."""
    return mixed_tokeniser(content.char_scripts).split if content.mixed else words


def _entity_families(
    content: SuiteContent, system: SystemContent, in_words: Transcripts
) -> tuple[Family, ...]:
    if not content.entities:
        return ()
    return (
        entities.in_transcripts(),
        *((entities.in_corrected_texts(),) if system.corrects else ()),
        *((entities.in_plans(), entities.on_boards()) if system.scenes and content.plans else ()),
        points_of_interest.entities(in_words),
    )


def _script_families(content: SuiteContent, system: SystemContent) -> tuple[Family, ...]:
    if not content.scripts:
        return ()
    return (
        script_mismatch.of_transcripts(),
        *((script_mismatch.of_corrected_texts(),) if system.corrects else ()),
    )


def _answer_families(
    quality: AnswerQuality, abstentions: Mapping[str, Sequence[str]], system: SystemContent
) -> tuple[Family, ...]:
    """Return what is counted of answers; a system that draws scenes gives none."""
    return () if system.scenes else (Response(quality), AnswerClass(abstentions), Propagation(quality))


def _scene_families(content: SuiteContent, system: SystemContent) -> tuple[Family, ...]:
    return (SceneMatch(), ScenePropagation()) if system.scenes and content.plans else ()


def scorer_description(
    settings: ScoringSettings,
    abstentions: Mapping[str, Sequence[str]],
    content: SuiteContent = NO_CONTENT,
    system: SystemContent = NO_SYSTEM,
) -> dict[str, Any]:
    """Return all that decides the counts as JSON values; its sha256 is the scorer's fingerprint.

    A system that only hears and answers is left out, so that older fingerprints hold.
    """
    mixed = [mixed_tokeniser(content.char_scripts)] if content.mixed else []
    profile, fixed = profile_named(settings.profile), profile_named("nfc")
    return {
        "version": SCORER_VERSION,
        "profiles": {entry.name: entry.version for entry in (profile, fixed)},
        "profile": profile.name,
        "tokenisers": {entry.name: entry.version for entry in (WORDS, CHARS, *mixed)},
        "content": content.as_json(),
        **({"system": system.as_json()} if system != NO_SYSTEM else {}),
        "response_scorer": settings.response_scorer_name,
        "response_scorer_source_sha256": _source_sha256(settings.response_scorer),
        "abstentions": {tag: list(phrases) for tag, phrases in abstentions.items()},
        "text2num": TEXT2NUM_VERSION,
        "unicode": unicodedata.unidata_version,
        "regex": regex_version(),
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
