"""The small models of the check: which of them a runtime represents, and which option it must name if not."""

import dataclasses

FORMATS = ("onnx", "ctranslate2", "huggingface")
SMALL = (
    "training.max_steps=300", "training.validation_every=300", "training.validation_unit=steps",
    "search.early_stopping=full",  # as CTranslate2 ends a search
)  # fmt: skip
TRANSFORMER, RECURRENT = "configs/transformer.yaml", "configs/quickstart.yaml"


@dataclasses.dataclass(frozen=True)
class Kind:
    config: str
    overrides: tuple = ()
    refused: dict = dataclasses.field(default_factory=dict)  # by format: an option that the message must name
    tags: tuple = ()


def of_both(*options):
    return tuple(f"model.{side}.{option}" for side in ("encoder", "decoder") for option in options)


def transformer(*overrides, huggingface="", tags=()):
    return Kind(TRANSFORMER, overrides, {"huggingface": huggingface} if huggingface else {}, tags)


def recurrent(*overrides):
    return Kind(RECURRENT, overrides, {to: "model.encoder.kind" for to in ("ctranslate2", "huggingface")})


def with_attention(kind, *overrides):
    return recurrent(f"model.attention.kind={kind}", *overrides)


def nowhere(config, option, *overrides):
    return Kind(config, overrides, dict.fromkeys(FORMATS, option))


JOINT = ("data.tokenizer.joint=true", "model.tied_embeddings=all")
UNREAD = ("model.attention.size=512",)  # the default, which no other value may replace if it is not read
KINDS = {
    "norm before, sinusoids, one vocabulary": transformer(*JOINT),
    "norm after, learned positions, one vocabulary": transformer(*of_both("norm=post", "position=learned"), *JOINT),
    "unigram, no positions in the decoder, other layers on each side": transformer(
        "data.tokenizer.kind=unigram", "data.tokenizer.vocabulary_size=700", "model.decoder.position=none",
        "model.encoder.layers=1", "model.encoder.heads=2", *JOINT),
    "two vocabularies": transformer(huggingface="model.tied_embeddings"),
    "rotary positions": transformer(*of_both("position=rotary"), *JOINT, huggingface="model.encoder.position"),
    "tags on both sides, lower case, score by a power of the length": transformer(
        "data.tokenizer.user_symbols=[<2fr>, <fr>]", "data.tokenizer.lowercase=true",
        *(f"data.{part}.src_tag=<2fr>" for part in ("train.0", "dev")),
        *(f"data.{part}.trg_tag=<fr>" for part in ("train.0", "dev")),
        "search.length_penalty=power", "search.beam_alpha=0.6", *JOINT,
        huggingface="data.train.src_tag", tags=("--src-tag", "<2fr>", "--trg-tag", "<fr>")),
    "projected embeddings, other sizes and norms on each side": transformer(
        "model.encoder.embedding_dim=48", "model.decoder.embedding_dim=64", "model.encoder.hidden_size=96",
        "model.encoder.heads=2", "model.decoder.norm=post", huggingface="model.encoder.embedding_dim"),
    "words, output tied to the target embedding": transformer(
        "data.tokenizer.kind=word", "model.tied_embeddings=output", "search.beam_alpha=0", huggingface="data.tokenizer.kind"),
    "characters": transformer(
        "data.tokenizer.kind=character", "data.max_length=200", "search.max_output_length=200", huggingface="data.tokenizer.kind"),
    "GRU, additive attention": recurrent(),
    "the same, a search that ends ahead": recurrent("search.early_stopping=ahead"),
    "LSTM, two layers, input feeding": recurrent(
        *of_both("cell=lstm", "layers=2"), "model.decoder.query=new", "model.decoder.input_feeding=true"),
    "GRU with the reset gate after, one direction, residual, layer norm": recurrent(
        *of_both("reset_gate=after", "layers=2", "residual=true", "layer_norm=true"), "model.encoder.bidirectional=false"),
    "conditional decoder, tanh cells": recurrent(*of_both("cell=tanh"), "model.decoder.query=between"),
    "self-attention on top": recurrent("model.encoder.self_attention_layers=1"),
    "Transformer decoder on a GRU": Kind(RECURRENT, (
        "model.decoder.kind=transformer", "model.decoder.heads=4", "model.decoder.feed_forward_size=256", *UNREAD,
        "model.decoder.readout_size=512"), {to: "model.encoder.kind" for to in ("ctranslate2", "huggingface")}),
    "fixed context": with_attention("none", *UNREAD),
    **{f"{kind} attention": with_attention(kind, *more) for kind, more in {
        "concat": (), "dot": (*UNREAD, "model.decoder.hidden_size=256"), "scaled_dot": (*UNREAD, "model.attention.project_keys=true"),
        "general": UNREAD, "cosine": (*UNREAD, "model.attention.project_keys=true"), "location": UNREAD,
        "local_m": (), "local_p": (), "hard": (), "ntm": UNREAD, "multi_head": (), "coverage": (), "monotonic": (),
        "location_aware": (),
    }.items()},
    "copied words": nowhere(RECURRENT, "model.output.kind", "model.output.kind=copy", "data.tokenizer.kind=word"),
    "language model": nowhere("configs/language_model.yaml", "model.kind", "data.train.0.trg=data/train.fr", "data.dev.trg=data/dev.fr"),
}  # fmt: skip
