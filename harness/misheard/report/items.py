"""How many items, sessions and failures there are, as JSON values."""

from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import BoolArray
from misheard.metrics.table import CountTable, ItemInfo
from misheard.report.values import Document
from misheard.stats.slices import failed_rows, unit_numbers
from misheard.suite.items import ItemKind


def items_document(items: Sequence[ItemInfo]) -> Document:
    """Return what some items are and what is resampled among them."""
    speech = sum(1 for item in items if item.kind is ItemKind.SPEECH)
    return {
        "total": len(items),
        "speech": speech,
        "non_speech": len(items) - speech,
        "sessions": len({item.session for item in items if item.session is not None}),
        "without_session": sum(1 for item in items if item.session is None),
        "units": len(set(unit_numbers(items).tolist())),
    }


def failed_anywhere(table: CountTable) -> BoolArray:
    """Return which items failed in any arm: bool[n]."""
    none = np.zeros(len(table.items), dtype=np.bool_)
    failed: BoolArray = np.logical_or.reduce([none, *(failed_rows(table, arm) for arm in table.arms)])
    return failed
