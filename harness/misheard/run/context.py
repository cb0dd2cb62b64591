"""What the phases of one run share, and the failure policy they all follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from misheard.canonical import changed_names
from misheard.config import RunConfig
from misheard.errors import NotComparableError, RunAbortedError, count_of
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm
from misheard.run.beside import Beside
from misheard.run.clock import Clock
from misheard.run.directory import RunDirectory
from misheard.run.evaluated import RunSubset
from misheard.run.journal import has_rows
from misheard.run.measured import Measured
from misheard.run.progress import Progress
from misheard.stages.prompts import PromptTemplate
from misheard.suite.items import Item, Suite

FailedItem = tuple[str, Failure]
"""An item's id and what went wrong with it."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line adds to a config; `base` is the folder that paths in the config start from."""

    out: Path
    suite: Path
    cpu: bool = False
    limit: int | None = None
    resume: bool = False
    fail_fast: bool = False
    subset: RunSubset = "open"
    base: Path = Path()


def questions(config: RunConfig, suite: Suite) -> list[Item]:
    """Return the items of a suite that a system answers."""
    if config.plan is not None or config.language_model is None:
        return []
    return [item for item in suite.items if item.reference_answer is not None]


def scenes(config: RunConfig, suite: Suite) -> list[Item]:
    """Return the items of a suite that a system plans and draws."""
    return [] if config.plan is None else [item for item in suite.items if item.plan is not None]


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run. `state` is `run.json` as it stands; `save` writes it. `prompts` are by stage.

    `beside` is what its threads share; whoever changes `state` holds its lock. `measured` is told of stages
    and work.
    """

    config: RunConfig
    options: RunOptions
    suite: Suite
    directory: RunDirectory
    clock: Clock
    progress: Progress
    prompts: Mapping[str, PromptTemplate]
    state: dict[str, Any]
    measured: Measured
    beside: Beside = field(default_factory=Beside)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms of this run, in the order in which they run."""
        return tuple(Arm(arm) for arm in self.state["arms"])

    @property
    def questions(self) -> list[Item]:
        """The items that are answered: none where the system makes scenes."""
        return questions(self.config, self.suite)

    @property
    def scenes(self) -> list[Item]:
        """The items that are planned and drawn: those with a golden plan, where the system makes scenes."""
        return scenes(self.config, self.suite)

    @property
    def in_sessions(self) -> bool:
        """Whether a plan is made from all that was said in its session so far."""
        return self.config.plan is not None and self.config.plan.scope == "session"

    def heard_until(self) -> dict[str, list[Item]]:
        """Return by id of each scene the speech items that it is planned from, in suite order.

        That is the item itself, or its session so far.
        """
        if not self.in_sessions:
            return {item.id: [item] for item in self.scenes}
        planned = {item.id for item in self.scenes}
        sessions: dict[str, list[Item]] = {}
        found = {}
        for item in self.suite.items:
            said = sessions.setdefault(item.resampling_unit, [])
            if item.is_speech:
                said.append(item)
            if item.id in planned:
                found[item.id] = list(said)
        return found

    @property
    def said(self) -> list[Item]:
        """The items whose references enter an arm: those that are answered, or that plans are made from."""
        needed = {one.id for heard in self.heard_until().values() for one in heard}
        needed |= {item.id for item in self.questions}
        return [item for item in self.suite.items if item.id in needed]

    def save(self) -> None:
        """Write `run.json`."""
        with self.beside.lock:
            self.directory.write_run(self.state)

    def executed(self, part: str, facts: Any) -> None:
        """Record how a part of the run was carried out, where there is something to say."""
        if facts is not None:
            with self.beside.lock:
                self.state.setdefault("execution", {})[part] = facts
                self.save()

    def tell_memory(self, part: str, backend: object) -> None:
        """Tell and record how much of a GPU a server of the run's own takes, and why."""
        # only backends that start a server have such a note
        note: str | None = getattr(backend, "memory_note", None)
        if note is not None:
            self.progress.note(note)
            self.executed(f"{part}_memory", note)

    def pin(self, part: str, fingerprint: dict[str, Any]) -> None:
        """Record what a part of the system is; what a run was made with, it must be resumed with.

        A part after the recognition may change until its first reply is in the journal. Raises
        NotComparableError that names what changed.
        """
        with self.beside.lock:
            system = self.state["system"]
            before = system.get(part)
            if before is not None and before != fingerprint and self._made_with(part):
                names = ", ".join(changed_names(before, fingerprint, part))
                raise NotComparableError(
                    f"--resume {self.directory.root}: changed since the run began: {names}; put it back, or "
                    "start a new run"
                )
            system[part] = fingerprint
            self.save()

    def _made_with(self, part: str) -> bool:
        """Whether the run has something that was made with a part of the system as it is recorded."""
        journal = {**self.directory.answers, "judge": self.directory.judge}.get(part)
        return journal is None or has_rows(journal)

    def failed_now(self, failed: Sequence[FailedItem]) -> None:
        """Stop at the first failed item where `fail_fast` asks for it. Raises RunAbortedError.

        Where failures are scored as `worst`, an empty transcript is an answer like any other: all deletions.
        """
        if not (self.options.fail_fast or self.config.fail_fast):
            return
        scored = {FailureKind.EMPTY_TRANSCRIPT} if self.config.on_failure == "worst" else set()
        for item, failure in failed:
            if failure.kind not in scored:
                by = "--fail-fast" if self.options.fail_fast else "fail_fast"
                raise RunAbortedError(
                    f"item {item}: {failure.kind} at {failure.stage} ({failure.detail}); stopped by {by}"
                )

    def phase_ended(self, failed: Sequence[FailedItem]) -> None:
        """Stop after a phase with failures where the policy is `abort`. Raises RunAbortedError."""
        self.failed_now(failed)
        if failed and self.config.on_failure == "abort":
            names = ", ".join(f"{item} ({failure.kind})" for item, failure in failed[:20])
            raise RunAbortedError(
                f"{count_of(len(failed), 'failed item')}, no report is written (--on-failure abort): {names}"
            )
