import numpy as np
import pytest

from made_up_tables import AXES, FAMILIES, RATIO, make_items, make_table, ratio_table
from misheard.metrics.base import Arm
from misheard.stats.estimates import Estimate, Estimator
from misheard.stats.slices import items_sha256, slice_items, unit_numbers, used_axes


def pick(estimates: tuple[Estimate, ...], metric: str, arm: Arm = Arm.AUDIO) -> Estimate:
    (found,) = [e for e in estimates if (e.metric, e.arm) == (metric, arm)]
    return found


def test_every_declared_value_is_a_cell_and_items_without_one_are_kept() -> None:
    cells = slice_items(make_items(2, 3, 2), AXES)
    assert [(cell.axis, cell.value, cell.items) for cell in cells] == [
        ("language", "en", 6),
        ("language", None, 2),
        ("noise", "clean", 5),
        ("noise", "15dB", 3),
        ("noise", "5dB", 0),
        ("mic", "laptop", 3),
        ("mic", "phone", 3),
        ("mic", None, 2),
    ]


def test_undeclared_values_follow_the_declared_ones() -> None:
    cells = slice_items(make_items(2, 3, 0), {"noise": ("5dB", "clean")})
    assert [cell.value for cell in cells] == ["5dB", "clean", "15dB"]


def test_suite_without_axes_is_cut_by_kind() -> None:
    cells = slice_items(make_items(2, 3, 2), {})
    assert [(cell.axis, cell.value, cell.items) for cell in cells] == [
        ("kind", "speech", 6),
        ("kind", "non_speech", 2),
    ]


def test_used_axes_are_what_the_items_name() -> None:
    assert used_axes(make_items(2, 3, 1)) == {
        "language": ("en",),
        "mic": ("laptop", "phone"),
        "noise": ("15dB", "clean"),
    }


def test_slices_share_a_hash_exactly_where_they_share_their_items() -> None:
    items = make_items(2, 3, 1)
    rows = {cell.value: cell.rows for cell in slice_items(items, AXES)}
    everything = np.ones(len(items), dtype=np.bool_)
    hashes = {value: items_sha256(items, mask) for value, mask in rows.items()}
    assert hashes["clean"] != hashes["15dB"]
    assert rows["laptop"].sum() == rows["phone"].sum() and hashes["laptop"] != hashes["phone"]
    assert items_sha256(items[::-1], rows["phone"][::-1]) == hashes["phone"]
    assert items_sha256(items, everything) not in hashes.values()


def test_items_of_one_session_share_a_number() -> None:
    np.testing.assert_array_equal(unit_numbers(make_items(2, 3, 2)), [0, 0, 0, 1, 1, 1, 2, 3])


def test_estimate_is_made_from_sums_not_from_rates() -> None:
    table = ratio_table([1, 9], [100, 10], ["x", "y"])
    estimate = pick(Estimator(table, (RATIO,)).estimate(np.ones(2, dtype=bool)), "ratio")
    assert estimate.value == 10 / 110
    assert estimate.counts == {"wrong": 10.0, "total": 110.0}
    assert (estimate.n, estimate.units, estimate.failed) == (2, 2, 0)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [([False] * 3, "no_items"), ([True, False, False], "undefined"), ([False, False, True], None)],
)
def test_missing_value_says_why(rows: list[bool], reason: str | None) -> None:
    table = ratio_table([3, 0, 1], [0, 0, 2], ["x", "y", "z"])
    estimate = pick(Estimator(table, (RATIO,)).estimate(np.array(rows)), "ratio")
    assert estimate.reason == reason
    assert (estimate.value is None) == (reason is not None)


def test_cell_whose_items_all_failed_is_not_an_empty_cell() -> None:
    table = make_table()
    failed = np.array([failure is not None for failure in table.arms[Arm.AUDIO].failures])
    estimate = pick(Estimator(table, FAMILIES).estimate(failed), "wer")
    assert (estimate.reason, estimate.n, estimate.failed) == ("no_scored_items", 0, 1)
