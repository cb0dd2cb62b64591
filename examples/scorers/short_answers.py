"""A scorer of answers: what of the reference answer is in it, less where it is long to listen to.

    scoring:
      response_scorer: short_answers:spoken

It is a function of two texts that returns a number from 0 to 1. misheard finds the module where Python does,
or in the working folder.
"""

WORDS = 25


def spoken(reference: str, answer: str) -> float:
    """Return 1 for a right answer of at most 25 words, less for longer ones, 0 for a wrong one."""
    wanted = set(_words(reference))
    said = _words(answer)
    if not wanted or not wanted & set(said):
        return 0.0
    covered = len(wanted & set(said)) / len(wanted)
    return covered * min(1.0, WORDS / len(said))


def _words(text: str) -> list[str]:
    kept = "".join(character if character.isalnum() else " " for character in text.casefold())
    return kept.split()
