"""Compares changes of the recurrent recipe after 2,500 steps, one seed, scored on the validation pair."""

import pages
from precision import score
from trainings import Training

STEPS = 2500
AVERAGED = (
    "training.scheduling=inverse_square_root",
    "training.moving_average=0.999",
    "training.learning_rate=0.002",
    "training.warmup_steps=800",
)
MULTI_HEAD = "model.attention.kind=multi_head"


def of_both_sides(setting):
    return f"model.encoder.{setting}", f"model.decoder.{setting}"


# Name, label and settings. Those with "+" add to averaged weights.
CHANGES = (
    ("recipe", "`multi30k_fast`", ()),
    ("two_layers", "two layers on each side, with residual connections and layer normalisation",
     (*of_both_sides("layers=2"), *of_both_sides("residual=true"), *of_both_sides("layer_norm=true"))),
    ("self_attention", "two layers of self-attention on top of the encoder",
     ("model.encoder.self_attention_layers=2", "model.encoder.heads=4")),
    ("averaged", "averaged weights, and the rate high to the end", AVERAGED),
    ("multi_head", "+ multi-head attention", (*AVERAGED, MULTI_HEAD)),
    ("multi_head_512", "+ multi-head attention, hidden size 512",
     (*AVERAGED, MULTI_HEAD, *of_both_sides("hidden_size=512"), "model.attention.size=512")),
    ("query_new", "+ `query: new`", (*AVERAGED, "model.decoder.query=new")),
    ("query_between", "+ `query: between`", (*AVERAGED, "model.decoder.query=between")),
)  # fmt: skip


def trainings():
    """Returns the trainings by label."""
    return {
        label: Training(f"changes/{name}", "multi30k_fast", settings=(f"training.max_steps={STEPS}", *settings))
        for name, label, settings in CHANGES
    }


def measure(runs, settings, figures, report):
    for training in trainings().values():
        if not training.row(figures):
            report(training.name)
            training.train(runs, settings)
            figures.put(score(training, runs), "training", training.name)


def table(figures):
    """Returns the table of the trainings that were measured."""
    measured = {label: training.row(figures) for label, training in trainings().items()}
    rows = [
        [label, f"**{row['bleu']:.2f}**", f"{row['chrf']:.2f}", f"{row['loss']:.4f}"]
        for label, row in measured.items()
        if row
    ]
    if not rows:
        return ""
    machines = sorted({row["machine"] for row in measured.values() if row})
    return pages.table(["change", "BLEU", "chrF2", "loss"], rows) + f"\nMachine: {'; '.join(machines)}.\n"
