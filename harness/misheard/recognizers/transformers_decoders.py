"""Two ways to step through Whisper's decoder in transformers: growing tensors, or static ones in a graph."""

import copy
from collections.abc import Sequence
from typing import Any

from misheard.language_models.greedy import cache_argument
from misheard.recognizers.whisper_tokens import MAX_LENGTH


class GrowingDecoder:
    """Keys and values grow by a token per step, and shrink by the rows that have ended.

    Dropping rows copies what the others attend to, so that it waits until at least a quarter has ended.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._cache_argument = cache_argument(model.model.decoder.forward)

    def begin(self, encoded: Any, start: int) -> Any:
        from transformers import DynamicCache, EncoderDecoderCache

        self._encoded = encoded
        self._rows = len(encoded)
        config = decoder_config(self._model.config)
        self._cache = EncoderDecoderCache(DynamicCache(config=config), DynamicCache(config=config))
        return self.advance([[start]] * self._rows)

    def advance(self, tokens: Sequence[Sequence[int]]) -> Any:
        import torch

        output = self._model.model.decoder(
            input_ids=torch.tensor(tokens, device=self._encoded.device),
            encoder_hidden_states=self._encoded,
            use_cache=True,
            **{self._cache_argument: self._cache},
        )
        return self._model.proj_out(output.last_hidden_state[:, -1]).float()

    def keep(self, rows: Sequence[int]) -> bool:
        import torch

        if len(rows) > 0.75 * self._rows:
            return False
        self._cache.batch_select_indices(torch.tensor(rows, device=self._encoded.device))
        self._rows = len(rows)
        return True


class StaticDecoder:
    """Tensors of one shape for every batch and step; on CUDA a step is one graph that is captured once.

    A graph launches the hundreds of small kernels of a step at once, where starting them one by one takes
    longer than their work. It needs no compiler. A smaller batch is filled up with zeros, and rows that have
    ended go on unheeded, so that `size` is the only batch size. On a CPU the same steps run without a graph.
    """

    def __init__(self, model: Any, size: int) -> None:
        import torch
        from transformers import EncoderDecoderCache, StaticCache

        self._model = model
        self._cache_argument = cache_argument(model.model.decoder.forward)
        self._size = size
        config = decoder_config(model.config)
        self._cache = EncoderDecoderCache(
            StaticCache(config=config, max_cache_len=MAX_LENGTH),
            StaticCache(config=config, max_cache_len=model.config.max_source_positions),
        )
        device = model.device
        self._tokens = torch.zeros((size, 1), dtype=torch.long, device=device)
        self._position = torch.zeros((1, 1), dtype=torch.long, device=device)
        self._places = torch.arange(MAX_LENGTH, device=device)[None, None, None]
        self._encoded = torch.zeros(
            (size, model.config.max_source_positions, model.config.d_model), dtype=model.dtype, device=device
        )
        self._graph: Any = None
        self._logits: Any = None

    def begin(self, encoded: Any, start: int) -> Any:
        self._rows = len(encoded)
        self._encoded.zero_()
        self._encoded[: self._rows] = encoded
        self._cache.reset()
        self._position.zero_()
        self._tokens.fill_(start)
        # this first step is never in the graph: it writes what the windows' encodings are attended by
        logits = self._step()[: self._rows]
        self._position.add_(1)
        return logits

    def advance(self, tokens: Sequence[Sequence[int]]) -> Any:
        import torch

        for step in zip(*tokens, strict=True):
            self._tokens[: self._rows, 0] = torch.tensor(step, device=self._tokens.device)
            logits = self._run()
            self._position.add_(1)
        return logits[: self._rows]

    def keep(self, rows: Sequence[int]) -> bool:
        return False

    def _run(self) -> Any:
        if self._tokens.device.type != "cuda":
            return self._step()
        if self._graph is None:
            self._capture()
        self._graph.replay()
        return self._logits

    def _capture(self) -> None:
        """Record a step. What runs before, so that libraries have set themselves up, is undone."""
        import torch

        lengths = [layer.cumulative_length for layer in self._cache.self_attention_cache.layers]
        before = [length.clone() for length in lengths]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                self._step()
                for length, value in zip(lengths, before, strict=True):
                    length.copy_(value)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        # features of the next batch may take memory in another thread meanwhile
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._logits = self._step()
        self._graph = graph

    def _step(self) -> Any:
        output = self._model.model.decoder(
            input_ids=self._tokens,
            attention_mask=self._places <= self._position,
            position_ids=self._position,
            encoder_hidden_states=self._encoded,
            use_cache=True,
            **{self._cache_argument: self._cache},
        )
        return self._model.proj_out(output.last_hidden_state[:, -1]).float()


def decoder_config(config: Any) -> Any:
    """Return a model's config as a cache reads it: with as many layers as the decoder has."""
    own = copy.deepcopy(config)
    own.num_hidden_layers = config.decoder_layers
    return own
