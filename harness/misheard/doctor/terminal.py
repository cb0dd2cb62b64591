"""Checks as text: a line each, wrapped to the width of the terminal, and as JSON."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, replace

from rich.text import Text

from misheard.doctor.checks import Check, State
from misheard.errors import is_install_advice

_WORDS = {State.OK: "ok", State.WARNING: "warning", State.MISSING: "missing", State.BROKEN: "BROKEN"}
_COLOURS = {State.OK: "green", State.WARNING: "yellow", State.MISSING: "yellow", State.BROKEN: "bold red"}
_STATE_COLUMNS = 9
_NAME_COLUMNS = 20
_NARROW = 76
_INDENT = 4


def render_group(checks: Sequence[Check], width: int, *, with_extras: bool = True) -> Text:
    """Return the lines of one group under its heading.

    Args:
        checks: of the group.
        width: of a line.
        with_extras: whether advice to install an extra stands at each line; else `extras_to_install` says it.
    """
    text = Text(f"{checks[0].group}\n", style="bold")
    for check in checks:
        text.append(f"  {_WORDS[check.state]:<{_STATE_COLUMNS}}", style=_COLOURS[check.state])
        is_said = with_extras or not is_install_advice(check.advice)
        text.append(_lines(check if is_said else replace(check, advice=""), width), style="not bold")
    return text


def extras_to_install(checks: Sequence[Check], width: int) -> str:
    """Return how the extras that checks advise are installed, each once; empty where none is."""
    lines = []
    for advice in dict.fromkeys(check.advice for check in checks if is_install_advice(check.advice)):
        names = ", ".join(check.name for check in checks if check.advice == advice)
        lines += _wrapped(f"-> {advice} brings {names}", width, 0)
    return "\n".join(lines)


def _lines(check: Check, width: int) -> str:
    """Return name, finding and advice; on a narrow terminal the finding begins on a line of its own."""
    hanging = _INDENT if width < _NARROW else 2 + _STATE_COLUMNS + _NAME_COLUMNS
    begin = f"{check.name:<{_NAME_COLUMNS - 2}}  "
    if width < _NARROW or len(begin) > _NAME_COLUMNS:
        short = f"{check.name:<12} {check.found}"
        fits = 2 + _STATE_COLUMNS + len(short) <= width
        lines = [short] if fits else [check.name, *_wrapped(check.found, width, hanging)]
    else:
        first, *rest = _wrapped(check.found, width, hanging) or [""]
        lines = [begin + first.strip(), *rest]
    if check.advice:
        lines += _wrapped(f"-> {check.advice}", width, hanging)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    """Wrap between words alone: commands and paths are there to be copied."""
    return textwrap.wrap(
        text,
        max(width, 20),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 3 * text.startswith("-> ")),
        break_long_words=False,
        break_on_hyphens=False,
    )


def summary(checks: Sequence[Check], config: str | None) -> str:
    """Return the verdict in words."""
    broken = [check.name for check in checks if check.state is State.BROKEN]
    if config is None:
        return f"broken: {', '.join(broken)}" if broken else "nothing is broken"
    return f"{config} will not run: {', '.join(broken)}" if broken else f"{config} will run"


def as_json(checks: Sequence[Check]) -> str:
    """Return one document: every check, and whether nothing is broken."""
    rows = [{**asdict(check), "seconds": round(check.seconds, 3)} for check in checks]
    return json.dumps({"checks": rows, "ok": is_ok(checks)}, indent=2, ensure_ascii=False)


def is_ok(checks: Sequence[Check]) -> bool:
    """Return whether nothing is broken."""
    return all(check.state is not State.BROKEN for check in checks)
