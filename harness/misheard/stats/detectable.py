"""The smallest difference that a suite is likely to show."""

from misheard.stats.student import t_quantile


def smallest_detectable(
    standard_error: float, units: int, power: float = 0.8, confidence: float = 0.95
) -> float | None:
    """Return the size of difference whose two-sided interval excludes zero with probability `power`.

    (t(1 - alpha / 2) + t(power)) · SE with G - 1 degrees of freedom, for a difference that is about normal
    and a standard error that the real difference would not change. None where nothing can be said: under two
    units, or with a standard error of 0, which is a spread that was not seen and not one that is not there.

    Args:
        standard_error: of the difference, in its own unit.
        units: resampling units G behind it.
        power: at least 0.5 and below 1.
        confidence: level of the interval.

    Raises ValueError for a negative standard error and for a power out of range.
    """
    if not standard_error >= 0:
        raise ValueError(f"standard_error must not be negative, not {standard_error}")
    if not 0.5 <= power < 1:
        raise ValueError(f"power must be in [0.5, 1), not {power}")
    if units < 2 or standard_error == 0:
        return None
    degrees = units - 1
    return (t_quantile(0.5 + confidence / 2.0, degrees) + t_quantile(power, degrees)) * standard_error
