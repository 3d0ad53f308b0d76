"""The decoders: the embedded target so far and the encoded source -> readouts, from which the output is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .attention import make_attention
from .encoders import Residual
from .layers import Cell, Encoded, FeedForward, LayerNorm, MultiHeadAttention, Section, Stack, add_layers


@dataclass
class Decoded:
    """The steps of a decoder, [B, T, …]."""

    readout: Tensor
    """[B, T, R]."""
    hidden: Tensor
    """The state of the top layer [B, T, D]."""
    weights: Tensor | None
    """α_t, the mean over the heads [B, T, S]."""


class RecurrentDecoder(nn.Module):
    """A stack of cells with attention. The query of attention is one of three states (model.decoder.query):

    last     c_t = attention(s_{t−1}, h)       s_t = f(y_{t−1}, s_{t−1}), with C c_t added to the gates; bottom layer
    new      s_t = f(y_{t−1}, s_{t−1})         c_t = attention(s_t, h); top layer
    between  s'_t = f_1(y_{t−1}, s_{t−1})      c_t = attention(s'_t, h)      s_t = f_2(c_t, s'_t); bottom layer

    readout_t = tanh(W_y y_{t−1} + W_s s_t + W_c c_t + b). With input feeding, F readout_{t−1} is added to the gates of
    the bottom layer. s_0 of layer l is tanh(W_l h + b_l) of the summary (`bridge`) or of the mean of the states
    (`mean`), the summary (`last`), the last state of encoder layer l (`layers`), or zero.
    """

    def __init__(self, o: Section, C: int, attention: Section, dropout: Section):
        super().__init__()
        D, E, R = o.hidden_size, o.embedding_dim, o.readout_size
        self.readout_size, self.initial = R, o.initial_state
        self.attention = make_attention(attention, D, C, dropout.attention)
        self.layers = add_layers(self, "layer", [Cell(o, 1, D if l > 0 else E) for l in range(o.layers)])
        self.stack = Stack(o, D, dropout.states)
        bottom = self.layers[0]
        gates = bottom.W.shape[2]
        self.query = o.query if self.attention.has_context else "new"
        if self.query == "last":
            self.C = nn.Linear(C, gates, bias=False)
        if self.query == "between":
            self.second = Cell(o, 1, C)
        if self.initial in ("bridge", "mean"):
            self.bridges = nn.ModuleList(nn.Linear(C, bottom.state_size) for _ in self.layers)
        self.W_y, self.W_s = nn.Linear(E, R), nn.Linear(D, R, bias=False)
        self.W_c = nn.Linear(C, R, bias=False) if self.attention.has_context else None
        self.F = nn.Linear(R, gates, bias=False) if o.input_feeding else None
        self.dropout = nn.Dropout(dropout.readout)

    def prepare(self, encoded: Encoded) -> tuple[Tensor, ...]:
        return self.attention.prepare(encoded)

    def first_state(self, encoded: Encoded) -> tuple[Any, ...]:
        """The state before the first step: of the layers, of attention, and the last readout."""
        size, summary = self.layers[0].state_size, encoded.summary
        zeros = summary.new_zeros(summary.shape[0], size)
        if self.initial == "layers":
            layers = encoded.last_states
        elif self.initial in ("bridge", "mean"):
            h = encoded.mean() if self.initial == "mean" else summary
            layers = tuple(bridge(h).tanh() for bridge in self.bridges)
        elif self.initial == "last":  # the memory of an LSTM is 0
            layers = (torch.cat([summary, zeros[:, summary.shape[1] :]], 1),) * len(self.layers)
        else:
            layers = (zeros,) * len(self.layers)
        return layers, self.attention.first_state(encoded), summary.new_zeros(summary.shape[0], self.readout_size)

    def step(self, y: Tensor, state: tuple[Any, ...], encoded: Encoded) -> tuple[Decoded, tuple[Any, ...]]:
        """One step: y [N, E] -> Decoded with one step, the next state."""
        old, attention, fed = state
        D = self.layers[0].D
        more = 0 if self.F is None else self.F(fed)
        alpha = c = None
        if self.query == "last":
            alpha, c, attention = self.attention(old[0][:, :D], attention, encoded)
            more = more + self.C(c)
        new = [self.layers[0](y, old[0], more)]
        if self.query == "between":
            alpha, c, attention = self.attention(new[0][:, :D], attention, encoded)
            new = [self.second(c, new[0])]
        s = new[0][:, :D]
        for l in range(1, len(self.layers)):
            new.append(self.layers[l](self.stack.input(l, s), old[l]))
            s = self.stack.output(l, s, new[l][:, :D])
        s = self.stack.final(s)
        if self.query == "new":
            alpha, c, attention = self.attention(s, attention, encoded)
        readout = self.W_y(y) + self.W_s(s)
        if self.W_c is not None:
            readout = readout + self.W_c(c)
        readout = self.dropout(readout.tanh())
        decoded = Decoded(readout[:, None], s[:, None], None if alpha is None else alpha[:, None])
        return decoded, (tuple(new), attention, readout)

    def forward(self, y: Tensor, encoded: Encoded) -> Decoded:
        """All steps of y [B, T, E]."""
        state, steps = self.first_state(encoded), []
        for y_t in y.unbind(1):
            decoded, state = self.step(y_t, state, encoded)
            steps.append(decoded)
        weights = [step.weights for step in steps if step.weights is not None]
        return Decoded(
            torch.cat([step.readout for step in steps], 1),
            torch.cat([step.hidden for step in steps], 1),
            torch.cat(weights, 1) if weights else None,
        )


class DecoderLayer(nn.Module):
    """Self-attention to the positions so far, attention to the source, and the feed-forward network, each with a
    residual connection. A language model has no source (C = 0)."""

    def __init__(self, o: Section, C: int, dropout: Section):
        super().__init__()
        D, is_pre = o.hidden_size, o.norm == "pre"
        self.rotary, self.has_source = o.position == "rotary", C > 0
        self.self_attention = MultiHeadAttention(o, D, D, dropout.attention)
        self.self_attention_norm = Residual(D, is_pre, dropout.states)
        if self.has_source:
            self.source_attention = MultiHeadAttention(o, D, C, dropout.attention)
            self.source_attention_norm = Residual(D, is_pre, dropout.states)
        self.feed_forward = FeedForward(D, o.feed_forward_size, dropout.states)
        self.feed_forward_norm = Residual(D, is_pre, dropout.states)

    def forward(self, x: Tensor, encoded: Encoded) -> tuple[Tensor, Tensor | None]:
        """x [B, T, D] -> [B, T, D], and the weights of the source, the mean over the heads [B, T, S]."""
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()[None]
        weights = []

        def attend_to_source(z: Tensor) -> Tensor:
            y, of_heads = self.source_attention(z, encoded.states, encoded.mask[:, None])
            weights.append(of_heads.mean(1))
            return y

        x = self.self_attention_norm.around(lambda z: self.self_attention(z, z, causal, self.rotary)[0], x)
        if self.has_source:
            x = self.source_attention_norm.around(attend_to_source, x)
        return self.feed_forward_norm.around(self.feed_forward, x), weights[0] if weights else None


class TransformerDecoder(nn.Module):
    """Layers of self-attention and attention to the source (Vaswani et al. 2017). The readout is the state of the top
    layer; the weights are those of this layer."""

    def __init__(self, o: Section, C: int, dropout: Section):
        super().__init__()
        self.readout_size = o.hidden_size
        self.layers = add_layers(self, "layer", [DecoderLayer(o, C, dropout) for _ in range(o.layers)])
        self.norm: nn.Module = LayerNorm(o.hidden_size) if o.norm == "pre" else nn.Identity()
        self.dropout = nn.Dropout(dropout.readout)

    def prepare(self, encoded: Encoded) -> tuple[Tensor, ...]:
        return ()

    def first_state(self, encoded: Encoded) -> tuple[Any, ...]:
        """The inputs so far: none."""
        return (encoded.states.new_zeros(encoded.states.shape[0], 0, self.readout_size),)

    def step(self, x: Tensor, state: tuple[Any, ...], encoded: Encoded) -> tuple[Decoded, tuple[Any, ...]]:
        """One step: x [N, D]. Computes the earlier positions again, which a faster decoder would keep."""
        inputs = torch.cat([state[0], x[:, None]], 1)
        all_steps = self(inputs, encoded)
        weights = None if all_steps.weights is None else all_steps.weights[:, -1:]
        return Decoded(all_steps.readout[:, -1:], all_steps.hidden[:, -1:], weights), (inputs,)

    def forward(self, x: Tensor, encoded: Encoded) -> Decoded:
        """All steps of x [B, T, D]."""
        weights = None
        for layer in self.layers:
            x, weights = layer(x, encoded)
        hidden = self.norm(x)
        return Decoded(self.dropout(hidden), hidden, weights)


def make_decoder(o: Section, C: int, dropout: Section) -> Any:
    """The decoder of section `model` for encoder states of width C; 0: there is no source."""
    if o.decoder.kind == "transformer":
        return TransformerDecoder(o.decoder, C, dropout)
    if C > 0:
        return RecurrentDecoder(o.decoder, C, o.attention, dropout)
    no_context = Section(kind="none", fixed_context="initial")
    return RecurrentDecoder(Section(o.decoder, initial_state="zero"), 0, no_context, dropout)
