"""Trained models for the tests, each trained once for a few steps on a toy language. They translate badly, but
reliably."""

import os
import pathlib
import random
import subprocess

import pytest

DICTIONARY = {
    "the": "le", "cat": "chat", "dog": "chien", "bird": "oiseau", "sees": "voit", "hears": "entend", "a": "un",
    "small": "petit", "old": "vieux", "and": "et", "here": "ici", ".": ".",
}  # fmt: skip

CONFIGURATION = """
name: toy
device: cpu
threads: 1
data:
  train: [{{src: {folder}/train.en, trg: {folder}/train.fr}}]
  dev: {{src: {folder}/dev.en, trg: {folder}/dev.fr}}
  tokenizer: {{kind: word}}
model:
  encoder: {{embedding_dim: 16, hidden_size: 16}}
  decoder: {{embedding_dim: 16, hidden_size: 16, readout_size: 16}}
  attention: {{size: 16}}
training:
  model_dir: {folder}/run
  max_steps: 60
  batch_type: sentence
  batch_size: 32
  learning_rate: 0.01
  validation_every: 30
search: {{beam_size: 3, max_output_length: 20}}
"""

TRANSFORMER = ["model.attention.size=512", "model.decoder.readout_size=512"] + [
    f"model.{side}.{option}"
    for side in ("encoder", "decoder")
    for option in ("kind=transformer", "heads=2", "layers=2", "feed_forward_size=32")
]


def toy_corpus(lines, seed):
    """Returns source and target lines: each word has one translation, and the order is kept."""
    generator = random.Random(seed)
    sources = [[generator.choice(list(DICTIONARY)) for _ in range(generator.randint(2, 7))] for _ in range(lines)]
    return [" ".join(words) for words in sources], [" ".join(DICTIONARY[word] for word in words) for words in sources]


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def run_regard(*arguments, text=""):
    """Runs the program and returns its standard output."""
    finished = subprocess.run(
        [os.environ["REGARD"], *map(str, arguments)], input=text, capture_output=True, encoding="utf-8"
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture(scope="session")
def regard_program():
    return run_regard


@pytest.fixture(scope="session")
def corpus():
    """toy_corpus(): a function of the number of lines and a seed."""
    return toy_corpus


@pytest.fixture(scope="session")
def repository():
    return pathlib.Path(os.environ["REGARD_SOURCE"])


@pytest.fixture(scope="session")
def train(tmp_path_factory):
    """Returns a function that trains a model with overrides of the configuration and returns its run folder."""

    def train_model(name, overrides=()):
        folder = tmp_path_factory.mktemp(name)
        for part, lines, seed in (("train", 200, 1), ("dev", 20, 2)):
            source, target = toy_corpus(lines, seed)
            write_lines(folder / f"{part}.en", source)
            write_lines(folder / f"{part}.fr", target)
        write_lines(folder / "toy.yaml", [CONFIGURATION.format(folder=folder)])
        run_regard("train", "-c", folder / "toy.yaml", "--quiet", *(each.format(folder=folder) for each in overrides))
        return folder / "run"

    return train_model


@pytest.fixture(scope="session")
def run_folder(train):
    """A recurrent model with additive attention."""
    return train("recurrent")


@pytest.fixture(scope="session")
def transformer_folder(train):
    return train("transformer", TRANSFORMER)


@pytest.fixture(scope="session")
def tagged_folder(train):
    """A model that translates with the target tag <2fr> and copies with <2de>."""
    return train("tagged", [
        "data.tokenizer.user_symbols=[<2fr>, <2de>]", "data.tokenizer.joint=true", "training.max_steps=300",
        "data.train.0.trg_tag=<2fr>", "data.train.1.trg_tag=<2de>", "data.dev.trg_tag=<2fr>",
        "data.train.1.src={folder}/train.en", "data.train.1.trg={folder}/train.en",
    ])  # fmt: skip


@pytest.fixture(scope="session")
def model(run_folder):
    import regard

    return regard.Model(run_folder, device="cpu", threads=1)


@pytest.fixture(scope="session")
def sources():
    return toy_corpus(20, 2)[0]


@pytest.fixture(scope="session")
def references():
    return toy_corpus(20, 2)[1]
