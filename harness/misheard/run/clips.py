"""A run clip by clip, read from its journal."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from misheard.config import parse_config
from misheard.errors import IncompleteRunError, InputError, NotComparableError
from misheard.recognizers.protocol import WindowTranscript
from misheard.report.clips import Clip, build_clips_comparison, build_clips_report
from misheard.report.files import read_report
from misheard.run.directory import RunDirectory, read_suite
from misheard.run.journal import Batch, read_batches
from misheard.run.plan import Plan, PlannedItem, check_plan, read_plan
from misheard.run.recognized import Recognized, read_recognized
from misheard.stages.recognize import WindowOutcome
from misheard.suite.items import Item


def report_profile(root: Path) -> str:
    """Return the profile that a run's report counts under: its config's where there is no report."""
    directory = RunDirectory.open(root)
    try:
        return str(read_report(root)["scorer"]["profile"])
    except (InputError, IncompleteRunError, LookupError, TypeError):
        return parse_config(str(directory.run_json), directory.read_run()["config"]).scoring.profile


def clips_report(root: Path, profiles: Sequence[str], *, with_text: bool) -> dict[str, Any]:
    """Return what was recognized in each recording of a run, and how long it took, as JSON values.

    Failures count as the run's `on_failure` says. Raises IncompleteRunError for a run that is not complete,
    aborted ones among them, InputError for a profile that does not exist.
    """
    described, clips = _read(root)
    return build_clips_report(clips, profiles, run=described, with_text=with_text)


def clips_comparison(roots: Sequence[Path], profiles: Sequence[str]) -> dict[str, Any]:
    """Return the sums of several runs side by side, as JSON values.

    Raises NotComparableError for runs over different recordings or truths, and as `clips_report`.
    """
    runs = [(root.name, *_read(root)) for root in roots]
    for root, (_, described, _) in zip(roots, runs, strict=True):
        if described["suite"].get("sha256") != runs[0][1]["suite"].get("sha256"):
            raise NotComparableError(
                f"{roots[0]} and {root}: are not over the same recordings and references"
            )
    return build_clips_comparison(runs, profiles)


def _read(root: Path) -> tuple[dict[str, Any], list[Clip]]:
    """Return which suite and system a run was, and its clips in suite order."""
    directory = RunDirectory.open(root)
    run = directory.read_complete_run()
    config = parse_config(str(directory.run_json), run["config"])
    suite, plan = read_suite(directory.suite), read_plan(directory.plan)
    check_plan(plan, suite)
    batches = list(read_batches(directory.recognize))
    recognized = [one for one in read_recognized(suite.items, plan, batches) if one is not None]
    described = {
        "suite": {key: value for key, value in run["suite"].items() if key != "path"},
        "recognizer": run["system"].get("recognizer"),
        "cpu": run.get("cpu"),
        "on_failure": config.on_failure,
        "profile": report_profile(root),
    }
    return described, _clips(suite.items, plan, recognized, batches, worst=config.on_failure == "worst")


def _clips(
    items: Sequence[Item],
    plan: Plan,
    recognized: Sequence[Recognized],
    batches: Iterable[Batch],
    *,
    worst: bool,
) -> list[Clip]:
    outcomes: dict[str, dict[int, WindowOutcome]] = {}
    for batch in batches:
        for row in batch.rows:
            outcomes.setdefault(row["item"], {})[row["window"]] = WindowOutcome.from_row(row)
    return [
        _clip(item, planned, heard, list(outcomes.get(item.id, {}).values()), worst=worst)
        for item, planned, heard in zip(items, plan.items, recognized, strict=True)
    ]


def _clip(
    item: Item, planned: PlannedItem, heard: Recognized, outcomes: Sequence[WindowOutcome], *, worst: bool
) -> Clip:
    hypothesis = heard.transcript
    if hypothesis is None and worst:
        hypothesis = ""
    told = _sum(outcomes, lambda window: window.audio_seconds)
    return Clip(
        id=item.id,
        reference=item.reference,
        language=item.language,
        hypothesis=hypothesis,
        failure=None if heard.failure is None else heard.failure.kind,
        audio_seconds=planned.seconds if told is None else told,
        load_seconds=_sum(outcomes, lambda window: window.load_seconds),
        inference_seconds=_sum(outcomes, lambda window: window.inference_seconds),
        process_seconds=_sum(outcomes, lambda window: window.wall_seconds),
    )


def _sum(outcomes: Sequence[WindowOutcome], time: Callable[[WindowTranscript], float | None]) -> float | None:
    """Return one time summed over the windows of a recording, None where a window does not tell it."""
    times = [None if outcome.transcript is None else time(outcome.transcript) for outcome in outcomes]
    known = [seconds for seconds in times if seconds is not None]
    return sum(known) if times and len(known) == len(times) else None
