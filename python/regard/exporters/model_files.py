"""The parts of a model folder that several exports need."""

from __future__ import annotations

import json
import math
import pathlib
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy
import yaml

from ..errors import CheckpointError, ConfigError

HERE = pathlib.Path(__file__).resolve().parent
SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"]  # ids 0 to 3
EPSILON = 1e-5  # of all layer normalisations
POSITIONS = 1024  # with sinusoids

# Options of the search that change translations and are not exported, and the values that need no warning.
NOT_EXPORTED = {
    "coverage_beta": [0], "beam_groups": [1], "samples": [0], "mbr": ["none"], "early_stopping": ["full", "ahead"],
}  # fmt: skip


def read_options(model: pathlib.Path) -> dict[str, Any]:
    return yaml.safe_load((model / "config.yaml").read_text(encoding="utf-8"))


def read_tensors(model: pathlib.Path) -> dict[str, numpy.ndarray]:
    from safetensors.numpy import load_file

    return load_file(model / "model.safetensors")


def refuse(model: pathlib.Path, runtime: str, reasons: Iterable[str]) -> None:
    """Raises ConfigError if there are reasons."""
    if reasons := list(reasons):
        raise ConfigError("\n  ".join([f"{model}: {runtime} cannot represent this model:", *reasons]))


def obstacles_of_text(options: dict[str, Any]) -> Iterator[str]:
    """Yields the properties that no export represents."""
    model, data = options["model"], options["data"]
    if model["kind"] != "translation":
        yield f"model.kind: found {model['kind']}, expected translation"
        return
    if model["output"]["kind"] != "vocabulary":
        yield f"model.output.kind: found {model['output']['kind']}, expected vocabulary"
    if data["source"] != "text" or model["encoder"]["numbers"] > 0:
        yield "data.source: found vectors of numbers or features, expected text"
    if data["tokenizer"]["kind"] == "decomposed":
        yield "data.tokenizer.kind: found decomposed, expected bpe, unigram, word or character"


def obstacles_of_transformer(options: dict[str, Any], tensors: dict[str, numpy.ndarray]) -> Iterator[str]:
    """Yields the properties that runtimes of Transformers do not represent."""
    yield from obstacles_of_text(options)
    if options["model"]["kind"] != "translation":
        return
    for side in ("encoder", "decoder"):
        kind = options["model"][side]["kind"]
        if kind != "transformer":
            yield f"model.{side}.kind: found {kind}, expected transformer"
    if options["model"]["encoder"].get("self_attention_layers", 0) > 0:
        yield "model.encoder.self_attention_layers: found layers on top of recurrent ones, expected none"
    if any(tensor.dtype != numpy.float32 for tensor in tensors.values()):
        yield (
            "model.safetensors: found weights of 8 bits (regard quantize), expected float32; export the model that they "
            "were made from"
        )


def warn_of_search(options: dict[str, Any], more: dict[str, Any] | None = None) -> None:
    """Warns of options that have an effect and are not exported. `more` adds options with the values that need no warning."""
    for key, expected in (NOT_EXPORTED | (more or {})).items():
        if (found := options["search"].get(key, expected[0])) not in expected:
            print(f"warning: search.{key}: {found} is not exported", file=sys.stderr)


