"""Which column or key of a record holds the text, the id and the session."""

from collections.abc import Collection, Iterable

from misheard.transcripts.source import Source

_SHARED = ("text", "transcript", "transcription", "sentence", "utterance")
TEXT_FIELDS = {
    "reference": ("reference", "ref", "reference_text", "ground_truth", "truth", "label", "target", *_SHARED),
    "hypothesis": (
        "hypothesis", "hyp", "hypothesis_text", "pred_text", "prediction", "predicted", "pred", "output",
        *_SHARED,
    ),
}  # fmt: skip
ID_FIELDS = (
    "id", "utt_id", "uttid", "utterance_id", "segment_id", "sample_id", "item", "audio_id", "client_id_path",
    "audio_filepath", "audio_file", "file", "filename", "file_name", "path", "wav", "audio",
)  # fmt: skip
SESSION_FIELDS = ("session", "session_id")


def find_field(names: Collection[str], wanted: Iterable[str]) -> str | None:
    """Return the first wanted name that is there, in any case of letters, as it is written there."""
    written: dict[str, str] = {}
    for name in names:
        written.setdefault(name.strip().lower(), name)
    return next((written[name] for name in wanted if name in written), None)


def text_field(source: Source, names: Collection[str], line: int | None = None) -> str:
    """Return the field that holds the text. Raises InputError where there is none, or not the one given."""
    return _chosen(source, "text", names, line) or _missing(source, line)


def id_field(source: Source, names: Collection[str], line: int | None = None) -> str | None:
    """Return the field that holds the id, or None. Raises InputError where the one asked for is not there."""
    return _chosen(source, "id", names, line)


def session_field(names: Collection[str]) -> str | None:
    """Return the field that holds the session, or None."""
    return find_field(names, SESSION_FIELDS)


def _chosen(source: Source, kind: str, names: Collection[str], line: int | None) -> str | None:
    given = source.fields.get(kind)
    if given is None:
        return find_field(names, TEXT_FIELDS[source.role] if kind == "text" else ID_FIELDS)
    if given not in names:
        raise source.error(f"has no field {given!r}, which {_option(source, kind)} names", line)
    return given


def _missing(source: Source, line: int | None) -> str:
    known = ", ".join(TEXT_FIELDS[source.role])
    raise source.error(
        f"no field for the text; name it with {_option(source, 'text')} (known: {known})", line
    )


def _option(source: Source, kind: str) -> str:
    return "--id-field" if kind == "id" else "--ref-field" if source.role == "reference" else "--hyp-field"
