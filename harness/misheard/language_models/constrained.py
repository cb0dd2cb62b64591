"""Holds greedy decoding to a JSON schema: the tokens that a reply may go on with, per row and step."""

import json
from collections.abc import Sequence
from typing import Any

from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.language_models.reply_schema import reply_schema

_LAYOUT = {"whitespace_flexible": False, "key_separator": ": ", "item_separator": ", "}
"""JSON on one line, spaced as `json.dumps` does it: free white space lets a small model go on for ever."""


class JsonGrammar:
    """A JSON schema compiled for one tokenizer, by llguidance.

    Raises BackendError where llguidance is missing, cannot read the tokenizer, or does not know a keyword of
    the schema.
    """

    def __init__(self, tokenizer: Any, end_tokens: frozenset[int], schema: str) -> None:
        try:
            import llguidance
            from llguidance.hf import from_tokenizer
        except ImportError as error:
            raise BackendError(
                f"language_model: replies under a JSON schema need llguidance; {INSTALL_ADVICE}"
            ) from error
        try:
            tokens = from_tokenizer(tokenizer, eos_token=sorted(end_tokens))
        except Exception as error:
            raise BackendError(
                "language_model.model: its tokenizer cannot be held to a JSON schema in this process "
                f"({type(error).__name__}); serve it with vllm instead"
            ) from error
        grammar = llguidance.LLMatcher.grammar_from_json_schema(
            json.dumps(reply_schema(schema)), defaults=_LAYOUT
        )
        self._matcher = llguidance.LLMatcher(tokens, grammar, log_level=0)
        if self._matcher.is_error():
            raise BackendError("language_model: the JSON schema of the replies cannot be compiled")

    def constrain(self, rows: int) -> "RowConstraints":
        """Return fresh constraints for a batch."""
        return RowConstraints([self._matcher.deep_copy() for _ in range(rows)])


class RowConstraints:
    """What each row of a batch may go on with; rows are named by their place in the batch as it began."""

    def __init__(self, matchers: Sequence[Any]) -> None:
        self._matchers = matchers

    def masked(self, logits: Any, rows: Sequence[int]) -> Any:
        """Return logits (rows, vocabulary) with -inf at the tokens that do not fit."""
        import numpy as np
        import torch

        masks = [np.frombuffer(self._matchers[row].compute_bitmask(), np.int32) for row in rows]
        bits = torch.from_numpy(np.stack(masks)).to(logits.device)
        places = torch.arange(32, dtype=torch.int32, device=logits.device)
        allowed = ((bits[:, :, None] >> places) & 1).flatten(1).bool()
        # Models have more logits than their tokenizer has tokens, or less than whole words of 32 bits.
        allowed = torch.nn.functional.pad(allowed, (0, logits.shape[1] - allowed.shape[1]))
        return logits.masked_fill(~allowed, float("-inf"))

    def accept(self, row: int, token: int) -> bool:
        """Take in a row's token; return whether the row is complete, so that nothing can follow."""
        matcher = self._matchers[row]
        return not matcher.consume_token(token) or matcher.is_stopped()
