"""What `misheard judge` does: write the shipped set, run a judge over a set."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from misheard.canonical import write_atomic
from misheard.config import JudgeConfig, RunConfig, load_config
from misheard.errors import InputError, count_of
from misheard.judge.agreement import Agreement, agreements
from misheard.judge.asking import Asked, ask_judge, judge_prompts
from misheard.judge.calibration import (
    Calibration,
    calibrate,
    check_reason,
    read_calibration,
    write_calibration,
)
from misheard.judge.calibration_set import CalibrationSet, read_calibration_set, template_bytes
from misheard.recognizers.settings import FakeRecognizerSettings
from misheard.run.progress import Progress
from misheard.run.resolve import resolve_config


@dataclass(frozen=True, slots=True)
class CalibrateOptions:
    """What the command line says.

    Attributes:
        config: a run config with `judge`.
        over: the set; None is the shipped one.
        out: the calibration file; None is the config's.
        accept: why a judge that drifted is taken; None takes none.
        cpu: whether the judge is kept on the CPU.
    """

    config: Path
    over: Path | None = None
    out: Path | None = None
    accept: str | None = None
    cpu: bool = False


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What came out: the calibration as written to `path`, and what is printed of it."""

    path: Path
    calibration: Calibration
    agreements: tuple[Agreement, ...]
    notes: tuple[str, ...]


def write_template(path: Path) -> None:
    """Write the shipped set. Raises InputError where something is there already."""
    if path.exists() or path.is_symlink():
        raise InputError(f"{path}: is there already; choose another name")
    try:
        write_atomic(path, template_bytes())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error


def calibrate_judge(options: CalibrateOptions, progress: Progress) -> Calibrated:
    """Run a config's judge over a set and write its calibration.

    Everything that is read is checked before the judge is started; the file changes at the end or not at all.
    Raises ConfigError, SuiteError, InputError and BackendError for what cannot be used, and
    NotComparableError where judge and set changed together.
    """
    config, judge = _judge_config(options.config)
    path = options.out or (Path(judge.calibration) if judge.calibration is not None else None)
    if path is None:
        raise InputError(
            f"{options.config}: judge.calibration names no file; add it, or say where with --out FILE"
        )
    accept = None if options.accept is None else check_reason(options.accept)
    over = read_calibration_set(options.over)
    previous = read_calibration(path) if path.exists() else None
    if not path.parent.is_dir():
        raise InputError(f"{path}: its folder does not exist")
    settings = judge.language_model or config.language_model
    if settings is None:
        raise InputError(f"{options.config}: judge needs a language_model, its own or the run's")
    prompts = judge_prompts(judge, over)
    asked = ask_judge(judge, settings, prompts, over, progress, cpu=options.cpu)
    calibration = calibrate(previous, over, asked.rerun, accept)
    write_calibration(path, calibration)
    found = agreements(over.items, asked.rerun.judgements, config.scoring.resamples, config.scoring.seed)
    return Calibrated(
        path, calibration, tuple(found), tuple(_notes(over, asked, previous, calibration, judge))
    )


def _judge_config(path: Path) -> tuple[RunConfig, JudgeConfig]:
    """Return a config with its judge as found on this machine; what else it names need not be there."""
    loaded = load_config(path)
    if loaded.judge is None:
        raise InputError(f"{path}: has no judge; add judge: to it, see docs/judge.md")
    alone = loaded.model_copy(
        update={"recognizer": FakeRecognizerSettings(), "correct": None, "plan": None, "render": None}
    )
    resolved = resolve_config(alone, path.parent)
    if resolved.judge is None:
        raise InputError(f"{path}: has no judge")
    return resolved, resolved.judge


def _notes(
    over: CalibrationSet,
    asked: Asked,
    previous: Calibration | None,
    calibration: Calibration,
    judge: JudgeConfig,
) -> Sequence[str]:
    people = Counter(item.scored_by or "people whom the set does not name" for item in over.items)
    said = ", ".join(f"{count} by {name}" for name, count in people.items())
    notes = [f"Human scores: {said}."]
    per_request = asked.seconds / asked.requests if asked.requests else 0.0
    notes.append(f"{count_of(asked.requests, 'request')} in {asked.seconds:.1f} s, {per_request:.2f} s each.")
    missing = [question for question in judge.questions if question not in asked.rerun.judge]
    if missing:
        notes.append(f"The set has no item of the question {', '.join(missing)}; its numbers stay withheld.")
    if previous is None:
        notes.append(
            "This is the first calibration; there is nothing that the judge could have drifted from."
        )
    elif previous.texts_sha256 != calibration.texts_sha256:
        notes.append("The set is another than the last one: its scores are not comparable with those before.")
    return notes
