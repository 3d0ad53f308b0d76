"""convert.py MODEL OUTPUT QUANTIZATION: writes a Transformer of regard as a model of CTranslate2.

Runs in the environment of __main__.py. MODEL is a model folder. The names of the tensors are those of
docs/python.md. Exits with 2 if CTranslate2 cannot represent the model.
"""

import json
import math
import pathlib
import shutil
import sys

import numpy
import sentencepiece
import yaml
from ctranslate2 import specs
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).resolve().parent
USAGE_ERROR = 2
POSITIONS = 1024  # with sinusoids; the default of CTranslate2's max_input_length
EPSILON = 1e-5  # of all layer normalisations
SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"]  # ids 0 to 3


def obstacles(options, tensors):
    """Yields the properties of a model that CTranslate2 cannot represent."""
    model, data = options["model"], options["data"]
    if model["kind"] != "translation":
        yield f"model.kind: found {model['kind']}, expected translation"
        return
    encoder, decoder = model["encoder"], model["decoder"]
    for side, section in (("encoder", encoder), ("decoder", decoder)):
        if section["kind"] != "transformer":
            yield f"model.{side}.kind: found {section['kind']}, expected transformer"
    if encoder.get("self_attention_layers", 0) > 0:
        yield "model.encoder.self_attention_layers: found layers on top of recurrent ones, expected none"
    if model["output"]["kind"] != "vocabulary":
        yield f"model.output.kind: found {model['output']['kind']}, expected vocabulary"
    if data["source"] != "text" or encoder["numbers"] > 0:
        yield "data.source: found vectors of numbers or features, expected text"
    if data["tokenizer"]["kind"] == "decomposed":
        yield "data.tokenizer.kind: found decomposed, expected bpe, unigram, word or character"
    if any(tensor.dtype != numpy.float32 for tensor in tensors.values()):
        yield (
            "model.safetensors: found weights of 8 bits (regard quantize), expected float32; export the model "
            "that they were made from, with --quantization int8"
        )


class Tensors:
    """The tensors whose names begin with a prefix. Each read removes a tensor, so that none is forgotten."""

    def __init__(self, tensors, prefix=""):
        self.tensors = tensors
        self.prefix = prefix

    def of(self, prefix):
        return Tensors(self.tensors, self.prefix + prefix)

    def take(self, name):
        return self.tensors.pop(self.prefix + name)

    def take_if_present(self, name):
        return self.tensors.pop(self.prefix + name, None)

    def linear(self, spec, *names):
        """Fills one linear layer from several, whose outputs it concatenates."""
        spec.weight = numpy.concatenate([self.take(f"{name}.weight") for name in names])
        spec.bias = numpy.concatenate([self.take(f"{name}.bias") for name in names])

    def norm(self, spec, name):
        spec.gamma, spec.beta = self.take(f"{name}.g"), self.take(f"{name}.b")

    def self_attention(self, spec, name):
        self.norm(spec.layer_norm, f"{name}_norm")
        heads = self.of(f"{name}.")
        heads.linear(spec.linear[0], "W_Q", "W_KV")
        heads.linear(spec.linear[1], "W_O")

    def source_attention(self, spec, name):
        self.norm(spec.layer_norm, f"{name}_norm")
        heads = self.of(f"{name}.")
        heads.linear(spec.linear[0], "W_Q")
        heads.linear(spec.linear[1], "W_KV")
        heads.linear(spec.linear[2], "W_O")

    def feed_forward(self, spec):
        self.norm(spec.layer_norm, "feed_forward_norm")
        self.linear(spec.linear_0, "feed_forward.W_1")
        self.linear(spec.linear_1, "feed_forward.W_2")


