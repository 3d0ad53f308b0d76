"""The parts that encoders, decoders and attentions share.

Letters of shapes: B sentences, N rows of a search, S source positions, T target positions, E embedding, D hidden,
C encoder state, A attention, H heads, R readout, V vocabulary; G directions and K gates of a recurrent cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Section(dict):
    """A section of config.yaml. A missing key, which the model does not read, is None."""

    def __getattr__(self, key: str) -> Any:
        value = self.get(key)
        return Section(value) if isinstance(value, dict) else value


@dataclass
class Encoded:
    """An encoded batch of sources."""

    states: Tensor
    """h_s [B, S, C]; arbitrary at padding."""
    lengths: Tensor
    """Number of states of each sentence [B]."""
    summary: Tensor
    """The last states, or the mean of the states [B, C]."""
    last_states: tuple[Tensor, ...] = ()
    """The last state of each layer of a recurrent encoder [B, C], with the memory of an LSTM [B, 2 C]."""
    keys: tuple[Tensor, ...] = ()
    """The tensors that the attention of the decoder computes once [B, …]."""
    embedded: Tensor | None = None
    """The embedded source [B, S, E]."""
    copy_ids: Tensor | None = None
    """The target id of each source word, from V for words outside of the vocabulary [B, S]."""

    @property
    def mask(self) -> Tensor:
        """True at real positions [B, S]."""
        return torch.arange(self.states.shape[1], device=self.lengths.device) < self.lengths[:, None]

    def mean(self) -> Tensor:
        """The mean of the states [B, C]."""
        return self.states.masked_fill(~self.mask[..., None], 0).sum(1) / self.lengths[:, None]

    def select(self, rows: Tensor) -> Encoded:
        """The sentences at these indices."""
        return replace(self, **{field.name: select(getattr(self, field.name), rows) for field in fields(self)})


def select(value: Any, rows: Tensor) -> Any:
    """The rows of a tensor, or of each tensor of a tuple."""
    if isinstance(value, tuple):
        return tuple(select(each, rows) for each in value)
    return value if value is None else value[rows]


def at(x: Tensor, index: Tensor) -> Tensor:
    """x [B, S, …], index [B, T] -> x[b, index[b, t]] [B, T, …]."""
    more = x.shape[2:]
    return x.gather(1, index.reshape(*index.shape, *(1 for _ in more)).expand(*index.shape, *more))


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """The softmax over the positions where the mask is true. Exactly 0 elsewhere."""
    return scores.masked_fill(~mask, -math.inf).softmax(-1)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Σ_s α_s value_s: weights [N, S], values [N, S, M] -> [N, M]."""
    return (weights[:, None] @ values)[:, 0]


def unit(x: Tensor) -> Tensor:
    """x / |x|."""
    return x / x.norm(dim=-1, keepdim=True).clamp_min(1e-8)


def parameter(*shape: int) -> nn.Parameter:
    """A parameter without a value: to_torch() loads all of them."""
    return nn.Parameter(torch.empty(shape))


def add_layers(module: nn.Module, prefix: str, layers: list[Any], first: int = 0) -> list[Any]:
    """Registers the layers under the names prefix0, prefix1, …, and returns them."""
    for number, layer in enumerate(layers, first):
        module.add_module(f"{prefix}{number}", layer)
    return layers


class LayerNorm(nn.Module):
    """g ⊙ (x − mean(x)) / √(var(x) + 1e-5) + b (Ba et al. 2016)."""

    def __init__(self, D: int):
        super().__init__()
        self.g, self.b = parameter(D), parameter(D)

    def forward(self, x: Tensor) -> Tensor:
        return functional.layer_norm(x, self.g.shape, self.g, self.b, 1e-5)


def cell_step(kind: str, gates: Tensor, state: Tensor, U: Tensor, b_U: Tensor | None) -> Tensor:
    """One step of a Cell of this kind."""
    if kind == "tanh":
        return torch.tanh(gates + state @ U)
    if kind == "lstm":
        h, c = state.chunk(2, -1)
        i, f, o, new = (gates + h @ U).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * new.tanh()
        return torch.cat([o.sigmoid() * c.tanh(), c], -1)
    D = state.shape[-1]
    r, z = (gates[..., : 2 * D] + state @ U[..., : 2 * D]).sigmoid().chunk(2, -1)
    if b_U is None:
        new = (gates[..., 2 * D :] + (r * state) @ U[..., 2 * D :]).tanh()
    else:
        new = (gates[..., 2 * D :] + r * (state @ U[..., 2 * D :] + b_U)).tanh()
    return z * state + (1 - z) * new


