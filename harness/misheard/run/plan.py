"""The batch plan: made before anything is inferred, written down, and followed to the letter.

The output of an encoder can depend on what else is in its batch, so the plan is part of what makes a run
repeatable: the same plan gives the same transcripts on the next machine, and a resumed run follows the plan
it started with.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from misheard.audio.activity import speech_active_seconds
from misheard.audio.decode import DecodedAudio
from misheard.audio.windows import FloatArray, cut
from misheard.canonical import canonical_json, sha256_json, write_atomic
from misheard.errors import IncompleteRunError
from misheard.failures import Failure, FailureKind, ItemFailedError
from misheard.suite.fingerprint import item_sha256, suite_sha256
from misheard.suite.items import Item, Suite
from misheard.text.languages import whisper_code

_VERSION = 1


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """What is known of an item's recording before inference.

    `audio_sha256` is the recording's fingerprint, None where it cannot be decoded; `sha256` covers it and the
    truth (the kind of failure instead of the recording where there is none). `seconds` is from the file's
    metadata.
    """

    id: str
    sha256: str
    audio_sha256: str | None = None
    seconds: float | None = None
    sample_rate: int | None = None
    channels: int | None = None
    subtype: str | None = None
    mixdown: str | None = None
    failure: Failure | None = None

    def is_of(self, item: Item) -> bool:
        """Whether this was planned for the item as it is, truth included."""
        content = self.audio_sha256
        if content is None and self.failure is not None:
            content = _failed_content(self.failure.kind)
        return content is not None and self.sha256 == item_sha256(item, content)


def _failed_content(kind: FailureKind) -> str:
    """Return what stands for the recording in the hash of an item that cannot be decoded."""
    return f"failed:{kind}"


@dataclass(frozen=True, slots=True)
class PlannedWindow:
    """One window: samples [start, end) of an item's decoded audio, and the batch that it is in.

    `sha256` is made of the recording's fingerprint and the two ends.
    """

    item: str
    index: int
    start: int
    end: int
    sha256: str
    speech_seconds: float
    batch: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Items in suite order and windows in batch order."""

    suite_sha256: str
    batch_size: int
    items: tuple[PlannedItem, ...]
    windows: tuple[PlannedWindow, ...]

    def batches(self) -> list[tuple[PlannedWindow, ...]]:
        """Return the windows of each batch."""
        groups: dict[int, list[PlannedWindow]] = {}
        for window in self.windows:
            groups.setdefault(window.batch, []).append(window)
        return [tuple(groups[number]) for number in sorted(groups)]


