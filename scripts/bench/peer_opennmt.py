"""OpenNMT-py, as near to the bench model as it goes: it wants encoder and decoder of one size and
splits the encoder's over the directions, 256 each, so that it is the smaller model.

It is installed without its dependencies, whose bounds do not fit today's PyTorch; those that
training needs are named here. The text is brought to it in pieces. With its usual bucket the first
step waits for many passes over the corpus: one of the corpus's size is set. (It cannot load its own
checkpoints without `weights_only=False` in its `torch.load`; training loads none.)
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
    folder = case.folder("opennmt")
    folder.mkdir()
    path = case.work / "opennmt.yaml"
    path.write_text(json.dumps(configuration(case, folder), indent=1), encoding="utf-8")
    program = python.parent / "onmt_train"
    ran, output = case.run("opennmt", [program, "-config", path])
    # "… 1830/2105 tok/s …": of the source, of the target
    speeds = [float(s) for s in re.findall(r"\d+/\s*(\d+) tok/s", output)]
    if len(speeds) < 2:
        raise Failure(ENVIRONMENT_ERROR, f"{TITLE} logged no speeds:\n{output[-500:]}")
    return ran, speeds
