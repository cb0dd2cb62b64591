"""Energy and figures of made-up samples, against closed forms."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.telemetry.columns import FloatArray
from misheard.telemetry.energy import (
    Energy,
    Series,
    choose_method,
    counted_joules,
    inside,
    integrated_joules,
    mean_watts,
    no_energy,
    per_amount,
    stage_energy,
    sum_energies,
)
from misheard.telemetry.figures import rate_statistic, shares_of_bits, statistic
from misheard.telemetry.readings import Reading, Reason, none_for
from misheard.telemetry.stages import Interval

TIMES = np.arange(0.0, 100.5, 0.5)
UNSUPPORTED = none_for(Reason.NOT_SUPPORTED)
NO_BASELINE = none_for(Reason.NO_BASELINE)


def series(values: FloatArray, times: FloatArray = TIMES, missing: Reading = UNSUPPORTED) -> Series:
    return Series(times, np.asarray(values, dtype=np.float64), missing)


def nothing(missing: Reading = UNSUPPORTED) -> Series:
    return series(np.full(len(TIMES), np.nan), missing=missing)


def constant(watts: float) -> Series:
    return series(np.full(len(TIMES), watts))


@pytest.mark.parametrize("stage", [Interval(10.0, 30.0), Interval(10.13, 30.77), Interval(0.0, 100.0)])
def test_constant_power_is_power_times_seconds_by_both_methods(stage: Interval) -> None:
    for counter, method in ((series(7000 + 250 * TIMES), "counter"), (nothing(), "power")):
        energy = stage_energy(counter, constant(250.0), [stage], Reading(50.0))
        assert energy.method == method
        assert energy.gross.value == pytest.approx(250 * stage.seconds)
        assert energy.net.value == pytest.approx(200 * stage.seconds)
        assert energy.net.reason is None
        assert mean_watts(energy, [stage]).value == pytest.approx(250)


@pytest.mark.parametrize("stage", [Interval(10.0, 30.0), Interval(10.2, 30.4)])
def test_ramp_is_integrated_exactly(stage: Interval) -> None:
    """P = 3t: the integral is 1.5 (b² − a²), which the trapezoid rule finds for any samples."""
    energy = stage_energy(nothing(), series(3 * TIMES), [stage], NO_BASELINE)
    assert energy.gross.value == pytest.approx(1.5 * (stage.end**2 - stage.start**2))
    assert energy.net == NO_BASELINE


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.floats(0.5, 99.5), min_size=2, max_size=6, unique=True).map(sorted),
)
def test_counter_and_integration_agree(seed: int, cuts: list[float]) -> None:
    """The counter of a power that is linear between samples; stages that adjoin add up to the whole."""
    power = series(np.random.default_rng(seed).uniform(0, 700, len(TIMES)))
    steps = np.diff(TIMES) * (power.values[1:] + power.values[:-1]) / 2
    counter = series(np.concatenate([[0.0], np.cumsum(steps)]))
    # between samples the counter is read off linearly, which the integral of a slope is not
    aligned = Interval(float(round(cuts[0])), float(round(cuts[-1])))
    assert integrated_joules(power, aligned) == pytest.approx(counted_joules(counter, aligned), abs=1e-6)
    whole = Interval(cuts[0], cuts[-1])
    parts = [Interval(a, b) for a, b in itertools.pairwise(cuts)]
    for joules, values in ((integrated_joules, power), (counted_joules, counter)):
        assert sum(joules(values, part) for part in parts) == pytest.approx(joules(values, whole), abs=1e-6)


def test_stage_that_repeats_is_summed() -> None:
    stages = [Interval(10.0, 20.0), Interval(40.0, 45.0)]
    energy = stage_energy(series(100 * TIMES), None, stages, Reading(20.0))
    assert energy.gross.value == pytest.approx(1500)
    assert energy.net.value == pytest.approx(1200)


def test_less_than_the_baseline_is_negative_and_says_so() -> None:
    energy = stage_energy(series(100 * TIMES), None, [Interval(10.0, 20.0)], Reading(120.0))
    assert energy.net == Reading(pytest.approx(-200), Reason.BELOW_BASELINE)
    assert per_amount(energy.net, 2.0) == Reading(pytest.approx(-100), Reason.BELOW_BASELINE)
    both = sum_energies([energy, energy], UNSUPPORTED)
    assert both.net == Reading(pytest.approx(-400), Reason.BELOW_BASELINE)


@given(st.floats(0, 1e4), st.floats(0, 1e4), st.floats(1.5, 80))
def test_negative_net_always_has_its_reason(watts: float, idle: float, seconds: float) -> None:
    energy = stage_energy(series(watts * TIMES), None, [Interval(10.0, 10 + seconds)], Reading(idle))
    assert energy.net.value is not None
    assert energy.net.value == pytest.approx((watts - idle) * seconds, abs=1e-6 * max(1.0, watts, idle))
    if energy.net.value < -1e-6 * max(1.0, idle * seconds):
        assert energy.net.reason is Reason.BELOW_BASELINE
    if energy.net.value >= 0:
        assert energy.net.reason is None


@pytest.mark.parametrize(
    ("counter", "power", "method"),
    [
        (series(50 * TIMES), constant(50.0), "counter"),
        (series(np.zeros(len(TIMES))), constant(50.0), "power"),
        (series(np.zeros(len(TIMES))), constant(0.05), "counter"),
        (series(np.zeros(len(TIMES))), nothing(), "counter"),
        (series(50 * (TIMES % 40)), constant(50.0), "power"),
        (nothing(), constant(50.0), "power"),
        (nothing(), nothing(), "power"),
        (nothing(), None, "counter"),
    ],
    ids=[
        "both",
        "stands still",
        "idle",
        "no power",
        "begins again",
        "no counter",
        "neither",
        "counter alone",
    ],
)
def test_method(counter: Series, power: Series | None, method: str) -> None:
    assert choose_method(counter, power) == method


def lost(values: FloatArray) -> Series:
    return series(np.where(TIMES < 50, values, np.nan), missing=none_for(Reason.DEVICE_LOST))


@pytest.mark.parametrize(
    ("counter", "power", "stage", "reason"),
    [
        (nothing(), nothing(none_for(Reason.NO_PERMISSION)), Interval(10, 20), Reason.NO_PERMISSION),
        (nothing(none_for(Reason.MIG)), nothing(none_for(Reason.MIG)), Interval(10, 20), Reason.MIG),
        (nothing(none_for(Reason.NO_RAPL)), None, Interval(10, 20), Reason.NO_RAPL),
        (lost(50 * TIMES), lost(50 + 0 * TIMES), Interval(40, 60), Reason.DEVICE_LOST),
        (series(50 * TIMES), constant(50.0), Interval(90, 101), Reason.NOT_SAMPLED),
        (series(50 * TIMES), constant(50.0), Interval(-1, 20), Reason.NOT_SAMPLED),
        (series(50 * TIMES), constant(50.0), Interval(10.1, 10.6), Reason.TOO_SHORT),
    ],
)
def test_energy_that_cannot_be_had_is_null_with_a_reason(
    counter: Series, power: Series | None, stage: Interval, reason: Reason
) -> None:
    energy = stage_energy(counter, power, [stage], Reading(10.0))
    assert (energy.gross.value, energy.net.value, energy.method) == (None, None, None)
    assert energy.gross.reason is energy.net.reason is reason


def test_stages_before_a_device_was_lost_keep_their_energy() -> None:
    energy = stage_energy(lost(50 * TIMES), lost(50 + 0 * TIMES), [Interval(10, 20)], NO_BASELINE)
    assert energy.gross.value == pytest.approx(500)


def test_one_missing_sample_is_bridged() -> None:
    values = 50 * TIMES
    values[25] = np.nan
    energy = stage_energy(series(values), None, [Interval(12.4, 20.0)], NO_BASELINE)
    assert energy.gross.value == pytest.approx(50 * 7.6)


def test_sums_lack_what_one_of_their_parts_lacks() -> None:
    known = Energy("counter", Reading(10.0), Reading(8.0))
    integrated = Energy("power", Reading(5.0), NO_BASELINE)
    missing = no_energy(UNSUPPORTED)
    empty = none_for(Reason.NO_DEVICE)
    assert sum_energies([known, known], empty) == Energy("counter", Reading(20.0), Reading(16.0))
    assert sum_energies([known, integrated], empty) == Energy("power", Reading(15.0), NO_BASELINE)
    assert sum_energies([known, missing], empty) == Energy(None, UNSUPPORTED, UNSUPPORTED)
    assert sum_energies([], empty) == Energy(None, empty, empty)


@pytest.mark.parametrize("amount", [0.0, 0, None])
def test_no_work_makes_no_figure(amount: float | None) -> None:
    assert per_amount(Reading(5.0), amount).reason is Reason.NO_WORK
    assert per_amount(UNSUPPORTED, amount) == UNSUPPORTED


def test_mean_and_peak_are_over_the_samples_inside() -> None:
    values = np.where((TIMES >= 10) & (TIMES < 20), 4.0, 100.0)
    values[TIMES == 12.5] = 24.0
    found = statistic(series(values), [Interval(10.0, 20.0)])
    assert found.document() == {"mean": pytest.approx(5.0), "peak": 24.0}


def test_mean_over_a_part_of_the_samples_says_why() -> None:
    found = statistic(lost(4.0 + 0 * TIMES), [Interval(40.0, 60.0)])
    assert found.document() == {"mean": 4.0, "peak": 4.0, "reason": "device_lost"}


@pytest.mark.parametrize(
    ("values", "stage", "reason"),
    [
        (nothing(none_for(Reason.NO_PERMISSION)), Interval(10, 20), "no_permission"),
        (constant(1.0), Interval(10.1, 10.4), "too_short"),
    ],
)
def test_figure_without_samples_has_a_reason(values: Series, stage: Interval, reason: str) -> None:
    assert statistic(values, [stage]).document() == {"mean": None, "peak": None, "reason": reason}


@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 20)), max_size=6),
)
def test_samples_inside_are_those_of_each_interval(spans: list[tuple[int, int]]) -> None:
    stages = [Interval(float(start), float(start + length)) for start, length in spans]
    expected = [any(stage.start <= time < stage.end for stage in stages) for time in TIMES]
    assert inside(TIMES, stages).tolist() == expected


def test_processor_seconds_become_cores() -> None:
    """Two cores from 10 to 20 s, half a core else."""
    cores = np.where((TIMES >= 10) & (TIMES < 20), 2.0, 0.5)
    seconds = np.concatenate([[0.0], np.cumsum(0.5 * cores[:-1])])
    found = rate_statistic(series(seconds), [Interval(5.0, 25.0)])
    assert found.mean.value == pytest.approx((10 * 2.0 + 10 * 0.5) / 20)
    assert found.peak.value == pytest.approx(2.0)
    assert rate_statistic(series(seconds), [Interval(5.1, 5.4)]).mean.reason is Reason.TOO_SHORT
    assert rate_statistic(series(seconds), [Interval(99.0, 101.0)]).mean.reason is Reason.NOT_SAMPLED


def test_shares_of_throttling() -> None:
    bits = np.where(TIMES < 25, 0b100, 0.0) + np.where(TIMES < 50, 0b1, 0.0)
    assert shares_of_bits(series(bits), [Interval(0.0, 100.0)]) == {0: 0.5, 2: 0.25}
    assert shares_of_bits(series(bits), [Interval(60.0, 100.0)]) == {}
    assert shares_of_bits(nothing(), [Interval(0.0, 100.0)]) == UNSUPPORTED
