"""Scoring a run directory: suite and journal in, counts and report files out, no model anywhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from misheard.canonical import sha256_json
from misheard.command_lines import path_argument
from misheard.config import RunConfig, parse_config
from misheard.errors import IncompleteRunError, RunAbortedError, count_of
from misheard.metrics.base import Arm, Family
from misheard.metrics.content import SystemContent, number_words_kept, suite_content
from misheard.metrics.registry import ScoringSettings, families, scorer_description
from misheard.metrics.response import load_scorer
from misheard.metrics.scoring import FailurePolicy, count_run
from misheard.metrics.table import CountTable
from misheard.recognizers.settings import gives_n_best
from misheard.report.build import build_report
from misheard.report.files import write_report_files
from misheard.run.arms import asking_arms, corrected_arms
from misheard.run.context import questions, scenes
from misheard.run.determinism import determinism_document
from misheard.run.directory import RunDirectory, read_suite
from misheard.run.journal import read_batches
from misheard.run.judgements import JudgeOfRun, judge_of_run, with_judgements
from misheard.run.latencies import summarise_latencies
from misheard.run.outputs import Asked, Outputs, StageReplies, read_outputs
from misheard.run.plan import Plan, check_plan, read_plan
from misheard.run.recognized import Recognized, read_recognized
from misheard.run.replies import read_replies
from misheard.run.timings import summarise_timings
from misheard.suite.items import Suite


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored run: its counts, the families that made them, and the report."""

    table: CountTable
    families: tuple[Family, ...]
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunOutputs:
    """What a run's journal holds, read and not counted yet.

    Attributes:
        suite, plan, replies: what the directory holds.
        outputs: of every arm, with the judge's scores where there is one.
        judge: of the run, where it asked one.
    """

    suite: Suite
    plan: Plan
    replies: StageReplies
    outputs: Outputs
    judge: JudgeOfRun | None


@dataclass(frozen=True, slots=True)
class CountedRun:
    """The counts of a run's journal, with what they were made from and how.

    Attributes:
        run: `run.json`.
        config: as changed for this scoring.
        suite, plan, replies: what the directory holds.
        table: the counts.
        families: what made them.
        scorer: how, with its fingerprint.
        judge: of the run, where it asked one.
    """

    run: dict[str, Any]
    config: RunConfig
    suite: Suite
    plan: Plan
    replies: StageReplies
    table: CountTable
    families: tuple[Family, ...]
    scorer: dict[str, Any]
    judge: JudgeOfRun | None

    @property
    def suite_description(self) -> dict[str, Any]:
        """Who the suite is, without where it lay."""
        known = {key: value for key, value in self.run["suite"].items() if key != "path"}
        return {**known, "gate_axes": list(self.suite.gate_axes)}


def score_run(directory: RunDirectory, overrides: Sequence[str] = ()) -> Scored:
    """Score what the journal holds and replace the report files.

    `overrides` change options of the run's config (`scoring.profile=exact`, `on_failure=worst`) for this
    scoring; the report says how it was scored. Raises IncompleteRunError where an item or an arm has not been
    run yet, ConfigError for an override that cannot be.
    """
    counted = count_journal(directory, overrides)
    table, active, suite, config = counted.table, counted.families, counted.suite, counted.config
    report = build_report(
        table,
        active,
        suite=counted.suite_description,
        system=counted.run["system"],
        scorer=counted.scorer,
        run={"language_model": config.language_model is not None, "planner": config.plan is not None},
        timings=run_timings(directory, counted),
        axes=suite.axes,
        primary_metrics=suite.primary_metrics,
        judge=None if counted.judge is None else counted.judge.document(),
        determinism=determinism_document(
            directory, config, counted.run["system"], tuple(map(Arm, table.arms)), counted.replies
        ),
        resamples=config.scoring.resamples,
        seed=config.scoring.seed,
    )
    write_report_files(directory.root, table, active, report)
    return Scored(table, active, report)


def count_journal(directory: RunDirectory, overrides: Sequence[str] = ()) -> CountedRun:
    """Count what the journal holds, and write nothing; see `score_run`."""
    run = directory.read_run()
    config = parse_config(str(directory.run_json), run["config"], overrides)
    read = read_run_outputs(directory, run, config)
    suite, plan, replies, outputs, judge = read.suite, read.plan, read.replies, read.outputs, read.judge
    settings = scoring_settings(config)
    policy: FailurePolicy = "worst" if config.on_failure == "worst" else "exclude"
    content = suite_content(suite)
    system = system_content(config, () if judge is None else judge.counted)
    active = families(settings, suite.abstentions, content, system)
    table = count_run(
        suite.items,
        [item.sha256 for item in plan.items],
        outputs.arms,
        outputs.timings,
        outputs.flags,
        active,
        policy,
    )
    scorer = scorer_description(settings, suite.abstentions, content, system)
    scorer["on_failure"] = policy
    if judge is not None and judge.counted:
        scorer["judge"] = judge.scorer()
    if settings.profile == "spoken":
        scorer["number_words_kept"] = number_words_kept(suite)
    scorer = {**scorer, "sha256": sha256_json(scorer)}
    return CountedRun(run, config, suite, plan, replies, table, active, scorer, judge)


