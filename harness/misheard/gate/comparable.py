"""Whether two runs may be judged against each other. Everything that forbids it is named at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misheard.canonical import sha256_file
from misheard.run.directory import RunDirectory
from misheard.run.finished import FinishedRun
from misheard.run.scorers import difference
from misheard.stats.pairing import named_ids

_GROWING_CONTENT = frozenset({"scripts", "entities", "scored_alone"})
"""What a suite may gain with added items: more families, and the others' counts stay what they were."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A finished run with what its run.json says."""

    run: FinishedRun
    state: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of its directory."""
        return self.run.path.resolve().name

    @property
    def suite(self) -> dict[str, Any]:
        """Who its suite is."""
        found: dict[str, Any] = self.run.report["suite"]
        return found

    @property
    def suite_lock(self) -> str | None:
        """The sha256 of the lock that its suite agreed with; None for a suite without one."""
        return str(self.suite["lock"]["sha256"]) if "lock" in self.suite else None


def read_facts(finished: FinishedRun) -> RunFacts:
    """Return a finished run with its run.json. Raises IncompleteRunError where that cannot be read."""
    return RunFacts(finished, RunDirectory.open(finished.path).read_run())


def unfit(facts: RunFacts) -> list[str]:
    """Return what forbids to judge by a run at all, whatever it is compared with."""
    problems = []
    limit = facts.state["suite"].get("limit")
    if limit is not None:
        problems.append(f"{facts.name}: was run with --limit {limit}; run the whole suite")
    if not isinstance(facts.suite.get("gate_axes"), list):
        problems.append(f"{facts.name}: its report lacks the suite's gate axes; misheard score writes them")
    return problems


def differences(candidate: RunFacts, baseline: RunFacts) -> list[str]:
    """Return what forbids to compare a candidate with a baseline; items that were added to it do not."""
    if _is_same_run(candidate, baseline):
        return [f"{baseline.name}: the baseline is the run itself; name another run"]
    if candidate.suite.get("name") != baseline.suite.get("name"):
        names = (repr(facts.suite.get("name")) for facts in (baseline, candidate))
        return ["the baseline ran over another suite: {}, not {}".format(*names)]
    return [
        *_subset_differences(candidate, baseline),
        *_item_differences(candidate, baseline),
        *_header_differences(candidate, baseline),
        *_scorer_differences(candidate, baseline),
        *_judge_differences(candidate, baseline),
    ]


def _is_same_run(candidate: RunFacts, baseline: RunFacts) -> bool:
    paths = candidate.run.path, baseline.run.path
    if paths[0].samefile(paths[1]):
        return True
    return all(
        sha256_file(paths[0] / name) == sha256_file(paths[1] / name) for name in ("run.json", "items.parquet")
    )


def _subset_differences(candidate: RunFacts, baseline: RunFacts) -> list[str]:
    """Return whether the runs are over different sets of a split suite: those are no additions."""
    new, old = (facts.suite.get("subset") for facts in (candidate, baseline))
    if new == old:
        return []
    names = ("the whole suite" if name is None else f"the set {name}" for name in (old, new))
    return ["the baseline ran over {}, the candidate over {}; run both over the same".format(*names)]


def _item_differences(candidate: RunFacts, baseline: RunFacts) -> list[str]:
    new = {item.id: item.sha256 for item in candidate.run.table.items}
    old = {item.id: item.sha256 for item in baseline.run.table.items}
    gone = sorted(old.keys() - new.keys())
    edited = sorted(
        identifier for identifier in old.keys() & new.keys() if old[identifier] != new[identifier]
    )
    problems = []
    if gone:
        problems.append(f"items of the baseline that the candidate lacks ({len(gone)}): {named_ids(gone)}")
    if edited:
        problems.append(f"items with other audio or truth ({len(edited)}): {named_ids(edited)}")
    if not old.keys() & new.keys():
        problems.append("the two runs have no item in common")
    return problems


def _header_differences(candidate: RunFacts, baseline: RunFacts) -> list[str]:
    new, old = candidate.run.report, baseline.run.report
    problems = []
    axes = [axis for axis, values in old["axes"].items() if not set(values) <= set(new["axes"].get(axis, ()))]
    if axes:
        problems.append(f"the suite declares fewer values on the axes {', '.join(axes)}")
    if dropped := sorted(set(baseline.suite["gate_axes"]) - set(candidate.suite["gate_axes"])):
        problems.append(f"the suite dropped the gate axes {', '.join(dropped)}")
    if changed := _changed_keys(old["primary_metrics"], new["primary_metrics"]):
        problems.append(f"the suite's primary metric changed: {', '.join(changed)}")
    return problems


def _changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the keys of the old mapping that the new one lacks or gives another value."""
    return sorted(key for key in old if old[key] != new.get(key))


def _scorer_differences(candidate: RunFacts, baseline: RunFacts) -> list[str]:
    new, old = candidate.run.report["scorer"], baseline.run.report["scorer"]
    apart = {"sha256", "system", "content", "abstentions"}
    changed = sorted(key for key in {*new, *old} - apart if new.get(key) != old.get(key))
    changed += [f"abstentions of {tag}" for tag in _changed_keys(old["abstentions"], new["abstentions"])]
    changed += [f"content ({name})" for name in _changed_content(candidate, baseline)]
    if not changed:
        return []
    how = difference((baseline.run.path, old), (candidate.run.path, new), changed)
    return [f"the two runs were scored differently: {how}"]


def _changed_content(candidate: RunFacts, baseline: RunFacts) -> Sequence[str]:
    new, old = candidate.run.report["scorer"]["content"], baseline.run.report["scorer"]["content"]
    grown = len(candidate.run.table.items) > len(baseline.run.table.items)
    free = _GROWING_CONTENT if grown else frozenset()
    return sorted(key for key in {*new, *old} - free if new.get(key) != old.get(key))


def _judge_differences(candidate: RunFacts, baseline: RunFacts) -> list[str]:
    """Return whether the judges differ where both runs have one: what they measured is not on one scale."""
    new, old = _judges(candidate), _judges(baseline)
    changed = sorted(place for place in new.keys() & old.keys() if new[place] != old[place])
    return [f"the judge changed: {', '.join(changed)}; judge both runs with the same one"] if changed else []


def _judges(facts: RunFacts) -> dict[str, Any]:
    """Return the fingerprints of a run's judge, by where they stand."""
    places = {
        "run.json, judge": facts.state,
        "run.json, system.judge": facts.state["system"],
        "report.json, judge": facts.run.report,
        "report.json, system.judge": facts.run.report["system"],
    }
    return {place: values["judge"] for place, values in places.items() if values.get("judge") is not None}
