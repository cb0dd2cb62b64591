"""Items with texts that are out to break the page, turn it around, or split what must stay whole."""

from hostile_run import NAMES, QUOTED, SCRIPT, hostile_table

from made_up_tables import FAMILIES
from misheard.metrics.base import Arm, ArmOutput, Correction, Judgement
from misheard.report.html.items_document import ItemSources
from misheard.report.html.items_losses import item_losses
from misheard.scenes.scene import Connection, Scene, Shape
from misheard.suite.items import Item, ItemKind

LONG = "word " * 210_000
TEXTS = (
    (f"{SCRIPT} you", f"</script>{QUOTED} you", None),
    ("a\u202egnp \x1b[31mred", "a\x00\u202egnp \ud800 red", None),
    ("नमस्ते दुनिया", "नमस्कार दुनिया", "hi"),
    ("مرحبا بالعالم", "مرحبا العالم", "ar"),
    ("我想喝latte", "我要喝latte", "zh"),
    (LONG, LONG + "more", None),
    ("the cat sat", "the bat sat down", "en"),
)
"""A reference, what was heard, and the language."""

JUDGED = {
    Arm.AUDIO: {"meaning": Judgement(83.5, 3.0, False), "answer": Judgement(50.0, 60.0, True)},
    Arm.TRANSCRIPT: {"answer": Judgement(100.0, identical=True)},
    Arm.CONTROL: {"answer": Judgement(None, invalid=2)},
}
"""What the judge says of the item at place 6."""

LEADS = {"propagation": {"lost_to_recognition": {"response_quality": {"n": 9, "flags": []}}}}
"""What a report says of what it leads with."""


def hostile_sources() -> ItemSources:
    """Return what a page with items is made of; the item at place 5 failed, and has no transcript."""
    table = hostile_table(4, 7)
    golden = Scene((Shape("a", "box", SCRIPT), Shape("b", "box", "ب")), (Connection("a", "b", QUOTED),))
    items, outputs = [], {arm: [] for arm in table.arms}
    for place, info in enumerate(table.items):
        reference, heard, language = TEXTS[place % len(TEXTS)]
        reference = reference if info.kind is ItemKind.SPEECH else ""
        items.append(
            Item(
                id=info.id, audio="a b.flac", reference=reference, kind=info.kind, language=language,
                session=info.session, conditions=info.conditions, fact=(SCRIPT,),
                reference_answer=QUOTED, plan=golden,
            )
        )  # fmt: skip
        for arm, found in outputs.items():
            failure = table.arms[arm].failures[place]
            text = heard if arm is Arm.AUDIO else reference
            correction = Correction(f"{text}!") if arm is Arm.AUDIO and place == 6 else None
            found.append(
                ArmOutput(
                    None if failure is not None else text, f"answer {SCRIPT}\nsecond \u202e line", failure,
                    correction=correction, plan=golden, board=Scene(),
                    judgements=JUDGED[arm] if place == 6 else {},
                )
            )  # fmt: skip
    axes = {"n<i>oise": list(NAMES), "mic": ["a", "b"]}
    return ItemSources(
        items,
        table,
        outputs,
        axes,
        "exact",
        None,
        {items[0].id: "a%20b.flac"},
        {("audio", items[0].id): "x.svg"},
        {"status": "trusted", "drift": None},
        item_losses(LEADS, table, FAMILIES),
    )
