"""Trains the Multi30k recipes, compares decoding methods, and writes docs/results.md.

Figures are stored in docs/results/figures.json. A recipe whose figures exist is not trained again; a stopped
training is resumed. A recipe takes twenty to sixty minutes on one core, each model of `decoding` five. An ensemble is
scored when its models are on this machine.

    table     the recipes and ensembles of them, each scored on the tests of 2016 and 2017 with beam 5
    decoding  greedy, beam, averaged checkpoints, ensembles: four seeds of a small model
    promises  checks that the batch size changes no translation and that a killed training, resumed, ends
              in the same weights (needs the run multi30k)
    precision training in fp32 and in bf16, both fast recipes with two seeds each, on the validation pair
    changes   changes of the recurrent recipe, each after 2,500 steps, and of the Transformer's, each after
              2,000, on the validation pair
    diversification
              the trainings with and without added translations, on the validation pair (needs the runs
              multi30k_transformer_best and multi30k_transformer_diverse)
    page      only writes docs/results.md
"""

import argparse
import pathlib
import shlex
import statistics
import tempfile

import changes
import decoding
import diversification
import pages
import precision
import project
import promises
import reranking
from figures import Figures
from project import INPUT_ERROR, ROOT, Failure, names_in, need_multi30k, warn
from trainings import ENSEMBLES, TRAININGS

PAGE = ROOT / "docs" / "results.md"
VERBS = ("table", "decoding", "promises", "precision", "changes", "diversification", "page")


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/study.sh multi30k",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("--runs", default="runs", help="folder of the runs; default: runs")
    parser.add_argument("--only", default="", help="names of trainings of the table, separated by commas")
    parser.add_argument("settings", nargs="*", metavar="key=value",
                        help="passed to every training (threads=1 leaves a core for other work)")
    return parser.parse_intermixed_args()


def fill_table(options, figures):
    wanted = names_in(options.only, [training.name for training in TRAININGS], "training")
    for training in TRAININGS:
        if training.name in wanted and not training.row(figures):
            warn(training.name)
            training.train(options.runs, options.settings)
            figures.put(training.score(options.runs), "training", training.name)
    for ensemble in ENSEMBLES:
        if not ensemble.row(figures) and ensemble.has_models(options.runs):
            warn(ensemble.name)
            figures.put(ensemble.score(options.runs), "ensemble", ensemble.name)


def decode(options, figures, work):
    if figures.of(decoding.recipe(), "decoding"):
        return
    for training in decoding.MODELS:
        warn(training.name)
        training.train(options.runs, options.settings)
    figures.put(decoding.measure(options.runs, work), "decoding")


def compare_precisions(options, figures):
    for training in precision.trainings():
        if not training.row(figures):
            warn(training.name)
            training.train(options.runs, options.settings)
            figures.put(precision.score(training, options.runs), "training", training.name)


def table(figures):
    """Returns the rows of the trainings and ensembles that were measured. Figures that a row lacks are a dash."""
    head = ("direction|recipe|machine|best step|minutes|validation BLEU|test 2016 BLEU|chrF2|perplexity|BLEU of lower case|"
            "test 2017 BLEU").split("|")  # fmt: skip
    formats = {
        "best_step": "{:,}", "minutes": "{:.0f}", "validation_bleu": "{:.2f}", "bleu": "**{:.2f}**",
        "chrf": "{:.2f}", "perplexity": "{:.2f}", "lowercase_bleu": "{:.2f}", "bleu_2017": "{:.2f}",
    }  # fmt: skip
    rows, machines = [], {}  # machine to its letter
    for system in (*TRAININGS, *ENSEMBLES):
        row = system.row(figures)
        if not row:
            continue
        machines.setdefault(row["machine"], chr(ord("A") + len(machines)))
        values = [text.format(row[key]) if key in row else "–" for key, text in formats.items()]
        rows.append([f"{system.source}→{system.language}", system.label, machines[row["machine"]], *values])
    names = "; ".join(f"{letter}: {name}" for name, letter in machines.items())
    return pages.table(head, rows) + f"\n{means(figures)}Machines: {names}.\n"


def means(figures):
    """Returns the mean test BLEU of each recipe trained with two seeds."""
    scores = {}
    for training in TRAININGS:
        if row := training.row(figures):
            scores.setdefault(training.name.removesuffix("_seed43"), []).append(row["bleu"])
    means = [f"`{name}` {statistics.mean(s):.2f}" for name, s in scores.items() if len(s) > 1]
    return f"Mean of two seeds, BLEU of test 2016: {', '.join(means)}.\n\n" if means else ""


def commands():
    """Returns the commands that train the models of the table."""
    shown = []
    for training in TRAININGS:
        for command in (*(pairs.command for pairs in training.synthetic("runs")), training.command("runs")):
            line = f"    regard {shlex.join(command)}\n"
            if line not in shown:
                shown.append(line)
    return "\n" + "".join(shown) + "\n"


def decoding_table(figures):
    found = figures.get("decoding")
    if not found:
        return ""
    head = ["", "BLEU", "chrF2", "perplexity", "p"]
    rows = [
        [
            row["label"],
            f"{row['bleu']:.2f} ± {row['bleu_half_width']:.2f}",
            f"{row['chrf']:.2f} ± {row['chrf_half_width']:.2f}",
            f"{row['perplexity']:.2f}",
            "–" if row["p_value"] is None else f"{row['p_value']:.3f}",
        ]
        for row in found["rows"]
    ]
    return pages.table(head, rows) + f"\nMachine: {found['machine']}.\n"


def main():
    options = arguments()
    need_multi30k("train.en", "train.de", "train.fr")
    figures = Figures(ROOT / "docs" / "results" / "figures.json")
    parts = {}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        if options.verb == "table":
            fill_table(options, figures)
        if options.verb == "decoding":
            decode(options, figures, work)
        if options.verb == "precision":
            compare_precisions(options, figures)
        if options.verb == "changes":
            changes.measure(options.runs, options.settings, figures, warn)
        if options.verb == "diversification":
            figures.put(diversification.measure(options.runs), "diversification")
        if options.verb == "promises":
            model = ROOT / options.runs / "multi30k"
            if not (model / "best").exists():
                raise Failure(INPUT_ERROR, f"found no model in {model}; train it with the verb table")
            parts["promises"] = promises.markdown(model, options.settings, work)
    parts |= {"table": table(figures), "commands": commands(), "decoding": decoding_table(figures)}
    parts |= {"precision": precision.table(figures), **changes.tables(figures)}
    parts |= diversification.tables(figures) | reranking.tables(figures)
    pages.put(PAGE, parts)
    warn(f"written: {PAGE.relative_to(ROOT)}")


project.run(main)
