"""One run from beginning to end: plan, recognize, answer, score."""

import contextlib
from collections.abc import Iterator
from typing import Any

import misheard
from misheard.canonical import changed_names
from misheard.config import RunConfig
from misheard.errors import InputError, NotComparableError, count_of
from misheard.execution import ExecutionConfig
from misheard.metrics.base import Arm
from misheard.recognizers.settings import CommandSettings
from misheard.run.clock import Clock, describe_machine, peak_memory_bytes
from misheard.run.context import RunContext, RunOptions, questions, scenes
from misheard.run.directory import RunDirectory, read_suite, write_suite
from misheard.run.evaluated import holdout_run, left_out, load_run_suite, suite_facts
from misheard.run.hearing import hearing
from misheard.run.journal import has_rows
from misheard.run.judging import checked_judge, judge_suite
from misheard.run.measured import Measured
from misheard.run.outputs import read_outputs
from misheard.run.pipeline import Parts, checked_parts, run_stages
from misheard.run.progress import Progress
from misheard.run.prompts import load_prompts
from misheard.run.redaction import public_config
from misheard.run.scoring import Scored, read_stage_replies, score_run, scoring_settings, what_is_asked
from misheard.run.versions import library_versions
from misheard.suite.holdout import use_opening
from misheard.suite.items import Suite

_ANSWERING = (
    "config.language_model", "config.correct", "config.respond", "config.plan", "config.render",
    "config.arms",
)  # fmt: skip
_JUDGING = ("config.judge",)
_ANY_TIME = (
    "config.execution.executor", "config.execution.ray", "config.execution.read_ahead", "config.telemetry",
    "config.price", "config.soak",
)  # fmt: skip
"""What changes no output, and may change whenever a run is resumed."""

_MODEL_PHASES = (
    "recognizer_load", "recognizer_warm_up", "decode", "features", "inference", "language_model_load",
    "language_model_warm_up", "language_model", "planner_load", "planner", "renderer_load", "renderer",
    "judge_load", "judge_warm_up", "judge", "audit",
)  # fmt: skip
"""What a run is for; the rest of its wall time is overhead."""


def check_size(config: RunConfig, suite: Suite) -> None:
    """Check that the recognizer takes a suite of this size. Raises InputError."""
    recognizer = config.recognizer
    if isinstance(recognizer, CommandSettings) and len(suite.items) > recognizer.max_items:
        raise InputError(
            f"the suite has {count_of(len(suite.items), 'item')}, more than the {recognizer.max_items} of "
            "recognizer.max_items, and each starts a process; raise it with --max-items, or cut with --limit"
        )


def arms_of(config: RunConfig, suite: Suite) -> tuple[Arm, ...]:
    """Return the arms that a system runs over a suite: audio alone where nothing is answered or planned."""
    if questions(config, suite) or scenes(config, suite):
        return config.chosen_arms
    return (Arm.AUDIO,)


def run(config: RunConfig, options: RunOptions, progress: Progress, clock: Clock) -> Scored:
    """Run a resolved config to its report.

    Raises InputError, SuiteError and BackendError before work is lost, RunAbortedError where the failure
    policy says so. Interrupted at any point, the directory can be resumed.
    """
    scoring_settings(config)
    prompts = load_prompts(config)
    run_id = holdout_run(options.out, resume=options.resume) if options.subset == "holdout" else None
    suite = load_run_suite(options.suite, options.limit, options.subset, run_id)
    check_size(config, suite)
    facts = suite_facts(options.suite, suite)
    directory = RunDirectory.create(options.out, resume=options.resume)
    with contextlib.closing(directory), _as_it_was(directory):
        state = _begin(config, options, suite, facts, directory)
        measured = Measured(config, cpu=options.cpu)
        context = RunContext(config, options, suite, directory, clock, progress, prompts, state, measured)
        if run_id is not None:
            state["holdout_run"] = run_id
        context.save()
        if run_id is not None:
            use_opening(options.suite, run_id)
        for note in (f"run directory: {options.out}", left_out(suite)):
            if note:
                progress.note(note)
        with contextlib.closing(measured):
            _run_models(context)
        progress.begin("scoring", None)
        with clock.measure("scoring"):
            scored = score_run(directory)
        _finish(context)
        return scored


@contextlib.contextmanager
def _as_it_was(directory: RunDirectory) -> Iterator[None]:
    """Leave `run.json` as it was where a resumed run turns out to be another."""
    before = directory.read_run() if directory.begun else None
    try:
        yield
    except NotComparableError:
        if before is not None:
            directory.write_run(before)
        raise