def make_plan(
    suite: Suite,
    decode: Callable[[Item], DecodedAudio],
    supports: Callable[[str | None], bool],
    batch_size: int,
    advance: Callable[[int], None],
    split: Callable[[FloatArray], list[tuple[int, int]]] = cut,
) -> Plan:
    """Decode every item once and lay the windows out in batches; `split` cuts a recording into windows.

    A recording that cannot be used becomes a failed item of the plan; the others go on.
    """
    items = []
    windows: list[PlannedWindow] = []
    for item in suite.items:
        planned, found = _plan_item(item, decode, supports, split)
        items.append(planned)
        windows.extend(found)
        advance(1)
    # Longest first, so that the batch that needs most memory comes before hours of work, not after.
    windows.sort(key=lambda w: (w.start - w.end, w.sha256, w.item, w.index))
    numbered = tuple(
        PlannedWindow(w.item, w.index, w.start, w.end, w.sha256, w.speech_seconds, position // batch_size)
        for position, w in enumerate(windows)
    )
    return Plan(suite_sha256(suite, [i.sha256 for i in items]), batch_size, tuple(items), numbered)


def _plan_item(
    item: Item,
    decode: Callable[[Item], DecodedAudio],
    supports: Callable[[str | None], bool],
    split: Callable[[FloatArray], list[tuple[int, int]]],
) -> tuple[PlannedItem, list[PlannedWindow]]:
    try:
        audio = decode(item)
    except ItemFailedError as error:
        undecodable = Failure("recognize", error.kind, error.detail)
        return PlannedItem(item.id, item_sha256(item, _failed_content(error.kind)), failure=undecodable), []
    sha256 = item_sha256(item, audio.sha256)
    failure: Failure | None = None
    windows: list[PlannedWindow] = []
    if supports(whisper_code(item.language)):
        for index, (start, end) in enumerate(split(audio.samples)):
            part = audio.samples[start:end]
            content = sha256_json([audio.sha256, start, end])
            active = speech_active_seconds(part)
            windows.append(PlannedWindow(item.id, index, start, end, content, active, -1))
    else:
        detail = f"the recognizer does not know the language {item.language}"
        failure = Failure("recognize", FailureKind.UNSUPPORTED_LANGUAGE, detail)
    info = audio.info
    planned = PlannedItem(
        item.id,
        sha256,
        audio.sha256,
        info.seconds,
        info.sample_rate,
        info.channels,
        info.subtype,
        audio.mixdown,
        failure,
    )
    return planned, windows


def check_plan(plan: Plan, suite: Suite) -> None:
    """Raise IncompleteRunError that names the items unless the plan was made for the suite as it is."""
    ids = [item.id for item in suite.items]
    planned = [item.id for item in plan.items]
    changed = [i.id for i, p in zip(suite.items, plan.items, strict=False) if i.id == p.id and not p.is_of(i)]
    if ids != planned or changed or suite_sha256(suite, [i.sha256 for i in plan.items]) != plan.suite_sha256:
        names = ", ".join(changed[:20] or sorted(set(ids) ^ set(planned))[:20]) or "its header or order"
        raise IncompleteRunError(f"the suite is not the one that the run planned: {names}; run it anew")


def write_plan(path: Path, plan: Plan) -> None:
    """Write `plan.jsonl`: a header line, a line per item, a line per window."""
    rows: list[dict[str, Any]] = [{"kind": "item", **asdict(item)} for item in plan.items]
    rows.extend({"kind": "window", **asdict(window)} for window in plan.windows)
    lines = "".join(canonical_json(row) + "\n" for row in rows)
    header = {
        "kind": "plan",
        "version": _VERSION,
        "suite": plan.suite_sha256,
        "batch_size": plan.batch_size,
        "sha256": hashlib.sha256(lines.encode("ascii")).hexdigest(),
    }
    write_atomic(path, canonical_json(header) + "\n" + lines)


def read_plan(path: Path) -> Plan:
    """Read `plan.jsonl`. Raises IncompleteRunError where it is missing or not a plan of this version."""
    try:
        first, _, lines = path.read_text("ascii").partition("\n")
        header = json.loads(first)
        if header["kind"] != "plan" or header["version"] != _VERSION or "sha256" not in header:
            raise IncompleteRunError(f"{path}: not written by this version of misheard; run it anew")
        if header["sha256"] != hashlib.sha256(lines.encode("ascii")).hexdigest():
            raise IncompleteRunError(f"{path}: is not as it was written; bring back a copy, or run anew")
        rows = [json.loads(line) for line in lines.splitlines()]
        return Plan(
            header["suite"],
            header["batch_size"],
            tuple(_item_from_row(row) for row in _of_kind(rows, "item")),
            tuple(PlannedWindow(**row) for row in _of_kind(rows, "window")),
        )
    except FileNotFoundError as error:
        raise IncompleteRunError(f"{path}: missing; was the run started?") from error
    except (ValueError, KeyError, TypeError, IndexError, OSError, RecursionError) as error:
        raise IncompleteRunError(f"{path}: not a batch plan ({type(error).__name__})") from error


def _of_kind(rows: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "kind"} for row in rows if row["kind"] == kind]


def _item_from_row(row: dict[str, Any]) -> PlannedItem:
    failure = row.pop("failure")
    if failure is not None:
        failure = Failure(failure["stage"], FailureKind(failure["kind"]), failure["detail"])
    return PlannedItem(**row, failure=failure)
