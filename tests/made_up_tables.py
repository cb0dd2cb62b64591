"""Small metric families and made-up tables of counts, for the tests of statistics and reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, Counts, Family, FloatArray, Rate, ScoredRow, divide
from misheard.metrics.entities import on_boards
from misheard.metrics.scene import SceneMatch
from misheard.metrics.scene_propagation import ScenePropagation
from misheard.metrics.table import TIMING_COLUMNS, ArmTable, CountTable, ItemInfo
from misheard.suite.items import ItemKind


@dataclass(frozen=True)
class MadeUpFamily:
    name: str
    columns: tuple[str, ...]
    rates: tuple[Rate, ...]
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        raise NotImplementedError("these families are counted by hand")


def share(column: int, total: int, name: str, better: str | None) -> Rate:
    return Rate(name, f"share of {name}", better, lambda s: divide(s[..., column], s[..., total]))  # type: ignore[arg-type]


def _error_rate(sums: FloatArray) -> FloatArray:
    return divide(sums[..., 0] + sums[..., 1] + sums[..., 2], sums[..., 4])


ERROR_COLUMNS = (
    "substitutions",
    "deletions",
    "insertions",
    "hits",
    "reference_units",
    "item_rates",
    "items_with_rate",
)


def error_family(name: str) -> MadeUpFamily:
    return MadeUpFamily(
        name,
        ERROR_COLUMNS,
        (
            Rate(name, f"{name} over the corpus", "lower", _error_rate),
            share(5, 6, f"{name}_mean", "lower"),
            share(0, 4, f"{name}_substitution_rate", "lower"),
            share(1, 4, f"{name}_deletion_rate", "lower"),
            share(2, 4, f"{name}_insertion_rate", "lower"),
        ),
    )


WER, CER = error_family("wer"), error_family("cer")
ANSWERING = (Arm.AUDIO, Arm.UNCORRECTED, Arm.TRANSCRIPT, Arm.CONTROL)
RESPONSE = MadeUpFamily(
    "response",
    ("items", "quality", "exact"),
    (share(1, 0, "response_quality", "higher"), share(2, 0, "exact_match_rate", "higher")),
    ANSWERING,
)
ANSWERS = MadeUpFamily(
    "answer_class",
    ("items", "correct", "abstained", "hallucinated"),
    (
        share(1, 0, "correct_rate", "higher"),
        share(2, 0, "abstention_rate", None),
        share(3, 0, "hallucination_rate", "lower"),
    ),
    ANSWERING,
)
NON_SPEECH = MadeUpFamily(
    "non_speech", ("clips", "with_text"), (share(1, 0, "non_speech_hallucination_rate", "lower"),)
)
PROPAGATION = MadeUpFamily(
    "propagation",
    ("items", "drop", "degraded", "improved", "flipped", "baseline_quality", "arm_quality"),
    (
        share(1, 0, "quality_drop", "lower"),
        share(2, 0, "degraded_fraction", "lower"),
        share(3, 0, "improved_fraction", None),
        share(4, 0, "flip_rate", "lower"),
        share(5, 0, "baseline_quality", None),
        share(6, 0, "arm_quality", "higher"),
    ),
    (Arm.AUDIO, Arm.UNCORRECTED, Arm.CONTROL),
    Arm.TRANSCRIPT,
)
FAMILIES = (WER, CER, RESPONSE, ANSWERS, NON_SPEECH, PROPAGATION)

AXES = {"language": ("en",), "noise": ("clean", "15dB", "5dB"), "mic": ("laptop", "phone")}


def make_items(sessions: int, per_session: int, non_speech: int) -> tuple[ItemInfo, ...]:
    speech = [
        ItemInfo(
            id=f"q{number:03d}",
            kind=ItemKind.SPEECH,
            session=f"s{number // per_session}",
            resampling_unit=f"session:s{number // per_session}",
            conditions={
                "language": "en",
                "noise": ("clean", "15dB")[number % 2],
                "mic": ("laptop", "phone")[number // per_session % 2],
            },
            sha256=f"{number:064x}",
        )
        for number in range(sessions * per_session)
    ]
    silent = [
        ItemInfo(
            f"noise{n}", ItemKind.NON_SPEECH, None, f"item:noise{n}", {"noise": "clean"}, f"{n + 10**6:064x}"
        )
        for n in range(non_speech)
    ]
    return (*speech, *silent)


def make_table(
    sessions: int = 6, per_session: int = 8, non_speech: int = 6, *, seed: int = 1, error: float = 0.12
) -> CountTable:
    """Make counts for a suite whose 15dB half is heard three times worse; item 5 fails in the audio arm."""
    random = np.random.default_rng(seed)
    items = make_items(sessions, per_session, non_speech)
    speech = np.array([item.kind is ItemKind.SPEECH for item in items])
    level = np.array([error * (3 if item.conditions.get("noise") == "15dB" else 1) for item in items])
    failures: list[Failure | None] = [None] * len(items)
    if len(items) > 5:
        failures[5] = Failure("recognize", FailureKind.ASR_ERROR, "the decoder stopped")
    ok = np.array([failure is None for failure in failures])
    quality = {Arm.TRANSCRIPT: random.random(len(items)).round(3)}
    quality[Arm.CONTROL] = quality[Arm.TRANSCRIPT]
    loss = np.where(random.random(len(items)) < level, random.random(len(items)), 0)
    quality[Arm.AUDIO] = np.clip(quality[Arm.TRANSCRIPT] - loss, 0, 1)
    arms = {}
    for arm in (Arm.AUDIO, Arm.TRANSCRIPT, Arm.CONTROL):
        arm_failures = tuple(failures) if arm is Arm.AUDIO else (None,) * len(items)
        present = speech & ok if arm is Arm.AUDIO else speech
        counts = {
            "response": response_counts(quality[arm], present),
            "answer_class": answer_counts(quality[arm], present),
        }
        if arm is Arm.AUDIO:
            counts |= audio_counts(random, level, speech, ok)
        if arm is not Arm.TRANSCRIPT:
            counts["propagation"] = drop_counts(quality[arm], quality[Arm.TRANSCRIPT], present)
        timings = {name: np.full(len(items), np.nan) for name in TIMING_COLUMNS}
        timings["audio_seconds"] = random.random(len(items)).round(2) + 2
        flags = {"token_limit": random.random(len(items)) < 0.1}
        arms[arm] = ArmTable(arm, arm_failures, counts, timings, flags)
    return CountTable(items, arms)


def masked(values: FloatArray, present: np.ndarray) -> Counts:
    return Counts(np.where(present[:, None], values, 0.0), present)


def audio_counts(
    random: np.random.Generator, level: FloatArray, speech: np.ndarray, ok: np.ndarray
) -> Mapping[str, Counts]:
    out = {}
    for name, length in (("wer", 8), ("cer", 35)):
        reference = random.integers(length - 3, length + 4, level.size)
        wrong = random.binomial(reference, np.minimum(level, 1))
        deleted = random.binomial(wrong, 0.2)
        inserted = random.binomial(reference, level / 8)
        rates = (wrong + inserted) / reference
        columns = [
            wrong - deleted,
            deleted,
            inserted,
            reference - wrong,
            reference,
            rates,
            np.ones(level.size),
        ]
        out[name] = masked(np.stack(columns, axis=1), speech & ok)
    text = random.random(level.size) < 0.5
    out["non_speech"] = masked(np.stack([np.ones(level.size), text], axis=1), ~speech & ok)
    return out


def response_counts(quality: FloatArray, present: np.ndarray) -> Counts:
    return masked(np.stack([np.ones(quality.size), quality, quality > 0.9], axis=1), present)


def answer_counts(quality: FloatArray, present: np.ndarray) -> Counts:
    correct, abstained = quality > 0.4, quality < 0.1
    wrong = ~correct & ~abstained
    return masked(np.stack([np.ones(quality.size), correct, abstained, wrong], axis=1), present)


def drop_counts(quality: FloatArray, clean: FloatArray, present: np.ndarray) -> Counts:
    drop = clean - quality
    columns = [np.ones(drop.size), drop, drop > 1e-12, drop < -1e-12, drop != 0, clean, quality]
    return masked(np.stack(columns, axis=1), present)


def with_counts(table: CountTable, arm: Arm, family: str, counts: Counts) -> CountTable:
    """Return the table with one family's counts in one arm replaced."""
    changed = replace(table.arms[arm], counts={**table.arms[arm].counts, family: counts})
    return replace(table, arms={**table.arms, arm: changed})