def _run_models(context: RunContext) -> None:
    """Do everything that needs a model, and note what the machine did meanwhile."""
    directory, measured, suite = context.directory, context.measured, context.suite
    measured.start()
    parts = checked_parts(context)
    judge = checked_judge(context, again=parts != Parts())
    with hearing(context) as heard:
        run_stages(context, parts, lambda: heard()[1])
        plan, recognized = heard()
    if judge is not None:
        replies, asked = read_stage_replies(directory), what_is_asked(context.config, suite)
        outputs = read_outputs(suite.items, plan, recognized, context.arms, replies, asked)
        judge_suite(context, judge, outputs.arms)
    found = measured.stop()
    try:
        found.write(directory.telemetry)
    except OSError as error:
        # samples are no output: the run goes on to its report
        progress = context.progress
        progress.note(f"{directory.telemetry}: cannot be written ({error.strerror}); samples are lost")
    context.state["telemetry"] = [*context.state.get("telemetry", ()), found.document()]
    context.save()


def _begin(
    config: RunConfig, options: RunOptions, suite: Suite, facts: dict[str, Any], directory: RunDirectory
) -> dict[str, Any]:
    """Return `run.json` for a new run, or a resumed one's after checking that it is still the same run."""
    state: dict[str, Any] = {
        "status": "running",
        "misheard": misheard.__version__,
        "config": public_config(config),
        "suite": {
            "name": suite.name,
            "version": suite.version,
            "path": str(options.suite.resolve()),
            "items": len(suite.items),
            "limit": options.limit,
            **facts,
        },
        "system": {},
        "arms": [str(arm) for arm in arms_of(config, suite)],
        "cpu": options.cpu,
        "versions": library_versions(),
        "invocations": [],
    }
    if not directory.begun:
        write_suite(directory.suite, suite)
        return state
    before = directory.read_run()
    _check_same(directory, before, state)
    _check_subset(directory, before["suite"].get("subset"), facts.get("subset"))
    _check_suite(directory, suite)
    return {**before, "config": state["config"], "arms": state["arms"], "status": "running"}


def _check_same(directory: RunDirectory, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Check that a resumed run is still the run it was. Raises NotComparableError that names what changed.

    Until the first reply is in a journal, everything about answering, planning and rendering may still
    change; until the first judgement is, everything about the judge.
    """
    # a run that began before there was this section was carried out as its defaults say
    defaults = {"execution": ExecutionConfig().model_dump(mode="json")}
    before = {**before, "config": {**defaults, **before["config"]}}
    changed = [
        name
        for part in ("misheard", "config", "cpu", "versions")
        for name in changed_names(before.get(part), now[part], part)
    ]
    free: tuple[str, ...] = _ANY_TIME if has_rows(*directory.answers.values()) else (*_ANY_TIME, *_ANSWERING)
    free += () if has_rows(directory.judge) else _JUDGING
    bound = [name.removeprefix("config.") for name in changed if not name.startswith(free)]
    if bound:
        raise NotComparableError(
            f"--resume {directory.root}: changed since the run began: {', '.join(bound)}; "
            "put it back, or start a new run"
        )
    if any(name.startswith(_ANSWERING) for name in changed):
        for stage in ("correct", "respond", "plan", "render"):
            before["system"].pop(stage, None)
    if any(name.startswith(_JUDGING) for name in changed):
        before["system"].pop("judge", None)


def _check_subset(directory: RunDirectory, before: str | None, now: str | None) -> None:
    if before == now or before is None or now is None:
        return
    option = {"open": "", "holdout": "--holdout"}.get(before, f"--subset {before}")
    advice = f"say {option}" if option else "leave --subset and --holdout out"
    raise NotComparableError(
        f"--resume {directory.root}: the run is over another part of the suite; {advice}"
    )


def _check_suite(directory: RunDirectory, suite: Suite) -> None:
    kept = read_suite(directory.suite)
    if (kept.header(), kept.items) == (suite.header(), suite.items):
        return
    changed = [new.id for old, new in zip(kept.items, suite.items, strict=False) if old != new]
    names = ", ".join(changed[:20]) or "its header, or the number of its items"
    raise NotComparableError(f"--resume {directory.root}: the suite changed since the run began: {names}")


def _finish(context: RunContext) -> None:
    """Record the machine and where the time of this process went."""
    clock = context.clock
    wall = clock.wall()
    serial = context.config.execution.schedule == "serial"
    used = sum(clock.seconds.get(phase, 0.0) for phase in _MODEL_PHASES)
    recognizer = context.state["system"].get("recognizer", {})
    context.state["status"] = "complete"
    context.state["machine"] = describe_machine(recognizer.get("device", "cpu"))
    context.state["invocations"].append(
        {
            "wall_seconds": wall,
            "phase_seconds": dict(clock.seconds),
            # phases that ran at the same time do not add up
            "other_seconds": wall - used if serial else None,
            "other_share": (wall - used) / wall if serial else None,
            "peak_memory_bytes": peak_memory_bytes(),
        }
    )
    context.save()
