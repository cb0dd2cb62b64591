"""Language tags."""

_WHISPER_CODES = {"nb": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh"}


def primary_subtag(tag: str | None) -> str | None:
    """Return the language of a BCP-47 tag, in lower case: `en` of `en-IN`; None where there is no tag."""
    return tag.replace("_", "-").split("-")[0].lower() if tag else None


def whisper_code(tag: str | None) -> str | None:
    """Return Whisper's code for a BCP-47 tag: `en` for `en-IN`, `zh` for `cmn-Hans`; None for no tag."""
    primary = primary_subtag(tag)
    return None if primary is None else _WHISPER_CODES.get(primary, primary)