def ratio_table(
    numerators: Sequence[float], denominators: Sequence[float], sessions: Sequence[str]
) -> CountTable:
    """Make a table with one family, `ratio`, in the audio arm."""
    items = tuple(
        ItemInfo(f"i{n}", ItemKind.SPEECH, session, f"session:{session}", {}, f"{n:064x}")
        for n, session in enumerate(sessions)
    )
    values = np.stack([np.array(numerators, dtype=float), np.array(denominators, dtype=float)], axis=1)
    counts = {"ratio": Counts(values, np.ones(len(items), dtype=bool))}
    arm = ArmTable(Arm.AUDIO, (None,) * len(items), counts, {}, {})
    return CountTable(items, {Arm.AUDIO: arm})


RATIO = MadeUpFamily("ratio", ("wrong", "total"), (share(0, 1, "ratio", "lower"),))


SCENE, ENTITIES_ON_BOARDS, SCENE_PROPAGATION = SceneMatch(), on_boards(), ScenePropagation()
SCENE_FAMILIES: tuple[Family, ...] = (WER, SCENE, ENTITIES_ON_BOARDS, SCENE_PROPAGATION)
LABELS = 6
"""Of each golden plan of a made-up scene; each is connected to the next, and each is an entity."""


@dataclass(frozen=True)
class FailureRates:
    """How often recognition, planner and renderer each lose a label, independently of each other.

    `uncorrected` is how often recognition loses one without its corrector.
    """

    recognition: float
    planning: float
    rendering: float
    uncorrected: float = 0.0


