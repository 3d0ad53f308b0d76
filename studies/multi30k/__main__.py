"""Trains the Multi30k recipes, compares decoding methods, and writes docs/results.md.

A recipe takes twenty to sixty minutes on one core, each model of `decoding` five. An ensemble is scored when its models
are on this machine. Stopped trainings are resumed, and finished ones are skipped.

    table     the recipes and ensembles of them, each scored on the tests of 2016 and 2017 with beam 5
    decoding  greedy, beam, averaged checkpoints, ensembles: four seeds of a small model
    promises  checks that the batch size changes no translation and that a killed training, resumed, ends
              in the same weights (needs the run multi30k)
    precision training in fp32 and in bf16, both fast recipes with two seeds each, on the validation pair
    changes   changes of the recurrent recipe, each after 2,500 steps, and of the Transformer's, each after
              2,000, on the validation pair
    diversification
              the trainings with and without added translations, on the validation pair
"""

import shlex
import statistics

import changes
import pages
import precision
import project
import promises
import reranking
from cells import Study, parser_of
from decoding import Decoding
from diversification import Diversification
from project import need_multi30k
from trainings import Table

VERBS = ("table", "decoding", "promises", "precision", "changes", "diversification")


def table(of):
    """Returns the rows of the trainings and ensembles that were measured. Figures that a row lacks are a dash."""
    head = ("direction|recipe|machine|best step|minutes|validation BLEU|test 2016 BLEU|chrF2|perplexity|BLEU of lower case|"
            "test 2017 BLEU").split("|")  # fmt: skip
    formats = {
        "best_step": "{:,}", "minutes": "{:.0f}", "validation_bleu": "{:.2f}", "bleu": "**{:.2f}**",
        "chrf": "{:.2f}", "perplexity": "{:.2f}", "lowercase_bleu": "{:.2f}", "bleu_2017": "{:.2f}",
    }  # fmt: skip
    rows, machines = [], {}  # machine to its letter
    for system in (*of.trainings, *of.ensembles):
        row = system.result()
        if not row:
            continue
        machines.setdefault(row["machine"], chr(ord("A") + len(machines)))
        values = [text.format(row[key]) if key in row else "–" for key, text in formats.items()]
        rows.append([f"{system.source}→{system.language}", system.label, machines[row["machine"]], *values])
    names = "; ".join(f"{letter}: {name}" for name, letter in machines.items())
    return pages.table(head, rows) + f"\n{means(of.trainings)}Machines: {names}.\n"


def means(trainings):
    """Returns the mean test BLEU of each recipe trained with two seeds."""
    scores = {}
    for training in trainings:
        if row := training.result():
            scores.setdefault(training.name.removesuffix("_seed43"), []).append(row["bleu"])
    means = [f"`{name}` {statistics.mean(s):.2f}" for name, s in scores.items() if len(s) > 1]
    return f"Mean of two seeds, BLEU of test 2016: {', '.join(means)}.\n\n" if means else ""


def commands(of):
    """Returns the commands that train the models of the table."""
    shown = []
    for training in of.trainings:
        for command in (*(pairs.command for pairs in training.synthetic), training.command):
            line = f"    regard {shlex.join(command)}\n"
            if line not in shown:
                shown.append(line)
    return "\n" + "".join(shown) + "\n"


def main():
    parser = parser_of("multi30k", __doc__, "runs")
    parser.add_argument("verb", choices=VERBS, nargs="?", default="table")
    options = parser.parse_args()
    study = Study(options, "results")
    need_multi30k("train.en", "train.de", "train.fr")
    rows = Table(study)
    selected = study.selected(rows.trainings)
    decoding, diversification = Decoding(study), Diversification(rows)
    precisions = precision.trainings(study)
    changed = {name: changes.trainings(study, name) for name in changes.TABLES}
    study.fill({
        "table": selected,
        "decoding": [decoding],
        "promises": [],
        "precision": list(precisions.values()),
        "changes": [training for by_label in changed.values() for training in by_label.values()],
        "diversification": [diversification],
    }[options.verb])  # fmt: skip
    if options.verb == "table":
        study.fill(rows.ensembles)
    parts = {"table": table(rows), "commands": commands(rows), "decoding": decoding.table()}
    parts |= {"precision": precision.table(precisions), **{name: changes.table(of) for name, of in changed.items()}}
    parts |= diversification.tables() | reranking.tables(rows.reranked)
    if options.verb == "promises":
        parts["promises"] = promises.markdown(study)
    study.write(parts, rows.trainings)


project.run(main)
