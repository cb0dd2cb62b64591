"""Which column or key of a record is what, by common names or as the user says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from misheard.errors import InputError
from misheard.suite.importers.rows import Request
from misheard.suite.problems import shown, suggestion
from misheard.transcripts.fields import TEXT_FIELDS, find_field

_CLASSES = ("label", "target")
"""Names that more often hold a class than what was said: read as references only where the user says so."""

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
    targets: dict[str, str] = {}
    for target, wanted in TARGETS.items():
        if target in request.columns:
            given = request.columns[target]
            if given is not None:
                targets[target] = _present(source, given, names, f"--map {target}={given}")
            continue
        found = find_field(names, wanted)
        if found is not None:
            targets[target] = found
    for target in ("audio", "reference"):
        if target not in targets:
            listed = ", ".join(shown(name) for name in names[:20]) or "none"
            option = f"--map {target}=COLUMN"
            raise InputError(
                f"{source}: no column for the {target}; name it with {option} (columns: {listed})"
            )
    conditions = {
        axis: _present(source, column, names, f"--condition {axis}={column}")
        for axis, column in request.conditions.items()
    }
    used = {*targets.values(), *conditions.values()}
    return Columns(targets, conditions, tuple(name for name in names if name not in used))


def _present(source: str, column: str, names: Sequence[str], option: str) -> str:
    if column not in names:
        raise InputError(
            f"{source}: has no column {shown(column)}, which {option!r} names{suggestion(column, names)}"
        )
    return column
