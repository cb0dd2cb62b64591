"""Greedy decoding by hand: a decoder whose logits are written down, and the rules on top of them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from misheard.errors import BackendError
from misheard.recognizers.protocol import SAMPLE_RATE, AudioWindow
from misheard.recognizers.whisper_decoding import GreedySearch, Suppressed
from misheard.recognizers.whisper_tokens import WhisperTokens, choose_languages, longest_answer, read_tokens

pytest.importorskip("torch", reason="needs the extra run")

import torch

END, A, B, BLANK, START, EN, DE, SAY, PLAIN, QUIET = range(10)
TOKENS = WhisperTokens(START, SAY, PLAIN, END, QUIET, {"en": EN, "de": DE})
PROMPT = [START, EN, SAY, PLAIN]
NONE = Suppressed((), ())


class Written:
    """Gives logits that prefer, step by step, what each row's script says; records what it is asked."""

    def __init__(self, scripts: Sequence[Sequence[int]], *, shrinks: bool = True) -> None:
        self.scripts = [list(script) for script in scripts]
        self.shrinks = shrinks
        self.given: list[list[list[int]]] = []

    def begin(self, encoded: Any, start: int) -> Any:
        assert start == START
        return self._logits()

    def advance(self, tokens: Sequence[Sequence[int]]) -> Any:
        self.given.append([list(row) for row in tokens])
        return self._logits()

    def keep(self, rows: Sequence[int]) -> bool:
        if self.shrinks:
            self.scripts = [self.scripts[row] for row in rows]
        return self.shrinks

    def _logits(self) -> Any:
        logits = torch.zeros(len(self.scripts), 10)
        for row, script in enumerate(self.scripts):
            # the second choice is B, so that a first one which is suppressed shows
            logits[row, B] = 1.0
            logits[row, script.pop(0) if script else A] = 2.0
        return logits


def decode(
    scripts: Sequence[Sequence[int]],
    limit: int = 9,
    suppressed: Suppressed = NONE,
    **options: Any,
) -> tuple[list[tuple[list[int], bool]], Written]:
    decoder = Written([[EN, *script] for script in scripts], **options)
    search = GreedySearch(decoder, TOKENS, suppressed)
    search.begin([None] * len(scripts))
    found = search.finish([PROMPT] * len(scripts), limit)
    return [(one.tokens, one.ended) for one in found], decoder


@pytest.mark.parametrize("shrinks", [True, False])
def test_rows_end_by_themselves_and_the_last_ends_the_loop(shrinks: bool) -> None:
    found, decoder = decode([[A, END], [B, A, A, END], [END]], shrinks=shrinks)
    assert found == [([A], True), ([B, A, A], True), ([], True)]
    assert decoder.given[0] == [PROMPT[1:]] * 3
    assert [len(tokens) for tokens in decoder.given[1:]] == ([2, 1, 1] if shrinks else [3, 3, 3])
    assert decoder.given[1][:2] == [[A], [B]]


def test_what_does_not_end_is_cut_at_the_limit() -> None:
    found, _ = decode([[A] * 20, [A, END]], limit=5)
    assert found == [([A] * 5, False), ([A], True)]


@pytest.mark.parametrize("damage", [math.nan, -math.inf])
def test_an_output_that_is_no_number_is_not_decoded(damage: float) -> None:
    class Damaged(Written):
        def _logits(self) -> Any:
            logits = super()._logits()
            return logits.fill_(damage) if len(self.given) > 1 else logits

    search = GreedySearch(Damaged([[A, A, A, END]]), TOKENS, NONE)
    search.begin(None)
    with pytest.raises(RuntimeError, match="not a number"):
        search.finish([PROMPT], 9)


def test_suppressed_tokens_are_not_chosen() -> None:
    never = Suppressed((A,), (BLANK, END))
    found, _ = decode([[BLANK, BLANK, END], [END, END], [A, A, END]], suppressed=never)
    assert found == [([B, BLANK], True), ([B], True), ([B, B], True)]


def test_probabilities_are_of_what_may_be_chosen() -> None:
    decoder = Written([[QUIET, A, END]])
    search = GreedySearch(decoder, TOKENS, Suppressed((B,), ()))
    (no_speech,), languages = search.begin([None])
    assert no_speech == pytest.approx(math.exp(2) / (math.exp(2) + math.e + 8))
    assert languages == ["en"]
    (found,) = search.finish([PROMPT], 9)
    # two steps, A and the end, over nine tokens: B is out of the running
    step = 2 - math.log(math.exp(2) + 8)
    assert (found.tokens, found.log_prob) == ([A], pytest.approx(2 * step))
    assert found.avg_logprob == pytest.approx(step)


def test_the_first_logits_tell_the_language() -> None:
    decoder = Written([[DE], [A], [EN]])
    assert GreedySearch(decoder, TOKENS, NONE).begin([None] * 3)[1] == ["de", "en", "en"]


def test_a_vocabulary_without_the_tokens_has_nothing_to_tell() -> None:
    plain = WhisperTokens(START, SAY, PLAIN, END, None, {})
    assert GreedySearch(Written([[A]]), plain, NONE).begin([None]) == ([None], [])
    assert plain.prompt("en") == [START, PLAIN]
    assert [plain.supports(language) for language in ("en", "de", None)] == [True, False, True]


def test_special_tokens_are_read_off_the_vocabulary() -> None:
    names = ("<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>", "<|endoftext|>")
    vocabulary = {name: number for number, name in enumerate(names)} | {"<|nocaptions|>": 9, "<|haw|>": 8}
    found = read_tokens(vocabulary, "here", multilingual=True)
    assert found == WhisperTokens(0, 2, 3, 4, 9, {"en": 1, "haw": 8})
    assert read_tokens(vocabulary, "here", multilingual=False).languages == {}
    del vocabulary["<|transcribe|>"]
    with pytest.raises(BackendError, match=r"here lacks <\|transcribe\|>"):
        read_tokens(vocabulary, "here", multilingual=True)


def test_a_language_that_is_given_is_not_asked_for() -> None:
    speech = (0.3 * np.random.default_rng(1).standard_normal(SAMPLE_RATE)).astype(np.float32)
    speech[SAMPLE_RATE // 2 :] = 0
    silence = np.zeros(SAMPLE_RATE, np.float32)
    given = [AudioWindow(speech, "de"), AudioWindow(silence, "en")]
    assert choose_languages(given, TOKENS, lambda: pytest.fail("asked")) == (["de", "en"],) * 2
    open_ended = [*given, AudioWindow(speech, None), AudioWindow(silence, None)]
    reported, decoded = choose_languages(open_ended, TOKENS, lambda: ["en", "de", "de", "de"])
    assert decoded == ["de", "en", "de", "de"]
    assert reported == ["de", "en", "de", None]


def test_an_answer_has_half_of_the_positions_at_most() -> None:
    assert (longest_answer(2), longest_answer(4), longest_answer(300)) == (224, 224, 148)