def read_run_outputs(directory: RunDirectory, run: dict[str, Any], config: RunConfig) -> RunOutputs:
    """Return what the journal of a run holds; `run` is its `run.json`, `config` the config in it.

    Raises IncompleteRunError where an item or an arm has not been run yet, or a file is missing or damaged,
    and RunAbortedError where an item failed and the config wants no report then.
    """
    suite, plan = read_suite(directory.suite), read_plan(directory.plan)
    check_plan(plan, suite)
    arms = _arms(directory, run["arms"])
    recognized = _complete(suite, plan, directory)
    replies, asked = read_stage_replies(directory), what_is_asked(config, suite)
    _check_finished(directory, config, arms, replies, asked)
    outputs = read_outputs(suite.items, plan, recognized, arms, replies, asked)
    _check_policy(config, suite, outputs)
    judge = judge_of_run(directory, run, config)
    if judge is not None:
        judged = with_judgements(suite.items, outputs.arms, replies.judge, judge)
        outputs = replace(outputs, arms=judged)
    return RunOutputs(suite, plan, replies, outputs, judge)


def scoring_settings(config: RunConfig) -> ScoringSettings:
    """Return the scorer that a config asks for. Raises ConfigError for a custom scorer that is not there."""
    name = config.scoring.response_scorer
    scorer = None if name == "word_overlap_f1" else load_scorer(name)
    return ScoringSettings(profile=config.scoring.profile, response_scorer=scorer, response_scorer_name=name)


def read_stage_replies(directory: RunDirectory) -> StageReplies:
    """Return what the journals of all stages after the recognition say."""
    return StageReplies(
        correct=read_replies(directory.correct),
        respond=read_replies(directory.respond),
        plans=read_replies(directory.plans),
        boards=read_replies(directory.boards),
        judge=read_replies(directory.judge),
    )


def system_content(config: RunConfig, judged: Sequence[str] = ()) -> SystemContent:
    """Return the parts of a system that decide which families its run counts; `judged` are questions."""
    return SystemContent(
        corrects=config.correct is not None,
        n_best=gives_n_best(config.recognizer),
        scenes=config.plan is not None,
        judged=tuple(judged),
    )


def what_is_asked(config: RunConfig, suite: Suite) -> Asked:
    """Return what a system is asked for over a suite."""
    return Asked(
        corrects=config.correct is not None,
        answers=frozenset(item.id for item in questions(config, suite)),
        scenes=frozenset(item.id for item in scenes(config, suite)),
        in_sessions=config.plan is not None and config.plan.scope == "session",
    )


def run_timings(directory: RunDirectory, counted: CountedRun) -> dict[str, Any]:
    """Return where the time of a counted run went, in sums and per item."""
    replies, config = counted.replies, counted.config
    stages = {}
    if config.correct is not None:
        stages["correct"] = replies.correct.batches
    if config.plan is not None:
        stages |= {"plans": replies.plans.batches, "boards": replies.boards.batches}
    recognize = read_batches(directory.recognize)
    schedule = config.execution.schedule
    summed = summarise_timings(counted.plan, recognize, replies.respond.batches, stages, schedule)
    per_item = summarise_latencies({arm: table.timings for arm, table in counted.table.arms.items()})
    return {**summed, "per_item": per_item, "telemetry": counted.run.get("telemetry")}


def _complete(suite: Suite, plan: Plan, directory: RunDirectory) -> list[Recognized]:
    found = read_recognized(suite.items, plan, read_batches(directory.recognize))
    recognized = [one for one in found if one is not None]
    missing = len(found) - len(recognized)
    if missing:
        raise IncompleteRunError(
            f"{directory.root}: {missing} of {count_of(len(found), 'item')} not recognized yet; "
            f"go on with misheard run … --out {path_argument(directory.root)} --resume"
        )
    return recognized


def _arms(directory: RunDirectory, names: Sequence[object]) -> tuple[Arm, ...]:
    try:
        return tuple(Arm(str(name)) for name in names)
    except ValueError as error:
        raise IncompleteRunError(f"{directory.run_json}: arms damaged") from error


def _check_finished(
    directory: RunDirectory, config: RunConfig, arms: Sequence[Arm], replies: StageReplies, asked: Asked
) -> None:
    """Raise IncompleteRunError unless every stage is finished, in exactly the arms of the run."""
    asking = asking_arms(arms)
    stages = [("corrected", replies.correct, corrected_arms(arms))] if config.correct is not None else []
    if asked.answers:
        stages.append(("answered", replies.respond, asking))
    if asked.scenes:
        stages += [("planned", replies.plans, asking), ("drawn", replies.boards, tuple(arms))]
    for what, stage, wanted in stages:
        finished = {phase.partition(".")[0] for phase in stage.finished}
        missing = [str(arm) for arm in wanted if arm not in finished]
        if missing:
            raise IncompleteRunError(
                f"{directory.root}: not {what} yet in the arms {', '.join(missing)}; "
                f"go on with misheard run … --out {path_argument(directory.root)} --resume"
            )
        if finished - {str(arm) for arm in wanted}:
            raise IncompleteRunError(f"{directory.run_json}: lacks arms that the journal has")


def _check_policy(config: RunConfig, suite: Suite, outputs: Outputs) -> None:
    """Raise RunAbortedError where an item failed and the policy is to write no report then."""
    failed = {
        item.id
        for arm in outputs.arms.values()
        for item, output in zip(suite.items, arm, strict=True)
        if output.failure is not None
    }
    if failed and config.on_failure == "abort":
        names = ", ".join(sorted(failed)[:20])
        raise RunAbortedError(
            f"{count_of(len(failed), 'failed item')}, no report is written (--on-failure abort): {names}"
        )
