"""The report files of a run directory, written whole and read back."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from misheard.canonical import write_atomic, write_json
from misheard.command_lines import path_argument
from misheard.errors import IncompleteRunError, InputError
from misheard.metrics.base import Family
from misheard.metrics.table import CountTable
from misheard.report import build
from misheard.report.items_parquet import read_items_parquet, write_items_parquet
from misheard.report.tables import failures_csv, matrix_csv
from misheard.report.values import Document

__all__ = ["damaged_report", "read_items_parquet", "read_report", "write_report_files"]

REPORT = "report.json"
MATRIX = "matrix.csv"
FAILURES = "failures.csv"
ITEMS = "items.parquet"
_RUN = "run.json"
"""What every run directory has from its beginning."""

MAX_REPORT_BYTES = 1024**3


def write_report_files(folder: Path, table: CountTable, families: Sequence[Family], report: Document) -> None:
    """Write `report.json`, `matrix.csv`, `failures.csv` and `items.parquet`, each whole or not at all.

    report.json comes last: where it is new, the others are.
    """
    write_items_parquet(folder / ITEMS, table, families, str(report["scorer"].get("sha256", "")))
    write_atomic(folder / FAILURES, failures_csv(table))
    write_atomic(folder / MATRIX, matrix_csv(report))
    write_json(folder / REPORT, report)


def read_report(folder: Path) -> Document:
    """Return the report of a run directory.

    Raises IncompleteRunError where there is none, InputError for a file that is not a report of this version.
    """
    path, again = folder / REPORT, f"misheard score {path_argument(folder)}"
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is no file; score the run again: {again}")
        if path.stat().st_size > MAX_REPORT_BYTES:
            raise InputError(f"{path}: over {MAX_REPORT_BYTES} bytes; this is no report")
        document = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        if not (folder / _RUN).is_file():
            raise IncompleteRunError(f"{folder}: no run.json; this is not a run directory") from error
        raise IncompleteRunError(
            f"{path}: does not exist; finish the run, or score it with {again}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is no JSON; write it again with {again}") from error
    known = (build.FORMAT, build.FORMAT_VERSION)
    if not isinstance(document, dict) or (document.get("format"), document.get("format_version")) != known:
        raise InputError(f"{path}: is no report of this version; write it again with {again}")
    return document


@contextlib.contextmanager
def damaged_report(*folders: Path) -> Iterator[None]:
    """Turn what goes wrong with an edited report into an error that says what to do.

    Raises IncompleteRunError.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as error:
        names = " or ".join(str(folder / REPORT) for folder in folders)
        raise IncompleteRunError(
            f"{names} is not as it was written ({type(error).__name__}); write it again with misheard score"
        ) from error
