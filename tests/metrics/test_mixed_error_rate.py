"""MER and the error rates of one script, both denominators."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scored_rows import heard, named_counts, named_rates
from slow_definitions import canonical

from misheard.metrics.error_rates import cer, wer
from misheard.metrics.mixed_error_rate import mer, one_script, script_tokens
from misheard.text.tokenisers import mixed_tokeniser

ZH = ["Hani"]


@pytest.mark.parametrize(
    ("family", "errors", "units", "rate", "bounded"),
    [
        (mer("nfc", ZH), 2, 4, 0.5, 0.4),
        (one_script("nfc", "Hani", ZH), 2, 3, 2 / 3, 0.4),
        (one_script("nfc", "Latn", ZH), 1, 1, 1.0, 1.0),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_worked_example(family, errors, units, rate, bounded):
    row = heard("我想喝latte", "我想喝辣椒")
    counts = named_counts(family, row)
    assert counts is not None
    assert counts["substitutions"] + counts["deletions"] + counts["insertions"] == errors
    assert counts["reference_units"] == units
    rates = named_rates(family, [row])
    assert rates[family.name] == pytest.approx(rate)
    assert rates[f"{family.name}_bounded"] == pytest.approx(bounded)


@pytest.mark.parametrize(
    ("char_scripts", "reference", "hypothesis", "errors", "units"),
    [
        (["Deva"], "मुझे coffee चाहिए", "मुझे tea चाहिए", 1, 10),
        ([], "मुझे coffee चाहिए", "मुझे tea चाहिए", 1, 3),
        (ZH, "我爱你", "我爱他", 1, 3),
        (ZH, "我 want 你", "我 won 你", 1, 3),
    ],
)
def test_known_cases(char_scripts, reference, hypothesis, errors, units):
    counts = named_counts(mer("nfc", char_scripts), heard(reference, hypothesis))
    assert counts is not None
    assert counts["substitutions"] + counts["deletions"] + counts["insertions"] == errors
    assert counts["reference_units"] == units


def test_one_script_keeps_its_tokens_alone():
    tokens = mixed_tokeniser(ZH).split("我想 buy 2 個 iPhone 。")
    assert script_tokens(tokens, "Hani") == ["我", "想", "個"]
    assert script_tokens(tokens, "Latn") == ["buy", "iPhone"]


def test_a_script_that_is_not_there_has_no_rate():
    assert set(named_rates(one_script("nfc", "Latn", ZH), [heard("我", "你")]).values()) == {None}


text = st.text("我想喝ab ", max_size=8)


@settings(deadline=None)
@given(st.lists(st.tuples(text, text), min_size=1, max_size=4))
def test_rates_follow_their_definition_and_bounded_ones_stay_within_one_per_item(pairs):
    rows = [heard(reference, hypothesis) for reference, hypothesis in pairs]
    families = [wer("nfc"), cer("nfc"), mer("nfc", ZH), one_script("nfc", "Hani", ZH)]
    families.append(one_script("nfc", "Latn", ZH))
    for family in families:
        for chosen, bound in [(rows, 2), *(([row], 1) for row in rows)]:
            bounded = named_rates(family, chosen)[f"{family.name}_bounded"]
            assert bounded is None or 0 <= bounded <= bound
    split = mixed_tokeniser(ZH).split
    errors = sum(canonical(split(reference), split(hypothesis))[0] for reference, hypothesis in pairs)
    said, got = (sum(len(split(pair[side])) for pair in pairs) for side in (0, 1))
    rates = named_rates(families[2], rows)
    assert rates["mer"] == (pytest.approx(errors / said) if said else None)
    assert rates["mer_bounded"] == (pytest.approx(errors / max(said, got)) if said or got else None)
