"""Reference alternatives: the exact path against trying every one."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_definitions import canonical, paths

from misheard.metrics.alternatives import matched_alternatives, matched_reference

OFFICE = [
    [["my"]],
    [["office"], ["ऑफिस"]],
    [["is"]],
    [["near", "by"], ["nearby"]],
]


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        ("my ऑफिस is nearby", "my ऑफिस is nearby"),
        ("my office is near by", "my office is near by"),
        ("my ऑफिस is far", "my ऑफिस is nearby"),  # one substitution beats one and a deletion
        ("", "my office is nearby"),
        ("my desk is near by", "my office is near by"),  # of equal ones the first
    ],
)
def test_the_denominator_is_that_of_the_matched_path(hypothesis, reference):
    assert matched_reference(OFFICE, hypothesis.split()) == reference.split()


def test_a_slot_may_be_left_out():
    slots = [[["a"]], [["uh"], []], [["b"]]]
    assert matched_reference(slots, ["a", "b"]) == ["a", "b"]
    assert matched_reference(slots, ["a", "uh", "b"]) == ["a", "uh", "b"]


def test_without_choices_the_reference_is_itself():
    assert matched_alternatives([[["a", "b"]], [["c"]]], ["x"]) == [0, 0]
    assert matched_reference([], ["x"]) == []


def test_a_slot_without_alternatives_is_refused():
    with pytest.raises(ValueError, match="slot 1 has no alternatives"):
        matched_reference([[["a"]], []], ["a"])


alternative = st.lists(st.sampled_from("abc"), max_size=3)
slots_of_some = st.lists(st.lists(alternative, min_size=1, max_size=3), max_size=4)


@settings(deadline=None)
@given(slots_of_some, st.lists(st.sampled_from("abcd"), max_size=6))
def test_no_path_is_better(slots, hypothesis):
    chosen = matched_alternatives(slots, hypothesis)
    reference = matched_reference(slots, hypothesis)
    assert (tuple(chosen), reference) in list(paths(slots))
    assert canonical(reference, hypothesis) == min(canonical(path, hypothesis) for _, path in paths(slots))


@settings(deadline=None)
@given(slots_of_some, st.lists(st.sampled_from("abcd"), max_size=6))
def test_no_path_costs_less_with_sclites_costs(slots, hypothesis):
    def cost(reference):
        @cache
        def least(i, j):
            if not i or not j:
                return 3 * (i + j)
            pairing = 4 * (reference[i - 1] != hypothesis[j - 1])
            return min(least(i - 1, j) + 3, least(i, j - 1) + 3, least(i - 1, j - 1) + pairing)

        return least(len(reference), len(hypothesis))

    reference = matched_reference(slots, hypothesis, "sclite")
    assert cost(reference) == min(cost(path) for _, path in paths(slots))


def test_long_references_are_exact_too():
    slots = [[[f"w{n}"], [f"v{n}", "x"]] if n % 3 == 0 else [[f"w{n}"]] for n in range(300)]
    spoken = [slot[n % len(slot)] for n, slot in enumerate(slots)]
    hypothesis = [token for tokens in spoken for token in tokens]
    assert matched_reference(slots, hypothesis) == hypothesis
    assert matched_reference(slots, [*hypothesis[:200], "y", *hypothesis[200:]]) == hypothesis
