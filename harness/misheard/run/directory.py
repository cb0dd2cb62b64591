"""A run's directory: its files by name, the lock that keeps two processes apart, and `run.json`."""

import json
from pathlib import Path
from typing import Any, Self

from misheard.canonical import canonical_json, write_atomic, write_json
from misheard.command_lines import path_argument
from misheard.errors import IncompleteRunError, InputError
from misheard.run.folder_lock import LOCK, FolderLock
from misheard.scenes.scene import Scene
from misheard.suite.items import Item, ItemKind, Suite

SCHEMA = "misheard/run/1"

_STATE = {
    "status": str,
    "misheard": str,
    "config": dict,
    "suite": dict,
    "system": dict,
    "arms": list,
    "versions": dict,
    "invocations": list,
}
"""What `run.json` must hold, by type."""

_OWN_NAMES = frozenset({"run.json", "journal"})

_FILES = frozenset(
    {
        "run.json", "plan.jsonl", "report.json", "items.parquet", "matrix.csv", "failures.csv",
        "telemetry.parquet", LOCK,
    }
)  # fmt: skip
_FOLDERS = frozenset({"journal", "logs"})


class RunDirectory:
    """The files of one run. Text lies under `journal/` only."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal = root / "journal"
        self.logs = root / "logs"
        self.run_json = root / "run.json"
        self.plan = root / "plan.jsonl"
        self.telemetry = root / "telemetry.parquet"
        self.suite = self.journal / "suite.jsonl"
        self.recognize = self.journal / "recognize.jsonl"
        self.respond = self.journal / "respond.jsonl"
        self.correct = self.journal / "correct.jsonl"
        self.plans = self.journal / "plans.jsonl"
        self.boards = self.journal / "boards.jsonl"
        self.judge = self.journal / "judge.jsonl"
        self.calibration = self.journal / "judge-calibration.json"
        self.drawings = self.journal / "drawings"
        self._lock: FolderLock | None = None

    def audit(self, stage: str) -> Path:
        """Return the journal of what was asked again in a stage's audit."""
        return self.journal / f"audit-{stage}.jsonl"

    @property
    def answers(self) -> dict[str, Path]:
        """The journals of the stages after the recognition, without the judge, by stage."""
        return {"correct": self.correct, "respond": self.respond, "plan": self.plans, "render": self.boards}

    @property
    def begun(self) -> bool:
        """Whether a run has been recorded here. One that was killed before that begins anew."""
        return self.run_json.is_file()

    @classmethod
    def create(cls, root: Path, *, resume: bool) -> Self:
        """Make a new directory, or take an old one to resume, and lock it.

        Raises InputError where it exists and is not to be resumed, is no run, or another process runs in it.
        """
        directory = cls(root)
        if root.exists() and not root.is_dir():
            raise InputError(f"--out {root}: is not a directory")
        names = {entry.name for entry in root.iterdir()} if root.is_dir() else set()
        if resume and not names & _OWN_NAMES:
            raise InputError(f"--resume: {root} holds no run to resume")
        if resume and "run.json" not in names and directory._has_work(names):
            raise IncompleteRunError(
                f"--resume {root}: has a journal and no run.json that says what made it; start a new run"
            )
        if names and not resume:
            raise InputError(f"--out {root}: is not empty; choose another, or add --resume to go on with it")
        try:
            directory.journal.mkdir(parents=True, exist_ok=True)
            directory.logs.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"--out {root}: {error.strerror}") from error
        directory._lock = FolderLock(root)
        return directory

    def _has_work(self, names: set[str]) -> bool:
        """Whether more is here than a run that was killed before its `run.json` can have left."""
        return self.plan.name in names or self.recognize.exists() or self.respond.exists()

    @classmethod
    def open(cls, root: Path) -> Self:
        """Open a run to read it. Raises IncompleteRunError where it is no run."""
        directory = cls(root)
        if not directory.run_json.is_file():
            raise IncompleteRunError(f"{root}: no run.json; this is not a run directory")
        return directory

    def close(self) -> None:
        """Give the lock back."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read_run(self) -> dict[str, Any]:
        """Return `run.json`. Raises IncompleteRunError where it is missing or not one of ours."""
        try:
            data = json.loads(self.run_json.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise IncompleteRunError(f"{self.run_json}: cannot be read ({type(error).__name__})") from error
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise IncompleteRunError(f"{self.run_json}: not written by this version of misheard")
        wrong = [name for name, kind in _STATE.items() if not isinstance(data.get(name), kind)]
        if wrong:
            raise IncompleteRunError(f"{self.run_json}: {', '.join(wrong)} missing or damaged")
        return data

    def read_complete_run(self) -> dict[str, Any]:
        """Return `run.json` of a run that has ended. Raises IncompleteRunError where it has not."""
        run = self.read_run()
        if run["status"] != "complete":
            raise IncompleteRunError(
                f"{self.root}: the run is not complete; wait where it is still running, else go on with "
                f"--out {path_argument(self.root)} --resume"
            )
        return run

    def write_run(self, data: dict[str, Any]) -> None:
        """Replace `run.json`."""
        write_json(self.run_json, {"schema": SCHEMA, **data})


def refuse_own_files(*outputs: Path | None) -> None:
    """Raise InputError where an output would take the place of a file of a run, or can be no file."""
    for output in outputs:
        if output is None:
            continue
        try:
            place = output.resolve()
        except RuntimeError as error:
            raise InputError(f"{output}: is a link that leads in a circle; name another file") from error
        folder = place.parent
        root = folder.parent if folder.name in _FOLDERS else folder
        if (root != folder or place.name in _FILES) and (root / "run.json").exists():
            raise InputError(f"{output}: is a file of a run; write to another")


def write_suite(path: Path, suite: Suite) -> None:
    """Keep the suite's truth with the run, so that it can be rescored anywhere. It holds text."""
    # Axes as a list: their order is the order of the report, which an object of canonical JSON would lose.
    axes = [[axis, list(values)] for axis, values in suite.axes.items()]
    rows: list[dict[str, Any]] = [{"kind": "suite", "root": str(suite.root), **suite.header(), "axes": axes}]
    rows.extend({"audio": item.audio, **item.truth()} for item in suite.items)
    write_atomic(path, "".join(canonical_json(row) + "\n" for row in rows))


