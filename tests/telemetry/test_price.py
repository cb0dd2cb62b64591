import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.telemetry.price import Price, device_money, token_money
from misheard.telemetry.readings import Reason


def test_device_hours() -> None:
    price = Price(currency="EUR", per_device_hour=3.6)
    assert device_money(price, 2, 1800.0).value == pytest.approx(3.6)
    assert device_money(Price(), 2, 1800.0).reason is Reason.NO_PRICE
    assert device_money(price, 0, 1800.0).reason is Reason.NO_DEVICE
    assert device_money(Price(per_device_hour=0.0), 1, 1800.0).value == 0.0


@pytest.mark.parametrize(
    ("price", "tokens", "money", "reason"),
    [
        (Price(), (10, 10), None, Reason.NO_PRICE),
        (Price(per_million_prompt_tokens=2.0), (500_000, None), 1.0, None),
        (Price(per_million_completion_tokens=8.0), (500_000, 250_000), 2.0, None),
        (Price("USD", None, 2.0, 8.0), (500_000, 250_000), 3.0, None),
        (Price("USD", None, 2.0, 8.0), (500_000, None), None, Reason.NO_TOKENS),
        (Price(per_million_prompt_tokens=2.0), (None, 5), None, Reason.NO_TOKENS),
        (Price(per_million_prompt_tokens=2.0), (0, 0), 0.0, None),
    ],
)
def test_tokens(
    price: Price, tokens: tuple[int | None, int | None], money: float | None, reason: Reason | None
) -> None:
    found = token_money(price, *tokens)
    assert found.value == (None if money is None else pytest.approx(money))
    assert found.reason is reason


@given(st.floats(0, 1e3), st.integers(1, 64), st.floats(0, 1e6), st.floats(0, 1e6))
def test_device_money_adds_up(unit: float, devices: int, first: float, second: float) -> None:
    price = Price(per_device_hour=unit)
    parts = [device_money(price, devices, seconds).value or 0.0 for seconds in (first, second)]
    assert sum(parts) == pytest.approx(device_money(price, devices, first + second).value)
    assert min(parts) >= 0
