"""Two runs side by side: what they ran on, how long it took, and which items they heard differently.

Times are those of a run's report, transcripts those of its journal. No text leaves this module.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from misheard.errors import IncompleteRunError
from misheard.report.values import Document
from misheard.run.directory import RunDirectory, read_suite
from misheard.run.finished import FinishedRun
from misheard.run.journal import read_batches
from misheard.run.plan import check_plan, read_plan
from misheard.run.recognized import read_recognized
from misheard.stats.exact import clopper_pearson
from misheard.suite.items import Item, Suite
from misheard.text.interning import token_pairs
from misheard.text.profiles import profile_named
from misheard.text.tokenisers import DEFAULT_CHAR_SCRIPTS, mixed
from misheard_kernels import edit_counts

TIMINGS = (
    "rtf_inference",
    "rtf_end_to_end",
    "recognizer_load_seconds",
    "recognizer_warm_up_seconds",
    "inference_seconds",
    "program_seconds",
    "language_model_load_seconds",
    "llm_seconds",
    "clean_llm_seconds",
)
_WARM_UP = "recognizer_warm_up_seconds"
_FROM_SERIAL_ALONE = ("rtf_inference", "rtf_end_to_end")
_OF_LANGUAGE_MODEL = ("language_model_load_seconds", "llm_seconds", "clean_llm_seconds")
_SHORT_REVISION = 8


@dataclass(frozen=True, slots=True)
class Side:
    """One of the runs that are set side by side.

    Attributes:
        run: its `run.json`.
        timings: of its report.
        suite: what it ran over; None where the journal does not tell.
        heard: transcript by item id, None for an item that failed; None where the journal does not tell.
    """

    run: Mapping[str, Any]
    timings: Mapping[str, Any]
    suite: Suite | None
    heard: Mapping[str, str | None] | None


def read_side(finished: FinishedRun) -> Side:
    """Return what a finished run's directory says. Raises IncompleteRunError without a `run.json`."""
    run = RunDirectory.open(finished.path).read_run()
    timings = finished.report["timings"] or {}
    try:
        suite, heard = _transcripts(finished.path)
    except IncompleteRunError:  # a run may be passed on without its journal
        return Side(run, timings, None, None)
    return Side(run, timings, suite, heard)


def compare_machines(a: Side, b: Side) -> Document:
    """Return devices, versions and times of two runs as JSON values; unknown times have a reason."""
    return {
        "a": _machine(a.run),
        "b": _machine(b.run),
        "versions": [
            {"name": name, "a": ours, "b": theirs}
            for name, (ours, theirs) in _shared(_versions(a.run), _versions(b.run)).items()
            if ours != theirs
        ],
        "timings": [_timing(name, a, b) for name in TIMINGS],
    }


def compare_transcripts(a: Side, b: Side, ids: Collection[str], profile: str) -> Document:
    """Return which of some items two runs heard differently, as JSON values.

    Edits are those between the two transcripts under a normalisation profile, in words, and in characters of
    the scripts that the suite scores so. The interval takes each item as a trial of its own.
    """
    if a.heard is None or b.heard is None or a.suite is None:
        return {"not_compared": [name for name, side in (("a", a), ("b", b)) if side.heard is None]}
    items = [item for item in a.suite.items if item.id in ids]
    pairs = [(item, a.heard.get(item.id), b.heard.get(item.id)) for item in items]
    compared = [(item, ours, theirs) for item, ours, theirs in pairs if None not in (ours, theirs)]
    apart = [(item, ours or "", theirs or "") for item, ours, theirs in compared if ours != theirs]
    differing = _differing(apart, profile, a.suite.char_scripts)
    return {
        "items": len(compared),
        "differ": len(apart),
        "share": len(apart) / len(compared) if compared else None,
        "interval": list(clopper_pearson(len(apart), len(compared))) if compared else None,
        "formatting_only": sum(one["formatting_only"] for one in differing),
        "edits": sum(one["edits"] for one in differing),
        "failed_in_a_only": sum(ours is None and theirs is not None for _, ours, theirs in pairs),
        "failed_in_b_only": sum(ours is not None and theirs is None for _, ours, theirs in pairs),
        "failed_in_both": sum(ours is None and theirs is None for _, ours, theirs in pairs),
        "differing": differing,
    }


def _transcripts(path: Path) -> tuple[Suite, dict[str, str | None]]:
    """Return a run's suite and what it heard. Raises IncompleteRunError where its journal does not tell."""
    directory = RunDirectory.open(path)
    suite, plan = read_suite(directory.suite), read_plan(directory.plan)
    check_plan(plan, suite)
    found = read_recognized(suite.items, plan, read_batches(directory.recognize))
    heard: dict[str, str | None] = {}
    for item, recognized in zip(suite.items, found, strict=True):
        if recognized is None:
            raise IncompleteRunError(f"{path}: items are not recognized yet")
        heard[item.id] = recognized.transcript
    return suite, heard


