"""What a person sees while a command works: progress on stderr, off when that is no terminal."""

import io

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)


class _Console(Console):
    """A console that outlives whoever reads it: a closed pipe or a full device ends no run."""

    def on_broken_pipe(self) -> None:
        self.file = io.StringIO()

    def _write_buffer(self) -> None:
        try:
            super()._write_buffer()
        except OSError:
            self.on_broken_pipe()


stdout = _Console(highlight=False)
stderr = _Console(stderr=True, highlight=False)


class TerminalProgress:
    """Shows the phases of a run one below the other; without a terminal, one plain line per phase."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=stderr,
            disable=not stderr.is_terminal,
        )
        self._task: TaskID | None = None
        self._beside: list[TerminalProgress] = []

    def __enter__(self) -> "TerminalProgress":
        self._progress.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # What was interrupted is not shown as done.
        if kind is None:
            for one in (self, *self._beside):
                one._end()
        self._progress.stop()

    def begin(self, phase: str, total: int | None) -> None:
        self._end()
        if not stderr.is_terminal:
            stderr.print(phase if total is None else f"{phase}: {total}")
        self._task = self._progress.add_task(phase, total=total)

    def advance(self, steps: int = 1) -> None:
        if self._task is not None:
            self._progress.advance(self._task, steps)

    def note(self, text: str) -> None:
        stderr.print(text, markup=False)

    def beside(self) -> "TerminalProgress":
        other = TerminalProgress()
        other._progress = self._progress
        self._beside.append(other)
        return other

    def _end(self) -> None:
        if self._task is not None:
            task = self._progress.tasks[self._task]
            self._progress.update(self._task, total=task.total or 1, completed=task.total or 1)
            self._progress.stop_task(self._task)
            self._task = None
