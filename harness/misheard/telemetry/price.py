"""What a run's time and tokens cost: pure functions. A price that is not named makes no figure."""

from dataclasses import dataclass

from misheard.telemetry.readings import Reading, Reason, none_for


@dataclass(frozen=True, slots=True)
class Price:
    """Prices in one currency; None where the config names none."""

    currency: str = "USD"
    per_device_hour: float | None = None
    per_million_prompt_tokens: float | None = None
    per_million_completion_tokens: float | None = None


def device_money(price: Price, devices: int, seconds: float) -> Reading:
    """Return price per device hour × devices × hours."""
    if price.per_device_hour is None:
        return none_for(Reason.NO_PRICE)
    if devices == 0:
        return none_for(Reason.NO_DEVICE)
    return Reading(price.per_device_hour * devices * seconds / 3600)


def token_money(price: Price, prompt_tokens: int | None, completion_tokens: int | None) -> Reading:
    """Return what the tokens cost whose price is named."""
    parts = [
        (unit, count)
        for unit, count in (
            (price.per_million_prompt_tokens, prompt_tokens),
            (price.per_million_completion_tokens, completion_tokens),
        )
        if unit is not None
    ]
    if not parts:
        return none_for(Reason.NO_PRICE)
    known = [unit * count for unit, count in parts if count is not None]
    if len(known) < len(parts):
        return none_for(Reason.NO_TOKENS)
    return Reading(sum(known) / 1e6)
