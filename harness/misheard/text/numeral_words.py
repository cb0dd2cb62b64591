"""Words of numbers per language: what `misheard.text.numerals` and `misheard.text.spoken` look up.

Number words themselves are read by text2num, for the languages of `NUMBER_WORDS`. Where a language writes a
decimal comma follows CLDR.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from misheard.text.languages import primary_subtag


@dataclass(frozen=True, slots=True)
class NumberWords:
    """What goes with the number words of a language that text2num reads.

    Attributes:
        scales: words that multiply a number in digits before them, with their power of ten.
        articles: words that are numbers only next to another number, such as `un`.
        plurals: words that are numbers only inside of one, such as `thousands`.
        minus: words that make the number after them negative.
        not_minus_after: words after which they do not, as in `au moins dix`.
        before_percent: words before a `cent` that is no number.
        hundreds: words that multiply a number word before them by a hundred.
        ordinals: ordinals of multipliers, such as `thousandth`, with their power of ten; they end a number.
    """

    scales: Mapping[str, int]
    articles: frozenset[str] = frozenset()
    plurals: frozenset[str] = frozenset()
    minus: frozenset[str] = frozenset({"minus"})
    not_minus_after: frozenset[str] = frozenset()
    before_percent: frozenset[str] = frozenset()
    hundreds: frozenset[str] = frozenset()
    ordinals: Mapping[str, int] = field(default_factory=dict)

    def power_of(self, word: str) -> int | None:
        """Return the power of ten by which a word multiplies the number word before it; None for others."""
        return 2 if word in self.hundreds else self.scales.get(word) or self.ordinals.get(word)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NUMBER_WORDS = {
    "en": NumberWords(
        {
            **{"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12},
            **{"lakh": 5, "lakhs": 5, "crore": 7, "crores": 7},
        },
        plurals=_set("hundreds thousands millions billions trillions"),
        minus=_set("minus negative"),
        hundreds=_set("hundred"),
        ordinals={"hundredth": 2, "thousandth": 3, "millionth": 6, "billionth": 9},
    ),
    "fr": NumberWords(
        {"mille": 3, "million": 6, "millions": 6, "milliard": 9, "milliards": 9},
        articles=_set("un une"),
        plurals=_set("cents millions milliards"),
        minus=_set("moins"),
        not_minus_after=_set("au du à de"),
        before_percent=_set("pour"),
        hundreds=_set("cent cents"),
        ordinals={"centième": 2, "millième": 3, "millionième": 6, "milliardième": 9},
    ),
    "es": NumberWords(
        {"mil": 3, "millón": 6, "millones": 6},
        articles=_set("un una uno"),
        plurals=_set("miles millones"),
        minus=_set("menos"),
        not_minus_after=_set("al lo"),
        before_percent=_set("por"),
    ),
    "pt": NumberWords(
        {"mil": 3, "milhão": 6, "milhões": 6, "bilhão": 9, "bilhões": 9},
        articles=_set("um uma uns umas"),
        plurals=_set("milhões bilhões"),
        minus=_set("menos"),
        not_minus_after=_set("ao pelo"),
        before_percent=_set("por"),
    ),
    "de": NumberWords(
        {"tausend": 3, "million": 6, "millionen": 6, "milliarde": 9, "milliarden": 9},
        articles=_set("ein eine einen einem einer eines"),
        plurals=_set("millionen milliarden"),
        hundreds=_set("hundert"),
        ordinals={
            f"{stem}ste{ending}": power
            for stem, power in (("hundert", 2), ("tausend", 3), ("million", 6), ("milliard", 9))
            for ending in ("", "m", "n", "r", "s")
        },
    ),
    "it": NumberWords(
        {"mila": 3, "milione": 6, "milioni": 6, "miliardo": 9, "miliardi": 9},
        articles=_set("un una uno"),
        plurals=_set("milioni miliardi"),
        minus=_set("meno"),
        before_percent=_set("per"),
        ordinals={
            f"{stem}{ending}": power
            for stem, power in (("centesim", 2), ("millesim", 3), ("milionesim", 6), ("miliardesim", 9))
            for ending in ("o", "a")
        },
    ),
    "nl": NumberWords(
        {"duizend": 3, "miljoen": 6, "miljard": 9},
        articles=_set("een"),
        minus=_set("min minus"),
        hundreds=_set("honderd"),
        ordinals={"honderdste": 2, "duizendste": 3, "miljoenste": 6, "miljardste": 9},
    ),
    "da": NumberWords(
        {"tusind": 3, "million": 6, "millioner": 6, "milliard": 9, "milliarder": 9},
        articles=_set("en et"),
        plurals=_set("millioner milliarder"),
        hundreds=_set("hundrede"),
    ),
}

_POINT_REGIONS = {
    "es": _set("419 cu do gt hn mx ni pa pe pr sv us"),
    "de": _set("ch li"),
    "it": _set("ch"),
}
_POINT_LANGUAGES = _set(
    "ar en hi bn mr gu pa ta te kn ml or as ne si ur th zh ja ko he my km sw ha yo ig fil ms"
)
_COMMA_REGIONS = {"ar": _set("dz lb ly ma mr tn")}


def reads_number_words(tag: str | None) -> bool:
    """Return whether number words of a language become digits; without a language none do."""
    return primary_subtag(tag) in NUMBER_WORDS


def decimal_mark(tag: str | None) -> str | None:
    """Return `.` or `,`, the mark before a fraction in a language; None where it is not known."""
    language = primary_subtag(tag)
    if tag is None or language is None:
        return None
    subtags = tag.lower().replace("_", "-").split("-")[1:]
    if language in _POINT_LANGUAGES:
        return "," if _COMMA_REGIONS.get(language, frozenset()).intersection(subtags) else "."
    if language not in NUMBER_WORDS:
        return None
    return "." if _POINT_REGIONS.get(language, frozenset()).intersection(subtags) else ","


CURRENCY_CODES = {"usd": "$", "eur": "€", "gbp": "£", "inr": "₹", "jpy": "¥"}
BEFORE_AMOUNT = {**CURRENCY_CODES, "rs": "₹"}


@dataclass(frozen=True)
class AmountWords:
    """Words after a number that say what `%` and a currency symbol say.

    Attributes:
        percent: each a word or two.
        currencies: word to symbol.
        minor: words of hundredths to the symbols whose hundredths they are, in the languages that join
            `five dollars and fifty cents`.
        joins: words that may stand before the hundredths.
    """

    percent: tuple[str, ...] = ()
    currencies: Mapping[str, str] = field(default_factory=dict)
    minor: Mapping[str, str] = field(default_factory=dict)
    joins: frozenset[str] = frozenset()

    @cached_property
    def first_words(self) -> frozenset[str]:
        """The words, currency codes included, with which something that says a symbol can begin."""
        percent = {phrase.split()[0] for phrase in self.percent}
        return frozenset({*percent, *self.currencies, *CURRENCY_CODES, *BEFORE_AMOUNT})


def _names(**names: str) -> dict[str, str]:
    symbols = {"dollar": "$", "euro": "€", "pound": "£", "rupee": "₹", "yen": "¥"}
    return {word: symbols[currency] for currency, words in names.items() for word in words.split()}


NO_AMOUNT_WORDS = AmountWords()
AMOUNT_WORDS = {
    "en": AmountWords(
        ("percent", "per cent"),
        _names(
            dollar="dollar dollars", euro="euro euros", pound="pound pounds", rupee="rupee rupees", yen="yen"
        ),
        {"cent": "$€", "cents": "$€", "penny": "£", "pence": "£", "paisa": "₹", "paise": "₹"},
        frozenset({"and"}),
    ),
    "fr": AmountWords(
        ("pour cent", "pourcent"),
        _names(dollar="dollar dollars", euro="euro euros", rupee="roupie roupies", yen="yen yens"),
    ),
    "es": AmountWords(
        ("por ciento",),
        _names(dollar="dólar dólares", euro="euro euros", rupee="rupia rupias", yen="yen yenes"),
    ),
    "pt": AmountWords(
        ("por cento",),
        _names(dollar="dólar dólares", euro="euro euros", rupee="rupia rupias", yen="iene ienes"),
    ),
    "de": AmountWords(
        ("prozent",), _names(dollar="dollar dollars", euro="euro euros", rupee="rupie rupien", yen="yen")
    ),
    "it": AmountWords(
        ("per cento", "percento"),
        _names(
            dollar="dollaro dollari", euro="euro", rupee="rupia rupie", pound="sterlina sterline", yen="yen"
        ),
    ),
    "nl": AmountWords(
        ("procent",), _names(dollar="dollar dollars", euro="euro euro's", rupee="roepie roepies", yen="yen")
    ),
    "da": AmountWords(
        ("procent",), _names(dollar="dollar dollars", euro="euro euroer", rupee="rupi rupier", yen="yen")
    ),
    "hi": AmountWords(("प्रतिशत", "फीसदी"), _names(rupee="रुपये रुपए रुपया रूपये", dollar="डॉलर", euro="यूरो")),
    "mr": AmountWords(("टक्के", "टक्का"), _names(rupee="रुपये रुपया", dollar="डॉलर", euro="युरो")),
    "ta": AmountWords(("சதவீதம்", "சதவிகிதம்"), _names(rupee="ரூபாய்", dollar="டாலர்", euro="யூரோ")),
    "te": AmountWords(("శాతం",), _names(rupee="రూపాయలు రూపాయి", dollar="డాలర్లు డాలర్", euro="యూరో")),
    "ml": AmountWords(("ശതമാനം",), _names(rupee="രൂപ", dollar="ഡോളർ", euro="യൂറോ")),
}
