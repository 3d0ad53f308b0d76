"""Greedy and beam search, as regard has them, without its speed: a beam search computes one sentence at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from .layers import Section, select
from .model import BOS, EOS, PAD, Network, Source


@dataclass
class Hypothesis:
    """A translation, finished or not."""

    tokens: list[int]
    """Without </s>."""
    log_probability: float
    """Sum of ln P of its tokens, with </s> if finished."""
    finished: bool
    """True if it ends in </s>, false if it reached the maximum length."""
    text: str = ""

    def score(self, o: Section) -> float:
        """log P / lp(n), where n counts </s>: lp(n) = ((5 + n) / 6)^α (gnmt) or n^α (power)."""
        return self.log_probability / length_penalty(max(1, len(self.tokens) + self.finished), o)


def length_penalty(n: int, o: Section) -> float:
    return ((5 + n) / 6 if o.length_penalty == "gnmt" else n) ** o.beam_alpha


@dataclass
class Start:
    """How the target of a sentence begins."""

    first_token: int = BOS
    """The first input of the decoder."""
    prefix: list[int] = field(default_factory=list)
    """The first tokens of the target."""
    not_after_prefix: list[int] = field(default_factory=list)
    """Tokens that cannot follow the prefix, because they would continue its last word."""


OFF = {"coverage_beta": 0, "repetition_penalty": 1, "no_repeat_ngram": 0, "beam_groups": 1,
       "samples": 0, "mbr": "none"}  # fmt: skip


def search_options(configured: Section, given: dict[str, Any]) -> Section:
    """Returns the options of a search. Raises ValueError for an unknown option, and for one with an effect that these
    searches do not have."""
    if unknown := given.keys() - configured.keys():
        known = ", ".join(sorted(configured.keys() - OFF.keys()))
        raise ValueError(f"search.{min(unknown)}: no such option; known: {known}")
    o = Section(configured | given)
    for key, value in OFF.items():
        if o[key] != value:
            raise ValueError(f"search.{key}: found {o[key]}, expected {value}; only regard.Model has this search")
    return o


def output_limit(source_length: int, o: Section) -> int:
    """The maximum number of target tokens, with </s>, of a source of so many states."""
    if o.max_output_ratio <= 0:
        return o.max_output_length
    by_ratio = int(min(o.max_output_length, o.max_output_ratio * source_length + 10))
    return min(o.max_output_length, max(by_ratio, o.min_output_length + 1))


def allowed(log_p: Tensor, histories: list[list[int]], starts: list[Start], o: Section) -> Tensor:
    """Returns log_p [N, V], −∞ for tokens that cannot follow the history of their row."""
    log_p = log_p.double()
    log_p[:, [PAD, BOS]] = -math.inf
    for row, history, start in zip(log_p, histories, starts, strict=True):
        if len(history) < o.min_output_length:
            row[EOS] = -math.inf
        if len(history) < len(start.prefix):
            row[torch.arange(len(row), device=row.device) != start.prefix[len(history)]] = -math.inf
        elif start.prefix and len(history) == len(start.prefix):
            row[start.not_after_prefix] = -math.inf
    return log_p


@torch.inference_mode()
def greedy_search(model: Network, source: Source, o: Section, starts: list[Start]) -> list[Hypothesis]:
    """The most probable token at each step, for all sentences of a batch at once."""
    encoded = model.encode(source, len(starts))
    state = model.decoder.first_state(encoded)
    limits = [output_limit(length, o) for length in encoded.lengths.tolist()]
    hypotheses = [Hypothesis([], 0, False) for _ in limits]
    last = encoded.lengths.new_tensor([start.first_token for start in starts])
    is_open = [True] * len(limits)
    for position in range(max(limits)):
        log_p, state = model.step(last, state, position, encoded)
        best, last = allowed(log_p, [each.tokens for each in hypotheses], starts, o).max(1)
        for b, (value, token) in enumerate(zip(best.tolist(), last.tolist(), strict=True)):
            if not is_open[b]:
                continue
            hypothesis = hypotheses[b]
            if value > -math.inf:
                hypothesis.log_probability += value
                hypothesis.finished = token == EOS
                hypothesis.tokens += [] if token == EOS else [token]
            is_open[b] = value > -math.inf and token != EOS and len(hypothesis.tokens) < limits[b]
        if not any(is_open):
            break
    return hypotheses


@torch.inference_mode()
def beam_search(model: Network, source: Source, o: Section, start: Start) -> list[Hypothesis]:
    """The best W = beam_size hypotheses of one sentence, best first. `early_stopping` ends the search when W have finished
    (`full`), when W have and no open one has a better score than the best of them (`ahead`), or else as soon as no open
    one can become the best."""
    W = o.beam_size
    until_full = o.early_stopping == "full"
    until_ahead = o.early_stopping == "ahead"
    encoded = model.encode(source, 1)
    rows = torch.zeros(W, dtype=torch.long, device=encoded.lengths.device)
    encoded = encoded.select(rows)
    state = model.decoder.first_state(encoded)
    last = torch.full_like(rows, start.first_token)
    open_ = [Hypothesis([], 0, False)]
    finished: list[Hypothesis] = []
    limit = output_limit(int(encoded.lengths[0]), o)
    for position in range(limit):
        log_p, state = model.step(last, state, position, encoded)
        # Pass 1: the 2 W best continuations. Rows beyond the open hypotheses have none.
        log_p = allowed(log_p[: len(open_)], [each.tokens for each in open_], [start] * len(open_), o)
        log_p += log_p.new_tensor([each.log_probability for each in open_])[:, None]
        V = log_p.shape[1]
        best, index = log_p.flatten().topk(min(2 * W, log_p.numel()))
        # Pass 2: </s> among the W best finishes a hypothesis; the W best others continue.
        extended: list[tuple[int, Hypothesis]] = []
        for rank, (value, parent, token) in enumerate(zip(best.tolist(), (index // V).tolist(), (index % V).tolist())):
            if value == -math.inf or len(extended) == W:
                break
            tokens = open_[parent].tokens
            if token != EOS:
                extended.append((parent, Hypothesis([*tokens, token], value, False)))
            elif rank < W and (not until_full or len(finished) < W):
                finished.append(Hypothesis(tokens, value, True))
        if not extended and not finished:  # no token is allowed
            break
        open_ = [hypothesis for _, hypothesis in extended]
        if not extended or (until_full and len(finished) >= W):
            break
        if not until_full and len(finished) >= (W if until_ahead else 1):
            longest = position + 1 if until_ahead else limit
            best_possible = max(each.log_probability for each in open_) / length_penalty(longest, o)
            if max(each.score(o) for each in finished) >= best_possible:
                break
        # Pass 3: the states of the parents.
        parents = [parent for parent, _ in extended] + [0] * (W - len(extended))
        state = select(state, rows.new_tensor(parents))
        last = rows.new_tensor([each.tokens[-1] for each in open_] + [PAD] * (W - len(extended)))
    return sorted(finished or open_, key=lambda each: -each.score(o))[:W]
