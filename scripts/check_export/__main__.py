"""Compares the log-probabilities of regard with those of plain PyTorch for the same model folder.

The PyTorch forward pass (scripts/check_export/forward.py) is an independent implementation based on the
tensor names of docs/python.md; the figures of regard are those of `regard score --words`. Without MODEL,
small models of several kinds are trained for some seconds each. Fails if a log-probability differs by more
than 1e-4.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess

import project
from project import BUILD, CHECK_FAILED, ENVIRONMENT_ERROR, REGARD, ROOT, Failure, model_folder, warn

HERE = pathlib.Path(__file__).resolve().parent
WORK = BUILD / "check_export"
MAX_DIFFERENCE = 1e-4

PACKAGES = ["safetensors", "sentencepiece", "PyYAML", "numpy"]
SMALL = ["training.max_steps=150", "training.validation_every=150", "training.validation_unit=steps"]
STACK = [
    "model.encoder.layers=2",
    "model.decoder.layers=2",
    "model.encoder.residual=true",
    "model.decoder.residual=true",
    "model.encoder.layer_norm=true",
    "model.decoder.layer_norm=true",
]
# Models to train if none are given: the configuration and its overrides.
KINDS = {
    "GRU, additive attention": ["configs/quickstart.yaml"],
    "the same, reset gate after the product, tied output": [
        "configs/quickstart.yaml",
        "model.encoder.reset_gate=after",
        "model.decoder.reset_gate=after",
        "model.decoder.readout_size=128",
        "model.tied_embeddings=output",
    ],
    "two layers of LSTM, residual, layer norm": [
        "configs/quickstart.yaml",
        "model.encoder.cell=lstm",
        "model.decoder.cell=lstm",
        "model.decoder.initial_state=mean",
        *STACK,
    ],
    "Transformer": ["configs/transformer.yaml"],
    "Transformer, rotary positions": [
        "configs/transformer.yaml",
        *(f"model.{side}.position=rotary" for side in ("encoder", "decoder")),
    ],
    "Transformer, post-norm, learned positions": [
        "configs/transformer.yaml",
        *(f"model.{side}.norm=post" for side in ("encoder", "decoder")),
        *(f"model.{side}.position=learned" for side in ("encoder", "decoder")),
    ],
}


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/check_export.sh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="The variable PYTHON names a Python that has PyTorch; default: that of .venv.",
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", help="run folders or model folders")
    parser.add_argument("--src", default="data/test.en", help="source text; default: data/test.en")
    parser.add_argument("--trg", default="data/test.fr", help="translation of the source; default: data/test.fr")
    parser.add_argument("--pairs", type=int, default=100, help="number of pairs; default: 100")
    return parser.parse_args()


def call(command, **more):
    """Runs a command and returns its standard output. Raises Failure if it fails."""
    command = [str(word) for word in command]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise Failure(
            ENVIRONMENT_ERROR,
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.strip()}",
        )
    return done.stdout


def environment():
    """Returns a Python with PyTorch, and environment variables that add the other packages."""
    python = os.environ.get("PYTHON") or ROOT / ".venv" / "bin" / "python"
    try:
        call([python, "-W", "ignore", "-c", "import torch"])
    except (OSError, Failure) as error:
        raise Failure(
            ENVIRONMENT_ERROR, f"{python}: found no Python with PyTorch ({error}); set PYTHON=…"
        ) from error
    packages = WORK / "packages"
    if not (packages / "installed").is_file():
        warn(f"installing {', '.join(PACKAGES)} into {packages}")
        call([python, "-m", "pip", "install", "--quiet", "--target", packages, *PACKAGES])
        (packages / "installed").touch()
    more = {"PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    return python, {**os.environ, **more}


def train_small(name, config, *overrides):
    """Trains a small model of this kind; returns its run folder."""
    folder = WORK / "-".join("".join(c if c.isalnum() else " " for c in name).lower().split())
    warn(f"training: {name}")
    command = [REGARD, "train", "--fresh", "-c", config, f"training.model_dir={folder}"]
    call([*command, *SMALL, *overrides])
    return folder


def models(options):
    """Returns the run or model folder of each model to check, by name."""
    if options.models:
        return {model: pathlib.Path(model) for model in options.models}
    return {name: train_small(name, *recipe) for name, recipe in KINDS.items()}


def by_regard(model, source, target):
    """Returns log P of each word and of </s> for each line, as `regard score` computes it."""
    scored = call(
        [REGARD, "score", "-m", model, "-s", source, "-t", target, "--words", "--json", "--precision", "fp32"]
    )
    return [
        [word["log_probability"] for word in line["words"]] for line in json.loads(scored)["scores"]
    ]


def first_lines(path, count, name):
    """Copies the first lines of a file into the work folder; returns the path of the copy."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines(keepends=True)[:count]
    (WORK / name).write_text("".join(lines), encoding="utf-8")
    return WORK / name


def compare(ours, theirs):
    """Returns the number of words and the largest difference, which is NaN if any difference is."""
    if [len(line) for line in ours] != [len(line) for line in theirs]:
        raise Failure(CHECK_FAILED, "regard and PyTorch split the text into different words")
    pairs = [(a, b) for x, y in zip(ours, theirs) for a, b in zip(x, y)]
    if not pairs:
        raise Failure(CHECK_FAILED, "there are no words to compare")
    gaps = [abs(a - b) for a, b in pairs]
    return len(pairs), math.nan if any(map(math.isnan, gaps)) else max(gaps)


def main():
    options = arguments()
    WORK.mkdir(parents=True, exist_ok=True)
    python, variables = environment()
    source = first_lines(options.src, options.pairs, "source")
    target = first_lines(options.trg, options.pairs, "target")
    figures = {}
    print("| model | words and ends of sentences | largest difference of log P |\n|---|---:|---:|")
    for name, model in models(options).items():
        pairs = [source, target, options.pairs]
        scored = call(
            [python, "-W", "ignore", HERE / "score.py", model_folder(model), *pairs], env=variables
        )
        theirs = json.loads(scored)
        words, most = compare(by_regard(model, source, target), theirs)
        print(f"| {name} | {words} | {most:.1e} |", flush=True)
        figures[name] = {"words": words, "largest_difference": most}
    print()
    print(json.dumps(figures))
    wrong = [name for name, figure in figures.items() if not figure["largest_difference"] <= MAX_DIFFERENCE]
    if wrong:
        raise Failure(CHECK_FAILED, f"difference above {MAX_DIFFERENCE}: {', '.join(wrong)}")


project.run(main)
