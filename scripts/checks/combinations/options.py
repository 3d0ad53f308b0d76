"""The options that are combined, on text, on vectors of numbers and on sound."""

import json

from project import ROOT

SCHEMA = json.loads((ROOT / "configs" / "schema.json").read_text(encoding="utf-8"))
ATTENTION = SCHEMA["properties"]["model"]["properties"]["attention"]["properties"]
# The kinds of attention that read model.attention.size.
WITH_SIZE = ATTENTION["size"]["description"].split(":")[0].split(", ")

LAYERS = {
    "layers": [1, 2], "cell": ["gru", "lstm", "tanh"], "residual": [False, True], "layer_norm": [False, True],
    "norm": ["pre", "post"], "position": ["auto", "sinusoidal", "learned", "rotary", "none"], "reset_gate": ["before", "after"],
}  # fmt: skip

ENCODER = {
    "model.encoder.kind": ["recurrent", "transformer"],
    "model.encoder.bidirectional": [True, False],
    "model.encoder.reverse": [False, True],
    "model.encoder.self_attention_layers": [0, 1],
    **{f"model.encoder.{key}": values for key, values in LAYERS.items()},
}

DECODER = {
    "model.decoder.kind": ["recurrent", "transformer"],
    "model.decoder.initial_state": ["bridge", "last", "mean", "zero", "layers"],
    "model.decoder.query": ["auto", "last", "between", "new"],
    "model.decoder.input_feeding": [False, True],
    **{f"model.decoder.{key}": values for key, values in LAYERS.items()},
    "model.attention.kind": list(dict.fromkeys([ATTENTION["kind"]["default"], *ATTENTION["kind"]["enum"]])),
    "model.attention.coverage_loss": [0, 1],
    "model.attention.estimator": ["gumbel", "reinforce"],
    "model.attention.fixed_context": ["last", "mean", "initial"],
    "model.attention.project_keys": ["auto", True],
}  # fmt: skip

TRAINING = {
    "model.dropout.embeddings": [0.2, 0],
    "model.dropout.states": [0.2, 0],
    "model.dropout.attention": [0, 0.2],
    "model.dropout.tokens": [0, 0.2],
    "training.batch_type": ["sentence", "token"],
    "training.gradient_accumulation": [1, 2],
    "training.objective": ["likelihood", "minimum_risk"],
    "training.label_smoothing": [0.1, 0],
    "training.r_drop": [0, 2],
    "training.precision": ["auto", "fp32"],
    "training.optimizer": ["adam", "adamw", "sgd", "adadelta"],
    "training.weight_decay": [0, 0.01],
    "training.moving_average": [0, 0.9],
    "training.scheduling": ["constant", "plateau", "inverse_square_root", "exponential", "cosine"],
    "training.freeze": ["[]", "[decoder.*]"],
    "training.early_stopping_metric": ["bleu", "loss", "chrf"],
    "threads": [2, 1],
    "training.shards": [0, 3],
}

DECODING = {
    "search.beam_size": [4, 1],
    "search.beam_groups": [1, 2],
    "search.coverage_beta": [0, 0.5],
    "search.early_stopping": ["ahead", "full", "exact", "never"],
    "search.length_penalty": ["gnmt", "power"],
    "search.min_output_length": [0, 2],
    "search.repetition_penalty": [1, 1.5],
    "search.no_repeat_ngram": [0, 2],
    "search.samples": [0, 3],
    "search.top_k": [0, 5],
    "search.mbr": ["none", "chrf"],
}

TAGGED = "data.tokenizer.user_symbols=[<2fr>, <2en>]"

TEXT = {
    "data.tokenizer.kind": ["word", "bpe", "unigram", "decomposed", "character"],
    "data.tokenizer.joint": [False, True],
    "data.tokenizer.lowercase": [False, True],
    "data.tokenizer.sampling": [0, 0.5],
    "data.remove_duplicates": [False, True],
    "data.hallucination.rate": [0, 0.5],
    "data.noise.mask": [0, 0.3],
    "data.noise.shuffle": [0, 2],
    "data.train.0.src_tag": ["", "<2fr>"],
    "data.train.0.trg_tag": ["", "<2fr>"],
    "model.tied_embeddings": ["none", "output", "all"],
    "model.output.kind": ["vocabulary", "copy"],
}

# What a value needs that is not the first of its option. A value of None stands for all but the first.
NEEDS = {
    ("model.encoder.norm", None): ("model.encoder.kind", "transformer"),
    ("model.encoder.position", None): ("model.encoder.kind", "transformer"),
    ("model.encoder.reverse", True): ("model.encoder.bidirectional", False),
    ("model.decoder.norm", None): ("model.decoder.kind", "transformer"),
    ("model.decoder.position", None): ("model.decoder.kind", "transformer"),
    ("model.decoder.initial_state", "last"): ("model.encoder.bidirectional", False),
    ("model.decoder.initial_state", "layers"): ("model.encoder.bidirectional", False),
    ("model.attention.coverage_loss", None): ("model.attention.kind", "coverage"),
    ("model.attention.estimator", None): ("model.attention.kind", "hard"),
    ("model.attention.fixed_context", None): ("model.attention.kind", "none"),
    ("model.attention.project_keys", None): ("model.attention.kind", "dot"),
    ("model.tied_embeddings", "all"): ("data.tokenizer.joint", True),
    ("model.output.kind", "copy"): ("data.tokenizer.joint", True),
    ("model.encoder.pyramidal", True): ("model.encoder.layers", 2),
    ("data.tokenizer.sampling", None): ("data.tokenizer.kind", "bpe"),
    ("search.top_k", None): ("search.samples", 3),
}

# Each world has settings for all its rows, and the options that are combined.
WORLDS = {
    "text": ([TAGGED], {**TEXT, **ENCODER, **DECODER, **TRAINING, **DECODING}),
    "numbers": (
        ["model.encoder.numbers=2", TAGGED],
        {**ENCODER, **DECODER, **TRAINING, **DECODING, "data.train.0.trg_tag": ["", "<2fr>"]},
    ),
    "sound": (
        ["data.source=features", "model.encoder.numbers=8", "data.max_frames=200", TAGGED],  # max_positions is 256
        {
            **ENCODER, **DECODER, **TRAINING, **DECODING,
            "model.encoder.pyramidal": [False, True],
            "model.encoder.frame_stacking": [1, 3],
            "data.train.0.trg_tag": ["", "<2fr>"],
        },
    ),
}  # fmt: skip