class Cell(nn.Module):
    """G recurrent cells side by side: s' = f(x, s). The state of an LSTM is [h; c], else the output itself.

    gru   r = σ(W_r x + U_r s + b_r)      z = σ(W_z x + U_z s + b_z)      s' = z ⊙ s + (1 − z) ⊙ s̃
          s̃ = tanh(W x + U (r ⊙ s) + b), or with reset_gate: after, tanh(W x + b + r ⊙ (U s + b_U))
    lstm  i, f, o = σ(W x + U h + b) each      c̃ = tanh(W x + U h + b)      c' = f ⊙ c + i ⊙ c̃      h' = o ⊙ tanh(c')
    tanh  s' = tanh(W x + U s + b)
    """

    def __init__(self, o: Section, G: int, input_size: int):
        super().__init__()
        self.kind, self.D = o.cell, o.hidden_size
        gates = {"gru": 3, "lstm": 4, "tanh": 1}[o.cell] * self.D
        self.state_size = 2 * self.D if o.cell == "lstm" else self.D
        self.W, self.U, self.b = parameter(G, input_size, gates), parameter(G, self.D, gates), parameter(G, 1, gates)
        self.b_U = parameter(G, 1, self.D) if o.cell == "gru" and o.reset_gate == "after" else None

    def project(self, x: Tensor) -> Tensor:
        """W x + b: [G, N, I] -> gates [G, N, K D]."""
        return x @ self.W + self.b

    def step(self, gates: Tensor, state: Tensor) -> Tensor:
        """gates [G, N, K D], state [G, N, state_size] -> the next state."""
        return cell_step(self.kind, gates, state, self.U, self.b_U)

    def forward(self, x: Tensor, state: Tensor, more: Tensor | float = 0) -> Tensor:
        """One step of a single cell: x [N, I], state [N, state_size]. `more` [N, K D] is added to the gates."""
        return self.step(self.project(x[None]) + more, state[None])[0]

    def project_sequence(self, x: Tensor) -> Tensor:
        """W x + b of all steps: [G, B, S, I] -> gates [G, B, S, K D]."""
        G, B, S, _ = x.shape
        return self.project(x.reshape(G, B * S, -1)).reshape(G, B, S, -1)

    def sequence(self, x: Tensor) -> Tensor:
        """All steps from a state of zeros: x [G, B, S, I] -> states [G, B, S, state_size]."""
        state, states = x.new_zeros(x.shape[0], x.shape[1], self.state_size), []
        for gates in self.project_sequence(x).unbind(2):
            state = self.step(gates, state)
            states.append(state)
        return torch.stack(states, 2)


class Stack(nn.Module):
    """The connections between stacked layers: dropout, layer normalisation and residual connections if configured."""

    def __init__(self, o: Section, width: int, dropout: float):
        super().__init__()
        self.residual = o.residual
        norms = [LayerNorm(width) for _ in range(o.layers)] if o.layer_norm else []
        self.norms: list[Any] = add_layers(self, "norm", norms, first=1) or [nn.Identity()] * o.layers
        self.dropout = nn.Dropout(dropout)

    def input(self, layer: int, x: Tensor) -> Tensor:
        """The input of a layer above the first."""
        return self.dropout(self.norms[layer - 1](x))

    def output(self, layer: int, x: Tensor, y: Tensor) -> Tensor:
        """The output of a layer that computes y from the output x of the layer below."""
        return x + y if self.residual and layer > 0 else y

    def final(self, x: Tensor) -> Tensor:
        return self.norms[-1](x)


def sinusoids(n: int, D: int) -> Tensor:
    """sin(t / 10000^(2i/D)) at 2i, the cosine of the same angle at 2i + 1: [n, D]."""
    i = torch.arange((D + 1) // 2, dtype=torch.double)
    angle = torch.arange(n, dtype=torch.double)[:, None] / 10000 ** (2 * i / D)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :D].float()


