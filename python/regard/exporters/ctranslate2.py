"""Writes a Transformer of regard as a model of CTranslate2. The names of the tensors are those of docs/python.md."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy
from ctranslate2 import specs

from . import model_files
from .model_files import EPSILON, POSITIONS


class Layers(model_files.Tensors):
    """Tensors as the layers of CTranslate2."""

    def linear(self, spec: Any, *names: str) -> None:
        """Fills one linear layer from several, whose outputs it concatenates."""
        spec.weight = numpy.concatenate([self.take(f"{name}.weight") for name in names])
        spec.bias = numpy.concatenate([self.take(f"{name}.bias") for name in names])

    def norm(self, spec: Any, name: str) -> None:
        spec.gamma, spec.beta = self.take(f"{name}.g"), self.take(f"{name}.b")

    def self_attention(self, spec: Any, name: str) -> None:
        self.norm(spec.layer_norm, f"{name}_norm")
        heads = self.of(f"{name}.")
        heads.linear(spec.linear[0], "W_Q", "W_KV")
        heads.linear(spec.linear[1], "W_O")

    def source_attention(self, spec: Any, name: str) -> None:
        self.norm(spec.layer_norm, f"{name}_norm")
        heads = self.of(f"{name}.")
        heads.linear(spec.linear[0], "W_Q")
        heads.linear(spec.linear[1], "W_KV")
        heads.linear(spec.linear[2], "W_O")

    def feed_forward(self, spec: Any) -> None:
        self.norm(spec.layer_norm, "feed_forward_norm")
        self.linear(spec.linear_0, "feed_forward.W_1")
        self.linear(spec.linear_1, "feed_forward.W_2")


def fill_input(side: Any, table: Any, embedding: numpy.ndarray, section: dict[str, Any], tensors: Layers) -> None:
    """Fills the token table and the positions of a side: x_t = sqrt(D) P E[y_t] + p_t."""
    D = section["hidden_size"]
    projection = tensors.take_if_present("projection.weight")
    side.scale_embeddings = projection is None
    # CTranslate2 has no P for encoders, so the table contains the products.
    table.weight = embedding if projection is None else model_files.scaled(embedding, projection)
    if section["position"] == "learned":
        side.position_encodings.encodings = tensors.take("positions.p")
    elif section["position"] in ("none", "rotary"):
        if hasattr(side, "position_encodings"):  # a decoder with rotary positions has none
            side.position_encodings.encodings = numpy.zeros((POSITIONS, D), numpy.float32)
    else:
        side.position_encodings.encodings = model_files.sinusoids(POSITIONS, D)


def layer_options(section: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of the layers of a side, by CTranslate2's names."""
    is_rotary = section["position"] == "rotary"  # 0: all numbers of a head
    return {"pre_norm": section["norm"] == "pre", "rotary_dim": 0 if is_rotary else None}


def transformer(options: dict[str, Any], tensors: dict[str, numpy.ndarray]) -> specs.TransformerSpec:
    """Returns the specification of CTranslate2 with all weights. Empties `tensors`."""
    model = options["model"]
    encoder, decoder = model["encoder"], model["decoder"]
    spec = specs.TransformerSpec(
        specs.TransformerEncoderSpec(encoder["layers"], encoder["heads"], **layer_options(encoder)),
        specs.TransformerDecoderSpec(decoder["layers"], decoder["heads"], **layer_options(decoder)),
    )
    everything = Layers(tensors)
    source = everything.take("source_embedding")
    target = everything.take_if_present("target_embedding")
    target = source if target is None else target
    output = everything.take_if_present("output_weight")
    fill_input(spec.encoder, spec.encoder.embeddings[0], source, encoder, everything.of("source_input."))
    fill_input(spec.decoder, spec.decoder.embeddings, target, decoder, everything.of("target_input."))
    spec.decoder.projection.weight = target if output is None else output
    spec.decoder.projection.bias = everything.take("output_bias")
    for side, section, name in ((spec.encoder, encoder, "encoder."), (spec.decoder, decoder, "decoder.")):
        own = everything.of(name)
        if section["norm"] == "pre":
            own.norm(side.layer_norm, "norm")
        for l, layer in enumerate(side.layer):
            weights = own.of(f"layer{l}.")
            if side is spec.encoder:
                weights.self_attention(layer.self_attention, "attention")
            else:
                weights.self_attention(layer.self_attention, "self_attention")
                weights.source_attention(layer.attention, "source_attention")
            weights.feed_forward(layer.ffn)
    everything.check_empty("CTranslate2")
    return spec


def write(model: pathlib.Path, output: pathlib.Path, quantization: str = "float32") -> None:
    """Writes the export into the folder `output`. Raises ConfigError if CTranslate2 cannot represent the model."""
    options, tensors = model_files.read_options(model), model_files.read_tensors(model)
    model_files.refuse(model, "CTranslate2", model_files.obstacles_of_transformer(options, tensors))
    model_files.warn_of_search(options)
    spec = transformer(options, tensors)
    files = model_files.tokenizer_files(options)
    spec.register_source_vocabulary(model_files.tokens_of(model / files[0], spec.get_source_vocabulary_size()[0]))
    spec.register_target_vocabulary(model_files.tokens_of(model / files[1], spec.get_target_vocabulary_size()))
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = EPSILON
    if model_files.has_tags(options, "trg"):
        spec.config.decoder_start_token = None  # the first token of target_prefix
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(output))
    model_files.write_programs(model, output, options, "ctranslate2")
