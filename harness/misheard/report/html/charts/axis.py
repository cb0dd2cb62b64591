"""How an axis of a chart writes the values of a metric."""

from misheard.report.labels import UNICODE, format_difference, format_value, is_score


def axis_value(metric: str, value: float) -> str:
    """Return a value as short as an axis needs it: no decimals that are zero."""
    text = format_value(metric, value, UNICODE)
    unit = "" if is_score(metric) else "%"
    number = text.removesuffix("%")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + unit


def difference_axis_value(metric: str, value: float) -> str:
    """Return a difference with its sign, in points where shares are in percent, in the same manner."""
    text = format_difference(metric, value, UNICODE)
    return text.rstrip("0").rstrip(".") if "." in text else text
