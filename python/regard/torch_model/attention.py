"""The kinds of attention of a recurrent decoder (docs/attention.md of regard), each beside its equation.

A query q_t [N, D] reads the states h_s [N, S, C]: weights α_t [N, S], exactly 0 at padding, and c_t = Σ_s α_ts h_s.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .layers import Encoded, Section, attend_by_head, masked_softmax, mix, parameter, unit

State = tuple[Tensor, ...]


def one_hot(positions: Tensor, like: Tensor) -> Tensor:
    return torch.zeros_like(like).scatter(1, positions[:, None], 1.0)


class Attention(nn.Module):
    """The interface of attention. D and C are the widths of queries and states, o is section model.attention."""

    has_context = True
    begins_at_first_position = False  # α_0, which is 1 at the first position, is the state before the first step

    def __init__(self, o: Section, D: int, C: int, dropout: float = 0):
        super().__init__()
        self.o, self.dropout = o, nn.Dropout(dropout)
        self.build(o, D, C)

    def build(self, o: Section, D: int, C: int) -> None:
        """Creates the parameters."""

    def prepare(self, encoded: Encoded) -> tuple[Tensor, ...]:
        """Returns Encoded.keys: the tensors that do not depend on a query."""
        return (encoded.states,)

    def first_state(self, encoded: Encoded) -> State:
        """Returns the state before the first step, a row for each query."""
        first = torch.zeros_like(encoded.lengths)
        return (one_hot(first, encoded.states[..., 0]),) if self.begins_at_first_position else ()

    def weights(self, query: Tensor, state: State, encoded: Encoded) -> tuple[Tensor, State]:
        """Returns α_t and the next state."""
        raise NotImplementedError

    def forward(self, query: Tensor, state: State, encoded: Encoded) -> tuple[Tensor | None, Tensor | None, State]:
        """Returns α_t, c_t [N, C] and the next state."""
        alpha, state = self.weights(query, state, encoded)
        return alpha, mix(self.dropout(alpha), encoded.states), state


class NoAttention(Attention):
    """c = last states (`last`), c = Σ_s h_s / S (`mean`), or no context (`initial`)."""

    def build(self, o, D, C):
        self.has_context = o.fixed_context != "initial"

    def prepare(self, encoded: Encoded) -> tuple[Tensor, ...]:
        return (encoded.mean() if self.o.fixed_context == "mean" else encoded.summary,)

    def forward(self, query, state, encoded):
        return None, encoded.keys[0] if self.has_context else None, ()


class Score(Attention):
    """α_t = softmax_s(e_t) of a score for each position."""

    def keys(self, states: Tensor) -> Tensor:
        """The part of the score that does not depend on a query: [N, S, C] -> [N, S, A]."""
        return states

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """e_t [N, S]."""
        raise NotImplementedError

    def prepare(self, encoded):
        return (self.keys(encoded.states),)

    def weights(self, query, state, encoded):
        return masked_softmax(self.scores(query, encoded.keys[0]), encoded.mask), ()


class Additive(Score):
    """e_ts = vᵀ tanh(W q_t + U h_s + b) (Bahdanau et al. 2015)."""

    def build(self, o, D, C):
        self.W, self.U, self.v = nn.Linear(D, o.size, bias=False), nn.Linear(C, o.size), parameter(o.size)

    def keys(self, states):
        return self.U(states)

    def scores(self, query, keys):
        return (self.W(query)[:, None] + keys).tanh() @ self.v


class Concat(Score):
    """e_ts = vᵀ tanh(W [q_t; h_s]) (Luong et al. 2015)."""

    def build(self, o, D, C):
        self.D, self.W, self.v = D, parameter(o.size, D + C), parameter(o.size)

    def keys(self, states):
        return states @ self.W[:, self.D :].T

    def scores(self, query, keys):
        return ((query @ self.W[:, : self.D].T)[:, None] + keys).tanh() @ self.v


class Dot(Score):
    """e_ts = q_t · h_s (Luong et al. 2015), or q_t · K h_s with project_keys."""

    def build(self, o, D, C):
        self.K = nn.Linear(C, D, bias=False) if o.project_keys in ("true", True) else nn.Identity()

    def keys(self, states):
        return self.K(states)

    def scores(self, query, keys):
        return (keys @ query[..., None])[..., 0]


class ScaledDot(Dot):
    """e_ts = q_t · h_s / √D (Vaswani et al. 2017)."""

    def scores(self, query, keys):
        return super().scores(query, keys) / math.sqrt(query.shape[1])


class General(Dot):
    """e_ts = q_tᵀ W h_s (Luong et al. 2015)."""

    def build(self, o, D, C):
        self.W = nn.Linear(C, D, bias=False)

    def keys(self, states):
        return self.W(states)


class Cosine(Dot):
    """e_ts = β q_t · h_s / (|q_t| |h_s|) with β = softplus(b), softplus(w · q_t + b) or 1 (Graves et al. 2014)."""

    def build(self, o, D, C):
        super().build(o, D, C)
        self.b = parameter() if o.sharpness == "learned" else None
        self.of_step = nn.Linear(D, 1) if o.sharpness == "step" else None

    def scores(self, query, keys):
        cosine = super().scores(unit(query), unit(keys))
        if self.of_step is not None:
            return functional.softplus(self.of_step(query)) * cosine
        return cosine if self.b is None else functional.softplus(self.b) * cosine


class Location(Score):
    """e_t = the first S numbers of W q_t (Luong et al. 2015)."""

    def build(self, o, D, C):
        self.W = parameter(o.max_positions, D)

    def scores(self, query, keys):
        S = keys.shape[1]
        if S > len(self.W):
            raise ValueError(f"found a source of {S} states, expected at most {len(self.W)} (max_positions)")
        return query @ self.W[:S].T


class Composite(Attention):
    """Contains another score: `content`, of the kind model.attention.score, or `additive`."""

    part = "content"
    content: Any
    additive: Any

    def build(self, o, D, C):
        kind = o.score if self.part == "content" else self.part
        self.add_module(self.part, make_attention(Section(o, kind=kind), D, C))

    def prepare(self, encoded):
        return self.get_submodule(self.part).prepare(encoded)


class Local(Composite):
    """A content score over the positions from p_t − w to p_t + w (Luong et al. 2015, section 3.2); 0 outside.

    local_m  p_t = min(t, S − 1)                       α_t = softmax(e_t) inside the window
    local_p  p_t = S σ(v_pᵀ tanh(W_p q_t))             the same, times exp(−(s − p_t)² / 2σ²) with σ = w / 2
    """

    def build(self, o, D, C):
        super().build(o, D, C)
        self.is_predictive = o.kind == "local_p"
        if self.is_predictive:
            self.W_p, self.v_p = nn.Linear(D, D, bias=False), parameter(D)

    def first_state(self, encoded):
        return () if self.is_predictive else (encoded.lengths.new_zeros(encoded.lengths.shape[0], 1),)  # t

    def weights(self, query, state, encoded):
        S = encoded.lengths[:, None]  # [N, 1]
        if self.is_predictive:
            p = S * (self.W_p(query).tanh() @ self.v_p).sigmoid()[:, None]
        else:
            p = state[0].minimum(S - 1)
        center = p.detach().to(query.dtype)
        begin = (center - self.o.window).ceil().minimum(S - 1).clamp_min(0)
        end = ((center + self.o.window).floor() + 1).minimum(S).maximum(begin + 1)
        s = torch.arange(encoded.states.shape[1], device=query.device)
        scores = self.content.scores(query, encoded.keys[0])
        alpha = masked_softmax(scores, (s >= begin) & (s < end) & encoded.mask)
        if not self.is_predictive:
            return alpha, (state[0] + 1,)
        return alpha * torch.exp(-((s - p) ** 2) / (2 * (self.o.window / 2) ** 2)), ()


class Hard(Composite):
    """All weight on the position with the largest weight of a content score (Xu et al. 2015).

    In training, on a position that is drawn by Gumbel noise g: s_t = argmax_s(log α_ts + g_s), with the gradient of
    softmax((log α_t + g) / τ) (Jang et al. 2017), also for models of the estimator `reinforce`.
    """

    def weights(self, query, state, encoded):
        alpha, _ = self.content.weights(query, (), encoded)
        if not self.training:
            return one_hot(alpha.argmax(1), alpha), ()
        gumbel = -(-torch.rand_like(alpha).clamp(1e-20, 1 - 1e-7).log()).log()
        relaxed = masked_softmax((alpha.clamp_min(1e-20).log() + gumbel) / (self.o.temperature or 1), alpha > 0)
        return one_hot(relaxed.argmax(1), alpha) + relaxed - relaxed.detach(), ()


class Ntm(Attention):
    """The addressing of Neural Turing Machines (Graves et al. 2014).

    w^c = softmax_s(β k · h_s / (|k| |h_s|))      w^g = g w^c + (1 − g) α_{t−1}      α_0 is 1 at the first position
    w~(i) = Σ_j w^g(i − j) s(j), j = −K … K       α_t(i) = w~(i)^γ / Σ_j w~(j)^γ     modulo the length of the sentence
    k = W_k q. W q + b gives β by softplus, g by σ, γ by 1 + softplus, and s by softmax.
    """

    begins_at_first_position = True

    def build(self, o, D, C):
        self.W_k, self.W = nn.Linear(D, C, bias=False), nn.Linear(D, 3 + 2 * o.shift + 1)

    def weights(self, query, state, encoded):
        beta, g, gamma, s = self.W(query).split([1, 1, 1, 2 * self.o.shift + 1], 1)
        cosine = (unit(encoded.states) @ unit(self.W_k(query))[..., None])[..., 0]
        content = masked_softmax(functional.softplus(beta) * cosine, encoded.mask)
        gated = g.sigmoid() * content + (1 - g.sigmoid()) * state[0]
        i = torch.arange(content.shape[1], device=query.device)
        shifted = sum(
            share * gated.gather(1, (i - j) % encoded.lengths[:, None])
            for j, share in zip(range(-self.o.shift, self.o.shift + 1), s.softmax(1).split(1, 1), strict=True)
        )
        sharpness = 1 + functional.softplus(gamma)
        alpha = masked_softmax(sharpness * shifted.clamp_min(1e-20).log(), encoded.mask)
        return alpha, (alpha,)


class MultiHead(Attention):
    """c_t = W_O [head_1; …; head_H] + b_O (Vaswani et al. 2017). The weights are the mean over the heads."""

    def build(self, o, D, C):
        A = o.size
        self.W_Q, self.W_K, self.W_V, self.W_O = nn.Linear(D, A), nn.Linear(C, A), nn.Linear(C, A), nn.Linear(A, C)

    def prepare(self, encoded):
        return self.W_K(encoded.states), self.W_V(encoded.states)

    def forward(self, query, state, encoded):
        q, mask = self.W_Q(query)[:, None], encoded.mask[:, None]
        heads, weights = attend_by_head(q, *encoded.keys, mask, self.o.heads, self.dropout)
        return weights[:, :, 0].mean(1), self.W_O(heads[:, 0]), ()


class Coverage(Composite):
    """e_ts = vᵀ tanh(W q_t + U h_s + b + w C_{t−1,s}) (Tu et al. 2016).

    C_ts = C_{t−1,s} + α_ts / Φ_s, C_0 = 0      Φ_s = N σ(u · h_s + b_Φ)
    """

    part = "additive"

    def build(self, o, D, C):
        super().build(o, D, C)
        self.fertility, self.w = nn.Linear(C, 1), parameter(o.size)

    def first_state(self, encoded):
        phi = self.o.fertility * self.fertility(encoded.states)[..., 0].sigmoid()
        return torch.zeros_like(phi), 1 / phi

    def weights(self, query, state, encoded):
        coverage, inverse_fertility = state
        scores = self.additive.scores(query, encoded.keys[0] + coverage[..., None] * self.w)
        alpha = masked_softmax(scores, encoded.mask)
        return alpha, (coverage + alpha * inverse_fertility, inverse_fertility)


class LocationAware(Composite):
    """e_ts = vᵀ tanh(W q_t + V h_s + b + U f_ts), where f_t = F * α_{t−1} are k filters over K positions
    (Chorowski et al. 2015). α_0 is 1 at the first position."""

    part, begins_at_first_position = "additive", True

    def build(self, o, D, C):
        super().build(o, D, C)
        self.F, self.U = nn.Linear(o.filter_width, o.filters, bias=False), nn.Linear(o.filters, o.size, bias=False)

    def weights(self, query, state, encoded):
        filters, padding = self.F.weight[:, None], self.F.in_features // 2  # K is odd
        f_t = functional.conv1d(state[0][:, None], filters, padding=padding).transpose(1, 2)  # [N, S, k]
        scores = self.additive.scores(query, encoded.keys[0] + self.U(f_t))
        alpha = masked_softmax(scores, encoded.mask)
        return alpha, (alpha,)


class Monotonic(Composite):
    """Moves right from the previous position and stops at s with p_ts = σ(e_ts + r), e additive (Raffel et al. 2017).

    Selects the first position with p ≥ 1/2; if there is none, all weights are 0 and the position stays. In training,
    α_ts = p_ts Σ_{k ≤ s} α_{t−1,k} Π_{k ≤ l < s} (1 − p_tl), the expected weights, with Gaussian noise added to e.
    """

    part, begins_at_first_position = "additive", True

    def build(self, o, D, C):
        super().build(o, D, C)
        self.r = parameter()

    def weights(self, query, state, encoded):
        e = self.additive.scores(query, encoded.keys[0]) + self.r
        if not self.training:
            is_open = (state[0].cumsum(1) > 0) & (e >= 0) & encoded.mask
            alpha = (is_open & (is_open.to(e.dtype).cumsum(1) == 1)).to(e.dtype)
            return alpha, (torch.where(alpha.sum(1, keepdim=True) > 0, alpha, state[0]),)
        e = e + torch.randn_like(e)
        log_pass = functional.logsigmoid(-e)
        before = log_pass.cumsum(1) - log_pass  # the sum over l < s
        back = torch.ones(e.shape[1], e.shape[1], dtype=torch.bool, device=e.device).tril(-1)  # s < k
        path = (before[:, None] - before[:, :, None]).masked_fill(back, -math.inf).exp()  # [N, k, s]
        alpha = (e.sigmoid() * mix(state[0], path)).masked_fill(~encoded.mask, 0)
        return alpha, (alpha,)


KINDS: dict[str, type[Attention]] = {
    "none": NoAttention, "additive": Additive, "concat": Concat, "dot": Dot, "scaled_dot": ScaledDot,
    "general": General, "cosine": Cosine, "location": Location, "local_m": Local, "local_p": Local, "hard": Hard,
    "ntm": Ntm, "multi_head": MultiHead, "coverage": Coverage, "monotonic": Monotonic,
    "location_aware": LocationAware,
}  # fmt: skip


def make_attention(o: Section, D: int, C: int, dropout: float = 0) -> Any:
    """Returns the attention of section model.attention."""
    return KINDS[o.kind](o, D, C, dropout)
