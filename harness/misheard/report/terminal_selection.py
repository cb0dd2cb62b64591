"""The blocks of a matrix of chosen items on a terminal."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from misheard.report.labels import Marks, count_of, plain, unit_noun
from misheard.report.terminal_cells import joined, suite_line
from misheard.report.terminal_legend import legend_block, profile_line, shared_signs, terms
from misheard.report.terminal_matrix import has_worst_cell, matrix_block, same_items
from misheard.report.values import Document
from misheard.report.why_empty import empty_sentences


def blocks(matrix: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the blocks from top to bottom."""
    yield _header(matrix, width, marks)
    title = f"By {'; '.join(', '.join(axes) for axes in matrix['by'])}" if matrix["by"] else "By condition"
    empty = [(entry["metric"], entry["why"]) for entry in matrix["without_value"]]
    if not empty or len(empty) < len(matrix["metrics"]):
        yield matrix_block(matrix, width, marks, title, all_metrics=matrix["metrics_chosen"])
    for sentence in empty_sentences(empty):
        yield Text(joined([f"no value of {sentence}"], width, marks))
    if profile := profile_line(matrix["scorer"]):
        yield profile
    yield _legend(matrix, width, marks)


def _header(matrix: Document, width: int, marks: Marks) -> RenderableType:
    suite, items = matrix["suite"], matrix["items"]
    name = plain(" ".join(str(suite[key]) for key in ("name", "version") if key in suite))
    parts = [plain(condition) for condition in matrix["where"]]
    parts += [count_of(items["total"], "item"), count_of(items["units"], unit_noun(items))]
    return suite_line(name, [*parts, f"{matrix['samples_failed']} failed"], width, marks)


def _legend(matrix: Document, width: int, marks: Marks) -> RenderableType:
    cells = same_items(matrix["matrix"])
    signs = [
        *shared_signs(matrix["statistics"], unit_noun(matrix["items"]), cells),
        f"{marks.missing} no value",
    ]
    if has_worst_cell(matrix):
        signs.append(
            f"{marks.worst} worst cell of a row, with all that equal it; no verdict where its n has a *"
        )
    if any("primary" in entry["flags"] for cell in matrix["matrix"] for entry in cell["estimates"]):
        signs.append(f"{marks.primary} primary metric")
    estimates = [estimate for cell in matrix["matrix"] for estimate in cell["estimates"]]
    counted = {estimate["metric"] for estimate in estimates if estimate["arm"] == "audio" and estimate["n"]}
    return legend_block([signs, terms(counted, matrix["scorer"])], width, marks)
