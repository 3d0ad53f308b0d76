"""The encoders: embedded sources [B, S, E], or images, and their lengths [B] -> Encoded."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .layers import Cell, Encoded, FeedForward, LayerNorm, MultiHeadAttention, Positions, Section, Stack
from .layers import add_layers, at, parameter


def divide_up(lengths: Tensor, divisor: int) -> Tensor:
    return (lengths + divisor - 1) // divisor


def concatenate(x: Tensor, count: int) -> Tensor:
    """Concatenates consecutive vectors: [B, S, F] -> [B, ceil(S / count), count F], with zeros at the end."""
    whole = functional.pad(x, (0, 0, 0, -x.shape[1] % count))
    return whole.reshape(whole.shape[0], -1, count * whole.shape[2])


class RecurrentEncoder(nn.Module):
    """→h_s = f(x_s, →h_{s−1})      ←h_s = f(x_s, ←h_{s+1})      h_s = [→h_s; ←h_s] (Bahdanau et al. 2015)

    The backward direction reads each sentence reversed within its length, so that padding comes last. With `pyramidal`,
    a layer above the first reads two consecutive states of the layer below at once (Chan et al. 2016).
    """

    def __init__(self, o: Section, dropout: Section):
        super().__init__()
        self.D, self.pyramidal = o.hidden_size, o.pyramidal
        self.is_backward = [False, True] if o.bidirectional else [bool(o.reverse)]
        G = len(self.is_backward)
        self.state_size = G * self.D
        inputs = [o.embedding_dim] + [self.state_size * (2 if o.pyramidal else 1)] * (o.layers - 1)
        self.layers = add_layers(self, "layer", [Cell(o, G, size) for size in inputs])
        self.stack = Stack(o, self.state_size, dropout.states)
        self.dropout = nn.Dropout(dropout.states)

    def in_order(self, parts: Any, reversal: Tensor) -> list[Tensor]:
        """Reverses the part [B, S, …] of each backward direction."""
        return [at(part, reversal) if back else part for part, back in zip(parts, self.is_backward, strict=True)]

    def at_ends(self, parts: Any, lengths: Tensor) -> Tensor:
        """The part [B, S, D] of each direction after its last step, side by side [B, G D]."""
        ends = [torch.zeros_like(lengths) if backward else lengths - 1 for backward in self.is_backward]
        return torch.cat([at(part, end[:, None])[:, 0] for part, end in zip(parts, ends, strict=True)], -1)

    def forward(self, x: Tensor, lengths: Tensor) -> Encoded:
        last_states = []
        for l, layer in enumerate(self.layers):
            below = self.stack.input(l, x) if l > 0 else x
            if l > 0 and self.pyramidal:
                real = torch.arange(below.shape[1], device=x.device) < lengths[:, None]
                below = concatenate(below.masked_fill(~real[..., None], 0), 2)
                lengths = divide_up(lengths, 2)
            s = torch.arange(below.shape[1], device=x.device)
            reversal = torch.where(s < lengths[:, None], lengths[:, None] - 1 - s, s)  # its own inverse [B, S]
            inputs = self.in_order([below] * len(self.is_backward), reversal)
            states = torch.stack(self.in_order(layer.sequence(torch.stack(inputs)), reversal))
            parts = states.split(self.D, -1)  # of an LSTM h, c
            last_states.append(torch.cat([self.at_ends(part, lengths) for part in parts], -1))
            x = self.stack.output(l, x, torch.cat(list(parts[0]), -1))
        x = self.stack.final(x)
        summary = self.at_ends(x.split(self.D, -1), lengths)
        return Encoded(self.dropout(x), lengths, self.dropout(summary), tuple(last_states))


class Residual(LayerNorm):
    """x + f(norm(x)) with norm: pre, norm(x + f(x)) with norm: post."""

    def __init__(self, D: int, is_pre: bool, dropout: float):
        super().__init__(D)
        self.is_pre, self.dropout = is_pre, nn.Dropout(dropout)

    def around(self, sublayer: Any, x: Tensor) -> Tensor:
        if self.is_pre:
            return x + self.dropout(sublayer(self(x)))
        return self(x + self.dropout(sublayer(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each with a residual connection (Vaswani et al. 2017)."""

    def __init__(self, o: Section, D: int, dropout: Section):
        super().__init__()
        self.rotary = o.position == "rotary"
        self.attention = MultiHeadAttention(o, D, D, dropout.attention)
        self.attention_norm = Residual(D, o.norm == "pre", dropout.states)
        self.feed_forward = FeedForward(D, o.feed_forward_size, dropout.states)
        self.feed_forward_norm = Residual(D, o.norm == "pre", dropout.states)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.attention_norm.around(lambda z: self.attention(z, z, mask, self.rotary)[0], x)
        return self.feed_forward_norm.around(self.feed_forward, x)


