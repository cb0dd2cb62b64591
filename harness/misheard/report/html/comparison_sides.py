"""What differs between the runs of a comparison, what they heard differently, and how to compare again."""

import shlex
from collections.abc import Iterator, Mapping

from misheard.command_lines import path_argument
from misheard.report.html.comparison_documents import ComparedRun, ComparisonDocuments
from misheard.report.html.page import Block, Cell, Code, Column, Highlight, Prose, Row, Section, Table
from misheard.report.html.run_facts import flat
from misheard.report.labels import UNICODE, count_of
from misheard.report.terminal_side_by_side import TIMING_LABELS, TIMING_REASONS
from misheard.report.values import Document

HEARD = "heard"

_MOST_ITEMS = 200


def heard_highlight(comparison: Document) -> Iterator[Highlight]:
    """Yield how many items were heard differently; nothing where that is not known."""
    found = comparison["transcripts"]
    if found is None or "not_compared" in found:
        return
    alone = f"{found['formatting_only']} in punctuation or case alone"
    yield Highlight(
        title="Heard differently",
        value=str(found["differ"]),
        what=f"of {count_of(found['items'], 'item')}",
        detail=f"{alone}, {count_of(found['edits'], 'word edit')}" if found["differ"] else "",
        link=HEARD,
    )


def heard_section(comparison: Document, suffix: str, behind: str) -> Iterator[Section]:
    """Yield the items that changed most, by their ids; nothing where a side is no run."""
    found = comparison["transcripts"]
    if found is None:
        return
    title = f"Items heard differently{behind}"
    if "not_compared" in found:
        sides = " and ".join(side.upper() for side in found["not_compared"])
        yield Section(f"{HEARD}{suffix}", title, (Prose((f"Not compared: no whole journal in {sides}.",)),))
        return
    blocks: list[Block] = [Prose((f"{', '.join(_heard_parts(found))}.",))]
    ranked = sorted(found["differing"], key=lambda one: (-one["edits"], one["id"]))
    if ranked:
        blocks.append(_items_table(ranked, suffix))
    yield Section(
        f"{HEARD}{suffix}", title, tuple(blocks), "transcripts of A against those of B, without text"
    )


def _heard_parts(found: Document) -> Iterator[str]:
    share = ""
    if found["items"]:
        low, high = found["interval"]
        share = f", {100 * found['share']:.1f}% ({100 * low:.1f}{UNICODE.to}{100 * high:.1f})"
    yield f"{found['differ']} of {count_of(found['items'], 'item')}{share}"
    if found["differ"]:
        yield f"{found['formatting_only']} of them in punctuation or case alone"
        yield count_of(found["edits"], "word edit")
    for name, words in (("a_only", "in A alone"), ("b_only", "in B alone"), ("both", "in both")):
        if count := found[f"failed_in_{name}"]:
            yield f"{count} failed {words}"


def _items_table(ranked: list[Document], suffix: str) -> Table:
    rows = tuple(
        Row(
            str(one["id"]),
            (
                Cell(str(one["edits"]), sort=one["edits"]),
                Cell(str(one["reference_words"]), sort=one["reference_words"]),
                Cell("yes" if one["formatting_only"] else "", sort=int(one["formatting_only"])),
            ),
        )
        for one in ranked[:_MOST_ITEMS]
    )
    columns = (
        Column("edits", note="words that differ between the two transcripts"),
        Column("words of the reference"),
        Column("form alone", note="equal but for punctuation and case", is_text=True),
    )
    more = len(ranked) - _MOST_ITEMS
    notes = (f"and {more} more with as many edits or fewer; --json has all",) if more > 0 else ()
    return Table(
        f"heard-items{suffix}", "Those that changed most come first", "item", columns, rows, notes=notes
    )


def sides_section(documents: ComparisonDocuments) -> Iterator[Section]:
    """Yield what the runs are, and every setting, fingerprint, version and time in which they differ."""
    several = len(documents.others) > 1
    blocks: list[Block] = [_runs_table(documents)]
    for place, (other, comparison) in enumerate(
        zip(documents.others, documents.document["comparisons"], strict=True)
    ):
        suffix, behind = (f"-{place + 1}", f": {other.name}") if several else ("", "")
        blocks += _differences(documents.a, other, comparison, suffix, behind)
    yield Section("sides", "What differs between the systems", tuple(blocks))


