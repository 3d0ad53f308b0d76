"""Measures training objectives and regularisation with little text, and writes docs/training.md.

German to English translators, a recurrent one and a Transformer, are trained on the first 5,000 pairs of Multi30k with
the small recipe, and with one way to regularise it each. Minimum risk training starts with the trained recipe. Nothing
is tuned. Stopped trainings are resumed, and finished ones are skipped.

With --speed, measures the speed of training instead, in turn, on an otherwise idle machine. It trains the models from
which minimum risk training starts first, if they are missing.
"""

import project
from cells import (
    ADDITIVE, TRANSFORMER, Cell, Study, System, first_pairs, machines, measure_speed, multi30k, parser_of, results_table,
)  # fmt: skip
from pages import table
from project import need_multi30k

PAIRS = 5000
# The recipe passes the 5,000 pairs 27 times. The checkpoint with the best validation BLEU is scored.
COMMON = ("data.tokenizer.vocabulary_size=2000", "training.validation_every=250")
ARCHITECTURES = {"gru": ("GRU with additive attention", ADDITIVE), "transformer": ("Transformer", TRANSFORMER)}
WAYS = {
    "label_smoothing_0": ("no label smoothing", ("training.label_smoothing=0",)),
    "tokens": ("word dropout, 10 % of the tokens", ("model.dropout.tokens=0.1",)),
    "sampling": ("sub-word sampling, 10 % of the merges dropped", ("data.tokenizer.sampling=0.1",)),
    "r_drop": ("R-Drop with weight 5", ("training.r_drop=5",)),
    "r_drop_tokens_sampling": (
        "the last three together",
        ("training.r_drop=5", "model.dropout.tokens=0.1", "data.tokenizer.sampling=0.1"),
    ),
}
MINIMUM_RISK = (
    "training.objective=minimum_risk",
    "training.label_smoothing=0",
    "training.max_steps=300",
    "training.warmup_steps=0",
    "training.learning_rate=0.0001",
    "training.moving_average=0",
    "training.validation_every=50",
)
SPEEDS = ("", "r_drop", "minimum_risk")


def cells_of(architecture, task, study):
    """Returns the cells of an architecture by the name of the way, "" for the recipe."""
    remark, settings = ARCHITECTURES[architecture]
    recipe = Cell(study, System(architecture, (*settings, *COMMON), f"{remark}: the recipe"), task)
    cells = {"": recipe}
    for name, (way, more) in WAYS.items():
        cells[name] = Cell(study, System(f"{architecture}_{name}", (*settings, *COMMON, *more), way), task)
    fine_tuned = System(
        f"{architecture}_minimum_risk",
        (*settings, *COMMON, *MINIMUM_RISK),
        "the recipe, then minimum risk (BLEU, 20 samples, 300 steps)",
        options=("--init-from", str(recipe.run)),
        after=(recipe,),
    )
    cells["minimum_risk"] = Cell(study, fine_tuned, task)
    return cells


def speed_table(grid, figures):
    head = ["", *(remark for remark, _ in ARCHITECTURES.values())]
    rows = []
    entries = {
        (architecture, name): figures.get(cells[name].system.name, "speed")
        for architecture, cells in grid.items()
        for name in SPEEDS
    }
    if not any(entries.values()):
        return None
    for name, label in zip(SPEEDS, ("likelihood", "R-Drop", "minimum risk, 20 samples")):
        row = [label]
        for architecture in grid:
            first, this = entries[architecture, ""], entries[architecture, name]
            row.append(f"{first['tokens_per_second'] / this['tokens_per_second']:.1f}" if first and this else "–")
        rows.append(row)
    return table(head, rows) + f"\nMeasured: {machines(entries.values())}.\n"


def regularisation_table(grid):
    rows = []
    for cells in grid.values():
        for cell in cells.values():
            result = cell.result()
            if result:
                rows.append([
                    f"`{cell.system.name}`: {cell.system.remark}", f"{result['dev']['bleu']:.1f}",
                    f"{result['bleu']:.1f}", f"{result['chrf']:.1f}", f"{result['perplexity']:.2f}",
                ])  # fmt: skip
    head = ["system", "validation BLEU", "BLEU of test 2016", "chrF2", "perplexity"]
    return results_table(head, rows, [cell.result() for cells in grid.values() for cell in cells.values()])


def main():
    parser = parser_of("regularisation", __doc__)
    parser.add_argument("--speed", action="store_true", help="measure the speed of training")
    options = parser.parse_args()
    study = Study(options, "training")
    need_multi30k("train.de", "train.en")
    task = first_pairs(multi30k("de", "en", 42), study, PAIRS, name=str(PAIRS))
    grid = {architecture: cells_of(architecture, task, study) for architecture in ARCHITECTURES}
    cells = [cell for of_architecture in grid.values() for cell in of_architecture.values()]
    selected = study.selected(cells)
    if not options.speed:
        study.fill(selected)
    for of_architecture in grid.values() if options.speed else ():
        if of_architecture[""] in selected:
            of_architecture[""].prepare(project.CORES)  # minimum risk samples from a trained model
            measure_speed([of_architecture[name] for name in SPEEDS])
    study.write({"speed": speed_table(grid, study.figures), "regularisation": regularisation_table(grid)}, cells)


project.run(main)