class TransformerEncoder(nn.Module):
    """Layers of self-attention. The summary of a sentence is the mean of its states."""

    def __init__(self, o: Section, D: int, layers: int, dropout: Section):
        super().__init__()
        self.state_size = D
        self.layers = add_layers(self, "layer", [EncoderLayer(o, D, dropout) for _ in range(layers)])
        self.norm: nn.Module = LayerNorm(D) if o.norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, lengths: Tensor) -> Encoded:
        encoded = Encoded(x, lengths, x[:, 0])
        for layer in self.layers:
            x = layer(x, encoded.mask[:, None])
        encoded.states = self.norm(x)
        encoded.summary = encoded.mean()
        return encoded


class SelfAttentionEncoder(nn.Module):
    """A Transformer over the states of a recurrent encoder."""

    def __init__(self, o: Section, dropout: Section):
        super().__init__()
        self.below = RecurrentEncoder(o, dropout)
        self.state_size = self.below.state_size
        self.positions = Positions(o, self.state_size)
        self.self_attention = TransformerEncoder(o, self.state_size, o.self_attention_layers, dropout)

    def forward(self, x: Tensor, lengths: Tensor) -> Encoded:
        below = self.below(x, lengths)
        return self.self_attention(self.positions(below.states), below.lengths)


class ConvolutionalEncoder(nn.Module):
    """The encoder of images (Xu et al. 2015). Its states are the cells of a grid, row by row.

    x_0 = image [B, c, H, W]      x_l = maxpool(max(0, norm(W_l * x_{l−1})))
    g_0,s = x_L,s + p_s           g_k = g_{k−1} + max(0, norm(V_k * g_{k−1}))      h_s = g_3,s
    """

    def __init__(self, o: Section, dropout: Section):
        super().__init__()
        self.height, self.channels = o.image_height, o.image_channels
        self.width = o.numbers // o.image_channels
        self.state_size = D = o.hidden_size
        sizes = [o.image_channels] + [D >> (o.layers - 1 - l) for l in range(o.layers)]  # of each x_l
        pairs = list(zip(sizes, sizes[1:]))
        self.blocks = add_layers(self, "block", [nn.Linear(9 * below, own, bias=False) for below, own in pairs])
        self.grid = add_layers(self, "grid", [nn.Linear(9 * D, D, bias=False) for _ in range(3)])
        for name, layer in list(self.named_children()):
            self.add_module(f"{name}_norm", LayerNorm(len(layer.get_parameter("weight"))))
        self.positions = parameter((self.height >> o.layers) * (self.width >> o.layers), D)
        self.dropout = nn.Dropout(dropout.states)

    def convolve(self, name: str, x: Tensor) -> Tensor:
        """max(0, norm(W * x)) of x [B, c, H, W], with zeros beyond the edges. A row of W is [3, 3, c]."""
        weight = self.get_parameter(name + ".weight").unflatten(1, (3, 3, -1)).permute(0, 3, 1, 2)
        y = functional.conv2d(x, weight, padding=1).movedim(1, -1)
        return self.get_submodule(name + "_norm")(y).relu().movedim(-1, 1)

    def forward(self, frames: Tensor, lengths: Tensor) -> Encoded:
        """`frames` [B, H + 1, W c + 1] are rows of pixels, then </s>, which is left out."""
        if frames.shape[1] != self.height + 1 or (lengths != self.height + 1).any():
            raise ValueError(f"expected images of {self.height} rows of pixels (model.encoder.image_height)")
        x = frames[:, :-1, :-1].unflatten(2, (self.width, self.channels)).permute(0, 3, 1, 2)
        for l in range(len(self.blocks)):
            x = functional.max_pool2d(self.convolve(f"block{l}", x), 2)
        x = x + self.positions.T.unflatten(1, x.shape[2:])
        for k in range(len(self.grid)):
            x = x + self.convolve(f"grid{k}", x)
        states = x.flatten(2).transpose(1, 2)
        encoded = Encoded(self.dropout(states), torch.full_like(lengths, states.shape[1]), states[:, 0])
        encoded.summary = self.dropout(states.mean(1))
        return encoded


def make_encoder(o: Section, dropout: Section) -> Any:
    """The encoder of section model.encoder."""
    if o.kind == "convolutional":
        return ConvolutionalEncoder(o, dropout)
    if o.kind == "transformer":
        return TransformerEncoder(o, o.hidden_size, o.layers, dropout)
    return SelfAttentionEncoder(o, dropout) if o.self_attention_layers else RecurrentEncoder(o, dropout)
