"""Trains OpenNMT-py with the configuration closest to the bench model. Encoder and decoder must have the
same size, and the two directions of the encoder share it (256 each), so the model is smaller.

OpenNMT-py is installed without its dependencies, whose version bounds exclude the current PyTorch;
PACKAGES lists those that training needs. Its input is text in sub-words. With the default bucket size the
first step would wait for many passes over the corpus, so the bucket has the size of the corpus. (It cannot
load its own checkpoints without `weights_only=False` in its `torch.load`; training loads none.)
"""

import json
import re

from project import ENVIRONMENT_ERROR, Failure

TITLE = "OpenNMT-py 3.5.1"
PACKAGES = [
    ["--no-deps", "OpenNMT-py==3.5.1"],
    ["configargparse", "ctranslate2", "fasttext-wheel", "flask", "pyahocorasick", "pyonmttok"]
    + ["rapidfuzz", "sacrebleu", "sentencepiece", "six", "spacy", "tensorboard", "waitress"],
]


def configuration(case, folder):
    corpus = {
        "path_src": str(case.work / "source.encoded"),
        "path_tgt": str(case.work / "target.encoded"),
    }
    return {
        "save_model": str(folder / "model"),
        "save_checkpoint_steps": 1000 * case.steps,
        "data": {"corpus": corpus},
        "src_vocab": str(case.work / "source.pieces"),
        "tgt_vocab": str(case.work / "target.pieces"),
        "src_vocab_size": 8000,
        "tgt_vocab_size": 8000,
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
        "optim": "adam",
        "learning_rate": 0.001,
        "max_grad_norm": 1,
        "batch_type": "sents",
        "batch_size": case.sentences,
        "normalization": "tokens",
        "bucket_size": 29000,
        "num_workers": 0,
        "train_steps": case.steps,
        "report_every": case.every,
        "seed": 1,
    }


def train(case, python):
    """Returns the finished program and the target tokens per second that it logged."""
    folder = case.folder("opennmt")
    folder.mkdir()
    path = case.work / "opennmt.yaml"
    path.write_text(json.dumps(configuration(case, folder), indent=1), encoding="utf-8")
    program = python.parent / "onmt_train"
    ran, output = case.run("opennmt", [program, "-config", path])
    # "… 1830/2105 tok/s …": source tokens, target tokens
    speeds = [float(s) for s in re.findall(r"\d+/\s*(\d+) tok/s", output)]
    if len(speeds) < 2:
        raise Failure(ENVIRONMENT_ERROR, f"{TITLE} logged no speeds:\n{output[-500:]}")
    return ran, speeds
