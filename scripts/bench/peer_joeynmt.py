"""Trains and runs JoeyNMT with the configuration closest to each architecture. The recurrent model has a
bidirectional GRU encoder and a GRU decoder with additive attention and input feeding.

Besides its declared dependencies it needs: importlib_metadata, which it imports but does not declare; a
substitute for SetVocabulary (inside/run_joeynmt.py); a vocabulary file with the special tokens first; a
`scheduling` other than `plateau`, which passes PyTorch an argument that no longer exists.

Sentences of all lengths share a batch, and a batch in tokens includes its padding. So its batches of the
Transformer have half as many tokens as those of the others. With as many it is slower and needs twice the
memory.
"""

import datetime
import json
import re

from cases import BEAM_ALPHA, DECODING_BATCH, LANGUAGES, MAX_LENGTH, RATE, WARMUP, Trained, Translated
from project import ENVIRONMENT_ERROR, ROOT, Failure

TITLE = "JoeyNMT 2.3.0"
PACKAGES = [["joeynmt==2.3.0", "sentencepiece==0.2.0", "importlib_metadata"]]
SPECIALS = ["<unk>", "<pad>", "<s>", "</s>"]
RUNNER = ROOT / "scripts" / "bench" / "inside" / "run_joeynmt.py"


def side(case, name):
    """Returns the options of the source or target data. Writes their vocabulary from regard's sub-words."""
    pieces = (case.work / f"{name}.pieces").read_text(encoding="utf-8").splitlines()
    vocabulary = case.work / f"joeynmt.{name}.vocabulary"
    vocabulary.write_text("\n".join(SPECIALS + pieces) + "\n", encoding="utf-8")
    return {
        "lang": LANGUAGES[name],
        "level": "bpe",
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": {"model_file": str(case.model(name))},
        "voc_file": str(vocabulary),
    }


def recurrent():
    layer = {"type": "recurrent", "rnn_type": "gru", "hidden_size": 512, "num_layers": 1}
    dropout = {"embeddings": {"embedding_dim": 256, "dropout": 0.2}, "dropout": 0.2}
    training = {
        "learning_rate": 0.001,
        "scheduling": "decaying",  # required; acts only between epochs
        "decaying_step_size": 1000,
    }
    model = {
        "encoder": {**layer, **dropout, "bidirectional": True},
        "decoder": {
            **layer,
            **dropout,
            "hidden_dropout": 0.2,
            "input_feeding": True,
            "init_hidden": "bridge",
            "attention": "bahdanau",
        },
    }
    return training, model


def transformer():
    stack = {
        "type": "transformer",
        "num_layers": 4,
        "num_heads": 4,
        "embeddings": {"embedding_dim": 128, "scale": True, "dropout": 0.3},
        "hidden_size": 128,
        "ff_size": 256,
        "dropout": 0.3,
        "layer_norm": "pre",
    }
    training = {
        "learning_rate": RATE,
        "scheduling": "warmupinversesquareroot",
        "learning_rate_warmup": WARMUP,
        "adam_betas": [0.9, 0.98],
        "label_smoothing": 0.1,
    }
    model = {"encoder": stack, "decoder": stack, "tied_embeddings": True, "tied_softmax": True}
    return training, model


def configuration(case, folder):
    training, model = {"recurrent": recurrent, "transformer": transformer}[case.name]()
    return {
        "name": "bench",
        "model_dir": str(folder),
        "use_cuda": False,
        "random_seed": 1,
        "data": {
            "train": "data/multi30k/train",
            "dev": "data/multi30k/val",
            "dataset_type": "plain",
            "src": side(case, "source"),
            "trg": side(case, "target"),
        },
        "training": {
            "optimizer": "adam",
            "clip_grad_norm": 1.0,
            "batch_size": case.architecture.batch,
            "batch_type": case.architecture.batch_type,
            "normalization": "tokens",
            "epochs": 1000,
            "updates": case.steps,
            "logging_freq": case.every,
            # It saves only when it validates.
            "validation_freq": case.steps if case.save else 1000 * case.steps,
            "overwrite": True,
            **training,
        },
        "testing": {
            "beam_size": 1,
            "batch_size": DECODING_BATCH,
            "batch_type": "sentence",
            "max_output_length": MAX_LENGTH,
        },
        "model": model,
    }


def write(config, path):
    path.write_text(json.dumps(config, indent=1), encoding="utf-8")  # JSON is YAML
    return path


def log_lines(output):
    """Returns the tokens per second of each line of the log, and the seconds since the one before."""
    speeds, seconds, before = [], [], None
    pattern = r"^([-\d]+ [:\d]+),(\d+) .*Tokens per Sec:\s*([\d.]+)"
    for date, milliseconds, speed in re.findall(pattern, output, re.M):
        now = datetime.datetime.fromisoformat(date).timestamp() + int(milliseconds) / 1000
        speeds.append(float(speed))
        seconds.append(now - before if before else 0)
        before = now
    return speeds, seconds


def train(case, python, folder):
    """Trains into `folder`, which does not exist."""
    path = write(configuration(case, folder), case.work / "joeynmt.yaml")
    ran, output = case.run("joeynmt", [python, RUNNER, "train", path, "--skip-test"])
    speeds, seconds = log_lines(output)
    parameters = re.search(r"Total params: (\d+)", output)
    if len(speeds) < 2 or not parameters:
        raise Failure(ENVIRONMENT_ERROR, f"{TITLE} logged no speeds:\n{output[-500:]}")
    batches = [speed * s / case.every for speed, s in zip(speeds, seconds)]
    return Trained(ran.peak_bytes, int(parameters[1]), speeds, batches)


def translate(case, python, folder, beam, source, lines):
    config = configuration(case, folder)
    config["testing"].update({"beam_size": beam, "beam_alpha": BEAM_ALPHA if beam > 1 else -1})
    path = write(config, case.work / "joeynmt.translate.yaml")
    answer = case.work / f"joeynmt.{beam}"
    ran, output = case.run("joeynmt", [python, RUNNER, "translate", path], stdin=source, answer=answer)
    seconds = re.search(r"Generation took ([\d.]+)\[sec\]", output)
    if not seconds:
        raise Failure(ENVIRONMENT_ERROR, f"{TITLE} logged no time:\n{output[-500:]}")
    return Translated(ran.peak_bytes, float(seconds[1]), lines, answer)
