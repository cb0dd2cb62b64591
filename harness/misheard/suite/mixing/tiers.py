"""The tiers that a command asks for."""

import re
from dataclasses import dataclass

from misheard.errors import InputError
from misheard.suite.mixing.microphones import FAR_FIELD, TELEPHONE
from misheard.suite.problems import shown, suggestion

CLEAN = "clean"
"""The value of the axis `noise` of a recording that nothing was mixed into."""
ORIGINAL = "original"
"""The value of the axis `mic` of a recording whose suite names none."""

LOWEST_SNR, HIGHEST_SNR = -20, 60
_SNR = re.compile(r"[+-]?[0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class Tier:
    """One derived tier: the axis and the value that it gives an item, and its ratio where it has one."""

    axis: str
    value: str
    snr_db: int | None = None


@dataclass(frozen=True, slots=True)
class Tiers:
    """What is derived, and whether the suite's own recordings are in the result."""

    clean: bool
    derived: tuple[Tier, ...]


def read_tiers(snr: str, mics: str | None) -> Tiers:
    """Return the tiers of `--snr clean,15,5` and `--mic telephone,far-field`. Raises InputError."""
    words = [word.strip() for word in snr.split(",")]
    microphones = [word.strip() for word in mics.split(",")] if mics is not None else []
    for option, given in (("--snr", words), ("--mic", microphones)):
        if len(set(given)) < len(given):
            raise InputError(f"{option}: names a tier twice")
    for name in microphones:
        if name not in (TELEPHONE, FAR_FIELD):
            raise InputError(
                f"--mic {shown(name)}: no such microphone{suggestion(name, (TELEPHONE, FAR_FIELD))}"
            )
    ratios = [_ratio(word) for word in words if word != CLEAN]
    noises = tuple(Tier("noise", f"{ratio}dB", ratio) for ratio in ratios)
    if len({tier.value for tier in noises}) < len(noises):
        raise InputError("--snr: names a tier twice")
    derived = (*noises, *(Tier("mic", name) for name in microphones))
    if not derived:
        raise InputError("nothing to derive: give --snr clean,15,5 or --mic telephone")
    return Tiers(CLEAN in words, derived)


def _ratio(word: str) -> int:
    if not _SNR.fullmatch(word) or not LOWEST_SNR <= int(word) <= HIGHEST_SNR:
        limits = f"{LOWEST_SNR} to {HIGHEST_SNR}"
        raise InputError(
            f"--snr {shown(word)}: give {CLEAN}, or whole dB from {limits}, such as {CLEAN},15,5"
        )
    return int(word)
