"""How much does mishearing cost? See the README for the tour, `misheard --help` for the commands.

`misheard.score(references, hypotheses)` scores texts; see `misheard.api`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from misheard.api import Score, score

__all__ = ["Score", "__version__", "score"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import the API when it is first used, so that importing misheard costs nothing."""
    if name in ("Score", "score"):
        from misheard import api

        return getattr(api, name)
    raise AttributeError(f"module 'misheard' has no attribute {name!r}")
