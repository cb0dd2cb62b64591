"""A suite with tiers, derived from a suite: every item with its truth once per tier.

Each tier changes one thing, the noise or the microphone, about the suite's own recording. Derived items are
called `ID-15dB` or `ID-telephone`, name the item they come from in `source`, and share its session (an item
without one gets its own id as session), so that comparisons stay paired and resampling keeps tiers together.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import misheard
from misheard.audio.decode import decode, decoder_fingerprint
from misheard.canonical import write_json
from misheard.errors import InputError
from misheard.failures import ItemFailedError
from misheard.suite.items import Item, Suite
from misheard.suite.locked import check_lock
from misheard.suite.manifest import HEADER_NAME, ITEMS_NAME, Progress, load_suite
from misheard.suite.mixing import microphones, rendering
from misheard.suite.mixing.microphones import TELEPHONE
from misheard.suite.mixing.noises import NoiseSource, read_noises
from misheard.suite.mixing.seeds import generator
from misheard.suite.mixing.tiers import CLEAN, ORIGINAL, Tier, Tiers
from misheard.suite.problems import Problems
from misheard.suite.writing import items_jsonl, name_for, new_folder, suite_yaml

RECORD_NAME = "mix.json"
_AUDIO = "audio"
_MAX_ID = 80
_OWN_VALUES = {"noise": CLEAN, "mic": ORIGINAL}
"""What the suite's own recordings are called on an axis where they have no value."""
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}")


@dataclass(frozen=True, slots=True)
class MixSummary:
    """What was made.

    Attributes:
        items: how many items there are, and `per_tier`.
        already_noisy: items of the source that had noise already.
        scaled: recordings that were scaled against clipping.
        worst_snr_error_db: how far the worst ratio is off; None where no speech got noise.
        left_out: which items of a split suite are not in it; empty where all are.
        named_as_source: the name that it has in common with its source; None where they differ.
    """

    items: int
    per_tier: dict[str, int]
    already_noisy: int
    scaled: int
    worst_snr_error_db: float | None
    left_out: str
    named_as_source: str | None


def mix_suite(
    source: Path,
    destination: Path,
    tiers: Tiers,
    noises: Sequence[str],
    seed: int,
    progress: Progress | None = None,
    name: str | None = None,
) -> MixSummary:
    """Write a suite with tiers, and mix.json about every item, into a new folder, whole or not at all.

    The suite is called `name`, or else as its folder: baselines go by the name, so suites with other tiers of
    one source need other names.

    The same suite, options, seed and versions of the libraries give the same bytes, on any number of threads.
    Raises SuiteError for a suite, and InputError for a noise or a destination, that cannot be used, and
    NotComparableError for a suite that is not as its lock says: its sealed items would be copied where its
    split is gone.
    """
    chosen = name_for(destination, name)
    suite = load_suite(source)
    check_lock(source)
    plan = _plan(suite, tiers, source)
    mixer = _Mixer(suite, read_noises(noises, suite, seed), seed)
    with new_folder(destination) as folder, _one_thread():
        (folder / _AUDIO).mkdir()
        if progress is not None:
            progress.begin("mixing", len(plan))
        problems = Problems()
        records = []
        for item, origin, tier in plan:
            try:
                records.append(mixer.write(folder, item, origin, tier))
            except (ItemFailedError, InputError) as error:
                problems.add(f"item {item.id}", str(error))
            if progress is not None:
                progress.advance()
        if problems:
            raise problems.error(str(source))
        items = [item for item, _, _ in plan]
        (folder / HEADER_NAME).write_text(suite_yaml(_header(suite, items, chosen)), "utf-8")
        (folder / ITEMS_NAME).write_text(items_jsonl(items), "utf-8")
        write_json(folder / RECORD_NAME, _record(suite, seed, records))
    return _summary(suite, plan, records, chosen)


_Planned = tuple[Item, Item, Tier | None]
"""The item to write, the suite's item it comes from, and the tier; None for the suite's own recording."""


def _plan(suite: Suite, tiers: Tiers, source: Path) -> list[_Planned]:
    """Return every item of the result, in the suite's order. Raises SuiteError for ids that cannot be."""
    problems = Problems()
    plan: list[_Planned] = []
    taken = {item.id for item in suite.items}
    own_values = {tier.axis: _OWN_VALUES[tier.axis] for tier in tiers.derived}
    for origin in suite.items:
        own = _with_session(origin, own_values)
        noisy = own.conditions.get("noise", CLEAN) != CLEAN
        if tiers.clean:
            plan.append((replace(own, audio=_copied_name(own)), origin, None))
        for tier in tiers.derived:
            if tier.axis == "noise" and noisy:
                continue
            item = _derived(own, tier)
            if len(item.id) > _MAX_ID:
                problems.add(
                    f"item {origin.id}", f"the id with -{tier.value} has more than {_MAX_ID} characters"
                )
            if item.id in taken:
                problems.add(f"item {origin.id}", f"the suite has an item {item.id} already")
            taken.add(item.id)
            plan.append((item, origin, tier))
    if not plan:
        problems.add("items", f"all have noise already, and {CLEAN} is not among the tiers: nothing is left")
    if problems:
        raise problems.error(str(source))
    return plan


