"""A trained model, and what it returns."""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

from .native import _native
from .arguments import as_assignments, as_constraints, as_glossary, check_lines, check_phrases
from .errors import ConfigError

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

MAX_THREADS = 4096


class SearchOptions(TypedDict, total=False):
    """The options of a search: section `search` of docs/configuration.md, which has their ranges and defaults."""

    beam_size: int
    beam_alpha: float
    length_penalty: Literal["gnmt", "power"]
    coverage_beta: float
    early_stopping: Literal["full", "ahead", "exact", "never"]
    min_output_length: int
    max_output_length: int
    max_output_ratio: float
    repetition_penalty: float
    no_repeat_ngram: int
    beam_groups: int
    diversity: float
    samples: int
    temperature: float
    top_k: int
    top_p: float
    seed: int
    mbr: Literal["none", "chrf", "bleu"]
    batch_size: int
    validation_beam_size: int


class TranslateOptions(SearchOptions, total=False):
    """The options of a search, and what the translations of the lines must have."""

    prefix: str | Sequence[str]
    require: Sequence[str] | Sequence[Sequence[str]]
    ban: Sequence[str] | Sequence[Sequence[str]]
    whole_lines: bool
    split_length: int
    glossary: str | os.PathLike[str] | Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One translation of a line, with T tokens for S source tokens."""

    text: str
    log_probability: float
    """Sum of ln P of its tokens."""
    score: float
    """Ranks the hypotheses of a line: the normalised log-probability; with `mbr`, the expected utility."""
    tokens: list[str]
    """Its tokens, with </s> if it was reached."""
    token_log_probability: NDArray[np.float64]
    """ln P of each token, [T]."""
    attention: NDArray[np.float32] | None
    """[T, S]: row t has the weights with which token t attends to the source. None if the model has no attention."""
    alignment: list[tuple[int, int]]
    """Pairs of a source word and the target word that attends to it, from 0. Empty if the model has no attention."""


@dataclass(frozen=True, eq=False)
class Translation:
    """The translations of one line."""

    source_tokens: list[str]
    """S tokens, with </s>. Empty for a blank line."""
    hypotheses: list[Hypothesis]
    """Best first. Empty for a blank line."""

    @property
    def best(self) -> Hypothesis | None:
        """The best hypothesis; None for a blank line."""
        return self.hypotheses[0] if self.hypotheses else None

    @property
    def text(self) -> str:
        """The text of the best hypothesis; empty for a blank line."""
        return self.best.text if self.best else ""

    @property
    def tokens(self) -> list[str]:
        """The tokens of the best hypothesis."""
        return self.best.tokens if self.best else []

    @property
    def alignment(self) -> list[tuple[int, int]]:
        """The word alignment of the best hypothesis; empty for a blank line or a model without attention."""
        return self.best.alignment if self.best else []

    @property
    def attention(self) -> NDArray[np.float32] | None:
        """The attention of the best hypothesis, [T, S]; None for a blank line or a model without attention."""
        return self.best.attention if self.best else None


@dataclass(frozen=True, eq=False)
class SelfAttention:
    """The self-attention of a model for one pair of a source and a target. [..., i, j] is the weight with which
    position i attends to position j."""

    source_tokens: list[str]
    """S tokens, with </s>. Empty for a blank source."""
    decoder_inputs: list[str]
    """T tokens: <s> and the target."""
    encoder: NDArray[np.float32] | None
    """[layers, heads, S, S]; None if the encoder has no self-attention, and for a blank source."""
    decoder: NDArray[np.float32] | None
    """[layers, heads, T, T], 0 for j > i; None likewise."""


class Model:
    """A trained model, loaded once to translate and score any number of texts.

    `folder` is a run folder (its best, else its last model) or a model folder. Several with the same vocabularies are an
    ensemble, the mean of their log-probabilities (`ensemble_mean="log_linear"`) or of their probabilities ("linear"), with
    the `ensemble_weights`, which are equal by default. `device` is auto (cuda:0 if there is
    one), cpu, cuda or cuda:N. `threads` is 0 for one thread per processor that the process may use. `precision` of
    matrix products is fp32, bf16, int8, tf32, or auto (bf16 if the processor has it, else fp32); int8 needs the device
    cpu, tf32 a GPU. `src_tag` and `trg_tag` are user symbols that select a direction of a model of several languages.

    Raises CheckpointError or EnvironmentError if the folder is not a model, ConfigError or EnvironmentError if the
    device, the precision or a tag is not available.

    A model may be called from several threads. The calls release the global interpreter lock; translations that run at
    the same time share the threads and the batches of the model. A signal such as Ctrl-C in the main thread ends its
    call soon and raises KeyboardInterrupt. A model cannot be pickled or copied, and cannot be used after a fork: load
    it in the process that uses it.

    After a model is loaded for the CPU, PyTorch computes with one thread in the whole process
    (torch.get_num_threads() is 1); torch.set_num_threads() changes that and does not affect regard's results.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        ensemble_mean: Literal["log_linear", "linear"] = "log_linear",
        ensemble_weights: Sequence[float] = (),
        device: object = "auto",
        threads: int = 0,
        precision: str = "auto",
        src_tag: str = "",
        trg_tag: str = "",
    ) -> None:
        count = operator.index(threads)
        if not 0 <= count <= MAX_THREADS:
            raise ConfigError(f"threads: found {count}, expected 0 (one for each processor) to {MAX_THREADS}")
        folders = [folder] if isinstance(folder, (str, bytes, os.PathLike)) else list(folder)
        self._folder = os.fspath(folders[0]) if len(folders) == 1 else [os.fspath(each) for each in folders]
        names, weights = [os.fsencode(each) for each in folders], list(ensemble_weights)
        self._model: _native.Model | None = _native.Model(
            names, ensemble_mean, weights, str(device), count, precision, src_tag, trg_tag
        )

    def with_tags(self, *, src_tag: str = "", trg_tag: str = "") -> Model:
        """Returns a model that translates and scores with these tags, in place of those of this one.

        Both share the weights, the threads and the batches. Raises ConfigError if a tag is not available.
        """
        model = object.__new__(type(self))
        model._folder = self._folder
        model._model = _native.Model(self._opened(), src_tag, trg_tag)
        return model

    @overload
    def translate(
        self, lines: Iterable[str], *, return_attention: Literal[False] = False, **options: Unpack[TranslateOptions]
    ) -> list[str]: ...
    @overload
    def translate(
        self, lines: Iterable[str], *, return_attention: Literal[True], **options: Unpack[TranslateOptions]
    ) -> list[Translation]: ...
    def translate(
        self, lines: Iterable[str], *, return_attention: bool = False, **options: Any
    ) -> list[str] | list[Translation]:
        """Returns the translation of each line; an empty text for a blank line.

        With `return_attention`, returns Translation objects with one hypothesis, which contain the text, the tokens,
        the attention and the word alignment.

        Search options override those of the model's configuration: translate(lines, beam_size=10). A translation begins
        with `prefix`, has the phrases of `require` and none of `ban`; each is for all lines, or a list with one for each
        line. A line of several sentences is translated sentence by sentence, unless lines of the training text held several,
        it has constraints, or `whole_lines` is true. With `split_length`, a line of more words is split into sentences, and
        longer sentences into parts. `glossary` is a file of terms, or a dict from a term to its translation or to several,
        one of which is required where the term occurs.

        Raises ConfigError for an unknown option, and InputError with the line number for a line that the model cannot
        read, and for constraints with unknown words or that contradict each other. A line above 8,192 bytes is cut, with a
        warning on standard error.
        """
        if return_attention:
            return self.n_best(lines, 1, **options)
        return self._opened().translate(*_line_arguments(lines, options))

    def stream(self, lines: Iterable[str], *, at_once: int = 100, **options: Unpack[TranslateOptions]) -> Iterator[str]:
        """Yields the translation of each line of any iterable, such as an open file, and reads `at_once` lines ahead.

        The translations are those of translate(). Line breaks at the ends of lines are left out.
        """
        if operator.index(at_once) < 1:
            raise ConfigError(f"at_once: found {at_once}, expected at least 1")
        iterator = iter(lines)
        while batch := list(itertools.islice(iterator, at_once)):
            yield from self.translate([line.rstrip("\r\n") for line in batch], **options)

    def n_best(self, lines: Iterable[str], n: int, **options: Unpack[TranslateOptions]) -> list[Translation]:
        """Returns the n best translations of each line, with all details; one of a line that is split.

        n is at most beam_size or, if `samples` is above 0, samples. Raises as translate() does.
        """
        count = operator.index(n)
        if count < 1:
            raise ConfigError(f"n_best: found {count}, expected at least 1")
        lines, *more = _line_arguments(lines, options)
        return _translations(self._opened().n_best(lines, count, *more))

    def score(self, sources: Iterable[str], targets: Iterable[str]) -> list[Translation]:
        """Scores targets[i] as a translation of sources[i].

        Returns one Translation for each pair, whose only hypothesis is the target. Raises InputError if the numbers
        of lines differ, or for a line that the model cannot read.
        """
        return _translations(self._opened().score(check_lines(sources, "source"), check_lines(targets, "target")))

    def self_attention(self, sources: Iterable[str], targets: Iterable[str]) -> list[SelfAttention]:
        """Returns the self-attention of the model for each pair of a source and a translation of it.

        Raises as score() does.
        """
        pairs = self._opened().self_attention(check_lines(sources, "source"), check_lines(targets, "target"))
        return [SelfAttention(*pair) for pair in pairs]

    def close(self) -> None:
        """Frees the memory of the model, unless one of with_tags() is in use. A later call raises ConfigError. A `with`
        statement closes it too."""
        self._model = None

    def _opened(self) -> _native.Model:
        if self._model is None:
            raise ConfigError("the model was closed; load it again from its folder")
        return self._model

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"regard.Model({self._folder!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a regard.Model cannot be pickled or copied; load it from its folder where it is needed")


def _line_arguments(
    lines: Iterable[str], options: Mapping[str, Any]
) -> tuple[list[str], list[str], list[_native.Constraints], bool, int, _native.Glossary]:
    """Returns the lines, the search options, the constraints, how lines are split, and the glossary."""
    checked, search = check_lines(lines, "line"), dict(options)
    prefix, split_length = search.pop("prefix", ""), operator.index(search.pop("split_length", 0))
    whole_lines, glossary = bool(search.pop("whole_lines", False)), as_glossary(search.pop("glossary", {}))
    if split_length < 0:
        raise ConfigError(f"split_length: found {split_length}, expected 0 (no) or more")
    constraints = as_constraints(
        len(checked),
        prefix=check_lines([prefix] if isinstance(prefix, str) else prefix, "prefix"),
        require=check_phrases(search.pop("require", ()), "require"),
        ban=check_phrases(search.pop("ban", ()), "ban"),
    )
    return checked, as_assignments(search), constraints, whole_lines, split_length, glossary


def _translations(converted: list[_native.ConvertedTranslation]) -> list[Translation]:
    return [Translation(tokens, [Hypothesis(*fields) for fields in hypotheses]) for tokens, hypotheses in converted]
