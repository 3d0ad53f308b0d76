"""Writes a Transformer of regard as a model of Hugging Face's transformers: as Pegasus (Zhang et al. 2020) if it has
`norm: pre`, as Marian if it has `norm: post`. Both scale the embeddings by √D and add a bias to the logits, as regard does;
their sinusoids, which have another order, are part of the weights. The tokenizer is Marian's.
"""

from __future__ import annotations

import json
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import numpy

from . import model_files
from .model_files import POSITIONS

PAD, _, BOS, EOS = range(4)

Weights = dict[str, numpy.ndarray]


def obstacles(options: dict[str, Any], tensors: Weights) -> Iterator[str]:
    """Yields the properties that neither layout has."""
    reasons = list(model_files.obstacles_of_transformer(options, tensors))
    yield from reasons
    if any(reason.startswith("model.") for reason in reasons):
        return
    model, tokenizer = options["model"], options["data"]["tokenizer"]
    encoder, decoder = model["encoder"], model["decoder"]
    if model["tied_embeddings"] != "all":
        yield f"model.tied_embeddings: found {model['tied_embeddings']}, expected all"
    for key in ("hidden_size", "norm"):
        if encoder[key] != decoder[key]:
            yield f"model.encoder.{key} and model.decoder.{key}: found {encoder[key]} and {decoder[key]}, expected the same"
    for side, section in (("encoder", encoder), ("decoder", decoder)):
        if section["embedding_dim"] != section["hidden_size"]:
            yield f"model.{side}.embedding_dim: found {section['embedding_dim']}, expected hidden_size: {section['hidden_size']}"
        if section["position"] == "rotary":
            yield f"model.{side}.position: found rotary, expected sinusoidal, learned or none"
    if tokenizer["kind"] not in ("bpe", "unigram", "decomposed"):
        yield f"data.tokenizer.kind: found {tokenizer['kind']}, expected bpe or unigram"
    if tokenizer["lowercase"]:
        yield "data.tokenizer.lowercase: found true, expected false"
    for side in ("src", "trg"):
        if model_files.has_tags(options, side):
            yield f"data.train.{side}_tag: found tags, expected one direction"


class Layers(model_files.Tensors):
    """Tensors by the names of transformers, which are added to `weights`."""

    def linear(self, weights: Weights, to: str, name: str, begin: int = 0, end: int | None = None) -> None:
        """Adds a linear layer, or the rows from `begin` to `end` of a larger one."""
        for kind in ("weight", "bias"):
            weights[f"{to}.{kind}"] = self.tensors[f"{self.prefix}{name}.{kind}"][begin:end].copy()

    def norm(self, weights: Weights, to: str, name: str) -> None:
        weights[f"{to}.weight"], weights[f"{to}.bias"] = self.take(f"{name}.g"), self.take(f"{name}.b")

    def attention(self, weights: Weights, to: str, name: str) -> None:
        own = self.of(f"{name}.")
        D = len(self.tensors[f"{own.prefix}W_Q.weight"])
        for part, layer, begin, end in (("q_proj", "W_Q", 0, D), ("k_proj", "W_KV", 0, D), ("v_proj", "W_KV", D, 2 * D),
                                        ("out_proj", "W_O", 0, D)):  # fmt: skip
            own.linear(weights, f"{to}.{part}", layer, begin, end)
        for layer in ("W_Q", "W_KV", "W_O"):
            own.drop(layer)
        self.norm(weights, f"{to}_layer_norm", f"{name}_norm")

    def feed_forward(self, weights: Weights, to: str) -> None:
        for number in (1, 2):
            self.linear(weights, f"{to}.fc{number}", f"feed_forward.W_{number}")
            self.drop(f"feed_forward.W_{number}")
        self.norm(weights, f"{to}.final_layer_norm", "feed_forward_norm")

    def drop(self, name: str) -> None:
        for kind in ("weight", "bias"):
            self.take(f"{name}.{kind}")


def positions_of(section: dict[str, Any], tensors: Layers) -> numpy.ndarray:
    if section["position"] == "learned":
        return tensors.take("positions.p")
    D = section["hidden_size"]
    return numpy.zeros((POSITIONS, D), numpy.float32) if section["position"] == "none" else model_files.sinusoids(POSITIONS, D)


