"""Collecting everything that is wrong with a suite before saying so."""

from collections.abc import Iterable
from difflib import get_close_matches

from misheard.errors import Problem, SuiteError, count_of

MAX_LISTED = 1_000
_MAX_SHOWN = 60


class Problems:
    """A list of problems that stops growing where nobody would read on, but goes on counting."""

    def __init__(self) -> None:
        self._listed: list[Problem] = []
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    @property
    def full(self) -> bool:
        """Whether further problems are counted and no longer listed: nobody reads what is said of them."""
        return self._count >= MAX_LISTED

    @property
    def count(self) -> int:
        """How many have been added."""
        return self._count

    def add(self, where: str, what: str) -> None:
        """Add one problem. `what` must not hold text of a transcript or an answer."""
        self._count += 1
        if len(self._listed) < MAX_LISTED:
            self._listed.append(Problem(where, what))

    def error(self, source: str) -> SuiteError:
        """Return the error that lists everything."""
        more = self._count - len(self._listed)
        rest = [Problem(source, f"{count_of(more, 'more problem')}; mend these first")] if more else []
        return SuiteError(source, [*self._listed, *rest])


def shown(name: str) -> str:
    """Return a name that a manifest gives, quoted, in ASCII and short enough for a message."""
    return ascii(name if len(name) <= _MAX_SHOWN else name[:_MAX_SHOWN] + "…")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)` for a name close to a known one, else the known ones."""
    known = list(known)
    close = get_close_matches(name[:_MAX_SHOWN], known, n=1)
    if close:
        return f" (did you mean {shown(close[0])}?)"
    return f" (known: {', '.join(map(shown, known[:20]))})" if known else ""
