"""What in a suite is probably a mistake. Warnings name items and never quote a reference."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from misheard.stats.slices import MIN_ITEMS
from misheard.stats.verdict import MIN_UNITS
from misheard.suite.items import Item, Suite
from misheard.suite.overview_audio import Heard
from misheard.suite.overview_axes import declared_cells, paired_axes
from misheard.suite.overview_scripts import is_in_other_scripts
from misheard.suite.primary import without_language, without_primary
from misheard.text.annotations import has_annotations
from misheard.text.normal_form import normal_form

MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class Warning:
    """A kind of probable mistake.

    Attributes:
        kind: its name in JSON.
        what: it in words.
        count: how many items, sessions or cells it is about.
        names: the first MAX_NAMED of them; none where the suite as a whole is meant.
    """

    kind: str
    what: str
    count: int
    names: tuple[str, ...]


def warnings(suite: Suite, heard: Mapping[str, Heard]) -> tuple[Warning, ...]:
    """Return the warnings of a suite. `heard` has every recording by its path in the suite."""
    items = suite.items
    origins = _origins(items)
    found = (
        _about("unreadable", "recordings that cannot be decoded (see misheard suite validate)",
               (i.id for i in items if heard[i.audio].failure)),
        _about("silent", "speech items with a silent recording, under -60 dB of full scale",
               (i.id for i in items if i.is_speech and heard[i.audio].silent)),
        _about("clipped", "clipped recordings, which stay at full scale for several samples",
               (i.id for i in items if heard[i.audio].clipped)),
        _about("duplicate_audio", "items with the same recording as another one",
               _repeated(items, origins, lambda i: heard[i.audio].sha256)),
        _about("no_language", "speech items without a language, by which `spoken` reads numerals, scripts "
               "are checked and primary metrics go; name it per item or under defaults in suite.yaml",
               (i.id for i in without_language(items))),
        _about("no_primary", "languages without a primary metric, which `metric: primary` in a gate needs; "
               "name one under primary in suite.yaml",
               (tag or "(none)" for tag in without_primary(suite))),
        _about("other_script", "references mostly in another script than that of their language",
               (i.id for i in items if is_in_other_scripts(i))),
        _about("annotations", "references with annotations such as <s> or [noise], which count as words",
               (i.id for i in items if has_annotations(i.reference))),
        _about("repeated_reference", "items with the same reference as another one",
               _repeated(items, origins, lambda i: _folded(i.reference))),
        _about("no_session", "items without a session, which statistics resample one by one",
               (i.id for i in items if i.session is None)),
        _about("single_item_session", "sessions with one item", _single_sessions(items, origins)),
        _small_suite(items),
        _about("few_sessions", f"sessions, or items without one: under {MIN_UNITS} there is no verdict",
               _few_sessions(items)),
        _about("small_cell", f"values with under {MIN_ITEMS} items, which get no verdict",
               _small_cells(suite)),
        _about("few_sessions_cell", f"values in under {MIN_UNITS} sessions, which get no verdict",
               _cells_of_few_sessions(suite)),
        _about("empty_cell", "declared values, or pairs of them, without items", _empty_cells(suite)),
    )  # fmt: skip
    return tuple(warning for warning in found if warning.count)


def _about(kind: str, what: str, names: Iterable[str]) -> Warning:
    every = list(names)
    return Warning(kind, what, len(every), tuple(every[:MAX_NAMED]))


def _origins(items: Sequence[Item]) -> dict[str, str]:
    """Return, by id, the item that an item was derived from in the end: tiers repeat what they come from."""
    sources = {item.id: item.source for item in items}
    out = {}
    for item in items:
        origin, steps = item.id, 0
        while (source := sources.get(origin)) is not None and steps < len(items):
            origin, steps = source, steps + 1
        out[item.id] = origin
    return out


def _repeated(
    items: Sequence[Item], origins: Mapping[str, str], key: Callable[[Item], Hashable]
) -> list[str]:
    """Return the ids of items whose key, which counts unless it is empty, other origins have too."""
    owners: dict[Hashable, set[str]] = defaultdict(set)
    for item in items:
        owners[key(item)].add(origins[item.id])
    return [item.id for item in items if key(item) and len(owners[key(item)]) > 1]


def _folded(reference: str) -> str:
    return " ".join(normal_form("NFC", reference).casefold().split())


def _single_sessions(items: Sequence[Item], origins: Mapping[str, str]) -> list[str]:
    members: dict[str, set[str]] = defaultdict(set)
    for item in items:
        if item.session is not None:
            members[item.session].add(origins[item.id])
    return [session for session, ids in members.items() if len(ids) == 1]


def _small_suite(items: Sequence[Item]) -> Warning:
    what = f"items in all: under {MIN_ITEMS} no comparison gets a verdict; record more"
    return Warning("small_suite", what, len(items) if len(items) < MIN_ITEMS else 0, ())


def _few_sessions(items: Sequence[Item]) -> list[str]:
    """Return the sessions, and the items without one, which are units of their own, where all are too few."""
    units = {item.resampling_unit: item.session or item.id for item in items}
    return sorted(units.values()) if len(units) < MIN_UNITS else []


def _cells_of_few_sessions(suite: Suite) -> list[str]:
    """Return values with too few units; none where the whole suite has too few."""
    units: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item in suite.items:
        for cell in item.conditions.items():
            units[cell].add(item.resampling_unit)
    if len({item.resampling_unit for item in suite.items}) < MIN_UNITS:
        return []
    cells = ((axis, value) for axis, values in suite.axes.items() for value in values)
    return [f"{axis}={value}" for axis, value in cells if 0 < len(units.get((axis, value), ())) < MIN_UNITS]


def _small_cells(suite: Suite) -> list[str]:
    counts = Counter((axis, value) for item in suite.items for axis, value in item.conditions.items())
    cells = ((axis, value) for axis, values in suite.axes.items() for value in values)
    return [f"{axis}={value}" for axis, value in cells if 0 < counts[axis, value] < MIN_ITEMS]


def _empty_cells(suite: Suite) -> list[str]:
    """Return declared values without items, and pairs without items of values that have some."""
    counts = Counter((axis, value) for item in suite.items for axis, value in item.conditions.items())
    empty = [f"{axis}={v}" for axis, values in suite.axes.items() for v in values if not counts[axis, v]]
    for first, second in paired_axes(suite):
        there = {(item.conditions.get(first), item.conditions.get(second)) for item in suite.items}
        empty += [
            f"{first}={a}, {second}={b}"
            for a, b in declared_cells(suite, (first, second))
            if counts[first, a] and counts[second, b] and (a, b) not in there
        ]
    return empty
