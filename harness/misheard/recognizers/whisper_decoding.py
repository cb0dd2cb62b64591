"""Greedy decoding of Whisper in torch: one token per step and window, over a cache of keys and values.

The rules are those of OpenAI's reference at temperature 0 without timestamps: tokens that the generation
config suppresses are never chosen, and a text does not begin with a blank or with its end. Nothing else of
the model's generation config is followed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from misheard.recognizers.whisper_tokens import WhisperTokens


class Decoder(Protocol):
    """One batch in the making. Logits are float32[rows, vocabulary], of the last token that was given.

    `begin` takes the encoder's output, [rows, 1500, width], and the token that all rows start with. `advance`
    takes the next tokens, as many for each row. `keep` drops all rows but those named, and returns
    whether it did: a decoder of static shapes goes on with all of them.
    """

    def begin(self, encoded: Any, start: int) -> Any: ...

    def advance(self, tokens: Sequence[Sequence[int]]) -> Any: ...

    def keep(self, rows: Sequence[int]) -> bool: ...


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Tokens that are never chosen, and those that are not chosen first."""

    always: tuple[int, ...]
    first: tuple[int, ...]


@dataclass(slots=True)
class Hypothesis:
    """One window's tokens without the end, their log probability with it, and whether the end was reached."""

    tokens: list[int]
    log_prob: float = 0.0
    ended: bool = False

    @property
    def avg_logprob(self) -> float:
        """Mean over the tokens and the end, as in Whisper's reference."""
        return self.log_prob / (len(self.tokens) + 1)


class GreedySearch:
    """Decodes a batch: `begin` reads what decides the prompts, `finish` follows them to the ends."""

    def __init__(self, decoder: Decoder, tokens: WhisperTokens, suppressed: Suppressed) -> None:
        self._decoder = decoder
        self._tokens = tokens
        self._suppressed = suppressed

    def begin(self, encoded: Any) -> tuple[list[float | None], list[str]]:
        """Give the start token; return per row the probability of no speech and the likeliest language.

        Both are read off the first logits, as the reference does. Without language tokens, or without one for
        no speech, there is nothing to read: an empty list, and None.
        """
        logits = self._decoder.begin(encoded, self._tokens.start)
        no_speech: list[float | None] = [None] * len(logits)
        if self._tokens.no_speech is not None:
            no_speech = logits.softmax(dim=-1)[:, self._tokens.no_speech].tolist()
        names = list(self._tokens.languages)
        if not names:
            return no_speech, []
        likeliest = logits[:, list(self._tokens.languages.values())].argmax(dim=-1).tolist()
        return no_speech, [names[place] for place in likeliest]

    def finish(self, prompts: Sequence[Sequence[int]], limit: int) -> list[Hypothesis]:
        """Decode the rows to their ends, or to `limit` tokens.

        `prompts` are of one length and begin with the start token, which the decoder has had.
        Raises RuntimeError where the model's output is not a number.

        Rows that have ended leave the batch where that pays, and go on unheeded where it does not.
        """
        import torch

        found = [Hypothesis([]) for _ in prompts]
        rows = list(range(len(prompts)))
        logits = self._decoder.advance([prompt[1:] for prompt in prompts])
        always = torch.tensor(self._suppressed.always, dtype=torch.long, device=logits.device)
        first = torch.tensor(self._suppressed.first, dtype=torch.long, device=logits.device)
        for step in range(limit):
            logits.index_fill_(1, always, float("-inf"))
            if step == 0:
                logits.index_fill_(1, first, float("-inf"))
            best, chosen = logits.max(dim=-1)
            gains = (best - logits.logsumexp(dim=-1)).tolist()
            tokens = chosen.tolist()
            for row, token, gain in zip(rows, tokens, gains, strict=True):
                self._take(found[row], token, gain)
            running = [place for place, row in enumerate(rows) if not found[row].ended]
            if not running:
                break
            if len(running) < len(rows) and self._decoder.keep(running):
                rows = [rows[place] for place in running]
                tokens = [tokens[place] for place in running]
            logits = self._decoder.advance([[token] for token in tokens])
        return found

    def _take(self, hypothesis: Hypothesis, token: int, gain: float) -> None:
        if hypothesis.ended:
            return
        if math.isnan(gain):
            raise RuntimeError("the model's output is not a number (NaN)")
        hypothesis.log_prob += gain
        if token == self._tokens.end:
            hypothesis.ended = True
        else:
            hypothesis.tokens.append(token)
