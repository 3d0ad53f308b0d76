from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

# Text, log-probability, score, tokens, log-probability of each token, attention, alignment.
ConvertedHypothesis: TypeAlias = tuple[
    str, float, float, list[str], NDArray[np.float64], NDArray[np.float32] | None, list[tuple[int, int]]
]
# Prefix, required phrases, banned phrases.
Constraints: TypeAlias = tuple[str, list[str], list[str]]
# Path of a file, empty for none, and terms with their translations.
Glossary: TypeAlias = tuple[bytes, list[tuple[str, list[str]]]]
# Source tokens and hypotheses.
ConvertedTranslation: TypeAlias = tuple[list[str], list[ConvertedHypothesis]]
# Source tokens, decoder inputs, encoder, decoder.
ConvertedSelfAttention: TypeAlias = tuple[
    list[str], list[str], NDArray[np.float32] | None, NDArray[np.float32] | None
]
# Metric, name, score, signature, details, scores of the lines, mean and half width of the interval.
ConvertedScore: TypeAlias = tuple[
    str, str, float, str, str, NDArray[np.float64], float | None, float | None
]

class Model:
    @overload
    def __init__(
        self,
        folders: list[bytes],
        mean: str,
        weights: list[float],
        device: str,
        threads: int,
        precision: str,
        src_tag: str,
        trg_tag: str,
    ) -> None: ...
    @overload
    def __init__(self, model: Model, src_tag: str, trg_tag: str) -> None: ...
    def translate(
        self,
        lines: list[str],
        search: list[str],
        constraints: list[Constraints],
        whole_lines: bool,
        split_length: int,
        glossary: Glossary,
    ) -> list[str]: ...
    def n_best(
        self,
        lines: list[str],
        n: int,
        search: list[str],
        constraints: list[Constraints],
        whole_lines: bool,
        split_length: int,
        glossary: Glossary,
    ) -> list[ConvertedTranslation]: ...
    def score(self, sources: list[str], targets: list[str]) -> list[ConvertedTranslation]: ...
    def self_attention(self, sources: list[str], targets: list[str]) -> list[ConvertedSelfAttention]: ...

def evaluate(
    hypotheses: list[str], references: list[list[str]], metrics: list[str], options: list[str]
) -> list[ConvertedScore]: ...
def attention_svg(
    source: list[str],
    target: list[str],
    weights: NDArray[np.float32],
    caption: str,
    scale: str,
    text: list[str],
    axes: tuple[str, str],
) -> str: ...
