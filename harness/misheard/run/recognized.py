"""From the journal of recognition to transcripts, over all windows of an item."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from misheard.failures import Failure, FailureKind
from misheard.run.journal import Batch
from misheard.run.plan import Plan, PlannedItem
from misheard.stages.recognize import WindowOutcome, has_repetition, is_sparse, join_n_best, join_windows
from misheard.suite.items import Item
from misheard.text.languages import primary_subtag

RECOGNITION_FLAGS = ("repetition", "token_limit", "sparse")


@dataclass(frozen=True, slots=True)
class Recognized:
    """One item's transcript over all its windows, or why there is none."""

    transcript: str | None
    failure: Failure | None
    seconds: float
    flags: Mapping[str, bool]
    n_best: tuple[str, ...] = ()
    segments: int | None = None


def read_recognized(items: Sequence[Item], plan: Plan, batches: Iterable[Batch]) -> list[Recognized | None]:
    """Return what was recognized, per item in suite order; None where the journal does not have it yet."""
    outcomes: dict[tuple[str, int], WindowOutcome] = {}
    for batch in batches:
        for row in batch.rows:
            outcomes[row["item"], row["window"]] = WindowOutcome.from_row(row)
    speech: dict[str, list[float]] = {}
    for window in sorted(plan.windows, key=lambda w: w.index):
        speech.setdefault(window.item, []).append(window.speech_seconds)
    recognized: list[Recognized | None] = []
    for item, planned in zip(items, plan.items, strict=True):
        active = speech.get(item.id, [])
        found = [outcomes[item.id, i] for i in range(len(active)) if (item.id, i) in outcomes]
        complete = len(found) == len(active)
        recognized.append(_join(item, planned, found, active) if complete else None)
    return recognized


def _join(
    item: Item, planned: PlannedItem, outcomes: Sequence[WindowOutcome], active: Sequence[float]
) -> Recognized:
    if planned.failure is not None:
        return Recognized(None, planned.failure, 0.0, {})
    seconds = sum(outcome.seconds for outcome in outcomes)
    failed = next((o for o in outcomes if o.failure_kind is not None), None)
    if failed is not None and failed.failure_kind is not None:
        return Recognized(None, Failure("recognize", failed.failure_kind, failed.failure_detail), seconds, {})
    windows = [outcome.transcript for outcome in outcomes if outcome.transcript is not None]
    language = item.language or (windows[0].language if windows else None)
    text = join_windows([window.text for window in windows], primary_subtag(language))
    flags = {
        "repetition": any(map(has_repetition, windows)),
        "token_limit": any(bool(window.token_limit) for window in windows),
        "sparse": any(map(is_sparse, windows, active)),
    }
    failure: Failure | None = None
    if item.is_speech and not text:
        failure = Failure("recognize", FailureKind.EMPTY_TRANSCRIPT, "nothing was recognized in speech")
    n_best = join_n_best(windows, primary_subtag(language)) if failure is None else ()
    counts = [window.segments for window in windows]
    known = [count for count in counts if count is not None]
    segments = sum(known) if known and len(known) == len(counts) else None
    return Recognized(text if failure is None else None, failure, seconds, flags, n_best, segments)
