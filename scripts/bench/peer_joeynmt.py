"""Trains JoeyNMT with the configuration closest to the bench model: a bidirectional GRU encoder and a
GRU decoder with additive attention and input feeding.

Besides its declared dependencies it needs: importlib_metadata, which it imports but does not declare; a
substitute for SetVocabulary (inside/run_joeynmt.py); a vocabulary file with the special tokens first; a
`scheduling` other than `plateau`, which passes PyTorch an argument that no longer exists.
"""

import json
import re

from project import ENVIRONMENT_ERROR, ROOT, Failure

TITLE = "JoeyNMT 2.3.0"
PACKAGES = [["joeynmt==2.3.0", "sentencepiece==0.2.0", "importlib_metadata"]]
SPECIALS = ["<unk>", "<pad>", "<s>", "</s>"]


def side(case, name, language):
    """Returns the options of the source or target data. Writes their vocabulary from regard's sub-words."""
    pieces = (case.work / f"{name}.pieces").read_text(encoding="utf-8").splitlines()
    vocabulary = case.work / f"joeynmt.{name}.vocabulary"
    vocabulary.write_text("\n".join(SPECIALS + pieces) + "\n", encoding="utf-8")
    return {
        "lang": language,
        "level": "bpe",
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": {"model_file": str(case.tokenizers / f"{name}.model")},
        "voc_file": str(vocabulary),
    }


def configuration(case, folder):
    layer = {"type": "recurrent", "rnn_type": "gru", "hidden_size": 512, "num_layers": 1}
    dropout = {"embeddings": {"embedding_dim": 256, "dropout": 0.2}, "dropout": 0.2}
    return {
        "name": "bench",
        "model_dir": str(folder),
        "use_cuda": False,
        "random_seed": 1,
        "data": {
            "train": "data/multi30k/train",
            "dev": "data/multi30k/val",
            "dataset_type": "plain",
            "src": side(case, "source", "en"),
            "trg": side(case, "target", "de"),
        },
        "training": {
            "optimizer": "adam",
            "learning_rate": 0.001,
            "clip_grad_norm": 1.0,
            "batch_size": case.sentences,
            "batch_type": "sentence",
            "normalization": "tokens",
            "scheduling": "decaying",  # required; acts only between epochs
            "decaying_step_size": 1000,
            "epochs": 1000,
            "updates": case.steps,
            "logging_freq": case.every,
            "validation_freq": 1000 * case.steps,  # never
            "overwrite": True,
        },
        "testing": {"beam_size": 1},
        "model": {
            "encoder": {**layer, **dropout, "bidirectional": True},
            "decoder": {
                **layer,
                **dropout,
                "hidden_dropout": 0.2,
                "input_feeding": True,
                "init_hidden": "bridge",
                "attention": "bahdanau",
            },
        },
    }


def train(case, python):
    """Returns the finished program and the tokens per second that it logged."""
    folder = case.folder("joeynmt")
    path = case.work / "joeynmt.yaml"
    # JSON is YAML.
    path.write_text(json.dumps(configuration(case, folder), indent=1), encoding="utf-8")
    runner = ROOT / "scripts" / "bench" / "inside" / "run_joeynmt.py"
    ran, output = case.run("joeynmt", [python, runner, "train", path, "--skip-test"])
    speeds = [float(s) for s in re.findall(r"Tokens per Sec:\s*([\d.]+)", output)]
    if len(speeds) < 2:
        raise Failure(ENVIRONMENT_ERROR, f"{TITLE} logged no speeds:\n{output[-500:]}")
    return ran, speeds
