"""Random numbers that depend on what they are for, and on nothing that was drawn before."""

import hashlib

import numpy as np


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return the generator of (seed, names): Philox, a counter-based generator, keyed with their sha256.

    Adding, removing or reordering items leaves every other item's numbers as they are.
    """
    return np.random.Generator(np.random.Philox(key=int.from_bytes(_digest(seed, names)[:16], "little")))


def rank(seed: int, *names: str) -> bytes:
    """Return a key to sort candidates by: a new candidate displaces at most one of the chosen."""
    return _digest(seed, names)


def _digest(seed: int, names: tuple[str, ...]) -> bytes:
    # Names end with a NUL, which none of them holds, so that ("ab", "c") and ("a", "bc") differ.
    return hashlib.sha256("".join(f"{name}\0" for name in (str(seed), *names)).encode()).digest()
