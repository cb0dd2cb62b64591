"""Outputs made elsewhere as a run directory that `score`, `compare` and `report` treat like any other.

The journal gets what a run of our own would have written, one window per item; the plan gets the fingerprints
of the suite's recordings where they can be decoded here, so that only runs over the same audio compare.
"""

import contextlib
import dataclasses
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import misheard
from misheard.canonical import sha256_file, sha256_json
from misheard.config import OnFailure, RunConfig
from misheard.errors import BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.metrics.base import Arm
from misheard.recognizers.settings import ImportedRecognizerSettings
from misheard.run.directory import RunDirectory, write_suite
from misheard.run.evaluated import RunSubset, left_out, load_run_suite, suite_facts
from misheard.run.imported_rows import ImportedOutput, MissingOutputs, read_imported
from misheard.run.journal import Journal
from misheard.run.plan import Plan, PlannedItem, PlannedWindow, make_plan, write_plan
from misheard.run.scoring import Scored, score_run, scoring_settings
from misheard.stages.prompted import completion_row
from misheard.stages.recognize import WindowOutcome
from misheard.suite.fingerprint import item_sha256, suite_sha256
from misheard.suite.holdout import use_opening
from misheard.suite.items import Item, Suite

_NO_RECORDING = "no recording"
"""What stands for the fingerprint of a recording that is not here."""


