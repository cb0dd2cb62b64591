"""From a gate file and run directories to one verdict. Only report files are read: no text, no model."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from misheard.errors import GateError, IncompleteRunError, InputError, NotComparableError
from misheard.gate.baseline import promoted_run
from misheard.gate.budgets import check_budgets, check_gate_axes
from misheard.gate.checks import Checker, Evidence, common_items
from misheard.gate.comparable import RunFacts, differences, read_facts, unfit
from misheard.gate.gate_file import GateFile, load_gate
from misheard.gate.resolve import Claim, needs_baseline, resolve_gate
from misheard.gate.soak import judge_soak
from misheard.gate.spec import Gate
from misheard.gate.verdict import Check, GateVerdict, Outcome, decide_outcome
from misheard.report.files import damaged_report
from misheard.report.labels import count_of, plain, profile_sentence
from misheard.run.finished import read_finished_run

PROMOTED = "promoted"
"""In place of a baseline: the run that was last promoted for the suite."""

_REFUSED = (NotComparableError, IncompleteRunError, InputError)


def decide_gate(
    path: Path, run: Path, baseline: str | None, baselines: Path, soak: Path | None = None
) -> GateVerdict:
    """Return the verdict of a gate on a run.

    What is wrong with a run, or forbids to compare two, is part of the verdict. Raises GateError and
    InputError for a gate file that cannot be used with this run.

    Args:
        path: the gate file.
        run: directory of the candidate.
        baseline: directory of the run to compare with, PROMOTED, or None.
        baselines: folder of the log of promotions.
        soak: folder or trace of a long session; None where the gate has no section about one.
    """
    file = load_gate(path)
    _check_soak_given(file, soak)
    verdict = GateVerdict(
        outcome=Outcome.NOT_COMPARABLE,
        gate=plain(file.name),
        gate_sha256=file.sha256,
        candidate=plain(run.resolve().name),
        baseline=None if baseline is None else plain(Path(baseline).name),
        suite=None,
        refusals=(),
        checks=(),
        soak=None if soak is None else plain(soak.resolve().name),
    )
    try:
        with damaged_report(run):
            candidate = read_facts(read_finished_run(run))
            problems = unfit(candidate)
            claims = () if problems else resolve_gate(path, file.gate, candidate.run)
            verdict = replace(verdict, suite=_suite_name(candidate), suite_lock=candidate.suite_lock)
    except GateError:
        raise
    except _REFUSED as error:
        return _refused(verdict, [str(error)])
    if problems:
        return _refused(verdict, problems)
    try:
        other = _read_baseline(baseline, baselines, candidate, needed=needs_baseline(file.gate))
        if other is not None:
            verdict = replace(verdict, baseline=plain(other.name))
            with damaged_report(run, other.run.path):
                problems = unfit(other) or differences(candidate, other)
    except _REFUSED as error:
        return _refused(verdict, [str(error)])
    if problems:
        return _refused(verdict, problems)
    try:
        with damaged_report(run):
            checks = _checks(file.gate, claims, candidate, other)
            notes = tuple(_notes(candidate, other))
        if file.gate.soak is not None and soak is not None:
            session = judge_soak(file.gate.soak, soak, candidate)
            checks, notes = (*checks, *session.checks), (*notes, *session.notes)
    except _REFUSED as error:
        return _refused(verdict, [str(error)])
    outcome = decide_outcome(checks, ())
    return replace(verdict, outcome=outcome, checks=checks, notes=notes)


def _check_soak_given(file: GateFile, soak: Path | None) -> None:
    if file.gate.soak is not None and soak is None:
        raise InputError(f"{file.name}: has a section soak; give the session, with --soak FOLDER or TRACE")
    if file.gate.soak is None and soak is not None:
        raise InputError(f"--soak: {file.name} has no section soak, which says what a session must show")


def _refused(verdict: GateVerdict, problems: Sequence[str]) -> GateVerdict:
    refusals = tuple("\n".join(map(plain, problem.splitlines())) for problem in problems)
    return replace(verdict, outcome=decide_outcome((), refusals), refusals=refusals)


def _suite_name(facts: RunFacts) -> str:
    return plain(" ".join(str(facts.suite[key]) for key in ("name", "version") if key in facts.suite))


def _checks(
    gate: Gate, claims: Sequence[Claim], candidate: RunFacts, baseline: RunFacts | None
) -> tuple[Check, ...]:
    table = candidate.run.table
    paired = None if baseline is None else common_items(baseline.run.table, table)
    evidence = Evidence(table, paired, candidate.run.report["axes"])
    return (
        *Checker(evidence, claims).answer(claims),
        *check_budgets(gate, evidence),
        *check_gate_axes(gate, claims, candidate.suite["gate_axes"]),
    )


def _read_baseline(
    baseline: str | None, baselines: Path, candidate: RunFacts, *, needed: bool
) -> RunFacts | None:
    if baseline is None:
        if needed:
            raise NotComparableError(
                "the gate compares with a baseline and none is given; add --baseline RUN, or promoted"
            )
        return None
    if baseline == PROMOTED:
        path = promoted_run(baselines, str(candidate.suite.get("name")))
    else:
        path = Path(baseline)
    with damaged_report(path):
        return read_facts(read_finished_run(path))


def _notes(candidate: RunFacts, baseline: RunFacts | None) -> list[str]:
    profile = profile_sentence(candidate.run.report["scorer"])
    notes = [] if profile is None else [profile]
    holdout = candidate.suite.get("holdout") or {}
    if sealed := holdout.get("sealed"):
        what = "judged by this opening" if holdout.get("opened") else "sealed and not judged"
        notes.append(f"{count_of(sealed, 'item')} {_are(sealed)} {what}")
    if baseline is None:
        return [*notes, "no baseline: nothing was compared"]
    added = len(candidate.run.table.items) - len(baseline.run.table.items)
    if added:
        common = count_of(len(baseline.run.table.items), "item")
        new = f"{count_of(added, 'item')} of the candidate {_are(added)} new"
        notes.append(f"{new}; compared over the {common} of both")
    failed = baseline.run.report["failures"]["samples_failed"]
    if failed:
        notes.append(
            f"{count_of(failed, 'item')} failed in the baseline and {_are(failed)} in no pair of what "
            f"{'it lacks' if failed == 1 else 'they lack'}"
        )
    return notes


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
