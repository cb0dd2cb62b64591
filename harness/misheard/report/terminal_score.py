"""The scores of files as a plain table: ASCII but for names and texts, and without a heavy import."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

Document = dict[str, Any]

_RATE_NAMES = {"words": "WER", "chars": "CER", "mixed": "MER", "graphemes": "error rate"}
_GAP = "  "
_LEAST_NAME = 16


def score_table(document: Document, width: int | None = None) -> str:
    """Return the tables of a document of `misheard.scoring.document`.

    `width` is that of a terminal: what does not fit is divided into several tables. Files have no width.
    Few resampling units have no interval here, as in reports; the document has those that were computed.
    """
    blocks = [_header(document), *_rates(document, width)]
    if document["comparisons"]:
        blocks += _comparisons(document, width)
    if few := _too_few(document):
        blocks.append(few if width is None else textwrap.fill(few, width))
    blocks += [_confusions(system) for system in document["hypotheses"] if system["confusions"] is not None]
    return "\n\n".join(blocks)


def visible(text: str) -> str:
    """Return a name or a token with what cannot be seen, joiners aside, as escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\u200c\u200d" else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def _header(document: Document) -> str:
    reference = document["reference"]
    parts = [
        f"profile {document['profile']['name']}",
        f"unit {document['unit']}",
        f"costs {document['costs']}",
    ]
    if document["language"] is not None:
        parts.append(f"language {visible(document['language'])}")
    if document["annotations"] != "keep":
        parts.append(f"annotations {document['annotations']}")
    if document["alternatives"]:
        parts.append("alternatives")
    if document["number_words"] == "kept":
        tag = document["language"]
        why = "no language given" if tag is None else f"none are read in {visible(tag)}"
        parts.append(f"number words stay words ({why})")
    count = document["pairs"]
    utterances = f"{count} utterance{'' if count == 1 else 's'}, read as {reference['format']}"
    return f"reference  {visible(reference['file'])}: {utterances}\ncompared   {', '.join(parts)}"


def _too_few(document: Document) -> str | None:
    """Return why no interval is shown, or None."""
    settings = document["statistics"]
    if settings is None or settings["units"] >= settings["min_units"]:
        return None
    units, what = settings["units"], settings["resampled"]
    count = f"{units} {what.removesuffix('s') if units == 1 else what}"
    return f"no interval: {count}, and under {settings['min_units']} none is trusted"


def _rates(document: Document, width: int | None) -> list[str]:
    systems = document["hypotheses"]
    has_intervals = not _too_few(document) and any(system["intervals"] is not None for system in systems)
    has_missing = any(system["missing"] for system in systems)
    heads = [
        "hypothesis", "read as", "paired by", _RATE_NAMES[document["unit"]],
        *(["95% interval"] if has_intervals else []),
        "subst.", "del.", "ins.", "of", "utterances wrong", "mean", "p50", "p95",
        *(["missing"] if has_missing else []),
    ]  # fmt: skip
    rows = [heads, *(_system_row(system, has_intervals, has_missing) for system in systems)]
    return _folded(rows, 3, width)


def _system_row(system: Document, has_intervals: bool, has_missing: bool) -> list[str]:
    spread = system["distribution"]
    row = [visible(system["file"]), system["format"], system["paired_by"], _percent(system["rate"])]
    if has_intervals:
        row.append(_interval(system["intervals"], ""))
    row += [str(system[name]) for name in ("substitutions", "deletions", "insertions", "reference_units")]
    row.append(_percent(system["sentence_error_rate"]))
    row += [_percent(spread[name]) for name in ("mean", "p50", "p95")]
    return [*row, str(system["missing"])] if has_missing else row


def _comparisons(document: Document, width: int | None) -> list[str]:
    first = document["comparisons"][0]
    interval = [] if _too_few(document) else ["95% interval"]
    rows = [["difference, paired", "points", *interval, "verdict"]]
    for one in document["comparisons"]:
        points = "-" if one["difference"] is None else f"{100 * one['difference']:+.2f}"
        name = f"{visible(one['b'])} - {visible(one['a'])}"
        ends = [_interval(one["intervals"], "+") for _ in interval]
        rows.append([name, points, *ends, one["verdict"].replace("_", " ")])
    size = f"n {first['n']}, resampled {first['units']} {first['resampled']}"
    *before, last = _folded(rows, 1, width)
    return [*before, f"{last}\n{size}"]


def _confusions(system: Document) -> str:
    found = system["confusions"]
    lines = [f"most frequent in {visible(system['file'])}"]
    kinds = (("substitutions", ("reference", "hypothesis")), ("deletions", ("reference",)),
             ("insertions", ("hypothesis",)))  # fmt: skip
    for kind, sides in kinds:
        for entry in found[kind]:
            tokens = " -> ".join(isolated(visible(entry[side])) for side in sides)
            lines.append(f"{entry['count']:>7}  {kind.removesuffix('s'):<12}  {tokens}")
    return "\n".join(lines if len(lines) > 1 else [*lines, "      0  errors"])


def isolated(token: str) -> str:
    """Return a token that is safe beside others: one with right-to-left characters in isolates (UAX 9)."""
    from unicodedata import bidirectional

    if token.isascii() or not any(bidirectional(char) in ("R", "AL", "AN") for char in token):
        return token
    return f"\u2068{token}\u2069"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}%"


def _interval(intervals: Document | None, sign: str) -> str:
    deciding = None if intervals is None else intervals["deciding"]
    if deciding is None:
        return "-"
    return "..".join(f"{100 * (end if sign else max(end, 0.0)):{sign}.2f}" for end in deciding)


def _folded(rows: Sequence[Sequence[str]], left: int, width: int | None) -> list[str]:
    """Return rows as tables that fit into `width`, with the first column in each, and nothing cut.

    A first column that has less room than its names gives each name lines of its own above its figures.
    """
    table = _aligned(rows, left)
    if width is None or _width(table) <= width:
        return [table]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    name = min(widths[0], max(width // 3, _LEAST_NAME))
    rows = [line for row in rows for line in _wrapped(row, name)]
    parts: list[list[int]] = [[]]
    for place in range(1, len(widths)):
        taken = name + sum(len(_GAP) + widths[other] for other in (*parts[-1], place))
        if parts[-1] and taken > width:
            parts.append([])
        parts[-1].append(place)
    return [
        _aligned(
            [[row[0], *(row[place] for place in part)] for row in rows],
            1 + sum(place < left for place in part),
        )
        for part in parts
    ]


def _wrapped(row: Sequence[str], width: int) -> Iterator[list[str]]:
    """Yield a row as lines whose first column has `width`; the others stand in the last one."""
    *above, last = textwrap.wrap(row[0], width) or [""]
    empty = [""] * (len(row) - 1)
    yield from ([line, *empty] for line in above)
    yield [last, *row[1:]]


def _width(table: str) -> int:
    return max(map(len, table.split("\n")))


def _aligned(rows: Sequence[Sequence[str]], left: int) -> str:
    """Return rows as columns, the first `left` of them to the left, the others to the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(_GAP.join(_padded(row, widths, left)).rstrip() for row in rows)


def _padded(row: Sequence[str], widths: Sequence[int], left: int) -> Iterator[str]:
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.ljust(width) if place < left else cell.rjust(width)
