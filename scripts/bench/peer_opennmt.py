"""Trains and runs OpenNMT-py with the configuration closest to each architecture. In its recurrent model,
encoder and decoder must have the same size, and the two directions of the encoder share it (256 each), so
the model is smaller.

OpenNMT-py is installed without its dependencies, whose version bounds exclude the current PyTorch;
PACKAGES lists those that it needs. Its input is text in sub-words. With the default bucket size the
first step would wait for many passes over the corpus, so the bucket has the size of the corpus. It cannot
load its own checkpoints without `weights_only=False` in its `torch.load` (inside/run_opennmt.py).
"""

import json
import math
import re

from cases import BEAM_ALPHA, DECODING_BATCH, MAX_LENGTH, RATE, WARMUP, Trained, Translated
from cases import join_pieces
from project import ENVIRONMENT_ERROR, ROOT, Failure

TITLE = "OpenNMT-py 3.5.1"
PACKAGES = [
    ["--no-deps", "OpenNMT-py==3.5.1"],
    ["configargparse", "ctranslate2==4.8.5", "fasttext-wheel", "flask", "pyahocorasick", "pyonmttok"]
    + ["rapidfuzz", "sacrebleu", "sentencepiece", "six", "spacy", "tensorboard", "waitress"],
]
INSIDE = ROOT / "scripts" / "bench" / "inside"

RECURRENT = {
    "encoder_type": "brnn",
    "decoder_type": "rnn",
    "rnn_type": "GRU",
    "word_vec_size": 256,
    "hidden_size": 512,
    "layers": 1,
    "input_feed": 1,
    "global_attention": "mlp",
    "bridge": True,
    "dropout": [0.2],
    "learning_rate": 0.001,
}
TRANSFORMER = {
    "encoder_type": "transformer",
    "decoder_type": "transformer",
    "layers": 4,
    "heads": 4,
    "word_vec_size": 128,
    "hidden_size": 128,
    "transformer_ff": 256,
    "position_encoding": True,
    "share_vocab": True,
    "share_embeddings": True,
    "share_decoder_embeddings": True,
    "dropout": [0.3],
    "attention_dropout": [0],
    "label_smoothing": 0.1,
    "adam_beta2": 0.98,
    "decay_method": "noam",
    "warmup_steps": WARMUP,
    "learning_rate": RATE * math.sqrt(128 * WARMUP),  # so that the highest rate is RATE
    "param_init_glorot": True,
    "param_init": 0,
}


def configuration(case, folder):
    source = case.work / "source.pieces"
    return {
        "save_model": str(folder / "model"),
        "save_checkpoint_steps": case.steps if case.save else 1000 * case.steps,
        "data": {
            "corpus": {
                "path_src": str(case.work / "source.encoded"),
                "path_tgt": str(case.work / "target.encoded"),
            }
        },
        "src_vocab": str(source),
        "tgt_vocab": str(source if case.shared else case.work / "target.pieces"),
        "src_vocab_size": case.architecture.vocabulary,
        "tgt_vocab_size": case.architecture.vocabulary,
        "optim": "adam",
        "max_grad_norm": 1,
        "batch_type": "sents" if case.architecture.batch_type == "sentence" else "tokens",
        "batch_size": case.architecture.batch,
        "normalization": "tokens",
        "bucket_size": 29000,
        "num_workers": 0,
        "train_steps": case.steps,
        "report_every": case.every,
        "seed": 1,
        **{"recurrent": RECURRENT, "transformer": TRANSFORMER}[case.name],
    }


def train(case, python, folder):
    """Trains into `folder`, which does not exist."""
    folder.mkdir()
    path = case.work / "opennmt.yaml"
    # JSON is YAML.
    path.write_text(json.dumps(configuration(case, folder), indent=1), encoding="utf-8")
    ran, output = case.run("opennmt", [python, INSIDE / "run_opennmt.py", "train", "-config", path])
    # "… bsz: 1134/1210/80; 1830/2105 tok/s …": source tokens, target tokens (and sentences)
    found = re.findall(r"bsz:\s*\d+/\s*(\d+)/.*?\d+/\s*(\d+) tok/s", output)
    parameters = re.search(r"number of parameters: (\d+)", output)
    if len(found) < 2 or not parameters:
        raise Failure(ENVIRONMENT_ERROR, f"{TITLE} logged no speeds:\n{output[-500:]}")
    batches, speeds = ([float(number) for number in column] for column in zip(*found))
    return Trained(ran.peak_bytes, int(parameters[1]), speeds, batches)


def checkpoint(case, folder):
    return folder / f"model_step_{case.steps}.pt"


def translate(case, python, folder, beam, source, lines):
    """Translates the file `source`, which is in sub-words."""
    answer = case.work / f"opennmt.{beam}"
    command = [python, INSIDE / "run_opennmt.py", "translate", "-model", checkpoint(case, folder)]
    command += ["-src", source, "-output", answer, "-beam_size", beam, "-batch_size", DECODING_BATCH]
    command += ["-batch_type", "sents", "-max_length", MAX_LENGTH, "-report_time"]
    command += ["-length_penalty", "avg", "-alpha", BEAM_ALPHA]
    ran, output = case.run("opennmt", command)
    seconds = re.search(r"Total translation time \(s\): ([\d.]+)", output)
    if not seconds:
        raise Failure(ENVIRONMENT_ERROR, f"{TITLE} logged no time:\n{output[-500:]}")
    join_pieces(answer)
    return Translated(ran.peak_bytes, float(seconds[1]), lines, answer)