def sinusoids(count: int, D: int) -> numpy.ndarray:
    """Returns the positions [count, D]: sin at 2i, and cos of the same angle at 2i + 1."""
    i = numpy.arange((D + 1) // 2)
    angle = numpy.arange(count)[:, None] / 10000 ** (2 * i / D)
    return numpy.stack([numpy.sin(angle), numpy.cos(angle)], -1).reshape(count, -1)[:, :D].astype(numpy.float32)


class Tensors:
    """The tensors whose names begin with a prefix. Each read removes a tensor, so that none is forgotten."""

    def __init__(self, tensors: dict[str, numpy.ndarray], prefix: str = ""):
        self.tensors, self.prefix = tensors, prefix

    def of(self, prefix: str) -> Any:
        return type(self)(self.tensors, self.prefix + prefix)

    def take(self, name: str) -> numpy.ndarray:
        return self.tensors.pop(self.prefix + name)

    def take_if_present(self, name: str) -> numpy.ndarray | None:
        return self.tensors.pop(self.prefix + name, None)

    def check_empty(self, runtime: str) -> None:
        if self.tensors:
            names = ", ".join(sorted(self.tensors))
            raise ConfigError(f"model.safetensors: found tensors without a place in {runtime}: {names}")


def tokenizer_files(options: dict[str, Any]) -> list[str]:
    """Returns the names of the source and the target tokenizer, which are the same for a joint vocabulary."""
    tokenizer = options["data"]["tokenizer"]
    ending = ".model" if tokenizer["kind"] in ("bpe", "unigram") else ".vocabulary"
    return ["source" + ending, ("source" if tokenizer["joint"] else "target") + ending]


def tokens_of(file: pathlib.Path, size: int) -> list[str]:
    """Returns the tokens of a tokenizer, by id. Raises CheckpointError if there are not `size`."""
    if file.suffix == ".model":
        import sentencepiece

        processor = sentencepiece.SentencePieceProcessor(model_file=str(file))
        tokens = [processor.id_to_piece(i) for i in range(processor.vocab_size())]
    else:
        tokens = file.read_bytes().decode("utf-8").split("\n")[:-1]
    if len(tokens) != size:
        raise CheckpointError(f"{file}: found {len(tokens)} tokens, expected {size}, the rows of the embeddings")
    return SPECIAL + tokens[len(SPECIAL) :]


def has_tags(options: dict[str, Any], side: str) -> bool:
    """True if the model was trained with tags of this side: src or trg."""
    return any(corpus[f"{side}_tag"] for corpus in [*options["data"]["train"], options["data"]["dev"]])


def settings(options: dict[str, Any]) -> dict[str, Any]:
    """Returns what translate.py needs: the text processing and the search of the model."""
    tokenizer, search, decoder = options["data"]["tokenizer"], options["search"], options["model"]["decoder"]
    longest = search["max_output_length"]
    if decoder.get("position") == "learned":
        longest = min(longest, decoder["max_positions"])
    source_file, target_file = tokenizer_files(options)
    return {
        "name": options["name"],
        "tokenizer": tokenizer["kind"],
        "source": source_file,
        "target": target_file,
        "lowercase": tokenizer["lowercase"],
        "user_symbols": tokenizer["user_symbols"],
        "needs_trg_tag": has_tags(options, "trg"),
        "beam_size": search["beam_size"],
        "beam_alpha": search["beam_alpha"],
        "length_penalty": search["length_penalty"],
        "early_stopping": search["early_stopping"],
        "min_output_length": search["min_output_length"],
        "max_output_length": longest,
        "max_output_ratio": search["max_output_ratio"],
        "repetition_penalty": search["repetition_penalty"],
        "no_repeat_ngram": search["no_repeat_ngram"],
    }


def write_programs(model: pathlib.Path, output: pathlib.Path, options: dict[str, Any], runtime: str) -> None:
    """Writes the tokenizers, regard.json, and a program that translates with them."""
    for file in set(tokenizer_files(options)):
        shutil.copyfile(model / file, output / file)
    shutil.copyfile(HERE / "programs" / "tokenizer.py", output / "tokenizer.py")
    shutil.copyfile(HERE / "programs" / f"translate_{runtime}.py", output / "translate.py")
    text = json.dumps(settings(options), indent=2, ensure_ascii=False) + "\n"
    (output / "regard.json").write_text(text, encoding="utf-8")


def scaled(embedding: numpy.ndarray, projection: numpy.ndarray) -> numpy.ndarray:
    """Returns √D P E[y] for each token y."""
    D = len(projection)
    return (math.sqrt(D) * embedding.astype(numpy.float64) @ projection.T).astype(numpy.float32)