def _differing(
    apart: Sequence[tuple[Item, str, str]], profile: str, char_scripts: Sequence[str] | None
) -> list[Document]:
    """Return id, edits and length of the reference of each item, by id."""
    apply, plain = profile_named(profile).apply, profile_named("plain").apply
    scripts = DEFAULT_CHAR_SCRIPTS if char_scripts is None else char_scripts
    texts = [
        [mixed(apply(text, item.language), scripts) for text in (item.reference, ours, theirs)]
        for item, ours, theirs in apart
    ]
    pairs = token_pairs([ours for _, ours, _ in texts], [theirs for _, _, theirs in texts])
    counts = edit_counts(pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)
    found = [
        {
            "id": item.id,
            "edits": edits,
            "reference_words": len(reference),
            "formatting_only": plain(ours, item.language) == plain(theirs, item.language),
        }
        for (item, ours, theirs), (reference, _, _), edits in zip(
            apart, texts, counts[:, :3].sum(axis=1).tolist(), strict=True
        )
    ]
    return sorted(found, key=lambda one: str(one["id"]))


def _machine(run: Mapping[str, Any]) -> Document:
    machine: Mapping[str, Any] = run.get("machine") or {}
    recognizer = run["system"].get("recognizer", {})
    recognition = (run.get("execution") or {}).get("recognition") or {}
    return {
        "cpu_option": bool(run.get("cpu")),
        "device": recognizer.get("device", machine.get("device")),
        "device_name": machine.get("device_name"),
        "backend": _backend(run),
        "recognizer_model": _model(run["config"].get("recognizer") or {}),
        "compute_type": recognizer.get("compute_type", recognizer.get("dtype")),
        "language_model": _language_model(run),
        "mode": _execution(run, "mode", "fast"),
        "schedule": _execution(run, "schedule", "serial"),
        "executor": _execution(run, "executor", "local"),
        "workers": recognition.get("workers"),
    }


def _backend(run: Mapping[str, Any]) -> str | None:
    recognizer = run["system"].get("recognizer", {})
    backend = recognizer.get("backend", recognizer.get("kind"))
    return None if backend is None else str(backend)


def _model(settings: Mapping[str, Any]) -> str | None:
    """Return a model's short name: that of its folder, or its id with the beginning of its revision."""
    model, revision = settings.get("model"), settings.get("revision")
    if model is None:
        return None
    if revision is not None:
        return f"{model} @ {revision[:_SHORT_REVISION]}"
    return PurePath(model).name if PurePath(model).is_absolute() else str(model)


def _language_model(run: Mapping[str, Any]) -> str | None:
    settings = run["config"].get("language_model") or {}
    return _model(settings) or settings.get("kind")


def _execution(run: Mapping[str, Any], name: str, default: str) -> str:
    return str((run["config"].get("execution") or {}).get(name, default))


def _versions(run: Mapping[str, Any]) -> dict[str, str]:
    versions = {"misheard": run.get("misheard"), "python": (run.get("machine") or {}).get("python")}
    return {name: str(value) for name, value in {**versions, **run.get("versions", {})}.items() if value}


def _shared(a: Mapping[str, str], b: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    return {name: (a[name], b[name]) for name in a if name in b}


def _timing(name: str, a: Side, b: Side) -> Document:
    ours, theirs = _value(name, a), _value(name, b)
    return {
        "name": name,
        "a": ours,
        "b": theirs,
        "ratio": theirs / ours if ours and theirs is not None else None,
        "reason_a": _reason(name, a, ours),
        "reason_b": _reason(name, b, theirs),
    }


def _value(name: str, side: Side) -> float | None:
    value = None if _is_shared(name, side) or _is_in_loading(name, side) else side.timings.get(name)
    return None if value is None else float(value)


def _is_shared(name: str, side: Side) -> bool:
    return name in _FROM_SERIAL_ALONE and _execution(side.run, "schedule", "serial") == "overlap"


def _is_in_loading(name: str, side: Side) -> bool:
    return name == _WARM_UP and _execution(side.run, "executor", "local") == "ray"


def _reason(name: str, side: Side, value: float | None) -> str | None:
    """Return why a time is not known."""
    if value is not None:
        return None
    if _backend(side.run) == "imported":
        return "imported"
    if name in _OF_LANGUAGE_MODEL and side.run["config"].get("language_model", "not told") is None:
        return "no_language_model"
    if _is_shared(name, side):
        return "overlap"
    if _is_in_loading(name, side):
        return "in_loading"
    return "not_measured"
