"""What the journal of one asking stage says: which reply answers which item in which arm.

Corrections, answers, plans and boards are journaled in the same way: rows of completions, named by their
keys, in batches `PHASE:…`, and rows that say which completion an item has in an arm, in batches
`arm:…`. A phase is an arm, or `ARM.NUMBER` where an arm takes several.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.metrics.base import Arm
from misheard.run.journal import Batch, read_batches

OF_ARM = "arm:"


@dataclass(frozen=True, slots=True)
class Replies:
    """The replies of one stage. Of two for the same key or item the later counts.

    Attributes:
        completions: rows by key.
        phases: by key, the phase in which a completion ran, so that its time counts there.
        keys: by arm and item, the key of the completion.
        finished: the phases that are complete.
        batches: as they were committed.
    """

    completions: Mapping[str, dict[str, Any]]
    phases: Mapping[str, str]
    keys: Mapping[tuple[str, str], str]
    finished: frozenset[str]
    batches: tuple[Batch, ...]

    def of(self, arm: Arm, item: str) -> dict[str, Any] | None:
        """Return the completion of an item in an arm; None where it has none."""
        key = self.keys.get((str(arm), item))
        return None if key is None else self.completions.get(key)

    def is_fresh(self, arm: Arm, item: str) -> bool:
        """Whether the completion ran in this arm and was not shared from another."""
        key = self.keys.get((str(arm), item))
        return key is not None and self.phases.get(key, "").partition(".")[0] == str(arm)


def replies_of(batches: Iterable[Batch]) -> Replies:
    """Return what committed batches say."""
    completions: dict[str, dict[str, Any]] = {}
    phases: dict[str, str] = {}
    keys: dict[tuple[str, str], str] = {}
    finished = set()
    kept = tuple(batches)
    for batch in kept:
        phase = batch.name.partition(":")[0]
        if batch.name.startswith(OF_ARM):
            finished.add(batch.name.removeprefix(OF_ARM))
        for row in batch.rows:
            if "arm" in row:
                keys[row["arm"], row["item"]] = row["key"]
            else:
                completions[row["key"]] = row
                phases[row["key"]] = phase
    return Replies(completions, phases, keys, frozenset(finished), kept)


def read_replies(path: Path) -> Replies:
    """Return what a journal says; nothing where it does not exist."""
    return replies_of(read_batches(path) if path.exists() else ())