def read_suite(path: Path) -> Suite:
    """Return the suite that a run kept. Raises IncompleteRunError where it is missing or damaged."""
    try:
        header, *rows = [json.loads(line) for line in path.read_text("ascii").splitlines()]
        return Suite(
            name=header["name"],
            version=header["version"],
            root=Path(header["root"]),
            axes={axis: tuple(values) for axis, values in header["axes"]},
            items=tuple(_item(row) for row in rows),
            primary_metrics=header["primary_metrics"],
            abstentions={language: tuple(p) for language, p in header["abstentions"].items()},
            gate_axes=tuple(header["gate_axes"]),
            char_scripts=tuple(header["char_scripts"]) if "char_scripts" in header else None,
            glossary={language: tuple(terms) for language, terms in header.get("glossary", {}).items()},
        )
    except FileNotFoundError as error:
        raise IncompleteRunError(f"{path}: missing; was the run started?") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise IncompleteRunError(
            f"{path}: was damaged, or written by another version of misheard ({type(error).__name__}); bring "
            "back a copy, or run anew"
        ) from error


def _item(row: dict[str, Any]) -> Item:
    return Item(
        id=row["id"],
        audio=row["audio"],
        reference=row["reference"],
        kind=ItemKind(row["kind"]),
        reference_answer=row["reference_answer"],
        fact=tuple(row["fact"]),
        language=row["language"],
        scripts=tuple(row["scripts"]),
        session=row["session"],
        conditions=row["conditions"],
        entities=tuple(row.get("entities", ())),
        source=row.get("source"),
        plan=Scene.from_json(row["plan"]) if "plan" in row else None,
    )
