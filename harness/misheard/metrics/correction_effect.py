"""What a corrector does, as families: `correction`, `token_change_{script}` and the rates of corrected texts.

`correction` judges every edit of the corrector once, against reference and raw transcript, as
`misheard.metrics.correction` defines it, and counts the replies that were not used. In the arm `transcript`
the raw text is the human one, so that all the corrector can do there is harm. Helpful edits are improvements;
harmful ones are over-corrections and added errors; what is left of the modifications puts one error in the
place of another.

`token_change_{script}` (ETCR) is how far the words of an embedded language changed, whether rightly or not.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from misheard.metrics.base import Arm, Correction, Counts, FloatArray, Rate, ScoredRow, divide, share_of_rows
from misheard.metrics.correction import correction_counts, token_change
from misheard.metrics.error_rates import COLUMNS as ERROR_COLUMNS
from misheard.metrics.error_rates import ErrorRates
from misheard.metrics.mixed_error_rate import script_tokens
from misheard.metrics.texts import corrected_text
from misheard.metrics.transcripts import Split
from misheard.text.profiles import profile_named

_ARMS = (Arm.AUDIO, Arm.TRANSCRIPT)

(
    _RAW_CORRECT, _RAW_ERRORS, _RAW_TOKENS, _MODIFICATIONS, _IMPROVEMENTS, _OVER_CORRECTIONS, _ADDED_ERRORS,
    _CHANGED, _UNUSED, _CORRECTIONS,
) = range(10)  # fmt: skip
_HARMFUL = [_OVER_CORRECTIONS, _ADDED_ERRORS]
_EDITS, _RAW_WORDS, _CORRECTED_WORDS = range(3)

Texts = tuple[str, str, str]
"""Reference, raw and corrected transcript."""


class CorrectionEffect:
    """Edits of the corrector: speech items with a correction, arms audio and transcript.

    A correction that was not used counts as one that left the raw text as it is. Tokens are what `split`
    makes of a text under the profile.
    """

    name = "correction"
    columns: tuple[str, ...] = (
        "raw_correct_tokens",
        "raw_error_tokens",
        "raw_tokens",
        "modifications",
        "improvements",
        "over_corrections",
        "added_errors",
        "changed_transcripts",
        "unused_corrections",
        "corrections",
    )
    arms: tuple[Arm, ...] = _ARMS
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        Rate(
            "over_correction_rate",
            "share of the raw transcripts' correct tokens that the corrector changed or took out",
            "lower",
            lambda sums: divide(sums[..., _OVER_CORRECTIONS], sums[..., _RAW_CORRECT]),
        ),
        Rate(
            "correction_precision",
            "share of the corrector's edits that put an error right",
            "higher",
            lambda sums: divide(sums[..., _IMPROVEMENTS], sums[..., _MODIFICATIONS]),
        ),
        Rate(
            "correction_recall",
            "share of the raw transcripts' errors that the corrector put right",
            "higher",
            lambda sums: divide(sums[..., _IMPROVEMENTS], sums[..., _RAW_ERRORS]),
        ),
        Rate(
            "helpful_edit_rate",
            "improvements per token of the raw transcripts",
            "higher",
            lambda sums: divide(sums[..., _IMPROVEMENTS], sums[..., _RAW_TOKENS]),
        ),
        Rate(
            "harmful_edit_rate",
            "over-corrections and added errors per token of the raw transcripts",
            "lower",
            lambda sums: divide(sums[..., _HARMFUL].sum(axis=-1), sums[..., _RAW_TOKENS]),
        ),
        share_of_rows(
            "changed_transcript_rate",
            "share of transcripts that the corrector changed",
            None,
            _CHANGED,
            _CORRECTIONS,
        ),
        share_of_rows(
            "correction_failure_rate",
            "share of corrections that failed or were no transcript, so that the raw one went on",
            "lower",
            _UNUSED,
            _CORRECTIONS,
        ),
    )

    def __init__(self, profile: str, split: Split) -> None:
        self._profile, self._split = profile, split

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row with a correction."""
        return _count_corrections(rows, len(self.columns), self._profile, self._count)

    def _count(self, texts: Texts, correction: Correction) -> tuple[float, ...]:
        reference, raw, corrected = map(self._split, texts)
        found = correction_counts(reference, raw, corrected)
        return (
            found.raw_correct_tokens,
            found.raw_error_tokens,
            len(raw),
            found.modifications,
            found.improvements,
            found.over_corrections,
            found.added_errors,
            found.modifications > 0,
            correction.problem is not None,
            1,
        )


class TokenChange:
    """Edits among the words of one script: speech items with a correction, arms audio and transcript.

    It needs no reference: of words that were right and of words that were wrong it says how many the
    corrector touched. Tokens are what `mixed` makes of a text under the profile.
    """

    columns: tuple[str, ...] = ("edits", "raw_words", "corrected_words")
    arms: tuple[Arm, ...] = _ARMS
    relative_to: Arm | None = None

    def __init__(self, script: str, profile: str, mixed: Split) -> None:
        self.name = f"token_change_{script.lower()}"
        self.rates: tuple[Rate, ...] = (
            Rate(
                f"{script.lower()}_token_change_rate",
                f"edits among the words in {script} / the larger of the sums of raw and of corrected ones",
                None,
                _token_change_rate,
            ),
        )
        self._script, self._profile, self._split = script, profile, mixed

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row with a correction."""
        return _count_corrections(rows, len(self.columns), self._profile, self._count)

    def _count(self, texts: Texts, _correction: Correction) -> tuple[float, ...]:
        raw, corrected = (script_tokens(self._split(text), self._script) for text in texts[1:])
        found = token_change(raw, corrected)
        return (found.edits, found.raw_words, found.corrected_words)


def _token_change_rate(sums: FloatArray) -> FloatArray:
    return divide(sums[..., _EDITS], np.maximum(sums[..., _RAW_WORDS], sums[..., _CORRECTED_WORDS]))


def _count_corrections(
    rows: Sequence[ScoredRow],
    columns: int,
    profile: str,
    count: Callable[[Texts, Correction], tuple[float, ...]],
) -> Counts:
    values = np.zeros((len(rows), columns))
    present = np.zeros(len(rows), dtype=bool)
    apply = profile_named(profile).apply
    for index, row in enumerate(rows):
        item, correction = row.item, row.output.correction
        if not item.is_speech or correction is None:
            continue
        present[index] = True
        reference, raw, corrected = (
            apply(text, item.language)
            for text in (item.reference, row.output.transcript or "", correction.text)
        )
        values[index] = count((reference, raw, corrected), correction)
    return Counts(values, present)


class CorrectedRates:
    """The error rates of what went on after correction: speech items, audio arm.

    Family and rates are called as those of the transcripts, with `_corrected` behind the name of the family.
    """

    columns: tuple[str, ...] = ERROR_COLUMNS
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None

    def __init__(self, of_transcripts: ErrorRates) -> None:
        raw = of_transcripts.name
        self.name = f"{raw}_corrected"
        self.rates: tuple[Rate, ...] = tuple(
            replace(
                rate,
                name=rate.name.replace(raw, self.name, 1),
                description=f"{rate.description}; of corrected transcripts",
            )
            for rate in of_transcripts.rates
        )
        self._of_transcripts = of_transcripts

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has a corrected transcript."""
        return self._of_transcripts.counts(
            [replace(row, output=replace(row.output, transcript=corrected_text(row.output))) for row in rows]
        )