def _with_session(origin: Item, own_values: Mapping[str, str]) -> Item:
    """Give an item what its tiers share: a session, and a value on the axes that tiers are made on."""
    added = {axis: value for axis, value in own_values.items() if axis not in origin.conditions}
    return replace(origin, session=origin.session or origin.id, conditions={**origin.conditions, **added})


def _derived(own: Item, tier: Tier) -> Item:
    identifier = f"{own.id}-{tier.value}"
    suffix = ".wav" if tier.value == TELEPHONE else ".flac"
    return replace(
        own,
        id=identifier,
        audio=f"{_AUDIO}/{identifier}{suffix}",
        source=own.id,
        conditions={**own.conditions, tier.axis: tier.value},
    )


def _copied_name(own: Item) -> str:
    suffix = Path(own.audio).suffix
    return f"{_AUDIO}/{own.id}{suffix.lower() if _SUFFIX.fullmatch(suffix) else ''}"


class _Mixer:
    """Writes the recording of one item after the other."""

    def __init__(self, suite: Suite, noises: Sequence[NoiseSource], seed: int) -> None:
        self._suite, self._noises, self._seed = suite, noises, seed

    def write(self, folder: Path, item: Item, origin: Item, tier: Tier | None) -> dict[str, Any]:
        """Write a recording and return what mix.json says about it."""
        recording, path = self._suite.audio_path(origin), folder / item.audio
        if tier is None:
            shutil.copyfile(recording, path)
            return {"id": item.id, "tier": CLEAN}
        samples = decode(recording).samples
        if tier.snr_db is not None:
            random = generator(self._seed, item.source or "", tier.value)
            source = self._noises[int(random.integers(len(self._noises)))]
            noise = source.draw(origin, tier.value, len(samples), random)
            mixed = rendering.write_noisy(path, samples, noise, tier.snr_db, item.is_speech)
            details: dict[str, Any] = {"asked_snr_db": tier.snr_db, **asdict(mixed)}
        elif tier.value == TELEPHONE:
            details = rendering.write_telephone(path, samples)
        else:
            room = microphones.room_response(generator(self._seed, item.session or "", tier.value))
            details = rendering.write_far_field(path, samples, room)
        return {"id": item.id, "source": item.source, "tier": tier.value, **details}


def _header(suite: Suite, items: Sequence[Item], name: str) -> Suite:
    axes = {axis: list(values) for axis, values in suite.axes.items()}
    for item in items:
        for axis, value in item.conditions.items():
            values = axes.setdefault(axis, [])
            if value not in values:
                values.append(value)
    ordered = {axis: tuple(values) for axis, values in axes.items()}
    return replace(suite, name=name, axes=ordered, items=tuple(items))


def _record(suite: Suite, seed: int, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "misheard": misheard.__version__,
        "source": {"name": suite.name, "version": suite.version},
        "seed": seed,
        "decoding": decoder_fingerprint(),
        "telephone": {
            "rate": microphones.TELEPHONE_RATE,
            "band_hz": list(microphones.TELEPHONE_BAND),
            "coding": "G.711 mu-law",
        },
        "far_field": {
            "rt60_seconds": microphones.RT60_SECONDS,
            "direct_to_reverberant_db": microphones.DIRECT_TO_REVERBERANT_DB,
        },
        "items": list(records),
    }


def _summary(
    suite: Suite, plan: Sequence[_Planned], records: Sequence[dict[str, Any]], name: str
) -> MixSummary:
    errors = [
        abs(record["snr_db"] - record["asked_snr_db"])
        for record in records
        if record.get("snr_db") is not None
    ]
    return MixSummary(
        items=len(plan),
        per_tier=dict(Counter(record["tier"] for record in records)),
        already_noisy=sum(item.conditions.get("noise", CLEAN) != CLEAN for item in suite.items),
        scaled=sum(record.get("gain_db", 0) < 0 for record in records),
        worst_snr_error_db=max(errors, default=None),
        left_out="" if suite.selection is None else suite.selection.note(),
        named_as_source=name if name == suite.name else None,
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch work on one thread, as convolutions may round otherwise on more."""
    try:
        import torch
    except (ImportError, OSError):
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
