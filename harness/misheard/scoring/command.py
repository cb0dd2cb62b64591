"""What `misheard score --ref R --hyp H` does: score files and print a table, JSON or CSV."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from misheard.errors import counted
from misheard.scoring.document import ITEM_COLUMNS, files_document, item_row
from misheard.scoring.files import FilesRequest, ScoredFiles, SystemScore, score_files
from misheard.transcripts.pairing import begin_with_ids

Output = Literal["table", "json", "csv"]

JSON_CONFUSIONS = 20
"""How many confusions of each kind JSON holds where no number is given."""


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """What is printed of the scores.

    Attributes:
        output: `table`, `json` (everything) or `csv` (a row per pair and system).
        align: whether alignments are printed, below the table or in the items of JSON; CSV holds none.
        align_limit: at most so many pairs per system, those with errors only; None for all of them.
        confusions: how many of the most frequent edits of each kind; None for none, in JSON JSON_CONFUSIONS.
        intervals: whether a single system gets an interval; several always do.
        resamples, seed: of the bootstrap.
    """

    output: Output = "table"
    align: bool = False
    align_limit: int | None = None
    confusions: int | None = None
    intervals: bool = False
    resamples: int = 10_000
    seed: int = 1


def print_scores(request: FilesRequest, options: PrintOptions) -> None:
    """Score files and print the result to standard output. Raises InputError for what cannot be scored."""
    scored = score_files(request)
    for note in _notes(scored):
        sys.stderr.write(note + "\n")
    if hasattr(sys.stdout, "reconfigure"):
        # lone surrogates, and characters that the terminal's encoding lacks, are shown as escapes
        sys.stdout.reconfigure(errors="backslashreplace")
    if options.output == "csv":
        sys.stdout.write(items_csv(scored))
        return
    document = _document(scored, options)
    if options.output == "json":
        import json

        json.dump(document, sys.stdout, indent=1, ensure_ascii=True, allow_nan=False)
        sys.stdout.write("\n")
        return
    from misheard.report.terminal_score import score_table

    sys.stdout.write(score_table(document, _terminal_width()) + "\n")
    if options.align:
        _print_alignments(scored, options.align_limit)


def _terminal_width() -> int | None:
    """Return the width of the terminal that is printed to, COLUMNS where set; None for files and pipes."""
    if not sys.stdout.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and len(columns) < 6 and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None


def _notes(scored: ScoredFiles) -> Iterator[str]:
    """Yield what was counted as words and looks like something else."""
    name = _shown(scored.reference.name)
    if count := scored.unread_choices:
        hold = counted(count, "reference holds", "references hold")
        yield f"{name}: {hold} accepted spellings as {{a / b}}, counted as words; --alternatives reads them"
    for system in scored.systems:
        if begin_with_ids(scored.reference, system.transcripts):
            yield (
                f"{name} and {_shown(system.name)} begin their lines with the same ids, counted as words; "
                "--format kaldi reads them as ids"
            )


def _document(scored: ScoredFiles, options: PrintOptions) -> dict[str, Any]:
    is_json = options.output == "json"
    alignments = options.align_limit if options.align else 0
    confusions = JSON_CONFUSIONS if is_json and options.confusions is None else options.confusions
    if len(scored.systems) < 2 and not options.intervals:
        return files_document(scored, None, None, confusions, with_items=is_json, alignments=alignments)
    from misheard.report.values import statistics_document
    from misheard.scoring.intervals import file_intervals

    intervals = file_intervals(scored, options.resamples, options.seed)
    statistics = {
        **statistics_document(options.resamples, options.seed),
        "units": intervals.units,
        "resampled": "sessions" if intervals.by_session else "utterances",
    }
    return files_document(
        scored, intervals, statistics, confusions, with_items=is_json, alignments=alignments
    )


def items_csv(scored: ScoredFiles) -> str:
    """Return a row per system and pair: file, id, counts, rate (empty for an empty reference)."""
    import csv
    import io

    from misheard.report.tables import safe_text

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("file", "id", *ITEM_COLUMNS))
    for system in scored.systems:
        name = safe_text(system.name)
        for identifier, item in zip(scored.pairs.ids, system.score.items, strict=True):
            writer.writerow((name, safe_text(identifier), *item_row(item)))
    return out.getvalue()


def _print_alignments(scored: ScoredFiles, limit: int | None) -> None:
    from misheard.console import stdout

    for system in scored.systems:
        wrong = system.with_errors
        shown = wrong if limit is None else wrong[:limit]
        for place in shown:
            _print_alignment(scored, system, place)
        hidden = {"without": len(system.score.items) - len(wrong), "with": len(wrong) - len(shown)}
        rest = [f"{count} {which} errors" for which, count in hidden.items() if count]
        if rest:
            stdout.print(
                f"\n{_shown(system.name)}: not shown: {' and '.join(rest)}", markup=False, soft_wrap=True
            )


def _print_alignment(scored: ScoredFiles, system: SystemScore, place: int) -> None:
    from misheard.console import stdout
    from misheard.report.terminal_alignment import alignment_lines

    substitutions, deletions, insertions, hits = system.score.items[place]
    counts = f"S {substitutions}  D {deletions}  I {insertions}  hits {hits}"
    title = f"\n{_shown(system.name)}  {_shown(scored.pairs.ids[place])}  {counts}"
    stdout.print(title, style="bold", markup=False, soft_wrap=True)
    for line in alignment_lines(system.score.alignments[place], stdout.width):
        stdout.print(line, soft_wrap=True)


def _shown(name: str) -> str:
    from misheard.report.terminal_score import visible

    return visible(name)
