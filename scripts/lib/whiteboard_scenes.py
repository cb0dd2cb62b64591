"""What the whiteboard suite says, and the scene that each utterance describes.

Every label stands in its sentence as it is, uninflected: case endings go to a word for "named" behind it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Described:
    """One utterance with its golden plan.

    Attributes:
        text: what is said.
        shapes: kind and label of each shape, in the order in which they are named.
        connections: source and target as places in `shapes`, from 1, and the label, which may be empty.
    """

    text: str
    shapes: tuple[tuple[str, str], ...]
    connections: tuple[tuple[int, int, str], ...]


def _chain(length: int) -> tuple[tuple[int, int, str], ...]:
    return tuple((place, place + 1, "") for place in range(1, length))


def _boxes(*labels: str) -> tuple[tuple[str, str], ...]:
    return tuple(("box", label) for label in labels)


ENGLISH = (
    Described(
        "Draw a square named login and a square named database. Connect login to database.",
        _boxes("login", "database"),
        _chain(2),
    ),
    Described(
        "Draw a circle named customer, a square named order and a square named invoice. "
        "Connect customer to order and order to invoice.",
        (("circle", "customer"), *_boxes("order", "invoice")),
        _chain(3),
    ),
    Described(
        "Add a square named web server and a square named cache. Draw an arrow from web server to cache.",
        _boxes("web server", "cache"),
        _chain(2),
    ),
    Described(
        "Draw a diamond named approved, a square named shipping and a square named refund. "
        "Connect approved to shipping and approved to refund.",
        (("diamond", "approved"), *_boxes("shipping", "refund")),
        ((1, 2, ""), (1, 3, "")),
    ),
    Described(
        "Draw a circle named user, a square named phone and a square named backend. "
        "Draw an arrow from user to phone and from phone to backend.",
        (("circle", "user"), *_boxes("phone", "backend")),
        _chain(3),
    ),
    Described(
        "Add a note named budget and a square named marketing. Connect budget to marketing.",
        (("note", "budget"), ("box", "marketing")),
        _chain(2),
    ),
    Described(
        "Draw a square named sensor, a square named gateway, a square named storage and a circle "
        "named dashboard. Connect sensor to gateway, gateway to storage and storage to dashboard.",
        (*_boxes("sensor", "gateway", "storage"), ("circle", "dashboard")),
        _chain(4),
    ),
    Described(
        "Draw a circle named teacher and a circle named student. "
        "Connect teacher to student with the label explains.",
        (("circle", "teacher"), ("circle", "student")),
        ((1, 2, "explains"),),
    ),
    Described(
        "Draw a square named microphone, a square named transcript and a square named planner. "
        "Draw an arrow from microphone to transcript and from transcript to planner.",
        _boxes("microphone", "transcript", "planner"),
        _chain(3),
    ),
    Described(
        "Add a circle named start, a diamond named question and a circle named finish. "
        "Connect start to question and question to finish.",
        (("circle", "start"), ("diamond", "question"), ("circle", "finish")),
        _chain(3),
    ),
    Described(
        "Draw a square named farm, a square named market and a square named kitchen. "
        "Connect farm to market and market to kitchen.",
        _boxes("farm", "market", "kitchen"),
        _chain(3),
    ),
    Described(
        "Add a square named shop and a square named payment service. "
        "Connect shop to payment service with the label orders.",
        _boxes("shop", "payment service"),
        ((1, 2, "orders"),),
    ),
)

HINDI = (
    Described(
        "लॉगिन नाम का एक डिब्बा और डेटाबेस नाम का एक डिब्बा बनाओ। लॉगिन को डेटाबेस से जोड़ो।",
        _boxes("लॉगिन", "डेटाबेस"),
        _chain(2),
    ),
    Described(
        "ग्राहक नाम का एक गोला, दुकान नाम का एक डिब्बा और गोदाम नाम का एक डिब्बा बनाओ। "
        "ग्राहक को दुकान से और दुकान को गोदाम से जोड़ो।",
        (("circle", "ग्राहक"), *_boxes("दुकान", "गोदाम")),
        _chain(3),
    ),
    Described(
        "शिक्षक नाम का एक गोला और विद्यार्थी नाम का एक गोला बनाओ। शिक्षक से विद्यार्थी तक एक तीर बनाओ।",
        (("circle", "शिक्षक"), ("circle", "विद्यार्थी")),
        _chain(2),
    ),
    Described(
        "बजट नाम का एक नोट और प्रचार नाम का एक डिब्बा बनाओ। बजट को प्रचार से जोड़ो।",
        (("note", "बजट"), ("box", "प्रचार")),
        _chain(2),
    ),
    Described(
        "खेत नाम का एक डिब्बा, बाज़ार नाम का एक डिब्बा और रसोई नाम का एक डिब्बा बनाओ। "
        "खेत से बाज़ार तक और बाज़ार से रसोई तक तीर बनाओ।",
        _boxes("खेत", "बाज़ार", "रसोई"),
        _chain(3),
    ),
)

TAMIL = (
    Described(
        "உள்நுழைவு என்ற பெட்டியையும் தரவுத்தளம் என்ற பெட்டியையும் வரையவும். உள்நுழைவு என்பதைத் தரவுத்தளம் என்பதுடன் இணைக்கவும்.",
        _boxes("உள்நுழைவு", "தரவுத்தளம்"),
        _chain(2),
    ),
    Described(
        "வாடிக்கையாளர் என்ற வட்டத்தையும் கடை என்ற பெட்டியையும் கிடங்கு என்ற பெட்டியையும் வரையவும். "
        "வாடிக்கையாளர் என்பதைக் கடை என்பதுடனும் கடை என்பதைக் கிடங்கு என்பதுடனும் இணைக்கவும்.",
        (("circle", "வாடிக்கையாளர்"), *_boxes("கடை", "கிடங்கு")),
        _chain(3),
    ),
    Described(
        "ஆசிரியர் என்ற வட்டத்தையும் மாணவர் என்ற வட்டத்தையும் வரையவும். "
        "ஆசிரியர் என்பதிலிருந்து மாணவர் என்பதற்கு ஒரு அம்பு வரையவும்.",
        (("circle", "ஆசிரியர்"), ("circle", "மாணவர்")),
        _chain(2),
    ),
    Described(
        "திட்டம் என்ற குறிப்பையும் விளம்பரம் என்ற பெட்டியையும் வரையவும். திட்டம் என்பதை விளம்பரம் என்பதுடன் இணைக்கவும்.",
        (("note", "திட்டம்"), ("box", "விளம்பரம்")),
        _chain(2),
    ),
    Described(
        "பண்ணை என்ற பெட்டியையும் சந்தை என்ற பெட்டியையும் சமையலறை என்ற பெட்டியையும் வரையவும். "
        "பண்ணை என்பதிலிருந்து சந்தை என்பதற்கும் சந்தை என்பதிலிருந்து சமையலறை என்பதற்கும் அம்பு வரையவும்.",
        _boxes("பண்ணை", "சந்தை", "சமையலறை"),
        _chain(3),
    ),
)

MALAYALAM = (
    Described(
        "ലോഗിൻ എന്ന പെട്ടിയും ഡാറ്റാബേസ് എന്ന പെട്ടിയും വരയ്ക്കുക. ലോഗിൻ എന്നതിനെ ഡാറ്റാബേസ് എന്നതുമായി ബന്ധിപ്പിക്കുക.",
        _boxes("ലോഗിൻ", "ഡാറ്റാബേസ്"),
        _chain(2),
    ),
    Described(
        "ഉപഭോക്താവ് എന്ന വൃത്തവും കട എന്ന പെട്ടിയും സംഭരണശാല എന്ന പെട്ടിയും വരയ്ക്കുക. "
        "ഉപഭോക്താവ് എന്നതിനെ കട എന്നതുമായും കട എന്നതിനെ സംഭരണശാല എന്നതുമായും ബന്ധിപ്പിക്കുക.",
        (("circle", "ഉപഭോക്താവ്"), *_boxes("കട", "സംഭരണശാല")),
        _chain(3),
    ),
    Described(
        "അധ്യാപകൻ എന്ന വൃത്തവും വിദ്യാർത്ഥി എന്ന വൃത്തവും വരയ്ക്കുക. "
        "അധ്യാപകൻ എന്നതിൽ നിന്ന് വിദ്യാർത്ഥി എന്നതിലേക്ക് ഒരു അമ്പടയാളം വരയ്ക്കുക.",
        (("circle", "അധ്യാപകൻ"), ("circle", "വിദ്യാർത്ഥി")),
        _chain(2),
    ),
    Described(
        "പദ്ധതി എന്ന കുറിപ്പും പരസ്യം എന്ന പെട്ടിയും വരയ്ക്കുക. പദ്ധതി എന്നതിനെ പരസ്യം എന്നതുമായി ബന്ധിപ്പിക്കുക.",
        (("note", "പദ്ധതി"), ("box", "പരസ്യം")),
        _chain(2),
    ),
    Described(
        "കൃഷിയിടം എന്ന പെട്ടിയും ചന്ത എന്ന പെട്ടിയും അടുക്കള എന്ന പെട്ടിയും വരയ്ക്കുക. "
        "കൃഷിയിടം എന്നതിൽ നിന്ന് ചന്ത എന്നതിലേക്കും ചന്ത എന്നതിൽ നിന്ന് അടുക്കള എന്നതിലേക്കും "
        "അമ്പടയാളം വരയ്ക്കുക.",
        _boxes("കൃഷിയിടം", "ചന്ത", "അടുക്കള"),
        _chain(3),
    ),
)

ARABIC = (
    Described(
        "ارسم مربعًا اسمه الدخول ومربعًا اسمه البيانات. اربط الدخول مع البيانات.",
        _boxes("الدخول", "البيانات"),
        _chain(2),
    ),
    Described(
        "ارسم دائرة اسمها الزبون ومربعًا اسمه المتجر ومربعًا اسمه المستودع. "
        "اربط الزبون مع المتجر والمتجر مع المستودع.",
        (("circle", "الزبون"), *_boxes("المتجر", "المستودع")),
        _chain(3),
    ),
    Described(
        "ارسم دائرة اسمها المعلم ودائرة اسمها الطالب. ارسم سهمًا من المعلم إلى الطالب.",
        (("circle", "المعلم"), ("circle", "الطالب")),
        _chain(2),
    ),
    Described(
        "ارسم ملاحظة اسمها الميزانية ومربعًا اسمه الإعلان. اربط الميزانية مع الإعلان.",
        (("note", "الميزانية"), ("box", "الإعلان")),
        _chain(2),
    ),
    Described(
        "ارسم مربعًا اسمه المزرعة ومربعًا اسمه السوق ومربعًا اسمه المطبخ. "
        "ارسم سهمًا من المزرعة إلى السوق ومن السوق إلى المطبخ.",
        _boxes("المزرعة", "السوق", "المطبخ"),
        _chain(3),
    ),
)
