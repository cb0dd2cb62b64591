"""A function of a word that is computed once per distinct word."""

from collections.abc import Callable, Sequence

_MAX_WORDS = 200_000
_MAX_LENGTH = 64


class WordCache(dict[str, str]):
    """Maps words to what a function makes of them: words with one space between, or nothing.

    Holds at most `_MAX_WORDS` words and none longer than `_MAX_LENGTH`, such as sentences of scripts without
    spaces, which hardly ever repeat.
    """

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> str:
        value = self._function(word)
        if len(word) <= _MAX_LENGTH:
            if len(self) >= _MAX_WORDS:
                self.clear()
            self[word] = value
        return value

    def joined(self, words: Sequence[str]) -> str:
        """Return what becomes of each word, with one space between those of which something is left."""
        values = list(map(self.__getitem__, words))
        return " ".join(values) if all(values) else " ".join(filter(None, values))
