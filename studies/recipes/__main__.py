"""Trains what `regard config init` proposes for little text, and writes docs/own_language_pair.md.

German to English translators are trained on 1,000 and 5,000 pairs of Multi30k, with the proposals for a
recurrent model and for a Transformer. Nothing is tuned. The better one on the validation pair should be the proposal
that `config init` makes by itself. Stopped trainings are resumed, and finished ones are skipped.
"""

import pathlib

import project
from cells import Cell, Study, System, effort, first_pairs, multi30k, parser_of, results_table, scores
from project import need_multi30k, regard

SIZES = (1000, 5000)
ARCHITECTURES = {"recurrent": "GRUs with attention", "transformer": "Transformer"}


def system_of(study, architecture, task):
    """Writes the proposed configuration, and returns its system."""
    config = f"{study.folder}/{architecture}_{task.name}.yaml"
    pathlib.Path(config).unlink(missing_ok=True)
    regard("config", "init", *task.data("train"), "--dev", *task.data("dev"), "--architecture", architecture,
           "--name", f"{architecture}_{task.name}", "--yes", "-o", config)  # fmt: skip
    return System(architecture, (), config=config)


def recipes_table(cells):
    rows = []
    for cell in cells:
        result = cell.result()
        if not result:
            continue
        rows.append([
            f"{int(cell.task.name):,} pairs, {ARCHITECTURES[cell.system.name]}", f"{result['parameters']:,}", f"{result['steps']:,}",
            f"{result['dev']['bleu']:.1f}", f"{result['bleu']:.1f}", f"{result['chrf']:.1f}",
        ])  # fmt: skip
    head = ["text and model", "parameters", "steps", "validation BLEU", "BLEU of test 2016", "chrF2"]
    return results_table(head, rows, [cell.result() for cell in cells])


def main():
    study = Study(parser_of("recipes", __doc__).parse_args(), "own_language_pair")
    need_multi30k("train.de", "train.en", "val.de", "val.en")
    tasks = [first_pairs(multi30k("de", "en", 42), study, pairs, name=str(pairs)) for pairs in SIZES]
    cells = [
        Cell(study, system_of(study, name, task), task, (scores, effort)) for task in tasks for name in ARCHITECTURES
    ]
    study.fill(study.selected(cells))
    study.write({"recipes": recipes_table(cells)}, cells)


project.run(main)
