"""Which column or key of a record is what, by common names or as the user says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from misheard.errors import InputError
from misheard.suite.importers.rows import Request
from misheard.suite.problems import shown, suggestion
from misheard.transcripts.fields import TEXT_FIELDS, find_field

_CLASSES = ("label", "target")
"""Names that more often hold a class than what was said: read as references only where the user says so."""

_NEEDED = ("audio", "reference")

TARGETS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "utt_id", "uttid", "utterance_id", "segment_id", "sample_id", "item", "audio_id", "key"),
    "audio": (
        "audio_filepath", "wav", "audio", "audio_path", "wav_path", "wav_filename", "audio_file", "path",
        "file_name", "audio_file_name", "filename", "file", "recording", "clip",
    ),
    "reference": tuple(name for name in TEXT_FIELDS["reference"] if name not in _CLASSES),
    "session": ("session", "session_id", "client_id", "speaker", "speaker_id", "spk", "spk_id"),
    "language": ("language", "lang", "locale"),
    "offset": ("offset",),
    "duration": ("duration",),
    "answer": ("reference_answer",),
}  # fmt: skip
"""Column names per target, in the order in which they are looked for; case does not matter."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table: per target, per condition axis, and those that are not read."""

    targets: Mapping[str, str]
    conditions: Mapping[str, str]
    unused: tuple[str, ...]

    def without(self, targets: Iterable[str]) -> "Columns":
        """Return the columns without some targets, whose columns are then not read."""
        kept = {target: column for target, column in self.targets.items() if target not in targets}
        dropped = (self.targets[target] for target in targets if target in self.targets)
        return Columns(kept, self.conditions, (*self.unused, *dropped))


def choose_columns(source: str, names: Sequence[str], request: Request) -> Columns:
    """Choose a column per target. Raises InputError where one that is asked for or needed is missing."""
    given = {target: column for target, column in request.columns.items() if column is not None}
    found = {
        target: find_field(names, wanted)
        for target, wanted in TARGETS.items()
        if target not in request.columns
    }
    targets = {
        target: column for target in TARGETS if (column := given.get(target, found.get(target))) is not None
    }
    wrong = [
        *_absent(names, "--map", given),
        *_absent(names, "--condition", request.conditions),
        *_lacking([target for target in _NEEDED if target not in targets], names),
    ]
    if wrong:
        raise InputError(f"{source}: {'; '.join(wrong)}")
    used = {*targets.values(), *request.conditions.values()}
    return Columns(targets, dict(request.conditions), tuple(name for name in names if name not in used))


def _absent(names: Sequence[str], option: str, wanted: Mapping[str, str]) -> list[str]:
    """Say of every column that the user names and that is not there."""
    return [
        f"has no column {shown(column)}, which {f'{option} {name}={column}'!r} names"
        f"{suggestion(column, names)}"
        for name, column in wanted.items()
        if column not in names
    ]


def _lacking(targets: Sequence[str], names: Sequence[str]) -> list[str]:
    """Say how columns are named for targets that a suite cannot do without; nothing where all are there."""
    if not targets:
        return []
    listed = ", ".join(shown(name) for name in names[:20]) or "none"
    options = " ".join(f"--map {target}=COLUMN" for target in targets)
    which = "it" if len(targets) == 1 else "them"
    return [
        f"no column for {' and '.join(f'the {target}' for target in targets)}; "
        f"name {which} with {options} (columns: {listed})"
    ]
