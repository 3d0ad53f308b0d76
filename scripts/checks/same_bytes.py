"""Compares two builds of regard: the same training must end in the same weights, and translate to the same text.

Trains configs/quickstart.yaml and one configuration for each kind of attention, cell, query, encoder, decoder, output
and model, 50 steps in fp32 on a CPU, with one thread and with two, and translates a hundred lines. OLD is the folder of
a build of an earlier commit; it must understand the same keys.
"""

import hashlib
import os
import pathlib
import re
import subprocess
import tempfile

import project
from cells import of_both_sides
from project import BUILD, CHECK_FAILED, ROOT, Failure, count_of

QUICKSTART = "configs/quickstart.yaml"
KINDS = re.search(r"enum class AttentionKind \{([^}]*)\}", (ROOT / "src/config/model_options.h").read_text(encoding="utf-8"))
SMALL = ("hidden_size=64", "heads=4", "feed_forward_size=96")


def cases():
    """Returns the configuration and the settings of each case by name."""
    quick = {"quickstart": []}
    for kind in KINDS[1].replace(",", " ").split():
        quick[kind] = [f"model.attention.kind={kind}"]
    for cell in ("lstm", "tanh"):
        quick[cell] = of_both_sides(f"cell={cell}")
    quick["reset_gate_after"] = of_both_sides("reset_gate=after")
    quick["layers"] = of_both_sides("layers=2", "residual=true", "layer_norm=true")
    for query in ("last", "between", "new"):
        quick[f"query_{query}"] = [f"model.decoder.query={query}"]
    quick["input_feeding"] = ["model.decoder.input_feeding=true"]
    quick["self_attention_layers"] = ["model.encoder.self_attention_layers=1"]
    quick["attention_dropout"] = ["model.dropout.attention=0.1"]
    quick["copy"] = ["data.tokenizer.kind=word", "model.output.kind=copy", "data.tokenizer.min_frequency=60"]
    quick["copy_parts"] = ["data.tokenizer.joint=true", "model.output.kind=copy"]
    found = {name: (QUICKSTART, settings) for name, settings in quick.items()}
    transformer = "configs/transformer.yaml"
    found["transformer"] = (transformer, of_both_sides(*SMALL))
    found["rotary"] = (transformer, of_both_sides(*SMALL, "position=rotary"))
    found["transformer_decoder_copy"] = (transformer, [*of_both_sides(*SMALL), *quick["copy"]])
    found["minimum_risk"] = (QUICKSTART, ["training.objective=minimum_risk", "training.minimum_risk.samples=4"])
    return found


def results(folder, config, settings, threads, lines):
    """Returns the hashes of the weights and of the translations."""
    with tempfile.TemporaryDirectory() as work:
        run = pathlib.Path(work) / "run"
        words = [
            "train", "-c", config, *settings, f"threads={threads}", f"training.model_dir={run}", "training.max_steps=50",
            "training.validation_every=50", "training.show_examples=0", "training.precision=fp32",
        ]  # fmt: skip
        for command in (words, ["translate", "-m", run, "-i", lines, "-o", run / "out", "--beam-size", "3", "--quiet"]):
            done = subprocess.run([folder / "regard", *map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return f"regard {command[0]} ended with {done.returncode}: {done.stderr.strip().splitlines()[-1]}"
        return tuple(hashlib.sha256((run / name).read_bytes()).hexdigest() for name in ("last/model.safetensors", "out"))


def main():
    parser = project.parser_of("scripts/check.sh same_bytes", __doc__)
    parser.add_argument("old", type=pathlib.Path, metavar="OLD", help="folder with regard and regard-torch")
    parser.add_argument("--new", type=pathlib.Path, default=BUILD, help="the other folder (default: build)")
    parser.add_argument("--only", default="", help="cases, separated by commas")
    options = parser.parse_args()
    old = pathlib.Path(os.environ["CALLED_FROM"]) / options.old
    all_cases = cases()
    different = []
    with tempfile.TemporaryDirectory() as work:
        lines = pathlib.Path(work) / "lines"
        text = (ROOT / "data" / "dev.en").read_text(encoding="utf-8").splitlines(keepends=True)
        lines.write_text("".join(text[:100]), encoding="utf-8")
        for name in project.names_in(options.only, list(all_cases), "case"):
            for threads in (1, 2):
                before, after = (results(folder, *all_cases[name], threads, lines) for folder in (old, options.new))
                same = before == after and isinstance(before, tuple)
                print(f"{name}, {count_of(threads, 'thread')}: {'same' if same else f'{before} and {after}'}", flush=True)
                if not same:
                    different.append(name)
    if different:
        raise Failure(CHECK_FAILED, f"not the same: {', '.join(dict.fromkeys(different))}")


project.run(main)
