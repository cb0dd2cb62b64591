"""Which scripts a language is usually written in, and references that are mostly in others."""

from misheard.errors import InputError
from misheard.suite.items import Item
from misheard.text.languages import primary_subtag
from misheard.text.scripts import foreign_share

_LATIN = (
    "af az ca cs cy da de en es et eu fi fil fr ga gl ha hr hu id ig is it jv lb lt lv mi ms mt nb nl nn no "
    "pl pt ro rw sk sl so sq su sv sw tl tr uz vi xh yo zu"
)
_SCRIPTS = {
    **dict.fromkeys(_LATIN.split(), ("Latn",)),
    **dict.fromkeys(("be", "bg", "ky", "mk", "mn", "ru", "tg", "uk"), ("Cyrl",)),
    **dict.fromkeys(("hi", "mr", "ne", "sa", "kok", "mai"), ("Deva",)),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "ug"), ("Arab",)),
    **dict.fromkeys(("zh", "yue", "cmn"), ("Hani",)),
    **dict.fromkeys(("as", "bn"), ("Beng",)),
    **dict.fromkeys(("am", "ti"), ("Ethi",)),
    **dict.fromkeys(("he", "iw", "yi"), ("Hebr",)),
    "bo": ("Tibt",), "el": ("Grek",), "gu": ("Gujr",), "hy": ("Armn",), "ja": ("Jpan",), "ka": ("Geor",),
    "km": ("Khmr",), "kn": ("Knda",), "ko": ("Kore",), "lo": ("Laoo",), "ml": ("Mlym",), "my": ("Mymr",),
    "or": ("Orya",), "pa": ("Guru", "Arab"), "sd": ("Arab", "Deva"), "si": ("Sinh",), "ta": ("Taml",),
    "te": ("Telu",), "th": ("Thai",), "kk": ("Cyrl", "Latn"), "sr": ("Cyrl", "Latn"), "bs": ("Latn", "Cyrl"),
}  # fmt: skip
"""By primary subtag. Languages that are not here are not checked."""

_SCRIPT_LETTERS = 4


def usual_scripts(language: str | None) -> tuple[str, ...]:
    """Return the ISO 15924 codes of a BCP-47 tag's script, or of its language; empty where not known."""
    for subtag in (language or "").replace("_", "-").split("-")[1:]:
        if len(subtag) == _SCRIPT_LETTERS and subtag.isalpha():
            return (subtag.title(),)
    return _SCRIPTS.get(primary_subtag(language) or "", ())


def is_in_other_scripts(item: Item) -> bool:
    """Whether more than half of a reference's letters are in none of its scripts.

    They are those that the item declares, else those of its language; without either, nothing is foreign.
    """
    scripts = item.scripts or usual_scripts(item.language)
    if not scripts:
        return False
    try:
        share = foreign_share(item.reference, scripts)
    except InputError:
        return False
    return share is not None and share > 0.5
