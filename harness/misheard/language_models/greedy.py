"""Greedy decoding of a left-padded batch that shrinks as its rows finish."""

import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from misheard.language_models.constrained import RowConstraints


@dataclass(frozen=True, slots=True)
class Generated:
    """New tokens per row, without an end token; `ended` is False at the limit of tokens.

    `decoded` counts tokens per row, the end token included.
    """

    tokens: tuple[tuple[int, ...], ...]
    ended: tuple[bool, ...]
    decoded: tuple[int, ...]
    first_token_seconds: float


def cache_argument(forward: Callable[..., Any]) -> str:
    """Return the name under which a model of transformers takes its cache; 5.24 renamed it."""
    names = inspect.signature(forward).parameters
    return "cache" if "cache" in names and "past_key_values" not in names else "past_key_values"


def decode_greedily(
    model: Any,
    prompts: Sequence[Sequence[int]],
    *,
    max_tokens: int,
    end_tokens: frozenset[int],
    pad_token: int,
    constraints: RowConstraints | None = None,
) -> Generated:
    """Return the most likely next tokens for each prompt (token ids, none empty).

    Nothing but the arguments decides: no generation config is read, and no logit is changed but those that
    `constraints`, one per prompt, rule out. A finished row leaves the batch, which on a CPU saves about a
    quarter of the time for answers of mixed length.
    """
    import torch
    from transformers import DynamicCache

    started = time.perf_counter()
    inputs, mask = _left_padded(prompts, pad_token, model.device)
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
    cache = DynamicCache(config=model.config)
    given_cache = {cache_argument(model.forward): cache}
    tokens: list[list[int]] = [[] for _ in prompts]
    ended = [False] * len(prompts)
    decoded = [0] * len(prompts)
    rows = list(range(len(prompts)))
    first_token_seconds = 0.0
    with torch.inference_mode():
        for step in range(max_tokens):
            output = model(
                input_ids=inputs,
                attention_mask=mask,
                position_ids=positions,
                use_cache=True,
                logits_to_keep=1,
                **given_cache,
            )
            logits = output.logits[:, -1]
            if constraints is not None:
                logits = constraints.masked(logits, rows)
            chosen = logits.argmax(dim=-1)
            for row in rows:
                decoded[row] = step + 1
            keep = _take(chosen.tolist(), rows, tokens, ended, end_tokens, constraints)
            if step == 0:
                first_token_seconds = time.perf_counter() - started
            if not keep:
                break
            if len(keep) < len(rows):
                index = torch.tensor(keep, device=mask.device)
                cache.batch_select_indices(index)
                mask, positions, chosen = mask[index], positions[index], chosen[index]
                rows = [rows[row] for row in keep]
            inputs = chosen[:, None]
            mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)
            positions = positions[:, -1:] + 1
    return Generated(tuple(map(tuple, tokens)), tuple(ended), tuple(decoded), first_token_seconds)


def _left_padded(prompts: Sequence[Sequence[int]], pad_token: int, device: Any) -> tuple[Any, Any]:
    import torch

    width = max(map(len, prompts))
    padding = [width - len(prompt) for prompt in prompts]
    inputs = [[pad_token] * pad + list(prompt) for pad, prompt in zip(padding, prompts, strict=True)]
    mask = [[0] * pad + [1] * (width - pad) for pad in padding]
    return torch.tensor(inputs, device=device), torch.tensor(mask, device=device)


def _take(
    chosen: list[int],
    rows: list[int],
    tokens: list[list[int]],
    ended: list[bool],
    end_tokens: frozenset[int],
    constraints: RowConstraints | None,
) -> list[int]:
    """Record one token per running row; return the places in the batch that go on."""
    keep = []
    for place, (row, token) in enumerate(zip(rows, chosen, strict=True)):
        if token in end_tokens:
            ended[row] = True
            continue
        tokens[row].append(token)
        if constraints is not None and constraints.accept(row, token):
            ended[row] = True
        else:
            keep.append(place)
    return keep