@dataclasses.dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the command line asks for.

    Attributes:
        outputs: JSON Lines file of what was made elsewhere.
        suite: the suite that it was made from.
        out: the run directory to make.
        name: what reports call the system; the file's stem where None.
        missing: what an item without an output is.
        profile, on_failure: as in a run config.
        subset: the part of a split suite that the outputs are of.
    """

    outputs: Path
    suite: Path
    out: Path
    name: str | None = None
    missing: MissingOutputs = "error"
    profile: str = "nfc"
    on_failure: OnFailure = "exclude"
    subset: RunSubset = "open"


@dataclasses.dataclass(frozen=True, slots=True)
class Imported:
    """A scored import; `without_audio` items have no recording here and so no fingerprint of one.

    `left_out` says which items of a split suite it is not about.
    """

    scored: Scored
    without_audio: int
    left_out: str


def import_outputs(options: ImportOptions, advance: Callable[[int], None]) -> Imported:
    """Make the run directory and score it.

    Raises InputError, SuiteError or ProblemsError, before anything is written, for what cannot be imported.
    """
    suite = load_run_suite(options.suite, None, options.subset)
    facts = suite_facts(options.suite, suite)
    outside = {} if suite.selection is None else suite.selection.left_out
    outputs, arms = read_imported(options.outputs, suite.items, options.missing, outside)
    config = _config(options)
    plan = _plan(suite, advance)
    directory = RunDirectory.create(options.out, resume=False)
    with contextlib.closing(directory):
        opened = {}
        if options.subset == "holdout":
            opened["holdout_run"] = secrets.token_hex(16)
            use_opening(options.suite, opened["holdout_run"])
        write_suite(directory.suite, suite)
        write_plan(directory.plan, plan)
        _write_transcripts(directory, suite, outputs)
        if any(output.answers for output in outputs):
            _write_answers(directory, suite.items, outputs, arms)
        directory.write_run(opened | _run_json(config, options, suite, plan, arms, facts))
        scored = score_run(directory)
    without_audio = sum(item.audio_sha256 == _NO_RECORDING for item in plan.items)
    return Imported(scored, without_audio, left_out(suite))


def _config(options: ImportOptions) -> RunConfig:
    config = RunConfig.model_validate(
        {
            "recognizer": ImportedRecognizerSettings(
                name=options.name or options.outputs.stem, outputs_sha256=sha256_file(options.outputs)
            ),
            "scoring": {"profile": options.profile},
            "on_failure": options.on_failure,
        }
    )
    scoring_settings(config)
    return config


def _run_json(
    config: RunConfig,
    options: ImportOptions,
    suite: Suite,
    plan: Plan,
    arms: Sequence[Arm],
    facts: dict[str, Any],
) -> dict[str, Any]:
    return {
        "status": "complete",
        "misheard": misheard.__version__,
        "config": config.model_dump(mode="json"),
        "suite": {
            "name": suite.name,
            "version": suite.version,
            "path": str(options.suite.resolve()),
            "items": len(suite.items),
            "limit": None,
            **facts,
            "sha256": plan.suite_sha256,
        },
        "system": {"recognizer": config.recognizer.model_dump(mode="json")},
        "arms": [str(arm) for arm in arms],
        "cpu": False,
        "versions": {},
        "machine": None,
        "invocations": [],
    }


def _plan(suite: Suite, advance: Callable[[int], None]) -> Plan:
    """Return a plan of one window per item.

    A recording that cannot be decoded here is no failure of the system.
    """
    decoded = _decoded(suite, advance)
    items = [
        dataclasses.replace(item, failure=None)
        if item.failure is None
        else PlannedItem(item.id, item_sha256(truth, _NO_RECORDING), _NO_RECORDING)
        for item, truth in zip(decoded.items, suite.items, strict=True)
    ]
    speech: dict[str, float] = {}
    ends: dict[str, int] = {}
    for window in decoded.windows:
        speech[window.item] = speech.get(window.item, 0.0) + window.speech_seconds
        ends[window.item] = max(ends.get(window.item, 0), window.end)
    windows = tuple(
        PlannedWindow(i.id, 0, 0, ends.get(i.id, 0), i.audio_sha256 or i.sha256, speech.get(i.id, 0.0), 0)
        for i in items
    )
    return Plan(suite_sha256(suite, [item.sha256 for item in items]), len(items), tuple(items), windows)


def _decoded(suite: Suite, advance: Callable[[int], None]) -> Plan:
    """Return the plan of a run over the suite; without a library that decodes, every item has failed."""
    from misheard.audio.decode import DecodedAudio, decode

    def read(item: Item) -> DecodedAudio:
        try:
            return decode(suite.audio_path(item))
        except BackendError as error:
            raise ItemFailedError(FailureKind.AUDIO_MISSING, "no library to decode it") from error

    return make_plan(suite, read, lambda language: True, 1, advance)


def _write_transcripts(directory: RunDirectory, suite: Suite, outputs: Sequence[ImportedOutput]) -> None:
    from misheard.recognizers.protocol import WindowTranscript

    rows = []
    for item, output in zip(suite.items, outputs, strict=True):
        failed = output.failure if output.transcript is None else None
        outcome = WindowOutcome(
            None
            if output.transcript is None
            else WindowTranscript(output.transcript, item.language, segments=output.segments),
            failed,
            "" if failed is None else "as the imported outputs say",
            output.recognize_seconds or 0.0,
        )
        key = sha256_json(["imported", item.id])
        rows.append({"key": key, "item": item.id, "window": 0, **outcome.row()})
    times = [output.recognize_seconds for output in outputs if output.transcript is not None]
    known = [seconds for seconds in times if seconds is not None]
    note = {"inference_seconds": sum(known)} if known and len(known) == len(times) else {}
    with contextlib.closing(Journal(directory.recognize)) as journal:
        journal.commit("batch:0", rows, note)


def _write_answers(
    directory: RunDirectory, items: Sequence[Item], outputs: Sequence[ImportedOutput], arms: Sequence[Arm]
) -> None:
    with contextlib.closing(Journal(directory.respond)) as journal:
        for arm in arms:
            rows: dict[str, dict[str, Any]] = {}
            timed: set[str] = set()
            for item, output in zip(items, outputs, strict=True):
                if item.reference_answer is None or (arm is Arm.AUDIO and output.transcript is None):
                    continue
                rows[item.id] = _completion(item.id, arm, output)
                if arm is Arm.AUDIO and output.llm_seconds is not None:
                    timed.add(item.id)
            # The time of a completion counts in the arm that its batch is named after.
            journal.commit(f"{arm}:imported", [rows[item] for item in rows if item in timed], {})
            journal.commit(f"untimed:{arm}", [rows[item] for item in rows if item not in timed], {})
            owned = [{"item": item, "arm": str(arm), "key": row["key"]} for item, row in rows.items()]
            journal.commit(f"arm:{arm}", owned, {})


def _completion(item: str, arm: Arm, output: ImportedOutput) -> dict[str, Any]:
    from misheard.language_models.protocol import Completion

    answer = output.answers.get(arm)
    failure: FailureKind | None = None
    if answer is None:
        failed = output.failure if arm is Arm.AUDIO else None
        failure = failed or FailureKind.LLM_ERROR
    detail = "" if failure is None else "as the imported outputs say, or none is there"
    seconds = (output.llm_seconds or 0.0) if arm is Arm.AUDIO else 0.0
    key = sha256_json(["imported", str(arm), item])
    return completion_row(Completion(key, answer, failure, detail, seconds=seconds))