def _runs_table(documents: ComparisonDocuments) -> Table:
    sides = [("A", documents.a), *(("B", other) for other in documents.others)]
    pages = any(side.href for _, side in sides)
    rows = tuple(
        Row(side.called, (_page_cell(side),) if pages else (), prefix=letter) for letter, side in sides
    )
    columns = (Column("report", is_text=True),) if pages else ()
    notes = () if pages else ("neither run has a report.html; misheard report RUN --html writes one",)
    return Table("runs", "The runs", "run", columns, rows, sorts=False, notes=notes)


def _page_cell(side: ComparedRun) -> Cell:
    return Cell("report.html", href=side.href) if side.href else Cell(UNICODE.missing, tone="quiet")


def _differences(
    a: ComparedRun, b: ComparedRun, comparison: Document, suffix: str, behind: str
) -> Iterator[Block]:
    tables = [
        ("config", "Configuration", a.config, b.config),
        (
            "system",
            "Fingerprints of the parts",
            comparison["a"]["system"] or {},
            comparison["b"]["system"] or {},
        ),
    ]
    runs = comparison["runs"]
    if runs is not None:
        versions = runs["versions"]
        machines: tuple[dict[str, object], dict[str, object]] = (
            {**_machine(runs["a"]), **{one["name"]: one["a"] for one in versions}},
            {**_machine(runs["b"]), **{one["name"]: one["b"] for one in versions}},
        )
        tables.append(("machine", "Versions and machine", *machines))
    same = []
    for name, title, ours, theirs in tables:
        rows = tuple(_unequal(ours, theirs))
        if rows:
            columns = (Column("A", is_text=True), Column("B", is_text=True))
            yield Table(f"differs-{name}{suffix}", f"{title}{behind}", "setting", columns, rows, sorts=False)
        else:
            same.append(title.lower())
    if same:
        yield Prose((f"The same in both{behind}: {', '.join(same)}.",), "quiet")
    if runs is not None:
        yield from _times(runs["timings"], suffix, behind)


def _machine(machine: Document) -> dict[str, object]:
    """Return the hardware and how it was used; models and settings stand in the configuration."""
    return {
        name: machine[name]
        for name in ("device", "device_name", "compute_type", "workers")
        if machine.get(name) is not None
    }


def _unequal(ours: Mapping[str, object], theirs: Mapping[str, object]) -> Iterator[Row]:
    first, second = dict(flat(ours)), dict(flat(theirs))
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) != second.get(name):
            yield Row(name, tuple(Cell(side.get(name, UNICODE.missing)) for side in (first, second)))


def _times(timings: list[Document], suffix: str, behind: str) -> Iterator[Table]:
    rows = tuple(
        Row(
            TIMING_LABELS[one["name"]].strip(),
            (
                *(_time(one, side) for side in ("a", "b")),
                Cell(UNICODE.missing if one["ratio"] is None else f"{one['ratio']:.3g}{UNICODE.times}"),
            ),
        )
        for one in timings
        if one["a"] is not None or one["b"] is not None
    )
    if rows:
        columns = (Column("A"), Column("B"), Column("B / A"))
        yield Table(f"times{suffix}", f"Times{behind}", "time", columns, rows, sorts=False)


def _time(timing: Document, side: str) -> Cell:
    value, reason = timing[side], timing[f"reason_{side}"]
    if value is None:
        return Cell(TIMING_REASONS.get(reason, UNICODE.missing), tone="quiet")
    return Cell(f"{value:.2f} s" if timing["name"].endswith("_seconds") else f"{value:.4f}")


def reproduce_section(documents: ComparisonDocuments) -> Section:
    """Return the command that compares the same runs in the same way."""
    document = documents.document
    chosen = document["selection"]
    parts = ["misheard compare", *(path_argument(run.name) for run in (documents.a, *documents.others))]
    parts += [f"--metric {shlex.quote(name)}" for name in chosen["metrics"]]
    parts += [f"--arm {shlex.quote(name)}" for name in chosen["arms"]]
    parts += [f"--by {shlex.quote(','.join(by))}" for by in chosen["by"]]
    parts += [f"--where {shlex.quote(','.join(chosen['where']))}"] if chosen["where"] else []
    parts += [f"--margin {shlex.quote(f'{name}={size:g}')}" for name, size in chosen["margins"].items()]
    parts += ["--rescore"] if document["rescored"] else []
    statistics = document["statistics"]
    parts += [
        f"--resamples {statistics['resamples']}",
        f"--seed {statistics['seed']}",
        "--html compared.html",
    ]
    return Section("reproduce", "How to reproduce", (Code(" ".join(parts), "Beside the runs' directories"),))