def scene_table(
    rates: FailureRates,
    sessions: int = 12,
    per_session: int = 8,
    *,
    seed: int = 1,
    spread: float = 30.0,
    arms: Sequence[Arm] = tuple(Arm),
) -> CountTable:
    """Make counts of boards whose labels are lost at set rates.

    The rates of each session are beta-distributed around those that are set, with `spread` as the sum of the
    beta's parameters. Planner and renderer fail at the same labels in every arm, but for the planner's second
    execution in the control arm.
    """
    random = np.random.default_rng(seed)
    items = make_items(sessions, per_session, 0)
    session = np.repeat(np.arange(sessions), per_session)

    def kept(rate: float) -> np.ndarray:
        own = random.beta(spread * rate, spread * (1 - rate), sessions) if rate else np.zeros(sessions)
        return random.random((len(items), LABELS)) >= own[session, None]

    heard, planned, drawn, again = map(
        kept, (rates.recognition, rates.planning, rates.rendering, rates.planning)
    )
    boards = {
        Arm.AUDIO: heard & planned & drawn,
        Arm.UNCORRECTED: heard & kept(rates.uncorrected) & planned & drawn,
        Arm.TRANSCRIPT: planned & drawn,
        Arm.PLAN: drawn,
        Arm.CONTROL: again & drawn,
    }
    tables = {}
    for arm in arms:
        counts = {"scene": _board_counts(boards[arm]), "entities_board": _entity_counts(boards[arm])}
        if arm in SCENE_PROPAGATION.arms and Arm.TRANSCRIPT in arms:
            counts["scene_propagation"] = _board_changes(boards[Arm.TRANSCRIPT], boards[arm])
        if arm is Arm.AUDIO:
            counts["wer"] = _word_counts(heard)
        tables[arm] = ArmTable(arm, (None,) * len(items), counts, {}, {})
    return CountTable(items, tables)


def _everywhere(columns: Mapping[str, object], names: Sequence[str], n: int) -> Counts:
    values = np.stack([np.broadcast_to(np.asarray(columns.get(name, 0.0), float), n) for name in names], 1)
    return Counts(values, np.ones(n, dtype=bool))


def _board_counts(board: np.ndarray) -> Counts:
    labels, arrows = board.sum(axis=1), (board[:, 1:] & board[:, :-1]).sum(axis=1)
    columns = {
        "shapes": labels,
        "golden_shapes": LABELS,
        "label_hits": labels,
        "connections": arrows,
        "golden_connections": LABELS - 1,
        "connection_hits": arrows,
        "labelled_connection_hits": arrows,
        "boards": 1,
        "empty_boards": labels == 0,
        "boards_with_golden_shapes": 1,
        "accepted_connections": LABELS - 1,
        "undrawn_connections": LABELS - 1 - arrows,
    }
    return _everywhere(columns, SCENE.columns, len(board))


def _entity_counts(board: np.ndarray) -> Counts:
    columns = {"surviving": board.sum(axis=1), "entities": LABELS}
    return _everywhere(columns, ENTITIES_ON_BOARDS.columns, len(board))


def _board_changes(before: np.ndarray, after: np.ndarray) -> Counts:
    old, new = (2 * board.sum(axis=1) / (LABELS + board.sum(axis=1)) for board in (before, after))
    columns = {
        "baseline_label_f1": old,
        "arm_label_f1": new,
        "degraded": new < old,
        "improved": new > old,
        "pairs_with_golden_shapes": 1,
        "pairs_with_golden_connections": 1,
        "flips": (before != after).any(axis=1),
        "pairs": 1,
    }
    return _everywhere(columns, SCENE_PROPAGATION.columns, len(before))


def _word_counts(heard: np.ndarray) -> Counts:
    lost = (~heard).sum(axis=1)
    columns = {
        "substitutions": lost,
        "hits": LABELS - lost,
        "reference_units": LABELS,
        "item_rates": lost / LABELS,
        "items_with_rate": 1,
    }
    return _everywhere(columns, ERROR_COLUMNS, len(heard))
