"""Scoring files: one reference, one or more hypotheses, the same counts as `misheard.score`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from misheard.api import Score, score
from misheard.errors import InputError
from misheard.scoring.texts import TextSettings
from misheard.transcripts.formats import Transcripts, read_transcripts
from misheard.transcripts.pairing import Missing, Pairs, pair, read_sessions
from misheard.transcripts.source import STDIN, Role, every, named


@dataclass(frozen=True, slots=True)
class FilesRequest:
    """What the command line asks for.

    Attributes:
        reference: file of the references; `-` is standard input.
        hypotheses: a file per system.
        settings: how texts are compared.
        format: of all files; guessed for each where None.
        missing: what a missing hypothesis is.
        sessions: file of sessions, or None.
        alternatives: whether `{a / b}` in a reference means that either is accepted; so it does where the
            file of references gives a list of slots.
        reference_field, hypothesis_field, id_field: names of columns or keys, or None.
    """

    reference: str
    hypotheses: tuple[str, ...]
    settings: TextSettings
    format: str | None = None
    missing: Missing = "error"
    sessions: str | None = None
    alternatives: bool = False
    reference_field: str | None = None
    hypothesis_field: str | None = None
    id_field: str | None = None


@dataclass(frozen=True, slots=True)
class SystemScore:
    """One file of hypotheses with its score; `missing` of them counted as empty."""

    transcripts: Transcripts = field(repr=False)
    paired_by: str
    missing: int
    score: Score

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.transcripts.name

    @property
    def with_errors(self) -> list[int]:
        """The places of the pairs that have errors, ascending."""
        return [place for place, item in enumerate(self.score.items) if sum(item[:3])]


@dataclass(frozen=True, slots=True)
class ScoredFiles:
    """The scores of every system over the same references, in the order of the command line.

    `unread_choices` counts references in a format of sclite's that hold `{a / b}`, where that was taken for
    words.
    """

    settings: TextSettings
    missing: Missing
    alternatives: bool
    reference: Transcripts = field(repr=False)
    pairs: Pairs = field(repr=False)
    systems: tuple[SystemScore, ...]
    unread_choices: int = 0


_SCLITE_FORMATS = frozenset({"stm", "ctm", "trn"})


def score_files(request: FilesRequest) -> ScoredFiles:
    """Read, pair and score. Raises InputError, naming file, line or ids, for what cannot be scored."""
    if (request.reference, *request.hypotheses).count(STDIN) > 1:
        raise InputError("-: standard input can be read once; give the other files by name")
    ids = {} if request.id_field is None else {"id": request.id_field}
    reference, *systems = every(
        [
            partial(_read, request.reference, "reference", request, ids, request.reference_field),
            *(
                partial(_read, place, "hypothesis", request, ids, request.hypothesis_field)
                for place in request.hypotheses
            ),
        ]
    )
    sessions = None if request.sessions is None else read_sessions(request.sessions)
    pairs = pair(reference, systems, request.missing, sessions)
    alternatives = request.alternatives or reference.has_alternatives
    references = _read_texts(pairs.references, reference, alternatives)
    if alternatives:
        _check_slots(references, pairs, reference)
    scores = [
        _score(references, _read_texts(texts, system, alternatives), request.settings, alternatives)
        for texts, system in zip(pairs.hypotheses, systems, strict=True)
    ]
    return ScoredFiles(
        settings=request.settings,
        missing=request.missing,
        alternatives=alternatives,
        reference=reference,
        pairs=pairs,
        systems=tuple(map(SystemScore, systems, pairs.paired_by, pairs.missing, scores)),
        unread_choices=0 if alternatives else _choices(reference),
    )


def _read_texts(texts: Sequence[str], read: Transcripts, alternatives: bool) -> Sequence[str]:
    """Return texts as they are scored: where alternatives are read, sclite's null word is nothing."""
    if not alternatives or read.format not in _SCLITE_FORMATS:
        return texts
    from misheard.text.alternatives import without_null_words

    return list(map(without_null_words, texts))


def _check_slots(references: Sequence[str], pairs: Pairs, reference: Transcripts) -> None:
    """Raise InputError, naming every reference whose braces do not pair up."""
    from misheard.text.alternatives import parse_alternatives

    slotted = [pair for pair in zip(pairs.ids, references, strict=True) if "{" in pair[1] or "}" in pair[1]]
    every(
        partial(
            parse_alternatives,
            text,
            item=f"{reference.name}: reference {named([identifier])}",
            split=str.split,
        )
        for identifier, text in slotted
    )


def _choices(reference: Transcripts) -> int:
    if reference.format not in _SCLITE_FORMATS or not any("{" in text for text in reference.texts):
        return 0
    from misheard.text.alternatives import has_choice

    return sum(map(has_choice, reference.texts))


def _score(
    references: Sequence[str], hypotheses: Sequence[str], settings: TextSettings, alternatives: bool
) -> Score:
    return score(
        references,
        hypotheses,
        settings.profile,
        settings.unit,
        settings.language,
        settings.costs,
        annotations=settings.annotations,
        alternatives=alternatives,
    )


def _read(
    place: str, role: Role, request: FilesRequest, ids: dict[str, str], text: str | None
) -> Transcripts:
    fields = ids if text is None else {**ids, "text": text}
    return read_transcripts(place, role, request.format, fields)
