"""The model: sources and targets -> logits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .attention import Additive
from .decoders import Decoded, make_decoder
from .encoders import concatenate, divide_up, make_encoder
from .layers import Encoded, InputLayer, LayerNorm, Section, at, parameter

PAD, UNK, BOS, EOS = range(4)
"""The ids of <pad>, <unk>, <s> and </s> in every vocabulary. Position p of a pointer network has the id 4 + p."""


@dataclass
class Source:
    """A batch of sources. A sentence ends with </s>; padding follows."""

    values: Tensor
    """Token ids [B, S], or vectors of F numbers [B, S, F + 1], whose last number is 1 at </s>, else 0."""
    lengths: Tensor
    """[B], with </s>."""
    copy_ids: Tensor | None = None
    """model.output.kind copy: the target id of each word; V, V + 1, … for words outside of the vocabulary [B, S]."""
    unknown_words: list[list[str]] = field(default_factory=list)
    """The words with the ids V, V + 1, … of each sentence."""

    def to(self, device: Any) -> Source:
        copy_ids = None if self.copy_ids is None else self.copy_ids.to(device)
        return Source(self.values.to(device), self.lengths.to(device), copy_ids, self.unknown_words)


class Head(nn.Module):
    """The head of a masked language model: readout_i = norm(gelu(W h_i + b))."""

    def __init__(self, C: int, R: int):
        super().__init__()
        self.W, self.norm = nn.Linear(C, R), LayerNorm(R)

    def forward(self, states: Tensor) -> Tensor:
        return self.norm(functional.gelu(self.W(states)))


class Network(nn.Module):
    """A model of regard with the section `model` of its configuration. Its parameters have the names of regard.

    `vocabularies` are the numbers of rows of source_embedding and of output_bias, 0 if the model has none.
    """

    def __init__(self, options: Section, vocabularies: tuple[int, int]):
        super().__init__()
        o = self.options = options
        dropout = Section(dict.fromkeys(("embeddings", "states", "readout", "attention", "tokens"), 0.0), **o.dropout)
        self.kind, self.output, self.tied = o.kind, o.output.kind if o.output else "vocabulary", o.tied_embeddings
        source_rows, V = vocabularies
        C = 0
        if self.kind != "language_model":
            self.encoder = make_encoder(o.encoder, dropout)
            C = self.encoder.state_size
            if o.encoder.kind != "convolutional":
                self.source_input = InputLayer(o.encoder, dropout)
                self.source_embedding = parameter(source_rows, o.encoder.embedding_dim)
                self.source_bias = parameter(o.encoder.embedding_dim) if o.encoder.numbers else None
        if self.kind == "masked_language_model":
            self.decoder: Any = Head(C, o.encoder.embedding_dim)
        else:
            self.decoder = make_decoder(o, C, dropout)
            self.target_input = InputLayer(o.decoder, dropout)
        if self.output == "pointer":
            self.target_begin = parameter(o.decoder.embedding_dim)
            self.pointer = Additive(Section(size=o.output.size), o.decoder.hidden_size, C, 0)
            return
        self.output_bias = parameter(V)
        if self.tied != "all":
            self.target_embedding = parameter(V, o.decoder.embedding_dim)
        if self.tied == "none":
            self.output_weight = parameter(V, self.decoder.readout_size)
        if self.output == "copy":
            input_size = o.decoder.embedding_dim if o.decoder.kind == "recurrent" else o.decoder.hidden_size
            self.copy_w_c = nn.Linear(C, 1, bias=False)
            self.copy_w_s = nn.Linear(o.decoder.hidden_size, 1)
            self.copy_w_y = nn.Linear(input_size, 1, bias=False)

    def forward(self, source: Source | None, inputs: Tensor) -> Tensor:
        """Returns logits [B, T, V]. Their log_softmax at step t is log P(y_t | y_<t, x).

        `inputs` [B, T] are <s> y_1 … y_{T−1}, then any id; of a masked language model, they are the positions of the
        tokens to predict. A language model reads no source. The last dimension is V + S for model.output.kind copy,
        and 4 + S for pointer.
        """
        if self.kind == "masked_language_model":
            return self.logits(self.decoder(at(self.encode(source).states, inputs)))
        encoded = self.encode(source, len(inputs))
        embedded = self.target_input(self.embed(inputs, encoded))
        decoded = self.decoder(embedded, encoded)
        return self.distribution(decoded, embedded, encoded)

    def encode(self, source: Source | None, B: int = 0) -> Encoded:
        """Encodes a batch, of a language model B empty sources."""
        if self.kind == "language_model":
            one = self.output_bias.new_ones(B, 1)
            return Encoded(one[:, :, None][..., :0], one[:, 0].long(), one[:, :0])
        assert source is not None
        o, lengths, embedded = self.options.encoder, source.lengths, None
        if o.kind == "convolutional":
            encoded = self.encoder(source.values.to(self.output_bias), lengths)
        else:
            if self.source_bias is None:
                embedded = self.source_embedding[source.values]
            else:  # W x + b of K consecutive vectors
                K = o.frame_stacking or 1
                embedded = concatenate(source.values.to(self.source_bias), K) @ self.source_embedding + self.source_bias
                lengths = divide_up(lengths, K)
            encoded = self.encoder(self.source_input(embedded), lengths)
        encoded.embedded, encoded.copy_ids = embedded, source.copy_ids
        if self.kind == "translation":
            encoded.keys = self.decoder.prepare(encoded)
        return encoded

    @property
    def embedding(self) -> Tensor:
        """The target embedding [V, E]."""
        return self.source_embedding if self.tied == "all" else self.target_embedding

    def embed(self, tokens: Tensor, encoded: Encoded) -> Tensor:
        """The embeddings of target tokens: [N, T] -> [N, T, E]. Those of a pointer network are the words pointed at."""
        if self.output == "pointer":
            assert encoded.embedded is not None
            pointed = at(encoded.embedded, (tokens - 4).clamp_min(0))
            return torch.where((tokens == BOS)[..., None], self.target_begin, pointed)
        return self.embedding[tokens.masked_fill(tokens >= len(self.embedding), UNK)]

    def logits(self, readout: Tensor) -> Tensor:
        """W readout + b [..., V]."""
        weight = self.output_weight if self.tied == "none" else self.embedding
        return functional.linear(readout, weight, self.output_bias)

    def distribution(self, decoded: Decoded, embedded: Tensor, encoded: Encoded) -> Tensor:
        """The logits of each step. `embedded` [N, T, E or D] is the input of the decoder."""
        if self.output == "pointer":
            return self.pointer_scores(decoded.hidden, encoded)
        logits = self.logits(decoded.readout)
        return self.copy_mixture(logits, decoded, embedded, encoded) if self.output == "copy" else logits

    def copy_mixture(self, logits: Tensor, decoded: Decoded, embedded: Tensor, encoded: Encoded) -> Tensor:
        """log P(y) of P(y) = p_gen P_vocabulary(y) + (1 − p_gen) Σ_{s: x_s = y} α_ts [N, T, V + S] (See et al. 2017).

        p_gen = σ(w_c·c_t + w_s·s_t + w_y·y_{t−1} + b)
        """
        alpha, ids = decoded.weights, encoded.copy_ids
        assert alpha is not None and ids is not None
        V, S = logits.shape[2], ids.shape[1]
        gate = alpha @ self.copy_w_c(encoded.states) + self.copy_w_s(decoded.hidden) + self.copy_w_y(embedded)
        generated = functional.pad(gate.sigmoid() * logits.softmax(-1), (0, S))
        copied = torch.zeros_like(generated).scatter_add(2, ids[:, None].expand_as(alpha), (-gate).sigmoid() * alpha)
        log_p = (generated + copied).clamp_min(torch.finfo(logits.dtype).tiny).log()
        is_possible = torch.zeros_like(log_p[:, 0], dtype=torch.bool).scatter(1, ids, True)
        is_possible[:, :V] = True
        return log_p.masked_fill(~is_possible[:, None], -math.inf)

    def pointer_scores(self, hidden: Tensor, encoded: Encoded) -> Tensor:
        """u_ts = vᵀ tanh(W s_t + U h_s + b), the logits of source positions (Vinyals et al. 2015): [N, T, 4 + S].

        The last position is </s>, with the id 3.
        """
        keys, end = self.pointer.keys(encoded.states), encoded.lengths[:, None, None] - 1
        u = torch.stack([self.pointer.scores(s_t, keys) for s_t in hidden.unbind(1)], 1)  # [N, T, S]
        is_word = torch.arange(u.shape[2], device=u.device) < end
        end_score = u.gather(2, end.expand(-1, u.shape[1], 1))
        never = u.new_full((*u.shape[:2], EOS), -math.inf)  # <pad>, <unk>, <s>
        return torch.cat([never, end_score, u.masked_fill(~is_word, -math.inf)], 2)

    def step(self, tokens: Tensor, state: Any, position: int, encoded: Encoded) -> tuple[Tensor, Any]:
        """One step of a search: the last tokens [N] -> log P of the next [N, V], and the next state."""
        embedded = self.target_input(self.embed(tokens[:, None], encoded), position)
        decoded, state = self.decoder.step(embedded[:, 0], state, encoded)
        return self.distribution(decoded, embedded, encoded)[:, 0].log_softmax(-1), state
