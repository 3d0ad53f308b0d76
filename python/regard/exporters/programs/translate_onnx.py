"""Translates with onnxruntime as `regard translate` does: python3 translate.py <source >translation

Needs `pip install onnxruntime numpy`, and sentencepiece for sub-words. Reads UTF-8, one sentence on each line.
"""

import argparse
import json
import pathlib
import sys

import numpy
import onnxruntime
from tokenizer import Tokenizer

FOLDER = pathlib.Path(__file__).resolve().parent
PAD, UNK, BOS, EOS = range(4)


class Model:
    """encoder.onnx and decoder.onnx, with the options of regard.json."""

    def __init__(self):
        self.options = json.loads((FOLDER / "regard.json").read_text(encoding="utf-8"))
        self.encoder, self.decoder = (onnxruntime.InferenceSession(FOLDER / f"{name}.onnx") for name in ("encoder", "decoder"))
        self.first = [each.name for each in self.encoder.get_outputs()]  # context0, …, state0, …
        self.has_positions = any(each.name == "position" for each in self.decoder.get_inputs())  # a Transformer
        self.next = [each.name.replace("next", "state") for each in self.decoder.get_outputs()]  # log_p, state0, …
        self.source, self.target = (Tokenizer(self.options, FOLDER / self.options[side]) for side in ("source", "target"))

    def score(self, log_p, n):
        """log P divided by the length penalty, of n tokens with </s>."""
        return log_p / ((5 + n) / 6 if self.options["length_penalty"] == "gnmt" else n) ** self.options["beam_alpha"]

    def translate(self, line, beam, source_tag="", target_tag=""):
        """Beam search: the `beam` best hypotheses, until as many have finished and, unless `early_stopping` is `full`, none
        that is open has a better score. A beam of 1 is greedy search."""
        o, until_full = self.options, self.options["early_stopping"] == "full"
        ids = [self.source.ids.get(token, UNK) for token in self.source.encode(source_tag + " " + line if source_tag else line)]
        tensors = self.encoder.run(None, {"source": [[*ids, EOS]], "lengths": [len(ids) + 1]})
        tensors = {name: numpy.repeat(tensor, beam, 0) for name, tensor in zip(self.first, tensors)}
        last = numpy.full(beam, self.target.ids[target_tag] if target_tag else BOS)
        running, finished = [(0.0, [])], []
        limit = o["max_output_length"]
        if o["max_output_ratio"] > 0:
            limit = min(limit, max(int(o["max_output_ratio"] * (len(ids) + 1) + 10), o["min_output_length"] + 1))
        for position in range(limit):
            inputs = tensors | {"tokens": last} | ({"position": numpy.array(position)} if self.has_positions else {})
            step = dict(zip(self.next, self.decoder.run(None, inputs)))
            log_p = step.pop("log_p")[: len(running)].astype(numpy.float64)
            log_p[:, [PAD, BOS]] = -numpy.inf
            if position < o["min_output_length"]:
                log_p[:, EOS] = -numpy.inf
            log_p += numpy.array([[value] for value, _ in running])
            best, longer = numpy.argsort(-log_p, None, kind="stable")[: 2 * beam], []
            for rank, (row, token) in enumerate(zip(*numpy.unravel_index(best, log_p.shape))):
                value, tokens = log_p[row, token], running[row][1]
                if token == EOS and rank < beam and (not until_full or len(finished) < beam):
                    finished.append((self.score(value, len(tokens) + 1), tokens))
                elif token != EOS and len(longer) < beam:
                    longer.append((row, value, [*tokens, token]))
            running = [(value, tokens) for _, value, tokens in longer]
            if len(finished) >= beam and (until_full or max(finished)[0] >= max(self.score(v, len(t)) for v, t in running)):
                break
            rows = [row for row, _, _ in longer] + [0] * (beam - len(longer))
            tensors |= {name: state[rows] for name, state in step.items()}
            last = numpy.array([tokens[-1] for _, tokens in running] + [PAD] * (beam - len(running)))
        found = finished or [(self.score(value, len(tokens)), tokens) for value, tokens in running]
        return self.target.decode([self.target.tokens[id] for id in max(found, key=lambda each: each[0])[1]])


def main():
    model = Model()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beam-size", type=int, default=model.options["beam_size"], help="1 is greedy search")
    parser.add_argument("--src-tag", default="", help="user symbol before each source line")
    parser.add_argument("--trg-tag", default="", help="user symbol with which the decoder begins")
    o = parser.parse_args()
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for line in sys.stdin:
        line = line.removesuffix("\n").removesuffix("\r")
        print(model.translate(line, o.beam_size, o.src_tag, o.trg_tag) if line.strip() else "", flush=True)


if __name__ == "__main__":
    main()
