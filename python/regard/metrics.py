"""Scores of translations: BLEU, chrF, TER and others, as `regard evaluate` computes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from .native import _native
from .arguments import as_assignments, check_lines

if TYPE_CHECKING:
    from typing_extensions import Unpack


class EvaluationOptions(TypedDict, total=False):
    """The options of evaluate(): those of `regard evaluate`, with _ for - (docs/evaluation.md)."""

    tokenize: Literal["13a", "intl", "zh", "char", "spm", "none"]
    spm_model: str | os.PathLike[str]
    lowercase: bool
    smooth_method: Literal["exp", "floor", "add-k", "none"]
    smooth_value: float
    chrf_char_order: int
    chrf_word_order: int
    chrf_beta: float
    ter_normalized: bool
    ter_no_punct: bool
    ter_asian_support: bool
    ter_case_sensitive: bool
    sentence_level: bool
    confidence: bool
    resamples: int
    resampling_seed: int


@dataclass(frozen=True, eq=False)
class MetricScore:
    """The score of a text by one metric. float() returns the score, str() the line that regard prints."""

    name: str
    """BLEU, chrF2++"""
    score: float
    signature: str
    """The signature of sacreBLEU, with the version of regard."""
    details: str
    """The figures that sacreBLEU prints after the score; empty for most metrics."""
    sentence_scores: NDArray[np.float64] | None
    """The score of each line; None without `sentence_level`."""
    confidence: tuple[float, float] | None
    """Mean of the resamples and half the width of their central 95 %; None without `confidence`."""

    def __float__(self) -> float:
        return self.score

    def __str__(self) -> str:
        interval = f" (μ = {self.confidence[0]:.2f} ± {self.confidence[1]:.2f})" if self.confidence else ""
        return f"{self.name} = {self.score:.2f}{interval} {self.details}".rstrip()


def evaluate(
    hypotheses: Iterable[str],
    references: Iterable[str] | Iterable[Sequence[str]],
    metrics: str | Iterable[str] = ("bleu", "chrf"),
    **options: Unpack[EvaluationOptions],
) -> dict[str, MetricScore]:
    """Returns the score of a text by each metric: {"bleu": MetricScore(…), …}.

    `references` is a list with one reference for each hypothesis or, for several references, a list of such lists.
    `metrics` are bleu, chrf, chrf++, ter, wer, cer, per and exact. Figures are those of sacreBLEU. Use plain text,
    which is not tokenized.

    Raises InputError if the numbers of lines differ or a reference has no text, ConfigError for an unknown metric or
    option, and for an option that none of the metrics reads.
    """
    names = metrics.replace(",", " ").split() if isinstance(metrics, str) else check_lines(metrics, "metrics")
    scores = _native.evaluate(
        check_lines(hypotheses, "hypothesis"),
        _reference_lists(references),
        [name.lower() for name in names],
        as_assignments(options),
    )
    sentence_level = options.get("sentence_level", False)
    return {
        metric: MetricScore(
            name,
            score,
            signature,
            details,
            sentence_scores if sentence_level else None,
            None if mean is None or half_width is None else (mean, half_width),
        )
        for metric, name, score, signature, details, sentence_scores, mean, half_width in scores
    }


def _reference_lists(references: Iterable[str] | Iterable[Sequence[str]]) -> list[list[str]]:
    if isinstance(references, (str, bytes)):
        return [check_lines(references, "reference")]  # raises
    given = list(references)
    if not given or any(isinstance(line, (str, bytes)) for line in given):
        return [check_lines(given, "reference")]  # type: ignore[arg-type]
    return [check_lines(lines, f"reference {number}") for number, lines in enumerate(given, 1)]
