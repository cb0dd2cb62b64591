"""The correct stage: what the corrector is told, and what of its reply counts as a transcript.

A reply is the JSON object of CORRECTION_SCHEMA; a model that is not held to the schema may put it into one
code fence. Anything else, and a text that is no transcript of the same speech, leaves the raw text and is
counted. Whether it is one is a rule on characters, because it must work in every language and script:
letters, marks and numbers are compared, without case and punctuation.

The corrected text is at most twice and at least half as long as the raw one, and at least half of it is as it
was: edits / the longer one <= 0.5 in code points, or in mixed tokens, where a foreign word in Chinese speech
is one token however it is spelled. Texts that differ by two characters always pass, as single short words do.
Of 80 made-up replies to raw transcripts in en, hi, ta, ml, te, ar and zh the rule keeps

| reply                                 | kept | of |
| ------------------------------------- | ---- | -- |
| correction                            | 36   | 37 |
| refusal, or talk about the transcript | 1    | 11 |
| translation                           | 1    | 11 |
| answer                                | 10   | 21 |

An answer that repeats the words of its question cannot be told from a correction in this way; the metrics of
correction count what it changes as over-corrections.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

from misheard.canonical import canonical_json
from misheard.failures import FailureKind
from misheard.metrics.base import Correction
from misheard.text.interning import TokenPairs, char_pairs, token_pairs
from misheard.text.profiles import profile_named
from misheard.text.tokenisers import mixed
from misheard_kernels import edit_counts

CORRECTION_SCHEMA = canonical_json(
    {
        "type": "object",
        "properties": {"transcript": {"type": "string"}},
        "required": ["transcript"],
        "additionalProperties": False,
    }
)
"""What the corrector replies, as a JSON schema."""

INVALID_OUTPUT = str(FailureKind.INVALID_OUTPUT)
"""The reply is not the JSON object that was asked for."""

TRUNCATED = "truncated"
"""The reply ended at the limit of tokens, so that its end may be missing."""

NOT_A_TRANSCRIPT = "not_a_transcript"
"""The text is empty, has several lines, or is too long, too short or too unlike the raw one."""

MAX_GLOSSARY_TERMS = 100
MAX_GLOSSARY_CHARACTERS = 4_000
MAX_HYPOTHESES = 16

_MAX_REPLY_CHARACTERS = 1_000_000
_MOST_CHANGED = 0.5
_LONGEST = 2
_ALWAYS_ALLOWED = 2

_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
_NOT_IN_A_LINE = frozenset({"Cc", "Cs", "Zl", "Zp"})


def correct_values(raw: str, n_best: Sequence[str], glossary: Sequence[str]) -> dict[str, str]:
    """Return the values of a correction prompt's placeholders.

    Args:
        raw: what was recognized.
        n_best: every hypothesis of the recognizer, best first; empty where the corrector gets none.
        glossary: terms of the item's language; empty where the corrector gets none.

    Returns `transcript`, the raw text; `hypotheses`, the first 16 that differ from it and from each other,
    one per line; and `glossary`, the terms with commas between, as many whole ones as fit into 100 terms and
    4,000 characters. White space in a hypothesis or a term is one space; both values are empty where there is
    nothing.
    """
    others = [text for text in _distinct(n_best) if text != _one_line(raw)]
    return {
        "transcript": raw,
        "hypotheses": "\n".join(others[:MAX_HYPOTHESES]),
        "glossary": ", ".join(_bounded(list(_distinct(glossary))[:MAX_GLOSSARY_TERMS])),
    }


def read_correction(raw: str, text: str | None, failure: str | None, finish_reason: str | None) -> Correction:
    """Return what a completion of the corrector makes of a raw transcript; it never raises.

    Args:
        raw: what the corrector was given.
        text: its reply, without thinking sections; None where there is none.
        failure: the kind of failure where the language model gave no reply.
        finish_reason: why the reply ended, as the backend says; `length` at the limit of tokens.

    The problem is the failure, or one of INVALID_OUTPUT, TRUNCATED and NOT_A_TRANSCRIPT.
    """
    if failure is not None or text is None:
        return Correction(raw, failure or INVALID_OUTPUT)
    if finish_reason == "length":
        return Correction(raw, TRUNCATED)
    corrected = _transcript_of(text)
    if corrected is None:
        return Correction(raw, INVALID_OUTPUT)
    if not _is_transcript(raw, corrected):
        return Correction(raw, NOT_A_TRANSCRIPT)
    return Correction(corrected)


def _distinct(texts: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(line for line in map(_one_line, texts) if line)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _bounded(terms: Sequence[str]) -> list[str]:
    lengths = np.cumsum([len(term) + 2 for term in terms]) - 2
    return [term for term, end in zip(terms, lengths.tolist(), strict=True) if end <= MAX_GLOSSARY_CHARACTERS]


def _transcript_of(reply: str) -> str | None:
    """Return the transcript of a reply in the form of the schema, stripped; None for any other."""
    if len(reply) > _MAX_REPLY_CHARACTERS:
        return None
    fenced = _FENCED.fullmatch(reply.strip())
    try:
        # objects become tuples of their pairs, so that a key given twice is seen
        value = json.loads(fenced[1] if fenced else reply, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, tuple) or [key for key, _ in value] != ["transcript"]:
        return None
    ((_, transcript),) = value
    return transcript.strip() if isinstance(transcript, str) else None


def _is_transcript(raw: str, corrected: str) -> bool:
    if corrected == raw.strip():
        return True
    if not corrected or not _NOT_IN_A_LINE.isdisjoint(map(unicodedata.category, corrected)):
        return False
    before, after = (_PLAIN.apply(text, None) for text in (raw, corrected))
    characters = char_pairs([before], [after])
    shorter, longer = sorted((len(characters.ref_flat), len(characters.hyp_flat)))
    if not shorter or longer > max(_LONGEST * shorter, shorter + _ALWAYS_ALLOWED):
        return False
    edits = _edits(characters)
    return (
        edits <= max(_ALWAYS_ALLOWED, _MOST_CHANGED * longer)
        or _changed_share(token_pairs([mixed(before)], [mixed(after)])) <= _MOST_CHANGED
    )


def _changed_share(pairs: TokenPairs) -> float:
    return _edits(pairs) / max(len(pairs.ref_flat), len(pairs.hyp_flat))


def _edits(pairs: TokenPairs) -> int:
    counts = edit_counts(pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)
    return int(counts[0, :3].sum())


_PLAIN = profile_named("plain")