class Positions(nn.Module):
    """Adds a vector to each position (Vaswani et al. 2017, section 3.5). Rotary positions add nothing here."""

    def __init__(self, o: Section, D: int):
        super().__init__()
        self.kind = o.position
        if self.kind == "learned":
            self.p = parameter(o.max_positions, D)

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        """x [B, T, D] at the positions from `first`."""
        end = first + x.shape[1]
        if self.kind == "learned":
            if end > len(self.p):
                raise ValueError(f"found {end} positions, expected at most {len(self.p)} (max_positions)")
            return x + self.p[first:end]
        return x + sinusoids(end, x.shape[2])[first:].to(x) if self.kind == "sinusoidal" else x


def rotate(x: Tensor) -> Tensor:
    """Rotary positions (Su et al. 2021): rotates each pair of numbers of x [B, H, T, d] by an angle of its position."""
    angles = sinusoids(x.shape[2], x.shape[3]).to(x)
    sin, cos = angles[:, 0::2], angles[:, 1::2]
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(3)


class InputLayer(nn.Module):
    """The input of the first layer: E[y_t], or of a Transformer √D P E[y_t] + p_t."""

    def __init__(self, o: Section, dropout: Section):
        super().__init__()
        self.token_dropout, self.dropout = dropout.tokens, nn.Dropout(dropout.embeddings)
        self.positions = Positions(o, o.hidden_size) if o.kind == "transformer" else None
        self.projection: nn.Module = nn.Identity()
        if self.positions and o.embedding_dim != o.hidden_size:
            self.projection = nn.Linear(o.embedding_dim, o.hidden_size, bias=False)

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        """Embeddings x [B, T, E] of tokens at the positions from `first` -> [B, T, E or D]."""
        if self.training and self.token_dropout > 0:
            x = x * (torch.rand(x.shape[:-1], device=x.device) >= self.token_dropout)[..., None]
        if self.positions:
            x = self.projection(x)
            x = self.positions(x * math.sqrt(x.shape[-1]), first)
        return self.dropout(x)


def attend_by_head(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, H: int, dropout: nn.Module, rotary: bool = False):
    """head_i = softmax_s(q_i · k_is / √d) v_is with heads of the width d = A / H (Vaswani et al. 2017, section 3.2.2).

    q [B, T, A], k and v [B, S, A], mask [B, T or 1, S] -> heads side by side [B, T, A], weights [B, H, T, S].
    """
    q, k, v = (x.reshape(x.shape[0], x.shape[1], H, -1).transpose(1, 2) for x in (q, k, v))  # [B, H, T or S, d]
    if rotary:
        q, k = rotate(q), rotate(k)
    weights = masked_softmax(q @ k.transpose(2, 3) / math.sqrt(q.shape[3]), mask[:, None])
    return (dropout(weights) @ v).transpose(1, 2).flatten(2), weights


class MultiHeadAttention(nn.Module):
    """y_t = W_O [head_1; …; head_H] + b_O, with q = W_Q x_t + b_Q and [k_s; v_s] = W_KV z_s + b_KV."""

    def __init__(self, o: Section, D: int, C: int, dropout: float):
        super().__init__()
        self.heads, self.dropout = o.heads, nn.Dropout(dropout)
        self.W_Q, self.W_KV, self.W_O = nn.Linear(D, D), nn.Linear(C, 2 * D), nn.Linear(D, D)

    def forward(self, x: Tensor, z: Tensor, mask: Tensor, rotary: bool = False) -> tuple[Tensor, Tensor]:
        """x [B, T, D], z [B, S, C] -> y [B, T, D], weights [B, H, T, S]."""
        k, v = self.W_KV(z).chunk(2, -1)
        y, weights = attend_by_head(self.W_Q(x), k, v, mask, self.heads, self.dropout, rotary)
        return self.W_O(y), weights


class FeedForward(nn.Module):
    """W_2 max(0, W_1 x + b_1) + b_2."""

    def __init__(self, D: int, F: int, dropout: float):
        super().__init__()
        self.W_1, self.W_2, self.dropout = nn.Linear(D, F), nn.Linear(F, D), nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.W_2(self.dropout(self.W_1(x).relu()))