def weights_of(options: dict[str, Any], tensors: Weights) -> Weights:
    """Returns the tensors by the names of transformers. Empties `tensors`."""
    everything, weights = Layers(tensors), {}
    weights["model.shared.weight"] = everything.take("source_embedding")
    weights["final_logits_bias"] = everything.take("output_bias")[None]
    for side, input_layer in (("encoder", "source_input."), ("decoder", "target_input.")):
        section, own, to = options["model"][side], everything.of(f"{side}."), f"model.{side}"
        weights[f"{to}.embed_positions.weight"] = positions_of(section, everything.of(input_layer))
        for l in range(section["layers"]):
            layer, name = own.of(f"layer{l}."), f"{to}.layers.{l}"
            layer.attention(weights, f"{name}.self_attn", "attention" if side == "encoder" else "self_attention")
            if side == "decoder":
                layer.attention(weights, f"{name}.encoder_attn", "source_attention")
            layer.feed_forward(weights, name)
        if section["norm"] == "pre":
            own.norm(weights, f"{to}.layer_norm", "norm")
    everything.check_empty("transformers")
    # Both sides have tables of one length.
    tables = [f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder")]
    longest = min(len(weights[table]) for table in tables)
    for table in tables:
        weights[table] = weights[table][:longest].copy()
    return weights


def config_of(options: dict[str, Any], weights: Weights) -> dict[str, Any]:
    encoder, decoder = options["model"]["encoder"], options["model"]["decoder"]
    kind, name = ("pegasus", "PegasusForConditionalGeneration") if encoder["norm"] == "pre" else ("marian", "MarianMTModel")
    vocabulary, D = weights["model.shared.weight"].shape
    config = {
        "architectures": [name],
        "model_type": kind,
        "is_encoder_decoder": True,
        "vocab_size": vocabulary,
        "d_model": D,
        "max_position_embeddings": len(weights["model.encoder.embed_positions.weight"]),
        "activation_function": "relu",
        "scale_embedding": True,
        "tie_word_embeddings": True,
        "dtype": "float32",
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,
    }
    for side, section in (("encoder", encoder), ("decoder", decoder)):
        config[f"{side}_layers"] = section["layers"]
        config[f"{side}_attention_heads"] = section["heads"]
        config[f"{side}_ffn_dim"] = section["feed_forward_size"]
    if kind == "marian":
        config |= {"decoder_vocab_size": vocabulary, "share_encoder_decoder_embeddings": True, "normalize_embedding": False}
    return config


def generation_of(options: dict[str, Any], longest: int) -> dict[str, Any]:
    search = options["search"]
    return {
        "num_beams": search["beam_size"],
        "length_penalty": float(search["beam_alpha"]),
        "early_stopping": {"full": True, "ahead": False}.get(search["early_stopping"], "never"),
        "max_length": min(search["max_output_length"] + 1, longest),  # with the first token
        "repetition_penalty": float(search["repetition_penalty"]),
        "no_repeat_ngram_size": search["no_repeat_ngram"],
        "suppress_tokens": [PAD, BOS],
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
    }


def write(model: pathlib.Path, output: pathlib.Path) -> None:
    """Writes the export into the folder `output`. Raises ConfigError if transformers cannot represent the model."""
    from safetensors.numpy import save_file

    options, tensors = model_files.read_options(model), model_files.read_tensors(model)
    model_files.refuse(model, "Hugging Face's transformers", obstacles(options, tensors))
    model_files.warn_of_search(options)
    weights = weights_of(options, tensors)
    config = config_of(options, weights)
    tokens = model_files.tokens_of(model / "source.model", config["vocab_size"])
    longest = config["max_position_embeddings"]
    tokenizer = {
        "tokenizer_class": "MarianTokenizer",
        "model_max_length": longest,
        "separate_vocabs": False,
        "unk_token": "<unk>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
    }
    files = {
        "config.json": config,
        "generation_config.json": generation_of(options, longest),
        "tokenizer_config.json": tokenizer,
        "vocab.json": {token: id for id, token in enumerate(tokens)},
        "regard.json": model_files.settings(options),
    }
    for name, content in files.items():
        (output / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    save_file(weights, output / "model.safetensors", metadata={"format": "pt"})
    for side in ("source", "target"):
        shutil.copyfile(model / "source.model", output / f"{side}.spm")
    shutil.copyfile(model_files.HERE / "programs" / "translate_huggingface.py", output / "translate.py")
