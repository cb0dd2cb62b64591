"""Language tags."""

from functools import lru_cache

_THREE_LETTERS = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "por": "pt", "ita": "it",
    "nld": "nl", "dut": "nl", "dan": "da", "hin": "hi", "mar": "mr", "tam": "ta", "tel": "te", "mal": "ml",
    "ara": "ar", "zho": "zh", "chi": "zh", "jpn": "ja", "tha": "th",
}  # fmt: skip
"""ISO 639-2 codes of languages whose tag is the two-letter one."""

_WHISPER_CODES = {"nb": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh"}


@lru_cache(maxsize=1024)
def primary_subtag(tag: str | None) -> str | None:
    """Return the language of a BCP-47 tag, in lower case: `en` of `en-IN` and of `eng`; None for no tag."""
    if not tag:
        return None
    language = tag.replace("_", "-").split("-")[0].lower()
    return _THREE_LETTERS.get(language, language)


def whisper_code(tag: str | None) -> str | None:
    """Return Whisper's code for a BCP-47 tag: `en` for `en-IN`, `zh` for `cmn-Hans`; None for no tag."""
    primary = primary_subtag(tag)
    return None if primary is None else _WHISPER_CODES.get(primary, primary)