def sinusoids(count, D):
    """Returns the positions [count, D]: sin at 2i, and cos of the same angle at 2i + 1."""
    i = numpy.arange((D + 1) // 2)
    angle = numpy.arange(count)[:, None] / 10000 ** (2 * i / D)
    return numpy.stack([numpy.sin(angle), numpy.cos(angle)], -1).reshape(count, -1)[:, :D].astype(numpy.float32)


def fill_input(side, table, embedding, section, tensors):
    """Fills the token table and the positions of a side: x_t = sqrt(D) P E[y_t] + p_t."""
    D = section["hidden_size"]
    projection = tensors.take_if_present("projection.weight")
    side.scale_embeddings = projection is None
    if projection is None:
        table.weight = embedding
    else:  # CTranslate2 has no P for encoders, so the table contains the products
        table.weight = (math.sqrt(D) * embedding.astype(numpy.float64) @ projection.T).astype(numpy.float32)
    if section["position"] == "learned":
        side.position_encodings.encodings = tensors.take("positions.p")
    elif section["position"] in ("none", "rotary"):
        if hasattr(side, "position_encodings"):  # a decoder with rotary positions has none
            side.position_encodings.encodings = numpy.zeros((POSITIONS, D), numpy.float32)
    else:
        side.position_encodings.encodings = sinusoids(POSITIONS, D)


def layer_options(section):
    """Returns the options of the layers of a side, by CTranslate2's names."""
    is_rotary = section["position"] == "rotary"  # 0: all numbers of a head
    return {"pre_norm": section["norm"] == "pre", "rotary_dim": 0 if is_rotary else None}


def transformer(options, tensors):
    """Returns the specification of CTranslate2 with all weights. Empties `tensors`."""
    model = options["model"]
    encoder, decoder = model["encoder"], model["decoder"]
    spec = specs.TransformerSpec(
        specs.TransformerEncoderSpec(encoder["layers"], encoder["heads"], **layer_options(encoder)),
        specs.TransformerDecoderSpec(decoder["layers"], decoder["heads"], **layer_options(decoder)),
    )
    everything = Tensors(tensors)
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
    if tensors:
        sys.exit(f"model.safetensors: found tensors without a place in CTranslate2: {', '.join(sorted(tensors))}")
    return spec


def tokenizer_files(options):
    """Returns the names of the source and the target tokenizer, which are the same for a joint vocabulary."""
    tokenizer = options["data"]["tokenizer"]
    ending = ".model" if tokenizer["kind"] in ("bpe", "unigram") else ".vocabulary"
    return ["source" + ending, ("source" if tokenizer["joint"] else "target") + ending]


def tokens_of(file, size):
    """Returns the first `size` tokens of a tokenizer, by id."""
    if file.suffix == ".model":
        processor = sentencepiece.SentencePieceProcessor(model_file=str(file))
        tokens = [processor.id_to_piece(i) for i in range(processor.vocab_size())]
    else:
        tokens = file.read_bytes().decode("utf-8").split("\n")[:-1]
    if len(tokens) != size:
        sys.exit(f"{file}: found {len(tokens)} tokens, expected {size}, the rows of the embeddings")
    return SPECIAL + tokens[len(SPECIAL) :]


def settings(options):
    """Returns what translate.py needs: the text processing and the search of the model."""
    tokenizer, search, decoder = options["data"]["tokenizer"], options["search"], options["model"]["decoder"]
    longest = search["max_output_length"]
    if decoder["position"] == "learned":
        longest = min(longest, decoder["max_positions"])
    source_file, target_file = tokenizer_files(options)
    corpora = [*options["data"]["train"], options["data"]["dev"]]
    return {
        "name": options["name"],
        "tokenizer": tokenizer["kind"],
        "source": source_file,
        "target": target_file,
        "lowercase": tokenizer["lowercase"],
        "user_symbols": tokenizer["user_symbols"],
        "needs_trg_tag": any(corpus["trg_tag"] for corpus in corpora),
        "beam_size": search["beam_size"],
        "beam_alpha": search["beam_alpha"],
        "length_penalty": search["length_penalty"],
        "min_output_length": search["min_output_length"],
        "max_output_length": longest,
        "repetition_penalty": search["repetition_penalty"],
        "no_repeat_ngram": search["no_repeat_ngram"],
    }


# Options of the search that change translations and are not exported, and the values that turn them off.
NOT_EXPORTED = {"coverage_beta": 0, "beam_groups": 1, "samples": 0, "mbr": "none", "early_stopping": "full"}


def main():
    model, output, quantization = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    options = yaml.safe_load((model / "config.yaml").read_text(encoding="utf-8"))
    if "testing" in options:  # the former name of the section
        options["search"] = options.pop("testing")
    tensors = load_file(model / "model.safetensors")
    reasons = list(obstacles(options, tensors))
    if reasons:
        print(
            f"{model}: CTranslate2 cannot represent this model, nor can a similar runtime for Transformers:",
            *(f"  {reason}" for reason in reasons),
            "use `regard translate`, or train a model with model.encoder.kind and model.decoder.kind: transformer",
            sep="\n",
            file=sys.stderr,
        )
        sys.exit(USAGE_ERROR)
    for key, off in NOT_EXPORTED.items():
        if (found := options["search"].get(key, off)) != off:
            print(f"warning: search.{key}: {found} is not exported", file=sys.stderr)

    spec = transformer(options, tensors)
    files = tokenizer_files(options)
    spec.register_source_vocabulary(tokens_of(model / files[0], spec.get_source_vocabulary_size()[0]))
    spec.register_target_vocabulary(tokens_of(model / files[1], spec.get_target_vocabulary_size()))
    exported = settings(options)
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = EPSILON
    if exported["needs_trg_tag"]:
        spec.config.decoder_start_token = None  # the first token of target_prefix
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(output))
    for file in set(files):
        shutil.copyfile(model / file, output / file)
    shutil.copyfile(HERE / "translate.py", output / "translate.py")
    text = json.dumps(exported, indent=2, ensure_ascii=False) + "\n"
    (output / "regard.json").write_text(text, encoding="utf-8")


main()
