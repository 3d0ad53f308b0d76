"""Pictures of attention, drawn as `regard translate --picture` draws them."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .native import _native
from .arguments import check_lines
from .errors import ConfigError, InputError
from .model import Hypothesis, Translation


@dataclass(frozen=True)
class AttentionPlot:
    """A picture in SVG. A notebook shows it as the value of a cell."""

    svg: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG file. Raises ConfigError if the name ends otherwise."""
        if pathlib.Path(path).suffix.lower() != ".svg":
            raise ConfigError(
                f"{os.fspath(path)}: found another ending, expected .svg; `rsvg-convert` or a browser makes PNG of it"
            )
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<regard.AttentionPlot, {len(self.svg)} bytes of SVG>"


def plot_attention(
    attention: Translation | ArrayLike,
    source_tokens: Iterable[str] | None = None,
    target_tokens: Iterable[str] | None = None,
    *,
    caption: str = "",
    scale: Literal["absolute", "picture", "row"] = "absolute",
    text: Iterable[str] = (),
    axes: tuple[str, str] | None = None,
) -> AttentionPlot:
    """Draws attention: source tokens across the top, target tokens down the left, brighter cells for larger weights.

    `attention` is a Translation, whose best hypothesis is drawn, or a matrix [target, source] with the tokens of both
    sides, such as one head of a SelfAttention. `scale` is the weight that is white: 1 (absolute), the largest weight
    (picture), or the largest weight of each row (row). `text` has lines to show below the caption, such as the
    sentence and its translation. `axes` are the names of columns and rows: source and translation for a Translation,
    none for a matrix. Needs no other package.

    Raises InputError if there are no weights, or if their number does not match the tokens.
    """
    if isinstance(attention, Translation):
        best = attention.best
        if best is None:
            raise InputError("attention: the line is blank, so it has no translation to draw")
        if best.attention is None:
            raise InputError("attention: the translation has no weights, because the model has no attention")
        weights: ArrayLike = best.attention
        source_tokens = attention.source_tokens if source_tokens is None else source_tokens
        target_tokens = best.tokens if target_tokens is None else target_tokens
        axes = ("source", "translation") if axes is None else axes
    elif isinstance(attention, Hypothesis):
        raise TypeError("attention: found a Hypothesis, which has no source tokens; pass its matrix and the tokens")
    else:
        weights = attention
    if source_tokens is None or target_tokens is None:
        raise TypeError("a matrix needs source_tokens and target_tokens")
    matrix = np.ascontiguousarray(weights, dtype=np.float32)
    source = check_lines(source_tokens, "source_tokens")
    target = check_lines(target_tokens, "target_tokens")
    if matrix.shape != (len(target), len(source)):
        raise InputError(
            f"attention: found the shape {list(matrix.shape)}, expected {[len(target), len(source)]}, the numbers of "
            "target and source tokens"
        )
    return AttentionPlot(
        _native.attention_svg(source, target, matrix, caption, scale, check_lines(text, "text"), axes or ("", ""))
    )
