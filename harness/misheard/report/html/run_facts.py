"""What a run was: how repeatable, who judged, what was configured, on which suite, and how to do it again."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from misheard.canonical import canonical_json
from misheard.command_lines import path_argument
from misheard.report.html.page import Block, Cell, Code, Column, Details, Facts, Prose, Row, Section, Table
from misheard.report.html.run_documents import RunDocuments
from misheard.report.labels import UNICODE, count_of, profile_sentence
from misheard.report.terminal_determinism import audit_rows, notes
from misheard.report.terminal_holdout import lock_parts, set_parts
from misheard.report.terminal_judge import judge_sentence
from misheard.report.values import Document

_MOST_OPENINGS = 50
_MOST_FACTS = 500
_MOST_OF_A_CONFIG = 100_000
_TOLD_OF_JUDGE = ("reason", "drift")
"""What the sentence on the judge says."""


def determinism_section(documents: RunDocuments) -> Section:
    """Return how repeatable the run is, as far as an audit counted it, and the fingerprints of its parts."""
    report = documents.report
    found = report.get("determinism") or {}
    blocks: list[Block] = []
    if found.get("mode") == "audit":
        rows = tuple(Row(name, tuple(map(Cell, cells))) for name, cells in audit_rows(found, UNICODE))
        columns = (Column("changed"), Column("share"), Column("95% interval"))
        caption = f"Everything asked again {count_of(found['repeats'], 'time')}"
        blocks.append(Table("audit", caption, "", columns, rows, sorts=False))
    else:
        blocks.append(
            Prose(("Nothing was asked again: execution.mode audit counts what changes by itself.",))
        )
    blocks.append(Prose(tuple(notes(found)), "quiet"))
    blocks.append(Facts(tuple(_fingerprints(report)), "Fingerprints", is_code=True))
    judge = judge_sentence(report, UNICODE)
    if judge is not None:
        found = {name: value for name, value in report["judge"].items() if name not in _TOLD_OF_JUDGE}
        fingerprint = found.pop("fingerprint")
        blocks += [
            Facts(tuple(flat(found)), "Judge"),
            Prose((judge,)),
            Details("Fingerprint of the judge", (Facts(tuple(flat(fingerprint)), is_code=True),)),
        ]
    return Section("determinism", "Determinism and judge", tuple(blocks))


def _fingerprints(report: Document) -> Iterator[tuple[str, str]]:
    """Yield every hash of a report's suite, scorer and system."""
    for part in ("suite", "scorer", "system"):
        for name, value in flat(report[part] or {}):
            if len(value) == 64 and not value.strip("0123456789abcdef"):
                yield f"{part}.{name}", value


def flat(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the dotted names and the values of a document of JSON, those that are null left out."""
    found = _flat(document, "")
    yield from itertools.islice(found, _MOST_FACTS)
    if more := sum(1 for _ in found):
        yield "and more", f"{more:,}, in the files of the directory"


def _flat(document: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        dotted = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{dotted}.")
        elif isinstance(value, list | tuple):
            if value:
                yield dotted, ", ".join(str(one) for one in value)
        elif value is not None:
            yield (
                dotted,
                {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value),
            )


def suite_section(documents: RunDocuments) -> Section:
    """Return what the suite is, its lock, and who opened its holdout."""
    suite = documents.report["suite"]
    holdout, lock = suite.get("holdout"), suite.get("lock")
    told = f" {UNICODE.dot} ".join([*set_parts(suite), *lock_parts(suite)])
    blocks: list[Block] = [Prose((told,))] if told else []
    known = {name: value for name, value in suite.items() if name not in ("holdout", "lock")}
    blocks.append(Facts(tuple(flat(known)), "Suite", is_code=True))
    if lock is None:
        blocks.append(
            Prose(("The suite has no lock: edits to it would not show (misheard suite lock).",), "quiet")
        )
    else:
        blocks.append(Facts(tuple(flat(lock)), "Lock", is_code=True))
    if holdout is None:
        blocks.append(Prose(("The suite has no sealed holdout (misheard suite split).",), "quiet"))
    elif log := holdout.get("log", []):
        rows = tuple(
            Row(str(entry["at"]), (Cell(str(entry["who"])), Cell(str(entry["reason"]))))
            for entry in log[-_MOST_OPENINGS:]
        )
        columns = (Column("who", is_text=True), Column("reason", is_text=True))
        blocks.append(Table("openings", "Openings of the holdout", "when", columns, rows, sorts=False))
    return Section("suite", "Suite, lock and holdout", tuple(blocks))


def configuration_section(documents: RunDocuments) -> Section:
    """Return what was run, with which versions, on which machine, and how it was scored."""
    run, report = documents.run, documents.report
    profile = profile_sentence(report["scorer"])
    machine = {name: value for name, value in (run.get("machine") or {}).items() if name != "gpus"}
    blocks: list[Block] = [
        *([Prose((profile,))] if profile else []),
        Details("Configuration, as it was resolved", (Facts(tuple(flat(run["config"])), is_code=True),)),
        Details("System, with content hashes", (Facts(tuple(flat(report["system"] or {})), is_code=True),)),
        Details(
            "Scorer and statistics",
            (Facts((*flat(report["scorer"]), *flat(report["statistics"])), is_code=True),),
        ),
        Facts((("misheard", str(run["misheard"])), *flat(run["versions"])), "Versions", is_code=True),
        Facts(tuple(flat(machine)), "Machine", is_code=True),
    ]
    return Section("configuration", "Configuration and versions", tuple(blocks))


def reproduce_section(documents: RunDocuments) -> Section:
    """Return the commands that score, show and repeat the run, and the config to repeat it with."""
    run, name = documents.run, path_argument(documents.name)
    commands = [
        f"misheard score {name}                # again from the journal, without a model: the same bytes",
        f"misheard report {name} --html        # this page",
        "",
        *_again(run, name),
    ]
    blocks = (
        Code("\n".join(commands), "Beside the run's directory"),
        config_to_copy(run["config"], "run.json"),
    )
    return Section("reproduce", "How to reproduce", blocks)


def config_to_copy(config: Document, source: str) -> Details:
    """Return a config as `again.yaml`, to be copied, or where it stands if it is too long for a page."""
    import yaml

    given = {name: value for name, value in config.items() if value is not None}
    block: Block
    if (size := len(canonical_json(given))) > _MOST_OF_A_CONFIG:
        block = Prose((f"{size:,} characters are too long for a page: take config out of {source}.",))
    else:
        block = Code(yaml.safe_dump(given, sort_keys=False, allow_unicode=False))
    return Details("again.yaml", (block,))


def _again(run: Document, name: str) -> Iterator[str]:
    """Yield the commands that run everything once more, and compare the two."""
    if run["config"]["recognizer"]["kind"] == "imported":
        yield "# its outputs were imported: what made them makes them again; then: misheard import"
        return
    suite = run["suite"]
    path = suite.get("path") or run["config"].get("suite") or "SUITE"
    again = ["misheard run again.yaml", f"--suite {path_argument(str(path))}", "--out again"]
    if run.get("cpu"):
        again.insert(1, "--cpu")
    if (limit := suite.get("limit")) is not None:
        again.append(f"--limit {limit}")
    subset = suite.get("subset")
    if subset in ("regression", "rolling"):
        again.append(f"--subset {subset}")
    yield "# with the configuration below in again.yaml; what differs then is the noise of two runs"
    if subset == "holdout":
        again.append("--holdout")
        yield f"misheard suite open {path_argument(str(path))} --reason WHY   # each opening is written down"
    yield " ".join(again)
    yield f"misheard compare {name} again"
