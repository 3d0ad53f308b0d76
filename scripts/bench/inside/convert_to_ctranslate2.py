"""convert_to_ctranslate2.py MODEL OUTPUT, run by the Python of CTranslate2. Writes a Transformer of regard
(norm pre, sinusoidal positions, tied_embeddings all, one vocabulary) in the format of CTranslate2. The names
of the tensors are those of docs/python.md."""

import json
import pathlib
import re
import sys

import ctranslate2
import numpy
import sentencepiece

MAX_LENGTH = 500  # positions


def read_tensors(path):
    """Returns name to array of a file in the format safetensors, all of which are float32."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        array = numpy.frombuffer(data[begin + first : begin + last], numpy.float32)
        tensors[name] = array.reshape(entry["shape"])
    return tensors


class Tensors:
    def __init__(self, tensors, prefix):
        self.tensors = tensors
        self.prefix = prefix

    def of(self, prefix):
        return Tensors(self.tensors, self.prefix + prefix)

    def __getitem__(self, name):
        return self.tensors[self.prefix + name]

    def linear(self, spec, *names):
        """Sets one layer from several, whose outputs it concatenates."""
        spec.weight = numpy.concatenate([self[f"{name}.weight"] for name in names])
        spec.bias = numpy.concatenate([self[f"{name}.bias"] for name in names])

    def norm(self, spec, name):
        spec.gamma, spec.beta = self[f"{name}.g"], self[f"{name}.b"]

    def attention(self, spec, name, own=True):
        self.norm(spec.layer_norm, f"{name}_norm")
        heads = self.of(f"{name}.")
        if own:
            heads.linear(spec.linear[0], "W_Q", "W_KV")
        else:
            heads.linear(spec.linear[0], "W_Q")
            heads.linear(spec.linear[1], "W_KV")
        heads.linear(spec.linear[-1], "W_O")

    def feed_forward(self, spec):
        self.norm(spec.layer_norm, "feed_forward_norm")
        self.linear(spec.linear_0, "feed_forward.W_1")
        self.linear(spec.linear_1, "feed_forward.W_2")


def positions(width):
    angle = numpy.arange(MAX_LENGTH)[:, None] / 10000 ** (numpy.arange(0, width, 2) / width)
    table = numpy.stack([numpy.sin(angle), numpy.cos(angle)], -1)
    return table.reshape(MAX_LENGTH, width).astype(numpy.float32)


def convert(model, output):
    tensors = Tensors(read_tensors(model / "model.safetensors"), "")
    config = (model / "config.yaml").read_text(encoding="utf-8")
    heads = int(re.search(r"^\s+heads: (\d+)", config, re.M)[1])
    layers = tuple(
        sum(name.startswith(side) and name.endswith(".W_1.bias") for name in tensors.tensors)
        for side in ("encoder", "decoder")
    )
    spec = ctranslate2.specs.TransformerSpec.from_config(layers, heads)
    embedding = tensors["source_embedding"]
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = embedding
    for side in (spec.encoder, spec.decoder):
        side.position_encodings.encodings = positions(embedding.shape[1])
        side.scale_embeddings = True
    tensors.of("encoder.").norm(spec.encoder.layer_norm, "norm")
    for i, layer in enumerate(spec.encoder.layer):
        own = tensors.of(f"encoder.layer{i}.")
        own.attention(layer.self_attention, "attention")
        own.feed_forward(layer.ffn)
    tensors.of("decoder.").norm(spec.decoder.layer_norm, "norm")
    for i, layer in enumerate(spec.decoder.layer):
        own = tensors.of(f"decoder.layer{i}.")
        own.attention(layer.self_attention, "self_attention")
        own.attention(layer.attention, "source_attention", own=False)
        own.feed_forward(layer.ffn)
    spec.decoder.projection.weight = embedding
    spec.decoder.projection.bias = tensors["output_bias"]

    processor = sentencepiece.SentencePieceProcessor(model_file=str(model / "source.model"))
    pieces = [processor.id_to_piece(i) for i in range(processor.vocab_size())]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = 1e-5
    spec.validate()
    spec.optimize()
    output.mkdir()
    spec.save(str(output))


convert(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
